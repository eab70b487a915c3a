// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.PeerException;

/** A connection of TCP; the length in a message's header says where the next one begins. */
final class StreamLink extends Link {
    private final SocketChannel channel;
    private final InetSocketAddress peer;
    /** Messages that were received, and the beginning of the next: from {@link #taken} to the buffer's position. */
    private final ByteBuffer in = ByteBuffer.allocateDirect(4 * Message.MAX_BYTES);
    private final ByteBuffer message = in.duplicate();
    private int taken;

    StreamLink(SocketChannel channel) throws IOException {
        this.channel = channel;
        peer = (InetSocketAddress) channel.getRemoteAddress();
    }

    @Override
    SelectableChannel channel() {
        return channel;
    }

    @Override
    String peer() {
        return HostPort.text(peer);
    }

    @Override
    boolean send(ByteBuffer bytes) throws IOException {
        channel.write(bytes);
        return !bytes.hasRemaining();
    }

    @Override
    @Nullable
    ByteBuffer receive() throws IOException {
        while (!next()) {
            if (taken == in.position()) {
                in.clear();
                taken = 0;
            } else if (in.capacity() - taken < Message.MAX_BYTES) {
                in.flip().position(taken);
                in.compact();
                taken = 0;
            }
            int n = channel.read(in);
            if (n < 0) {
                throw new EOFException(peer() + " has ended the connection");
            }
            if (n == 0) {
                return null;
            }
        }
        return message;
    }

    @Override
    boolean hasMore() {
        int there = in.position() - taken;
        if (there < Message.HEADER_BYTES) {
            return false;
        }
        message.limit(in.position()).position(taken);
        long length = Message.length(message);
        return length <= there || length > Message.MAX_BYTES; // which is an error
    }

    /** Whether a whole message is there. */
    private boolean next() throws PeerException {
        int there = in.position() - taken;
        if (there < Message.HEADER_BYTES) {
            return false;
        }
        message.limit(in.position()).position(taken);
        long length = Message.length(message);
        if (length < Message.HEADER_BYTES || length > Message.MAX_BYTES) {
            throw new PeerException(peer() + " does not speak sockperf: a message of " + length
                    + " bytes was announced, of "
                    + Message.HEADER_BYTES + " to " + Message.MAX_BYTES);
        }
        if (there < length) {
            return false;
        }
        taken += (int) length;
        message.limit(taken);
        return true;
    }

    @Override
    boolean answer(ByteBuffer bytes) throws IOException {
        return send(bytes);
    }

    @Override
    SocketAddress sender() {
        return peer;
    }

    @Override
    public void close() {
        Channels.close(channel);
    }
}
