// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

import org.verbena.linux.spi.RawMemory;

/** Numbers in network order at bare addresses; the caller has checked the bounds. */
public final class BigEndian {
    private BigEndian() {}

    static int getByte(long a) {
        return RawMemory.getByte(a) & 0xff;
    }

    public static int getShort(long a) {
        return getByte(a) << 8 | getByte(a + 1);
    }

    /** The lower 24 bits of the word at {@code a}. */
    static int get24(long a) {
        return getInt(a) & 0xffffff;
    }

    public static int getInt(long a) {
        return Integer.reverseBytes(RawMemory.getIntUnaligned(a));
    }

    public static long getLong(long a) {
        return Long.reverseBytes(RawMemory.getLongUnaligned(a));
    }

    public static void putInt(long a, int v) {
        RawMemory.putIntUnaligned(a, Integer.reverseBytes(v));
    }

    public static void putLong(long a, long v) {
        RawMemory.putLongUnaligned(a, Long.reverseBytes(v));
    }
}
