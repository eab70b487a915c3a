// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.spi.RawMemory;

/**
 * A queue pair of a peer, by the low 12 bits of its number, that takes receives out of a shared receive queue of ours,
 * because it has asked to. It is not connected to one of ours; its entries go to the pool's inbox.
 */
record PoolGuest(Session session, int queue, int queuePair) implements PoolUser {
    private static final int TRIES = 8;

    /** Address of its directory entry. */
    long entry() {
        return session.peerBase() + AdapterLayout.qpEntry(queuePair);
    }

    /** True if its request is for this queue. */
    private boolean isAtOurs() {
        return RawMemory.getIntAcquire(entry() + AdapterLayout.QP_HELD_QUEUE) == queue;
    }

    @Override
    public long hazard() {
        long h = word();
        return h == 0 || session.isGone() ? 0 : h;
    }

    /** The word that says what it touches; of a process that has ended, what it did. */
    long word() {
        return RawMemory.getLongAcquire(entry() + AdapterLayout.QP_HAZARD);
    }

    @Override
    public long held() {
        for (int i = 0; i < TRIES && !session.isDead(); i++) {
            long claim = RawMemory.getLongAcquire(entry() + AdapterLayout.QP_HELD);
            boolean ours = isAtOurs();
            if (RawMemory.getLongAcquire(entry() + AdapterLayout.QP_HELD) == claim) { // else it may be another queue's
                return ours ? claim : Claim.NONE;
            }
        }
        return Claim.NONE;
    }

    @Override
    public boolean isStarving() {
        return !session.isDead() && RawMemory.getLongAcquire(entry() + AdapterLayout.QP_STARVING) != 0 && isAtOurs();
    }

    @Override
    public void wake() {
        session.bells().ring(0);
    }
}
