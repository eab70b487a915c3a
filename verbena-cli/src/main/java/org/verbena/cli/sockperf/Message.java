// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.nio.ByteBuffer;

/**
 * A message of sockperf, big-endian: <pre>
 *    0  long sequence number: from 1 in the order of sending
 *    8  short flags
 *   10  int length of the whole message, bytes
 *   14  what fills it up
 * </pre>
 */
final class Message {
    static final int HEADER_BYTES = 14;
    /** What fits into a datagram; the same for TCP. */
    static final int MAX_BYTES = 65_507;

    /** A client has sent it. */
    static final int CLIENT = 1;
    /** The server is to answer it. */
    static final int PONG = 2;
    /** It only makes ready what it passes. */
    static final int WARM_UP = 4;

    private static final int FLAGS_AT = 8;
    private static final int LENGTH_AT = 10;

    private Message() {}

    /** Writes the header of a message that begins at the buffer's first byte. */
    static void header(ByteBuffer message, long sequence, int flags, int length) {
        message.putLong(0, sequence).putShort(FLAGS_AT, (short) flags).putInt(LENGTH_AT, length);
    }

    static long sequence(ByteBuffer message) {
        return message.getLong(message.position());
    }

    static boolean has(ByteBuffer message, int flag) {
        return (message.getShort(message.position() + FLAGS_AT) & flag) != 0;
    }

    /** The length that the header has; unsigned. */
    static long length(ByteBuffer message) {
        return Integer.toUnsignedLong(message.getInt(message.position() + LENGTH_AT));
    }

    /** Makes the answer of a message. */
    static void answer(ByteBuffer message) {
        int at = message.position() + FLAGS_AT;
        message.putShort(at, (short) (message.getShort(at) & ~CLIENT));
    }
}
