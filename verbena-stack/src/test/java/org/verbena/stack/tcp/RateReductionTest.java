// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** RFC 9937: how much a recovery lets into the network. */
final class RateReductionTest {
    private static final int S = 1000;

    private final RateReduction r = new RateReduction();

    @Test
    void aboveTheThresholdItComesDownInProportion() {
        r.begin(20 * S);
        int sent = 0;
        for (int i = 1; i <= 8; i++) {
            int inFlight = 19 * S - i * S + sent;
            int n = r.window(S, inFlight, 10 * S, S, false) - inFlight;
            r.sent(n);
            sent += n;
        }
        assertThat(sent).as("half of what has arrived").isEqualTo(4 * S);
    }

    @Test
    void withManyLossesAsMuchIsSentAsArrives() {
        r.begin(10 * S);
        assertThat(r.window(S, S, 7 * S, S, false)).as("the acknowledgment tells of losses").isEqualTo(2 * S);
        r.sent(S);
        assertThat(r.window(S, S, 7 * S, S, false)).isEqualTo(2 * S);
        r.sent(S);
    }

    @Test
    void itCatchesUpWhileNothingMoreIsLost() {
        r.begin(10 * S);
        r.window(S, S, 7 * S, S, false);
        r.sent(S);
        assertThat(r.window(S, S, 7 * S, S, true)).as("one more than has arrived").isEqualTo(3 * S);
        r.sent(2 * S);
        assertThat(r.window(2 * S, 6 * S, 7 * S, S, true)).as("but not beyond the threshold").isEqualTo(7 * S);
    }

    @Test
    void theFirstSegmentGoesInAnyCase() {
        r.begin(10 * S);
        assertThat(r.window(0, 8 * S, 5 * S, S, false)).isEqualTo(9 * S);
    }
}
