package org.verbena.shm;

import org.verbena.linux.spi.RawMemory;

/**
 * A queue pair of a peer, by the low 12 bits of its number, that takes receives out of a shared receive queue of ours,
 * because it has asked to. It is not connected to one of ours; its entries go to the pool's inbox.
 */
record PoolGuest(Session session, int queue, int queuePair) implements PoolUser {
    /** Address of its directory entry. */
    long entry() {
        return session.peerBase() + AdapterLayout.qpEntry(queuePair);
    }

    @Override
    public long hazard() {
        return session.isDead() ? 0 : RawMemory.getLongAcquire(entry() + AdapterLayout.QP_HAZARD);
    }

    @Override
    public long held() {
        if (session.isDead()) {
            return Claim.NONE;
        }
        long claim = RawMemory.getLongAcquire(entry() + AdapterLayout.QP_HELD);
        return RawMemory.getInt(entry() + AdapterLayout.QP_HELD_QUEUE) == queue ? claim : Claim.NONE;
    }

    @Override
    public boolean isStarving() {
        return !session.isDead() && RawMemory.getLongAcquire(entry() + AdapterLayout.QP_STARVING) != 0;
    }

    @Override
    public void wake() {
        session.bells().ring(0);
    }
}
