// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.util.Random;

/**
 * Seeds of tests with random input: each failure names its own, and {@code -Dverbena.test.seed=N} repeats it alone.
 * {@code -Dverbena.test.seeds.factor=N} tries N times as many, or a part of them where it is below 1, for machines that are slow.
 */
final class Seeds {
    private static final long FIRST = Long.getLong("verbena.test.seed", System.nanoTime());

    private static final double MANY = Double.parseDouble(System.getProperty("verbena.test.seeds.factor", "1"));

    private Seeds() {}

    /** A test with random input. */
    @FunctionalInterface
    interface Body {
        void run(Random random) throws Exception;
    }

    /** Runs with so many seeds. */
    static void each(int count, Body body) {
        int n = System.getProperty("verbena.test.seed") == null ? (int) Math.max(1, count * MANY) : 1;
        for (int i = 0; i < n; i++) {
            try {
                body.run(new Random(FIRST + i));
            } catch (Exception | AssertionError e) {
                throw new AssertionError("with -Dverbena.test.seed=" + (FIRST + i) + ": " + e.getMessage(), e);
            }
        }
    }

    /** One of several. */
    @SafeVarargs
    static <T> T pick(Random random, T... of) {
        return of[random.nextInt(of.length)];
    }

    /** A size of 0 to {@code max}, or one as programs get it wrong. */
    static int size(Random random, int max) {
        return switch (random.nextInt(12)) {
            case 0 -> -1;
            case 1 -> Integer.MIN_VALUE;
            case 2 -> max == Integer.MAX_VALUE ? max : max + 1;
            case 3 -> Integer.MAX_VALUE;
            case 4 -> 0;
            default -> random.nextInt(Math.min(max, 40) + 1);
        };
    }

    /** Some of these bits, at times with one that is not among them. */
    static int bits(Random random, int known, int others) {
        int half = random.nextInt();
        int bits = half & random.nextInt() & known; // a quarter of them
        return random.nextInt(6) == 0 ? bits | Integer.highestOneBit(random.nextInt() & others) : bits;
    }
}
