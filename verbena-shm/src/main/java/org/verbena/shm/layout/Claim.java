// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

/**
 * The word that names a receive of a pool while it is posted: {@code 1 | position:41 | length:8 | slot:14}. It lies in
 * the pool's ring for the initiator that claims the position, and travels back in the entry that completes it. The length is that of
 * the receive, at most {@link #LONG}: a message that fits may travel inside the entry without reading the receive.
 */
public final class Claim {
    /** The length that means "this, or more". */
    public static final int LONG = 255;
    /** Never a claim. */
    public static final long NONE = 0;

    private static final int LENGTH_SHIFT = 14;
    private static final int POSITION_SHIFT = 22;
    private static final long POSITIONS = (1L << 41) - 1;

    private Claim() {}

    public static long of(long position, long length, int slot) {
        return Long.MIN_VALUE | (position & POSITIONS) << POSITION_SHIFT
                | Math.min(length, LONG) << LENGTH_SHIFT | slot;
    }

    /** True if the word was written for that position. */
    public static boolean isOf(long claim, long position) {
        return claim >>> POSITION_SHIFT == (Long.MIN_VALUE | (position
                & POSITIONS) << POSITION_SHIFT) >>> POSITION_SHIFT;
    }

    /** The position, which counts modulo 2^41. */
    public static long position(long claim) {
        return claim >>> POSITION_SHIFT & POSITIONS;
    }

    /** How many positions a claim's comes before another one. */
    public static long age(long claim, long position) {
        return position - position(claim) & POSITIONS;
    }

    /** True if the claim's position comes before another that is not far away. */
    public static boolean isBefore(long claim, long position) {
        long distance = age(claim, position);
        return distance != 0 && distance <= POSITIONS >>> 1;
    }

    public static int length(long claim) {
        return (int) (claim >>> LENGTH_SHIFT) & LONG;
    }

    public static int slot(long claim) {
        return (int) claim & (1 << LENGTH_SHIFT) - 1;
    }
}
