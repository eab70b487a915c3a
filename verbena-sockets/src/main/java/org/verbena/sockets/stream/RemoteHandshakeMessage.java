// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * The messages between processes on two hosts: by the connection manager, when they make a session, and by SENDs in
 * it. Big-endian, but for the offer.
 *
 * <pre>
 * private data of REQ and REP, 56 bytes             control message, 96 bytes
 *    0  "VBSR"                                        0  "VBSR"
 *    4  byte version, 5 byte 0, 6 short features      4  byte version, 5 byte type, 6 short why
 *    8  short client's port, 10 short server's        8  short client's port, 10 short server's
 *   12  int key and                                  12  int 0
 *   16  long address of the session's header         16  long nonce, 24 long 0
 *   24  long nonce                                   32  of an OFFER and an ANSWER: an OFFER of {@link
 *        HandshakeMessage} 32  16 bytes: id of the process 48  int client's address, folded, 52 server's
 * private data of REJ, 8 bytes: "VBSR", byte version, byte why, short 0
 * </pre>
 */
final class RemoteHandshakeMessage {
    static final int VERSION = 1;
    /** The oldest version that is still understood. */
    static final int OLDEST = 1;
    static final int PRIVATE_BYTES = 56;
    static final int REFUSAL_BYTES = 8;
    static final int CONTROL_MESSAGE_BYTES = 96;

    /** The end that connected offers where it may be written to. */
    static final int OFFER = 1;
    /** The end that was accepted offers the same, and uses the offer. */
    static final int ANSWER = 2;
    /** It does not, and the offer is void. */
    static final int DECLINE = 3;

    /** No connection of that name waits to be found. */
    static final int UNKNOWN = 1;
    /** The version is too old. */
    static final int WRONG_VERSION = 2;
    /** There is nothing to make it of. */
    static final int NO_ROOM = 3;
    /** It was closed. */
    static final int CLOSED = 4;

    private static final int MAGIC = 0x5642_5352;
    private static final int OFFER_AT = 32;
    private static final int PORT_MASK = 0xffff;

    /**
     * The message of both ends of a session when it is made.
     *
     * @param version the sender's
     * @param features it has; unknown ones are not used
     * @param clientPort of the connection for which the session is made, and
     * @param serverPort of it
     * @param clientAddress of it, {@linkplain ConnectionName#fold folded}
     * @param serverAddress of it, folded
     * @param headerKey of the sender's end of the session, and
     * @param headerAddress of it
     * @param nonce a random number of the request, which the answer has too
     * @param idHigh half of the random id of the sender's process
     * @param idLow the other half
     */
    record SessionHello(int version, int features, int clientPort, int serverPort, int clientAddress, int serverAddress,
            int headerKey, long headerAddress, long nonce, long idHigh, long idLow) {}

    /**
     * The messages of the ends of a connection.
     *
     * @param type {@link #OFFER}, {@link #ANSWER} or {@link #DECLINE}
     * @param why of a {@link #DECLINE}
     * @param clientPort of the connection, and
     * @param serverPort of it: the addresses are those of the session
     * @param nonce a random number of the offer, which what it is answered by has too
     * @param offer null if it declines
     */
    record ControlMessage(int type, int why, int clientPort, int serverPort, long nonce, @Nullable Offer offer) {}

    private RemoteHandshakeMessage() {}

    static byte[] bytes(SessionHello m) {
        return ByteBuffer.allocate(PRIVATE_BYTES).putInt(MAGIC).put((byte) m.version()).put((byte) 0)
                .putShort((short) m.features()).putShort((short) m.clientPort()).putShort((short) m.serverPort())
                .putInt(m.headerKey()).putLong(m.headerAddress()).putLong(m.nonce()).putLong(m.idHigh())
                .putLong(m.idLow()).putInt(m.clientAddress()).putInt(m.serverAddress()).array();
    }

    /**
     * Null if it is none. Messages of InfiniBand have no length of private data: what comes through a kernel ends with
     * zeros.
     */
    static @Nullable SessionHello sessionHello(byte[] bytes) {
        ByteBuffer b = ByteBuffer.wrap(bytes);
        if (bytes.length < PRIVATE_BYTES || b.getInt(0) != MAGIC) {
            return null;
        }
        return new SessionHello(b.get(4) & 0xff, b.getShort(6) & PORT_MASK, b.getShort(8) & PORT_MASK,
                b.getShort(10) & PORT_MASK, b.getInt(48), b.getInt(52), b.getInt(12), b.getLong(16), b.getLong(24),
                b.getLong(32), b.getLong(40));
    }

    static byte[] refusal(int why) {
        return ByteBuffer.allocate(REFUSAL_BYTES).putInt(MAGIC).put((byte) VERSION).put((byte) why).array();
    }

    /** Why a session was refused; 0 if it was not by Verbena. */
    static int why(byte[] refusal) {
        ByteBuffer b = ByteBuffer.wrap(refusal);
        return refusal.length >= REFUSAL_BYTES && b.getInt(0) == MAGIC ? b.get(5) & 0xff : 0;
    }

    /** The reason counted by its receiver. */
    static FallbackReason reason(int why) {
        return switch (why) {
            case UNKNOWN -> FallbackReason.REMOTE_PEER;
            case WRONG_VERSION -> FallbackReason.OTHER_VERSION;
            case CLOSED -> FallbackReason.CLOSED_EARLY;
            default -> FallbackReason.NO_SESSION;
        };
    }

    static byte[] bytes(ControlMessage message) {
        ByteBuffer b = ByteBuffer.allocate(CONTROL_MESSAGE_BYTES).putInt(MAGIC).put((byte) VERSION).put((byte) message
                .type())
                .putShort((short) message.why()).putShort((short) message.clientPort())
                .putShort((short) message.serverPort()).putInt(0).putLong(message.nonce());
        Offer offer = message.offer();
        if (offer != null) {
            try (Arena memory = Arena.ofConfined()) {
                MemorySegment offered = memory.allocate(HandshakeMessage.BYTES, Long.BYTES);
                HandshakeMessage.put(offered, offer);
                b.put(OFFER_AT, offered.toArray(ValueLayout.JAVA_BYTE));
            }
        }
        return b.array();
    }

    /** Null if it is none, or invalid. */
    static @Nullable ControlMessage controlMessage(byte[] bytes) {
        ByteBuffer b = ByteBuffer.wrap(bytes);
        if (bytes.length != CONTROL_MESSAGE_BYTES || b.getInt(0) != MAGIC) {
            return null;
        }
        int type = b.get(5);
        Offer offer = null;
        if (type == OFFER || type == ANSWER) {
            try (Arena memory = Arena.ofConfined()) {
                MemorySegment offered = memory.allocate(HandshakeMessage.BYTES, Long.BYTES);
                offered.asByteBuffer().put(bytes, OFFER_AT, HandshakeMessage.BYTES);
                offer = HandshakeMessage.offer(offered, HandshakeMessage.BYTES);
            }
            if (offer == null) {
                return null;
            }
        } else if (type != DECLINE) {
            return null;
        }
        return new ControlMessage(type, b.getShort(6) & PORT_MASK, b.getShort(8) & PORT_MASK, b.getShort(10)
                & PORT_MASK,
                b.getLong(16), offer);
    }
}
