// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

class GarbageDatagramsTest {
    private static final int BATCHES = 3000;
    /** Each damaged packet passes with a chance of one in 65536, and there are fewer than that. */
    private static final int MOST_MISTAKEN = 5;

    private final long seed = Seeds.FIRST;

    @Test
    void whatIsWholeArrivesAndAllElseIsCounted() throws Exception {
        Random random = new Random(seed);
        try (GarbageDatagrams garbage = new GarbageDatagrams()) {
            for (int i = 0; i < BATCHES; i++) {
                int[] left = {random.nextInt(40)};
                garbage.run(random, () -> left[0]-- <= 0);
            }
            assertThat(garbage.arrived).isGreaterThan(BATCHES);
            assertThat(garbage.dropped).isGreaterThan(BATCHES);
            assertThat(garbage.mistaken).as("not whole, and taken").isLessThanOrEqualTo(MOST_MISTAKEN);
            assertThat(garbage.together).as("as one with others").isGreaterThan(BATCHES);
        } catch (AssertionError e) {
            throw new AssertionError("with -Dverbena.test.seed=" + seed, e);
        }
    }
}
