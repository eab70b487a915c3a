// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** Intended times, by a clock that the test moves. */
class PaceTest {
    private static final long START = -5_000_000_000L; // nanoTime may be negative
    private static final long MILLI = 1_000_000;

    private static Pace.Lane lane(String pace, int index, int lanes) {
        return new Pace.Lane(Pace.of(pace), index, lanes, START);
    }

    @Test
    void fullIsAlwaysDue() {
        Pace.Lane lane = lane("full", 3, 4);
        lane.add(1_000_000);
        assertThat(lane.untilDue(START)).isZero();
    }

    @Test
    void restIsNeverDue() {
        assertThat(lane("0", 0, 1).untilDue(START + 1)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void unitsAreDueInEqualDistances() {
        Pace.Lane lane = lane("100", 0, 1);
        assertThat(lane.untilDue(START)).isZero();
        for (int i = 1; i <= 10; i++) {
            lane.add(1);
            assertThat(lane.untilDue(START)).isEqualTo(10L * i * MILLI);
        }
    }

    @Test
    void whatWasMissedIsMadeUpFor() {
        Pace.Lane lane = lane("100", 0, 1);
        long now = START + 55 * MILLI; // units 0 to 5 are due
        int done = 0;
        while (lane.untilDue(now) <= 0) {
            lane.add(1);
            done++;
        }
        assertThat(done).isEqualTo(6);
        assertThat(lane.untilDue(now)).isEqualTo(5 * MILLI);
    }

    @Test
    void lanesShareTheRateAndTakeTurns() {
        for (int i = 0; i < 4; i++) {
            Pace.Lane lane = lane("100", i, 4);
            assertThat(lane.untilDue(START)).isEqualTo(10L * i * MILLI);
            lane.add(1);
            assertThat(lane.untilDue(START)).isEqualTo((40L + 10L * i) * MILLI);
        }
    }

    @Test
    void piecesOfManyUnitsAreSeldom() {
        Pace.Lane lane = lane("2000", 0, 1);
        lane.add(1000);
        assertThat(lane.untilDue(START)).isEqualTo(500 * MILLI);
    }

    @Test
    void aDayAtAHighRateIsNoMatter() {
        Pace.Lane lane = lane("3000000", 0, 50);
        long seconds = 86_400;
        lane.add(seconds * 3_000_000 / 50);
        assertThat(lane.untilDue(START + seconds * 1000 * MILLI)).isCloseTo(0, within(MILLI));
    }

    @Test
    void loadWithoutAPaceNeverWaits() {
        Rate.Lane lane = new Rate(new String[] {"0", "0", "1"}).lane(0, 1);
        lane.add(1000);
        assertThat(lane.untilDue()).isZero();
    }
}
