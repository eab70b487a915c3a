// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** However often a peer requests a recovery, it gets a part of the engine's time. */
class RecoveryRateLimiterTest {
    private static final long MILLI = 1_000_000;

    @Test
    void firstRecoveryBeginsAtOnce() {
        assertThat(new RecoveryRateLimiter(5).mayContinue(5)).isTrue();
        assertThat(new RecoveryRateLimiter(Long.MAX_VALUE).mayContinue(Long.MIN_VALUE)).as("the clock wraps")
                .isTrue();
    }

    @Test
    void longRecoveryIsFollowedByALongerPause() {
        RecoveryRateLimiter limiter = new RecoveryRateLimiter(0);
        limiter.spent(3 * MILLI);
        limiter.spent(2 * MILLI);
        limiter.pause(100 * MILLI);
        assertThat(limiter.mayContinue(100 * MILLI)).isFalse();
        assertThat(limiter.mayContinue(144 * MILLI)).isFalse();
        assertThat(limiter.mayContinue(145 * MILLI)).isTrue();
    }

    @Test
    void pauseIsAtMostATenthOfASecond() {
        RecoveryRateLimiter limiter = new RecoveryRateLimiter(0);
        limiter.spent(10_000 * MILLI);
        limiter.pause(0);
        assertThat(limiter.mayContinue(99 * MILLI)).isFalse();
        assertThat(limiter.mayContinue(100 * MILLI)).isTrue();
    }

    @Test
    void endlessRequestsGetATenthOfTheTime() {
        RecoveryRateLimiter limiter = new RecoveryRateLimiter(0);
        long busy = 0;
        for (long now = 0; now < 10_000 * MILLI; now += MILLI) {
            if (limiter.mayContinue(now)) {
                long took = (now / MILLI % 7 + 1) * MILLI;
                busy += took;
                limiter.spent(took);
                now += took;
                limiter.pause(now);
            }
        }
        assertThat(busy).isBetween(900 * MILLI, 1010 * MILLI);
    }

    @Test
    void shortRecoveriesAreSeparatedToo() {
        RecoveryRateLimiter limiter = new RecoveryRateLimiter(0);
        limiter.spent(10);
        limiter.pause(10);
        assertThat(limiter.mayContinue(MILLI)).isFalse();
        assertThat(limiter.mayContinue(MILLI + 10)).isTrue();
    }
}
