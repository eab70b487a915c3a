package org.verbena.shm;

import org.verbena.linux.spi.RawMemory;

/**
 * One of our peers' queue pairs, by the low 12 bits of its number, that is not connected to one of ours and takes receives out of a pool of ours, because it has asked
 * to. Its entries go to the pool's inbox.
 */
record PoolGuest(Session session, int queuePair) implements PoolUser {
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
        return session.isDead() ? Claim.NONE : RawMemory.getLongAcquire(entry() + AdapterLayout.QP_HELD);
    }

    @Override
    public boolean hasCommitted(long claim) {
        return false;
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
