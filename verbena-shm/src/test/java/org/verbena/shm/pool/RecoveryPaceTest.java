// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** However often a peer asks for a recovery, it gets a part of the engine's time. */
class RecoveryPaceTest {
    private static final long MILLI = 1_000_000;

    @Test
    void theFirstBeginsAtOnce() {
        assertThat(new RecoveryPace(5).mayGoOn(5)).isTrue();
        assertThat(new RecoveryPace(Long.MAX_VALUE).mayGoOn(Long.MIN_VALUE)).as("the clock goes round").isTrue();
    }

    @Test
    void aLongOneIsFollowedByALongerPause() {
        RecoveryPace pace = new RecoveryPace(0);
        pace.spent(3 * MILLI);
        pace.spent(2 * MILLI);
        pace.pause(100 * MILLI);
        assertThat(pace.mayGoOn(100 * MILLI)).isFalse();
        assertThat(pace.mayGoOn(144 * MILLI)).isFalse();
        assertThat(pace.mayGoOn(145 * MILLI)).isTrue();
    }

    @Test
    void noPauseIsLongerThanATenthOfASecond() {
        RecoveryPace pace = new RecoveryPace(0);
        pace.spent(10_000 * MILLI);
        pace.pause(0);
        assertThat(pace.mayGoOn(99 * MILLI)).isFalse();
        assertThat(pace.mayGoOn(100 * MILLI)).isTrue();
    }

    @Test
    void whoAsksWithoutEndGetsATenthOfTheTime() {
        RecoveryPace pace = new RecoveryPace(0);
        long busy = 0;
        for (long now = 0; now < 10_000 * MILLI; now += MILLI) {
            if (pace.mayGoOn(now)) {
                long took = (now / MILLI % 7 + 1) * MILLI;
                busy += took;
                pace.spent(took);
                now += took;
                pace.pause(now);
            }
        }
        assertThat(busy).isBetween(900 * MILLI, 1010 * MILLI);
    }

    @Test
    void evenShortOnesDoNotFollowEachOtherAtOnce() {
        RecoveryPace pace = new RecoveryPace(0);
        pace.spent(10);
        pace.pause(10);
        assertThat(pace.mayGoOn(MILLI)).isFalse();
        assertThat(pace.mayGoOn(MILLI + 10)).isTrue();
    }
}
