// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

import org.verbena.verbs.spi.InternetSum;

/** The checksum of IPv4, ICMP, TCP and UDP (RFC 1071), as a field in network byte order has it. */
public final class Checksum {
    private Checksum() {}

    /** The checksum of bytes whose own field is 0; 0 if they have their checksum, and it is right. */
    public static int of(MemorySegment m, long at, int length) {
        return of(InternetSum.of(m, at, length));
    }

    /** That of bytes behind a pseudo-header (RFC 768; RFC 8200, 8.1); {@code addresses} is the sum of {@link #sumOf both}. */
    public static int of(MemorySegment m, long at, int length, long addresses, int protocol) {
        return of(InternetSum.of(m, at, length) + addresses + (Integer.reverseBytes(protocol) >>> 16)
                + (Integer.reverseBytes(length) >>> 16));
    }

    /** The checksum of a sum of {@link InternetSum}. */
    public static int of(long sum) {
        return ~Integer.reverseBytes(InternetSum.fold(sum)) >>> 16;
    }

    /** The part of an address of IPv4 in the sum of a pseudo-header. */
    public static long sumOf(int address) {
        return Integer.reverseBytes(address) & 0xffff_ffffL;
    }

    /** The part of an address of IPv6 in the sum of a pseudo-header. */
    public static long sumOf(long high, long low) {
        return sumOfHalf(high) + sumOfHalf(low);
    }

    private static long sumOfHalf(long half) {
        long words = Long.reverseBytes(half);
        return (words & 0xffff_ffffL) + (words >>> 32);
    }
}
