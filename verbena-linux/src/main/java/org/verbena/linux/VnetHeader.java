// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The header before each packet of a {@link PacketSocket} or a {@link Tap}: {@code struct virtio_net_hdr}. It says what
 * is left to do for a packet that is sent, or has not been done for one that was received: its checksum, and that it is
 * cut into segments.
 *
 * <pre>
 *  0 u8 flags          1 u8 gso_type       2 u16 hdr_len
 *  4 u16 gso_size      6 u16 csum_start    8 u16 csum_offset
 * </pre>
 *
 * <p>Nothing allocates. Bounds are the segment's. Stateless and thread-safe.
 */
public final class VnetHeader {
    /** Bytes of the header. */
    public static final int BYTES = 10;

    /** Of {@link #flags}: the checksum is to be computed, and its field holds the sum of the pseudo-header. */
    public static final int NEEDS_CSUM = 1;
    /** Of {@link #flags}: the checksum has been verified. */
    public static final int DATA_VALID = 2;
    /** Of {@link #gsoType}: one packet. */
    public static final int GSO_NONE = 0;
    /** Of {@link #gsoType}: TCP over IPv4. */
    public static final int GSO_TCPV4 = 1;
    /** Of {@link #gsoType}: TCP over IPv6. */
    public static final int GSO_TCPV6 = 4;
    /** Of {@link #gsoType}: UDP, each segment a datagram. */
    public static final int GSO_UDP_L4 = 5;
    /** Of {@link #gsoType}, beside another one: TCP with ECN. */
    public static final int GSO_ECN = 0x80;

    private static final int GSO_TYPE = 1;
    private static final int HEADER_LENGTH = 2;
    private static final int GSO_SIZE = 4;
    private static final int CSUM_START = 6;
    private static final int CSUM_OFFSET = 8;

    private VnetHeader() {}

    /** Writes the header of a packet that is complete. */
    public static void plain(MemorySegment memory, long at) {
        put(memory, at, 0, GSO_NONE, 0, 0, 0, 0);
    }

    /** Writes the header of a packet whose checksum the receiver of the header computes. */
    public static void checksum(MemorySegment memory, long at, int start, int offset) {
        put(memory, at, NEEDS_CSUM, GSO_NONE, 0, 0, start, offset);
    }

    /**
     * Writes the header of a packet that is cut into segments.
     *
     * @param gsoType {@link #GSO_TCPV4} or another
     * @param headerBytes all headers, from the packet's beginning to the payload
     * @param segmentBytes payload of a segment
     * @param start of the bytes to be summed, from the packet's beginning: the TCP or UDP header
     * @param offset of the checksum from there
     */
    public static void segmented(MemorySegment memory, long at, int gsoType, int headerBytes, int segmentBytes,
            int start, int offset) {
        put(memory, at, NEEDS_CSUM, gsoType, headerBytes, segmentBytes, start, offset);
    }

    private static void put(MemorySegment memory, long at, int flags, int gsoType, int headerBytes, int segmentBytes,
            int start, int offset) {
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) flags);
        memory.set(ValueLayout.JAVA_BYTE, at + GSO_TYPE, (byte) gsoType);
        memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + HEADER_LENGTH, (short) headerBytes);
        memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + GSO_SIZE, (short) segmentBytes);
        memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + CSUM_START, (short) start);
        memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + CSUM_OFFSET, (short) offset);
    }

    /** See {@link #NEEDS_CSUM}. */
    public static int flags(MemorySegment memory, long at) {
        return memory.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    /** See {@link #GSO_NONE}. */
    public static int gsoType(MemorySegment memory, long at) {
        return memory.get(ValueLayout.JAVA_BYTE, at + GSO_TYPE) & 0xff;
    }

    /** Payload of a segment, in bytes; 0 for one packet. */
    public static int segmentBytes(MemorySegment memory, long at) {
        return memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at + GSO_SIZE) & 0xffff;
    }

    /** Where the bytes to be summed begin, with {@link #NEEDS_CSUM}. */
    public static int checksumStart(MemorySegment memory, long at) {
        return memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at + CSUM_START) & 0xffff;
    }

    /** Where the checksum is from {@link #checksumStart}. */
    public static int checksumOffset(MemorySegment memory, long at) {
        return memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at + CSUM_OFFSET) & 0xffff;
    }
}
