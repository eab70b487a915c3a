// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import org.verbena.verbs.QueuePairState;

/**
 * The total time that polls may wait for the peer of a connection because of messages of that peer. When it is
 * used up the queue pair fails, and later polls do not wait. Used by one thread at a time.
 */
public final class WaitBudget {
    private final long whole;
    private volatile long left;

    public WaitBudget(long nanos) {
        whole = nanos;
        left = nanos;
    }

    /** A new connection begins. */
    public void refill() {
        left = whole;
    }

    /** Nanoseconds that are left in a state of the queue pair. */
    public long left(QueuePairState state) {
        return state == QueuePairState.ERR ? 0 : left;
    }

    void spend(long nanos) {
        left = Math.max(0, left - nanos);
    }
}
