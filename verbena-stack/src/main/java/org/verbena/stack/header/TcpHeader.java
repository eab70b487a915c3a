// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/**
 * A header of TCP (RFC 9293, 3.1).
 *
 * @param source sender's port
 * @param destination receiver's port
 * @param sequence number of the first byte, or of SYN
 * @param acknowledgment number of the next byte that is expected, if {@link #ACK} is among the flags
 * @param headerBytes length with options
 * @param flags {@link #FIN} to {@link #CWR}
 * @param window bytes that the sender takes, before scaling
 * @param urgent offset of the byte behind urgent data, if {@link #URG} is among the flags
 */
public record TcpHeader(int source, int destination, int sequence, int acknowledgment, int headerBytes, int flags,
        int window, int urgent) {
    /** Length without options. */
    public static final int BYTES = 20;
    /** The longest header. */
    public static final int MOST = 60;
    /** No more data comes from the sender. */
    public static final int FIN = 0x01;
    /** The connection begins. */
    public static final int SYN = 0x02;
    /** The connection is refused, or gone. */
    public static final int RST = 0x04;
    /** The receiver should have the data soon. */
    public static final int PSH = 0x08;
    /** The acknowledgment number has a meaning. */
    public static final int ACK = 0x10;
    /** The urgent pointer has a meaning. */
    public static final int URG = 0x20;
    /** Congestion was seen (RFC 3168). */
    public static final int ECE = 0x40;
    /** The congestion window was reduced (RFC 3168). */
    public static final int CWR = 0x80;

    /** The length of the header with its options if there is a segment, by its lengths, in {@code available} bytes; else 0. */
    public static int check(MemorySegment m, long at, int available) {
        if (available < BYTES) {
            return 0;
        }
        int header = headerBytes(m, at);
        return header >= BYTES && header <= available ? header : 0;
    }

    /** Whether the checksum of a segment is right; {@code addresses} as {@link Checksum} has them. */
    public static boolean isIntact(MemorySegment m, long at, int length, long addresses) {
        return Checksum.of(m, at, length, addresses, Ipv4Header.TCP) == 0;
    }

    /** The header at a place, which was checked. */
    public static TcpHeader of(MemorySegment m, long at) {
        return new TcpHeader(source(m, at), destination(m, at), sequence(m, at), acknowledgment(m, at),
                headerBytes(m, at), flags(m, at), window(m, at), urgent(m, at));
    }

    /** The sender's port. */
    public static int source(MemorySegment m, long at) {
        return Bytes.u16(m, at);
    }

    /** The receiver's port. */
    public static int destination(MemorySegment m, long at) {
        return Bytes.u16(m, at + 2);
    }

    /** The sequence number. */
    public static int sequence(MemorySegment m, long at) {
        return Bytes.i32(m, at + 4);
    }

    /** The acknowledgment number. */
    public static int acknowledgment(MemorySegment m, long at) {
        return Bytes.i32(m, at + 8);
    }

    /** The length of the header with its options, which may be less than a header has. */
    public static int headerBytes(MemorySegment m, long at) {
        return (Bytes.u8(m, at + 12) >>> 4) * 4;
    }

    /** The flags. */
    public static int flags(MemorySegment m, long at) {
        return Bytes.u8(m, at + 13);
    }

    /** The window, before scaling. */
    public static int window(MemorySegment m, long at) {
        return Bytes.u16(m, at + 14);
    }

    /** The urgent pointer. */
    public static int urgent(MemorySegment m, long at) {
        return Bytes.u16(m, at + 18);
    }

    /** Writes a header whose checksum is still to be {@linkplain #finish computed}; its options are written behind it. */
    public static void write(MemorySegment m, long at, int source, int destination, int sequence, int acknowledgment,
            int headerBytes, int flags, int window, int urgent) {
        Bytes.put16(m, at, source);
        Bytes.put16(m, at + 2, destination);
        Bytes.put32(m, at + 4, sequence);
        Bytes.put32(m, at + 8, acknowledgment);
        Bytes.put16(m, at + 12, headerBytes / 4 << 12 | flags);
        Bytes.put16(m, at + 14, window);
        Bytes.put16(m, at + 16, 0);
        Bytes.put16(m, at + 18, urgent);
    }

    /** Writes the checksum of a segment whose header, options and payload are there; {@code addresses} as {@link Checksum} has them. */
    public static void finish(MemorySegment m, long at, int length, long addresses) {
        Bytes.put16(m, at + 16, Checksum.of(m, at, length, addresses, Ipv4Header.TCP));
    }
}
