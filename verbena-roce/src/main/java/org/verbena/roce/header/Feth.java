// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

/**
 * Flush extended transport header, 4 bytes: placement type (bits 0 to 3), selectivity level (bits 4 and 5) (annex A19).
 */
public final class Feth {
    public static final int BYTES = 4;

    private Feth() {}

    /** {@link org.verbena.verbs.FlushType} bits. */
    public static int type(long a) {
        return BigEndian.getInt(a) & 0xf;
    }

    /** {@code FlushType.RANGE} or {@code REGION}. */
    public static int level(long a) {
        return BigEndian.getInt(a) >> 4 & 3;
    }

    public static void put(long a, int type, int level) {
        BigEndian.putInt(a, type & 0xf | (level & 3) << 4);
    }
}
