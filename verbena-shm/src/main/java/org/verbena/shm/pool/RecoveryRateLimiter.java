// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import java.util.concurrent.TimeUnit;

/**
 * Limits the rate of searches for receives without an owner. A peer can request a search at any time, by a word; it
 * gets a small part of the engine's time. Used by one thread.
 */
final class RecoveryRateLimiter {
    /** A search is followed by a pause of this many times its duration, within limits. */
    private static final int PAUSE = 9;
    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private long notBefore;
    private long spent;

    RecoveryRateLimiter(long now) {
        notBefore = now;
    }

    boolean mayContinue(long now) {
        return now - notBefore >= 0;
    }

    /** Adds the duration of a part of a recovery, without its waits for others. */
    void spent(long nanos) {
        spent += nanos;
    }

    /** One pass over all users is over, whether or not another has to follow. */
    void pause(long now) {
        notBefore = now + Math.clamp(PAUSE * spent, LEAST_NANOS, MOST_NANOS);
        spent = 0;
    }
}
