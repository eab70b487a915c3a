package org.verbena.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;

import org.junit.jupiter.api.Test;

class GarbageDatagramsTest {
    private static final int BATCHES = 3000;

    private final long seed = Long.getLong("verbena.seed", System.nanoTime());

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
            assertThat(garbage.together).as("as one with others").isGreaterThan(BATCHES);
        } catch (AssertionError e) {
            throw new AssertionError("with -Dverbena.seed=" + seed, e);
        }
    }
}
