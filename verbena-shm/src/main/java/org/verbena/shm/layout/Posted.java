// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

/**
 * The word with the number of receives that a queue pair has posted: {@code count:56 | shortest:8}. {@code shortest} is the
 * length of the shortest outstanding receive, at most 255: a message that fits into it may travel inside the lane entry
 * without reading the receive itself.
 */
public final class Posted {
    /** The bits behind the count. */
    public static final int COUNT_SHIFT = 8;

    private Posted() {}

    public static long of(long count, long shortest) {
        return count << COUNT_SHIFT | Math.min(shortest, 255);
    }

    public static long count(long word) {
        return word >>> COUNT_SHIFT;
    }

    public static int shortest(long word) {
        return (int) word & 0xff;
    }
}
