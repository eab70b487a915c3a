// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/**
 * A header of UDP (RFC 768).
 *
 * @param source sender's port
 * @param destination receiver's port
 * @param length of header and payload
 */
public record UdpHeader(int source, int destination, int length) {
    /** Length of the header. */
    public static final int BYTES = 8;

    /** Whether there is a datagram by its lengths, in {@code available} bytes. */
    public static boolean isValid(MemorySegment m, long at, int available) {
        return available >= BYTES && length(m, at) >= BYTES && length(m, at) <= available;
    }

    /** Whether a valid datagram has a checksum. */
    public static boolean hasChecksum(MemorySegment m, long at) {
        return Bytes.u16(m, at + 6) != 0;
    }

    /** Whether the checksum of a valid datagram that has one is right; {@code addresses} as {@link Checksum} has them. */
    public static boolean isIntact(MemorySegment m, long at, long addresses) {
        return Checksum.of(m, at, length(m, at), addresses, Ipv4Header.UDP) == 0;
    }

    /** The header at a place, which was checked. */
    public static UdpHeader of(MemorySegment m, long at) {
        return new UdpHeader(source(m, at), destination(m, at), length(m, at));
    }

    /** The sender's port. */
    public static int source(MemorySegment m, long at) {
        return Bytes.u16(m, at);
    }

    /** The receiver's port. */
    public static int destination(MemorySegment m, long at) {
        return Bytes.u16(m, at + 2);
    }

    /** The length of header and payload. */
    public static int length(MemorySegment m, long at) {
        return Bytes.u16(m, at + 4);
    }

    /** Writes the header of a datagram whose payload is there; {@code length} includes the header, {@code addresses} are as {@link Checksum} has them. */
    public static void write(MemorySegment m, long at, int sourcePort, int destinationPort, int length,
            long addresses) {
        Bytes.put16(m, at, sourcePort);
        Bytes.put16(m, at + 2, destinationPort);
        Bytes.put16(m, at + 4, length);
        Bytes.put16(m, at + 6, 0);
        int checksum = Checksum.of(m, at, length, addresses, Ipv4Header.UDP);
        Bytes.put16(m, at + 6, checksum == 0 ? 0xffff : checksum); // 0 says that there is none
    }
}
