// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

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

    /** A number as programs get them wrong. */
    public static long odd(Random random) {
        return switch (random.nextInt(9)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> Long.MIN_VALUE;
            case 3 -> Long.MAX_VALUE;
            case 4 -> random.nextInt(4096);
            case 5 -> random.nextInt();
            case 6 -> 1L << random.nextInt(64);
            case 7 -> (1L << random.nextInt(64)) - 1 - random.nextInt(3);
            default -> random.nextLong();
        };
    }
}
