package org.verbena.cli;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Memory that a client offers, the message of librdmacm's rping: 16 bytes in network order.
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
record RpingOffer(long address, int rkey, long size) {
    /** Bytes of a message; a server's, which say "go ahead", are as long and may carry anything. */
    static final int BYTES = 16;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    static RpingOffer get(MemorySegment from) {
        return new RpingOffer(from.get(LONG, 0), from.get(INT, 8), Integer.toUnsignedLong(from.get(INT, 12)));
    }

    void put(MemorySegment to) {
        to.set(LONG, 0, address);
        to.set(INT, 8, rkey);
        to.set(INT, 12, (int) size);
    }
}
