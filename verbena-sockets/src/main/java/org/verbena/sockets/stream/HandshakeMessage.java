// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.memory.BlockLayout;

/**
 * The messages of a handshake between two ends of a TCP connection on one host: 64 bytes each, little-endian, over a
 * Unix socket of type SEQPACKET.
 *
 * <pre>
 *    0  magic     "VBSTREAM"
 *    8  type      int
 *   12  version   int: of the sender; the lower one of the two is spoken
 *   16  HELLO: features long, 24 instance long, 32 cookie long, 40 port int, 48 accepted long
 *       OFFER: index int, 20 block's key int, 24 block's address long, 32 ring's key int, 36 ring's size int,
 *              40 ring's address long, 48 session's header's address long, 56 its key int
 * </pre>
 */
final class HandshakeMessage {
    static final int BYTES = 64;
    static final int VERSION = 1;
    /** The oldest version that is still understood. */
    static final int OLDEST = 1;

    /** A feature: the word {@link BlockLayout#NONCE} of the control block is read. */
    static final int NONCES = 1;
    /** A feature: the end reports up to where its program has read, see {@link BlockLayout#READ}. */
    static final int READ_POSITION = 2;
    /** A feature: the end heeds the word of a process on another host before that ends, {@link ReadyRings#depart}. */
    static final int DEPARTURES = 4;
    /** A feature: the word {@link BlockLayout#LAP} of the control block is read. */
    static final int LAPS = 8;
    /** A feature: an arm word may ask for {@link BlockLayout#BELL}, if the ends have each other's memory mapped. */
    static final int BELLS = 16;
    /** All features of this version. */
    static final int FEATURES = NONCES | READ_POSITION | DEPARTURES | LAPS | BELLS;

    static final int HELLO = 1;
    static final int OFFER = 2;

    private static final long MAGIC = 0x4d41_4552_5453_4256L;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /**
     * The first message of an end.
     *
     * @param version its version
     * @param features it has; unknown ones are not used
     * @param instance random number of its process
     * @param cookie of the client's TCP socket
     * @param port at which its process takes sessions
     * @param accepted cookie of the server's TCP socket
     */
    record Hello(int version, long features, long instance, long cookie, int port, long accepted) {}

    private HandshakeMessage() {}

    static void put(MemorySegment into, Hello hello) {
        start(into, HELLO);
        into.set(LONG, 16, hello.features());
        into.set(LONG, 24, hello.instance());
        into.set(LONG, 32, hello.cookie());
        into.set(INT, 40, hello.port());
        into.set(LONG, 48, hello.accepted());
    }

    static void put(MemorySegment into, Offer offer) {
        start(into, OFFER);
        into.set(INT, 16, offer.index());
        into.set(INT, 20, offer.blockKey());
        into.set(LONG, 24, offer.blockAddress());
        into.set(INT, 32, offer.ringKey());
        into.set(INT, 36, offer.ringSize());
        into.set(LONG, 40, offer.ringAddress());
        into.set(LONG, 48, offer.headerAddress());
        into.set(INT, 56, offer.headerKey());
    }

    private static void start(MemorySegment into, int type) {
        into.fill((byte) 0);
        into.set(LONG, 0, MAGIC);
        into.set(INT, 8, type);
        into.set(INT, 12, VERSION);
    }

    /** Type of a message; 0 if it is none. */
    static int type(MemorySegment message, int length) {
        return length == BYTES && message.get(LONG, 0) == MAGIC ? message.get(INT, 8) : 0;
    }

    static @Nullable Hello hello(MemorySegment message, int length) {
        return type(message, length) != HELLO
                ? null
                : new Hello(message.get(INT, 12), message.get(LONG, 16), message.get(LONG, 24), message.get(LONG, 32),
                        message.get(INT, 40), message.get(LONG, 48));
    }

    static @Nullable Offer offer(MemorySegment message, int length) {
        if (type(message, length) != OFFER) {
            return null;
        }
        Offer offer = new Offer(message.get(INT, 16), message.get(INT, 20), message.get(LONG, 24),
                message.get(INT, 32), message.get(LONG, 40), message.get(INT, 36), message.get(LONG, 48),
                message.get(INT, 56));
        return offer.isSane() ? offer : null;
    }
}
