// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/**
 * A header of IPv6 (RFC 8200, 3), and the numbers of its extension headers. An address is two numbers, of its first and its last 8 bytes.
 *
 * @param trafficClass the low two bits are {@link #ecn}
 * @param flowLabel 20 bits
 * @param payloadBytes length of what follows the header
 * @param nextHeader the protocol of the payload, or an extension header
 * @param hopLimit routers that may forward it
 */
public record Ipv6Header(int trafficClass, int flowLabel, int payloadBytes, int nextHeader, int hopLimit,
        long sourceHigh, long sourceLow, long destinationHigh, long destinationLow) {
    /** Length of the header. */
    public static final int BYTES = 40;
    /** What every link carries (RFC 8200, 5). */
    public static final int LEAST_MTU = 1280;
    /** The longest payload. */
    public static final int MOST_PAYLOAD = 65_535;
    /** Protocol number of ICMPv6. */
    public static final int ICMP = 58;
    /** An extension header: options that every router looks at. */
    public static final int HOP_BY_HOP = 0;
    /** An extension header: hosts to go by. */
    public static final int ROUTING = 43;
    /** An extension header: this is a fragment; {@link #FRAGMENT_BYTES} long. */
    public static final int FRAGMENT = 44;
    /** Nothing follows. */
    public static final int NO_NEXT = 59;
    /** An extension header: options for the receiver. */
    public static final int DESTINATION_OPTIONS = 60;
    /** Length of a fragment header: protocol, 0, {@link #fragmentWord}, identification. */
    public static final int FRAGMENT_BYTES = 8;
    /** In {@link #fragmentWord}: other fragments follow. */
    public static final int MORE_FRAGMENTS = 1;
    /** In {@link #fragmentWord}: the fragment's place in bytes. */
    public static final int OFFSET = 0xfff8;

    private static final int NEXT_HEADER = 6;
    private static final int SOURCE = 8;
    private static final int DESTINATION = 24;

    /** Whether there is a packet by its lengths in {@code available} bytes, of which more than the packet may be there. */
    public static boolean isValid(MemorySegment m, long at, long available) {
        return available >= BYTES && Bytes.u8(m, at) >>> 4 == 6 && BYTES + payloadBytes(m, at) <= available;
    }

    /** The header at a place, which was checked. */
    public static Ipv6Header of(MemorySegment m, long at) {
        int word = Bytes.i32(m, at);
        return new Ipv6Header(word >>> 20 & 0xff, word & 0xf_ffff, payloadBytes(m, at), nextHeader(m, at), hopLimit(m,
                at), sourceHigh(m, at), sourceLow(m, at), destinationHigh(m, at), destinationLow(m, at));
    }

    /** The length of what follows the header. */
    public static int payloadBytes(MemorySegment m, long at) {
        return Bytes.u16(m, at + 4);
    }

    /** Writes the length of what follows the header. */
    public static void payloadBytes(MemorySegment m, long at, int bytes) {
        Bytes.put16(m, at + 4, bytes);
    }

    /** The protocol of the payload, or an extension header. */
    public static int nextHeader(MemorySegment m, long at) {
        return Bytes.u8(m, at + NEXT_HEADER);
    }

    /** Writes the protocol of the payload. */
    public static void nextHeader(MemorySegment m, long at, int next) {
        Bytes.put8(m, at + NEXT_HEADER, next);
    }

    /** The hop limit. */
    public static int hopLimit(MemorySegment m, long at) {
        return Bytes.u8(m, at + 7);
    }

    /** The first half of the sender's address. */
    public static long sourceHigh(MemorySegment m, long at) {
        return Bytes.i64(m, at + SOURCE);
    }

    /** The second half of the sender's address. */
    public static long sourceLow(MemorySegment m, long at) {
        return Bytes.i64(m, at + SOURCE + 8);
    }

    /** The first half of the receiver's address. */
    public static long destinationHigh(MemorySegment m, long at) {
        return Bytes.i64(m, at + DESTINATION);
    }

    /** The second half of the receiver's address. */
    public static long destinationLow(MemorySegment m, long at) {
        return Bytes.i64(m, at + DESTINATION + 8);
    }

    /** The bits of explicit congestion notification (RFC 3168, 5), as {@link Ipv4Header#ecn} has them. */
    public static int ecn(MemorySegment m, long at) {
        return Bytes.u8(m, at + 1) >>> 4 & 3;
    }

    /** The length of an extension header that is no fragment header, of which 2 bytes are there. */
    public static int extensionBytes(MemorySegment m, long at) {
        return 8 + 8 * Bytes.u8(m, at + 1);
    }

    /** Flags and offset of a fragment header. */
    public static int fragmentWord(MemorySegment m, long at) {
        return Bytes.u16(m, at + 2);
    }

    /** The number that the fragments of a packet share. */
    public static int identification(MemorySegment m, long at) {
        return Bytes.i32(m, at + 4);
    }

    /** Writes a fragment header. */
    public static void writeFragment(MemorySegment m, long at, int next, int fragmentWord, int identification) {
        Bytes.put16(m, at, next << 8);
        Bytes.put16(m, at + 2, fragmentWord);
        Bytes.put32(m, at + 4, identification);
    }

    /** Writes a header without a flow label. */
    public static void write(MemorySegment m, long at, int trafficClass, int payloadBytes, int nextHeader, int hopLimit,
            long sourceHigh, long sourceLow, long destinationHigh, long destinationLow) {
        Bytes.put32(m, at, 6 << 28 | trafficClass << 20);
        Bytes.put16(m, at + 4, payloadBytes);
        Bytes.put16(m, at + NEXT_HEADER, nextHeader << 8 | hopLimit);
        Bytes.put64(m, at + SOURCE, sourceHigh);
        Bytes.put64(m, at + SOURCE + 8, sourceLow);
        Bytes.put64(m, at + DESTINATION, destinationHigh);
        Bytes.put64(m, at + DESTINATION + 8, destinationLow);
    }
}
