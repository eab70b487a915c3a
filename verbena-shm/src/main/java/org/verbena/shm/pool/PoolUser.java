// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.Hazard;

/** An initiator that takes receives out of a pool of ours, as the pool sees it. All methods only read, and the values are not trusted. */
public interface PoolUser {
    /** Its hazard word, see {@link Hazard}; 0 if it is not inside, or if its process has ended. */
    long hazard();

    /** The claim that it keeps for its next try; {@link Claim#NONE} if there is none, or if it is dead. */
    default long held() {
        return Claim.NONE;
    }

    /** Notes all claims for which it has committed an entry, in a lane, that was not polled yet. */
    default void noteCommitted(ClaimOwners owners) {}

    /** True if it claims nothing any more, and will not use an earlier claim: it may be forgotten. */
    default boolean isGone() {
        return false;
    }

    /** True if it waits for receives; only then is it ever woken. */
    default boolean isStarving() {
        return false;
    }

    /** Wakes its engine. */
    default void wake() {}
}
