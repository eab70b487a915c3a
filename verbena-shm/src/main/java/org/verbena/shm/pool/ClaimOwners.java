// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.shm.layout.Claim;

/**
 * Which receives of a pool, posted and not completed, belong to somebody: who holds their claim, or has committed an entry
 * for it. Found out in one pass over all who take receives. Used by one thread.
 */
public final class ClaimOwners {
    private final ReceivePool pool;
    /** By slot: the number of the one who owns it, 0 if nobody does. */
    private final int[] owners;
    private int owner;

    ClaimOwners(ReceivePool pool) {
        this.pool = pool;
        owners = new int[pool.slots()];
    }

    /** Looks at one who takes receives; what it holds first, for that is what it commits next. */
    void ask(PoolUser user) {
        owner++;
        note(user.held());
        user.noteCommitted(this);
    }

    /**
     * The one who is asked owns the receive of a claim.
     *
     * @return false if that cannot be: there is no such receive, or it has said so before
     */
    public boolean note(long claim) {
        if (!pool.isOutstanding(claim) || owners[Claim.slot(claim)] == owner) {
            return false;
        }
        owners[Claim.slot(claim)] = owner;
        return true;
    }

    /** True if a receive, which has been outstanding since before the first was asked, belongs to one of them. */
    boolean isOwned(long claim) {
        return owners[Claim.slot(claim)] != 0;
    }
}
