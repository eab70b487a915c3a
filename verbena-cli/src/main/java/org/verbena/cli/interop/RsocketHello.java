// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

import org.verbena.cli.support.PeerException;

/**
 * The data that the two ends of an rsocket of librdmacm exchange when they connect, as private data of the connection
 * manager, in network order.
 *
 * <pre>
 *  0  version, 1
 *  1  flags: 1 the host is big-endian, 2 byte 7 has a meaning
 *  2  messages that may come, 2 bytes
 *  4  0, 3 bytes
 *  7  places for mapped memory, none here
 *  8  the table of memory to write to, with the number of its entries instead of a size
 * 24  the first memory to write to
 * </pre>
 *
 * @param order byte order of the table
 * @param credits messages with data that the peer may send at first
 * @param table where to announce memory that is free again; its size counts entries
 * @param memory where the first bytes of the peer are written to
 */
record RsocketHello(ByteOrder order, int credits, RpingBuffer table, RpingBuffer memory) {
    /** Its length. */
    static final int BYTES = 40;

    private static final int VERSION = 1;
    private static final int BIG_ENDIAN = 1;
    private static final int HAS_MAPPED = 2;
    private static final int CREDITS_AT = 2;
    private static final int TABLE_AT = 8;
    private static final int MEMORY_AT = TABLE_AT + RpingBuffer.BYTES;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    /** @throws PeerException if it is missing or invalid */
    static RsocketHello of(byte[] privateData) throws PeerException {
        if (privateData.length < BYTES || privateData[0] != VERSION) {
            throw new PeerException("the peer is no rstream: it does not begin as rsockets do");
        }
        MemorySegment from = MemorySegment.ofArray(privateData);
        RsocketHello hello = new RsocketHello(
                (privateData[1] & BIG_ENDIAN) == 0 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN,
                Short.toUnsignedInt(from.get(SHORT, CREDITS_AT)), RpingBuffer.get(from.asSlice(TABLE_AT)),
                RpingBuffer.get(from.asSlice(MEMORY_AT)));
        if (hello.table.size() < 2) {
            throw new PeerException("the peer's table of memory has " + hello.table.size()
                    + " entries; it has to have 2");
        }
        return hello;
    }

    byte[] bytes() {
        byte[] bytes = new byte[BYTES];
        bytes[0] = VERSION;
        bytes[1] = (byte) (HAS_MAPPED | (order.equals(ByteOrder.BIG_ENDIAN) ? BIG_ENDIAN : 0));
        MemorySegment to = MemorySegment.ofArray(bytes);
        to.set(SHORT, CREDITS_AT, (short) credits);
        table.put(to.asSlice(TABLE_AT));
        memory.put(to.asSlice(MEMORY_AT));
        return bytes;
    }
}
