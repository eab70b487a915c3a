// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Memory that a peer offers: 16 bytes, in network order the message of librdmacm's rping.
 *
 * <pre>
 *  0  address, 8 bytes
 *  8  rkey, 4 bytes
 * 12  size, 4 bytes
 * </pre>
 *
 * @param address of the first byte
 * @param rkey key of the memory
 * @param size bytes, an unsigned number
 */
record RpingBuffer(long address, int rkey, long size) {
    /**
     * Bytes of a message; those of a server of rping, which mean "go ahead", have the same length and arbitrary
     * contents.
     */
    static final int BYTES = 16;

    /** Where the size is. */
    static final int SIZE_AT = 12;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    static RpingBuffer get(MemorySegment from) {
        return get(from, ByteOrder.BIG_ENDIAN);
    }

    static RpingBuffer get(MemorySegment from, ByteOrder order) {
        return new RpingBuffer(from.get(LONG.withOrder(order), 0), from.get(INT.withOrder(order), 8),
                Integer.toUnsignedLong(from.get(INT.withOrder(order), SIZE_AT)));
    }

    void put(MemorySegment to) {
        put(to, ByteOrder.BIG_ENDIAN);
    }

    void put(MemorySegment to, ByteOrder order) {
        to.set(LONG.withOrder(order), 0, address);
        to.set(INT.withOrder(order), 8, rkey);
        to.set(INT.withOrder(order), SIZE_AT, (int) size);
    }

    /** The rest of it behind this many bytes. */
    RpingBuffer behind(long bytes) {
        return new RpingBuffer(address + bytes, rkey, size - bytes);
    }
}
