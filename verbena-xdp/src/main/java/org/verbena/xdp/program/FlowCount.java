// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What was counted. The value of the map of counters, once for each processor.
 *
 * <pre>
 *  0 ┌──────────────┐
 *    │ packets      │  bytes: 8
 *  8 ├──────────────┤
 *    │ bytes        │  bytes: 8
 * 16 └──────────────┘
 * </pre>
 *
 * @param packets packets; a super-packet of several segments is one
 * @param bytes their bytes with the Ethernet header, all buffers, without the frame check sequence
 */
public record FlowCount(long packets, long bytes) {
    /** Bytes of a count, of one processor. */
    public static final int BYTES = 16;

    static final int PACKETS_AT = 0;
    static final int BYTES_AT = 8;

    /** The sum over all processors, each of which counts without a lock. */
    static FlowCount sum(byte[] values) {
        ByteBuffer b = ByteBuffer.wrap(values).order(ByteOrder.LITTLE_ENDIAN);
        long packets = 0;
        long bytes = 0;
        for (int at = 0; at < values.length; at += BYTES) {
            packets += b.getLong(at + PACKETS_AT);
            bytes += b.getLong(at + BYTES_AT);
        }
        return new FlowCount(packets, bytes);
    }
}
