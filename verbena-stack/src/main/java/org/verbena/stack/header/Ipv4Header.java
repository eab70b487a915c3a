// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/**
 * A header of IPv4 (RFC 791).
 *
 * @param headerBytes length with options
 * @param totalBytes length of the packet
 * @param identification number of the datagram that a fragment is of
 * @param moreFragments whether others follow
 * @param offset bytes of the datagram before this fragment
 * @param ttl time to live
 * @param protocol of the payload
 * @param source sender's address
 * @param destination receiver's address
 */
public record Ipv4Header(int headerBytes, int totalBytes, int identification, boolean moreFragments, int offset,
        int ttl, int protocol,
        int source, int destination) {
    /** Length without options. */
    public static final int BYTES = 20;
    /** The longest packet. */
    public static final int MOST = 65_535;
    /** Protocol number of ICMP. */
    public static final int ICMP = 1;
    /** Protocol number of TCP. */
    public static final int TCP = 6;
    /** Protocol number of UDP. */
    public static final int UDP = 17;
    /** Of {@link #ecn}: the sender understands, ECT(0). */
    public static final int ECN_CAPABLE = 2;
    /** Of {@link #ecn}: congestion was seen, CE. */
    public static final int CONGESTED = 3;
    /** In {@link #fragmentWord}: not to be fragmented. */
    public static final int DONT_FRAGMENT = 0x4000;
    /** In {@link #fragmentWord}: other fragments follow. */
    public static final int MORE_FRAGMENTS = 0x2000;
    /** In {@link #fragmentWord}: the fragment's place in units of 8 bytes. */
    public static final int OFFSET = 0x1fff;

    private static final int END_OF_OPTIONS = 0;
    private static final int NO_OPERATION = 1;
    private static final int LOOSE_SOURCE_ROUTE = 131;
    private static final int STRICT_SOURCE_ROUTE = 137;

    /**
     * The length of the header if there is a packet with a right checksum in {@code available} bytes, of which more than the packet may be
     * there (Ethernet pads frames); else 0.
     */
    public static int check(MemorySegment m, long at, long available) {
        if (available < BYTES || Bytes.u8(m, at) >>> 4 != 4) {
            return 0;
        }
        int header = headerBytes(m, at);
        int total = totalBytes(m, at);
        return header >= BYTES && header <= total && total <= available && Checksum.of(m, at, header) == 0 ? header : 0;
    }

    /** The header at a place, which was checked. */
    public static Ipv4Header of(MemorySegment m, long at) {
        int word = fragmentWord(m, at);
        return new Ipv4Header(headerBytes(m, at), totalBytes(m, at), identification(m, at), (word
                & MORE_FRAGMENTS) != 0,
                (word & OFFSET) * 8, ttl(m, at), protocol(m, at), source(m, at), destination(m, at));
    }

    /** The length of the header with its options, which may be less than a header has. */
    public static int headerBytes(MemorySegment m, long at) {
        return (Bytes.u8(m, at) & 0xf) * 4;
    }

    /** The length of the packet. */
    public static int totalBytes(MemorySegment m, long at) {
        return Bytes.u16(m, at + 2);
    }

    /** The number that the fragments of a datagram share. */
    public static int identification(MemorySegment m, long at) {
        return Bytes.u16(m, at + 4);
    }

    /** Flags and offset of a fragment. */
    public static int fragmentWord(MemorySegment m, long at) {
        return Bytes.u16(m, at + 6);
    }

    /** The time to live. */
    public static int ttl(MemorySegment m, long at) {
        return Bytes.u8(m, at + 8);
    }

    /** The protocol of the payload. */
    public static int protocol(MemorySegment m, long at) {
        return Bytes.u8(m, at + 9);
    }

    /** The sender's address. */
    public static int source(MemorySegment m, long at) {
        return Bytes.i32(m, at + 12);
    }

    /** The receiver's address. */
    public static int destination(MemorySegment m, long at) {
        return Bytes.i32(m, at + 16);
    }

    /**
     * Whether the options of a header that was checked are well-formed, and none asks for a way through hosts of the sender's choice, which
     * RFC 7126 advises to drop.
     */
    public static boolean areOptionsAcceptable(MemorySegment m, long at) {
        long end = at + headerBytes(m, at);
        for (long i = at + BYTES; i < end;) {
            int kind = Bytes.u8(m, i);
            if (kind == END_OF_OPTIONS) {
                return true;
            }
            if (kind == LOOSE_SOURCE_ROUTE || kind == STRICT_SOURCE_ROUTE) {
                return false;
            }
            int length = kind == NO_OPERATION ? 1 : i + 1 < end ? Bytes.u8(m, i + 1) : 0;
            if (length == 0 || kind != NO_OPERATION && length < 2 || length > end - i) {
                return false;
            }
            i += length;
        }
        return true;
    }

    /** The bits of explicit congestion notification (RFC 3168, 5). */
    public static int ecn(MemorySegment m, long at) {
        return Bytes.u8(m, at + 1) & 3;
    }

    /** Writes a header without options, with its checksum. */
    public static void write(MemorySegment m, long at, int totalBytes, int identification, int fragmentWord, int ttl,
            int protocol,
            int source, int destination) {
        write(m, at, 0, totalBytes, identification, fragmentWord, ttl, protocol, source, destination);
    }

    /** As the other, with a type of service, whose low two bits are those of {@link #ecn}. */
    public static void write(MemorySegment m, long at, int tos, int totalBytes, int identification, int fragmentWord,
            int ttl, int protocol, int source, int destination) {
        Bytes.put16(m, at, 0x4500 | tos);
        Bytes.put16(m, at + 2, totalBytes);
        Bytes.put16(m, at + 4, identification);
        Bytes.put16(m, at + 6, fragmentWord);
        Bytes.put8(m, at + 8, ttl);
        Bytes.put8(m, at + 9, protocol);
        Bytes.put16(m, at + 10, 0);
        Bytes.put32(m, at + 12, source);
        Bytes.put32(m, at + 16, destination);
        Bytes.put16(m, at + 10, Checksum.of(m, at, BYTES));
    }
}
