// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Fields in network byte order, at any place. */
public final class Bytes {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Bytes() {}

    /** An unsigned byte. */
    public static int u8(MemorySegment m, long at) {
        return m.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    /** An unsigned short. */
    public static int u16(MemorySegment m, long at) {
        return m.get(SHORT, at) & 0xffff;
    }

    /** Four bytes, such as an IPv4 address. */
    public static int i32(MemorySegment m, long at) {
        return m.get(INT, at);
    }

    /** Eight bytes, such as half an IPv6 address. */
    public static long i64(MemorySegment m, long at) {
        return m.get(LONG, at);
    }

    /** Six bytes, such as an Ethernet address. */
    public static long u48(MemorySegment m, long at) {
        return (long) u16(m, at) << 32 | i32(m, at + 2) & 0xffff_ffffL;
    }

    /** Writes the low byte. */
    public static void put8(MemorySegment m, long at, int value) {
        m.set(ValueLayout.JAVA_BYTE, at, (byte) value);
    }

    /** Writes the low two bytes. */
    public static void put16(MemorySegment m, long at, int value) {
        m.set(SHORT, at, (short) value);
    }

    /** Writes four bytes. */
    public static void put32(MemorySegment m, long at, int value) {
        m.set(INT, at, value);
    }

    /** Writes eight bytes. */
    public static void put64(MemorySegment m, long at, long value) {
        m.set(LONG, at, value);
    }

    /** Writes the low six bytes. */
    public static void put48(MemorySegment m, long at, long value) {
        put16(m, at, (int) (value >>> 32));
        put32(m, at + 2, (int) value);
    }
}
