// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

import org.verbena.verbs.spi.InternetSum;

/** The checksum of IPv4, ICMP, UDP (RFC 1071), as a field in network byte order has it. */
public final class Checksum {
    private Checksum() {}

    /** The checksum of bytes whose own field is 0; 0 if they have their checksum, and it is right. */
    public static int of(MemorySegment m, long at, int length) {
        return of(InternetSum.of(m, at, length));
    }

    /** That of bytes behind a pseudo-header of IPv4. */
    public static int of(MemorySegment m, long at, int length, int source, int destination, int protocol) {
        return of(InternetSum.of(m, at, length) + pseudoHeader(source, destination, protocol, length));
    }

    /** The checksum of a sum of {@link InternetSum}. */
    public static int of(long sum) {
        return ~Integer.reverseBytes(InternetSum.fold(sum)) >>> 16;
    }

    /** The sum of a pseudo-header of IPv4 (RFC 768), to be added to one of {@link InternetSum}. */
    public static long pseudoHeader(int source, int destination, int protocol, int length) {
        return (Integer.reverseBytes(source) & 0xffff_ffffL) + (Integer.reverseBytes(destination) & 0xffff_ffffL)
                + (Integer.reverseBytes(protocol) >>> 16) + (Integer.reverseBytes(length) >>> 16);
    }
}
