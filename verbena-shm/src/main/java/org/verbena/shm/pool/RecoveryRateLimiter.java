// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import java.util.concurrent.TimeUnit;

/**
 * How soon the receives that belong to nobody may be looked for again. A peer can have that done at any time, by a word; it
 * gets a small part of the engine's time. Used by one thread.
 */
final class RecoveryRateLimiter {
    /** After a look nothing happens for so many times as long as it took, within limits. */
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

    /** A part of a recovery took so long; what it waited for others does not count. */
    void spent(long nanos) {
        spent += nanos;
    }

    /** One look at all who take receives is over, whether or not there has to be another one. */
    void pause(long now) {
        notBefore = now + Math.clamp(PAUSE * spent, LEAST_NANOS, MOST_NANOS);
        spent = 0;
    }
}
