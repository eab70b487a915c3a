// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/** Messages of IGMP (RFC 1112, 2236, 3376): type, a time in tenths of a second, checksum, group, and more in version 3. */
public final class IgmpMessage {
    /** Length of those of the versions 1 and 2, and of the fixed part of a report of version 3. */
    public static final int BYTES = 8;
    /** Length of the fixed part of a query of version 3. */
    public static final int QUERY_BYTES = 12;
    /** Protocol number. */
    public static final int PROTOCOL = 2;
    /** Type: membership query. */
    public static final int QUERY = 0x11;
    /** Type: membership report of version 1. */
    public static final int REPORT_1 = 0x12;
    /** Type: membership report of version 2. */
    public static final int REPORT_2 = 0x16;
    /** Type: leave group, of version 2. */
    public static final int LEAVE = 0x17;
    /** Type: membership report of version 3. */
    public static final int REPORT_3 = 0x22;

    private static final int FLOATING = 0x80;

    private IgmpMessage() {}

    /** Whether there is a message with a right checksum. */
    public static boolean isValid(MemorySegment m, long at, int length) {
        return length >= BYTES && Checksum.of(m, at, length) == 0;
    }

    /** The type. */
    public static int type(MemorySegment m, long at) {
        return Bytes.u8(m, at);
    }

    /** The group; 0 in a query for all. */
    public static int group(MemorySegment m, long at) {
        return Bytes.i32(m, at + 4);
    }

    /** The time in which hosts answer, in tenths of a second (RFC 3376, 4.1.1); 0 in a query of version 1. */
    public static int responseTime(MemorySegment m, long at) {
        return code(Bytes.u8(m, at + 1), FLOATING, 4);
    }

    /** A number that is itself below {@code floating}, and else mantissa and exponent (RFC 3376, 4.1.1; RFC 3810, 5.1.3). */
    public static int code(int value, int floating, int mantissaBits) {
        if (value < floating) {
            return value;
        }
        int mantissa = value & (1 << mantissaBits) - 1 | 1 << mantissaBits;
        return mantissa << (value >>> mantissaBits & 7) + 3;
    }

    /** Writes a message of {@code length} bytes, whose bytes behind the first 4 are there. */
    public static void write(MemorySegment m, long at, int length, int type) {
        Bytes.put16(m, at, type << 8);
        Bytes.put16(m, at + 2, 0);
        Bytes.put16(m, at + 2, Checksum.of(m, at, length));
    }
}
