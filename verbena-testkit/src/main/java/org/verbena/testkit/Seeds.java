// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.util.Random;

/**
 * Seeds of tests with random input: each failure names its own, and {@code -Dverbena.test.seed=N} repeats it alone.
 * {@code -Dverbena.test.seeds.factor=N} tries N times as many, or a part of them where it is below 1, for slow machines.
 */
public final class Seeds {
    private static final String PROPERTY = "verbena.test.seed";

    /** The first seed of this run: the given one, or another in each run. */
    public static final long FIRST = Long.getLong(PROPERTY, System.nanoTime());

    private static final double FACTOR = Double.parseDouble(System.getProperty("verbena.test.seeds.factor", "1"));

    private Seeds() {}

    /** A test with random input. */
    @FunctionalInterface
    public interface Body {
        void run(Random random) throws Exception;
    }

    /** Runs a test with that many seeds; with a single one if it is given. */
    public static void each(int count, Body body) {
        int n = System.getProperty(PROPERTY) == null ? (int) Math.max(1, count * FACTOR) : 1;
        for (int i = 0; i < n; i++) {
            try {
                body.run(new Random(FIRST + i));
            } catch (Exception | AssertionError e) {
                throw new AssertionError("with -D" + PROPERTY + "=" + (FIRST + i) + ": " + e.getMessage(), e);
            }
        }
    }
}
