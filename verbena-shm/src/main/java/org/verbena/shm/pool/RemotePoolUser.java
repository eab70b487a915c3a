// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.Peer;
import org.verbena.shm.memory.Revocation;
import org.verbena.shm.ring.PeerBells;

/**
 * A queue pair of a peer, by the low 12 bits of its number, that takes receives out of a shared receive queue of ours,
 * as it has requested. It is not connected to one of ours; its entries go to the pool's inbox.
 */
public record RemotePoolUser(Peer peer, PeerBells bells, Host host, int queue, int queuePair) implements PoolUser {
    private static final int TRIES = 8;

    /** The part of the session that attaches a peer's queue pairs. */
    public interface Host {
        /** A pool of ours is closed: its remote users leave. Any thread. */
        void closed(OwnPool pool);
    }

    /** Address of its directory entry. */
    long entry() {
        return peer.mapping().base() + AdapterLayout.qpEntry(queuePair);
    }

    /** True if its request is for this queue. */
    private boolean isAtOurs() {
        return RawMemory.getIntAcquire(entry() + AdapterLayout.QP_HELD_QUEUE) == queue;
    }

    @Override
    public long hazard() {
        long h = word();
        return h == 0 || peer.isGone() ? 0 : h;
    }

    /** Its hazard word; of a process that has ended, the last value. */
    long word() {
        return RawMemory.getLongAcquire(entry() + AdapterLayout.QP_HAZARD);
    }

    /** Whether it is inside a transfer, as it is now. */
    public Revocation.Inside inside() {
        return new Revocation.Inside(null, 0, peer, entry(), word());
    }

    @Override
    public long held() {
        for (int i = 0; i < TRIES && !peer.isDead(); i++) {
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
        return !peer.isDead() && RawMemory.getLongAcquire(entry() + AdapterLayout.QP_STARVING) != 0 && isAtOurs();
    }

    @Override
    public void wake() {
        bells.ring(0);
    }
}
