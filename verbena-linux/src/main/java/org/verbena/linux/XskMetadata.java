// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Requests about a packet to send, in the {@value #BYTES} bytes before it: {@code struct xsk_tx_metadata}, for sockets
 * opened with {@link XskConfig#withTxMetadata}. The packet's descriptor has {@link Xsk#XDP_TX_METADATA}.
 *
 * <pre>
 *  0 u64 flags
 *  8 u16 checksum_start, 10 u16 checksum_offset;  when the packet has been sent: u64 time stamp
 * 16 u64 launch time
 * </pre>
 *
 * <p>Methods name the packet by its offset in the memory; a packet whose metadata lie outside it is an
 * {@link IndexOutOfBoundsException}. Nothing allocates. Stateless and thread-safe.
 */
public final class XskMetadata {
    /** Bytes before a packet. */
    public static final int BYTES = 24;

    static final int XDP_TXMD_FLAGS_TIMESTAMP = 1;
    static final int XDP_TXMD_FLAGS_CHECKSUM = 2;
    private static final int START = 8;
    private static final int OFFSET = 10;
    private static final int LAUNCH = 16;

    private XskMetadata() {}

    private static long before(MemorySegment umem, long packet) {
        return Objects.checkFromIndexSize(packet - BYTES, BYTES, umem.byteSize());
    }

    /** Requests nothing; the others add to it. */
    public static void clear(MemorySegment umem, long packet) {
        long at = before(umem, packet);
        umem.set(ValueLayout.JAVA_LONG_UNALIGNED, at, 0);
        umem.set(ValueLayout.JAVA_LONG_UNALIGNED, at + START, 0);
        umem.set(ValueLayout.JAVA_LONG_UNALIGNED, at + LAUNCH, 0);
    }

    /**
     * Requests a checksum: the sum of the field's content, which is that of the pseudo-header, and of all bytes from
     * {@code start} on is written to the field.
     *
     * @param packet its first byte, offset in the memory
     * @param start the first byte to be summed, from the beginning of the packet: 34 for UDP over IPv4 without options
     * @param offset the field, from {@code start}: 6 for UDP, 16 for TCP
     */
    public static void requestChecksum(MemorySegment umem, long packet, int start, int offset) {
        long at = before(umem, packet);
        umem.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + START, (short) start);
        umem.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + OFFSET, (short) offset);
        addFlag(umem, at, XDP_TXMD_FLAGS_CHECKSUM);
    }

    /** Requests the time at which the packet leaves, for {@link #timestamp}. */
    public static void requestTimestamp(MemorySegment umem, long packet) {
        addFlag(umem, before(umem, packet), XDP_TXMD_FLAGS_TIMESTAMP);
    }

    private static void addFlag(MemorySegment umem, long at, long flag) {
        umem.set(ValueLayout.JAVA_LONG_UNALIGNED, at, umem.get(ValueLayout.JAVA_LONG_UNALIGNED, at) | flag);
    }

    /**
     * When a packet left, once its completion was seen.
     *
     * @return nanoseconds of the interface's clock; where it has none, of CLOCK_REALTIME
     */
    public static long timestamp(MemorySegment umem, long packet) {
        return umem.get(ValueLayout.JAVA_LONG_UNALIGNED, before(umem, packet) + START);
    }
}
