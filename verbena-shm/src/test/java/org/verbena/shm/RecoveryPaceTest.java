package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** However often a peer asks for a recovery, it gets a part of the engine's time. */
class RecoveryPaceTest {
    private static final long MILLI = 1_000_000;

    @Test
    void theFirstBeginsAtOnce() {
        assertThat(new RecoveryPace(5).mayBegin(5)).isTrue();
        assertThat(new RecoveryPace(Long.MAX_VALUE).mayBegin(Long.MIN_VALUE)).as("the clock goes round").isTrue();
    }

    @Test
    void aLongOneIsFollowedByALongerPause() {
        RecoveryPace pace = new RecoveryPace(0);
        pace.spent(30 * MILLI);
        pace.spent(20 * MILLI);
        pace.ended(100 * MILLI);
        assertThat(pace.mayBegin(100 * MILLI)).isFalse();
        assertThat(pace.mayBegin(549 * MILLI)).isFalse();
        assertThat(pace.mayBegin(550 * MILLI)).isTrue();
    }

    @Test
    void whoAsksWithoutEndGetsATenthOfTheTime() {
        RecoveryPace pace = new RecoveryPace(0);
        long busy = 0;
        for (long now = 0; now < 10_000 * MILLI; now += MILLI) {
            if (pace.mayBegin(now)) {
                long took = (now / MILLI % 7 + 1) * MILLI;
                busy += took;
                pace.spent(took);
                now += took;
                pace.ended(now);
            }
        }
        assertThat(busy).isBetween(900 * MILLI, 1010 * MILLI);
    }

    @Test
    void evenShortOnesDoNotFollowEachOtherAtOnce() {
        RecoveryPace pace = new RecoveryPace(0);
        pace.spent(10);
        pace.ended(10);
        assertThat(pace.mayBegin(MILLI)).isFalse();
        assertThat(pace.mayBegin(MILLI + 10)).isTrue();
    }
}
