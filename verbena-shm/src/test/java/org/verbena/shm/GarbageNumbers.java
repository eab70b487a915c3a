// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.Random;

/** Numbers that a hostile peer may write into shared memory. */
public final class GarbageNumbers {
    private GarbageNumbers() {}

    /** A number of the kinds that programs get wrong. */
    public static long next(Random random) {
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
