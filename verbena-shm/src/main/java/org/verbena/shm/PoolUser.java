package org.verbena.shm;

/** An initiator that takes receives out of a pool of ours, as the pool sees it. All reads; what is read is not trusted. */
interface PoolUser {
    /** What it touches now, see {@link Hazard}; 0 if nothing, or if it is dead. */
    long hazard();

    /** The claim that it keeps for its next try; {@link Claim#NONE} if there is none, or if it is dead. */
    long held();

    /** True if it has committed an entry for this claim, in a lane, that was not polled yet. */
    boolean hasCommitted(long claim);

    /** True if it waits for receives. */
    boolean isStarving();

    /** Wakes its engine. */
    void wake();
}
