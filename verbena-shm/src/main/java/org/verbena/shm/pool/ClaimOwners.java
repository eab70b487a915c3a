// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.shm.layout.Claim;

/**
 * The owners of a pool's receives that are posted and not completed: an initiator owns a receive if it holds its claim, or has
 * committed an entry for it. Collected in one pass over all users of the pool. Used by one thread.
 */
public final class ClaimOwners {
    private final ReceivePool pool;
    /** By slot: the number of its owner, 0 if there is none. */
    private final int[] owners;
    private int owner;

    ClaimOwners(ReceivePool pool) {
        this.pool = pool;
        owners = new int[pool.slots()];
    }

    /** Collects the claims of one user; the held one first, for that is committed next. */
    void collect(PoolUser user) {
        owner++;
        note(user.held());
        user.noteCommitted(this);
    }

    /**
     * The user being collected owns the receive of a claim.
     *
     * @return false if that is impossible: there is no such receive, or the user has claimed it twice
     */
    public boolean note(long claim) {
        if (!pool.isOutstanding(claim) || owners[Claim.slot(claim)] == owner) {
            return false;
        }
        owners[Claim.slot(claim)] = owner;
        return true;
    }

    /** True if a receive that was outstanding before the first user was collected belongs to one of them. */
    boolean isOwned(long claim) {
        return owners[Claim.slot(claim)] != 0;
    }
}
