// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.util.Random;

/** Arguments for verbs, right and wrong ones. */
final class RandomInput {
    private RandomInput() {}

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

    /** Some of the known bits, at times with one of the others. */
    static int bits(Random random, int known, int others) {
        int half = random.nextInt();
        int bits = half & random.nextInt() & known; // a quarter of them
        return random.nextInt(6) == 0 ? bits | Integer.highestOneBit(random.nextInt() & others) : bits;
    }
}
