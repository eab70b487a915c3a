// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.util.Random;

/** Seeds of tests with random input: each failure names its own, {@code -Dverbena.test.seed=N} repeats it. */
public final class Seeds {
    private static final long FIRST = Long.getLong("verbena.test.seed", System.nanoTime());

    private Seeds() {}

    /** A test with random input. */
    @FunctionalInterface
    public interface Body {
        void run(Random random) throws Exception;
    }

    /** Runs with many seeds. */
    public static void each(int count, Body body) {
        int n = System.getProperty("verbena.test.seed") == null ? count : 1;
        for (int i = 0; i < n; i++) {
            try {
                body.run(new Random(FIRST + i));
            } catch (Exception | AssertionError e) {
                throw new AssertionError("with -Dverbena.test.seed=" + (FIRST + i), e);
            }
        }
    }
}
