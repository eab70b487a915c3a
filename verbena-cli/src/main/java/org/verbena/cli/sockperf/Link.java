// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;

import org.jspecify.annotations.Nullable;

/** A socket that messages are sent and received by. One thread may send while another receives. */
abstract class Link implements AutoCloseable {
    /** How many received messages were none of sockperf's. */
    private long malformed;
    private @Nullable ByteBuffer rest;

    abstract SelectableChannel channel();

    /** Where it leads, for messages. */
    abstract String peer();

    /**
     * Sends a message, or as much of it as there is room for.
     *
     * @param message from its position to its limit
     * @return whether all of it is sent
     */
    abstract boolean send(ByteBuffer message) throws IOException;

    /**
     * Receives a message; waits for one where the channel is blocking.
     *
     * @return the message, valid until the next call; null if none has come, or not all of it
     * @throws java.io.EOFException if the peer has ended the connection
     */
    abstract @Nullable ByteBuffer receive() throws IOException;

    /** Whether {@link #receive} has a message without receiving anything: no selector tells of that. */
    boolean hasMore() {
        return false;
    }

    /** Sends an answer to the sender of the message that was received last, with the conditions of {@link #send}. */
    abstract boolean answer(ByteBuffer message) throws IOException;

    /** Who has sent the message that was received last. */
    abstract SocketAddress sender();

    /** What is left of an answer, which the socket had no room for; null if nothing is. */
    final @Nullable ByteBuffer rest() {
        return rest;
    }

    final void rest(@Nullable ByteBuffer of) {
        rest = of;
    }

    final void countMalformed() {
        malformed++;
    }

    final long malformed() {
        return malformed;
    }

    @Override
    public abstract void close();
}
