// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectableChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HostPort;

/** A socket of UDP: of a client, or a server's with all its clients. */
final class DatagramLink extends Link {
    private final DatagramChannel channel;
    private final InetSocketAddress target;
    private final @Nullable InetSocketAddress group;
    private final ByteBuffer in = ByteBuffer.allocateDirect(Message.MAX_BYTES);
    private SocketAddress sender;

    /**
     * Makes one.
     *
     * @param channel bound, and connected to the target unless that is a group
     * @param target of a client: where messages go; of a server: what it is bound to
     * @param answersTo of a server: the group that answers go to, at the port of the message's sender; null: to its sender
     */
    DatagramLink(DatagramChannel channel, InetSocketAddress target, @Nullable InetSocketAddress answersTo) {
        this.channel = channel;
        this.target = target;
        group = answersTo;
        sender = target;
    }

    @Override
    SelectableChannel channel() {
        return channel;
    }

    SocketAddress local() throws IOException {
        return channel.getLocalAddress();
    }

    @Override
    String peer() {
        return HostPort.text(target);
    }

    @Override
    boolean send(ByteBuffer message) throws IOException {
        if (channel.isConnected()) {
            channel.write(message);
        } else {
            channel.send(message, target);
        }
        return !message.hasRemaining();
    }

    @Override
    @Nullable
    ByteBuffer receive() throws IOException {
        while (true) {
            in.clear();
            if (channel.isConnected()) {
                if (channel.read(in) == 0 && in.position() == 0) {
                    return null; // or an empty datagram, which is none of ours either
                }
            } else {
                SocketAddress from = channel.receive(in);
                if (from == null) {
                    return null;
                }
                sender = from;
            }
            in.flip();
            if (in.remaining() >= Message.HEADER_BYTES && Message.length(in) == in.remaining()) {
                return in;
            }
            countMalformed();
        }
    }

    @Override
    boolean answer(ByteBuffer message) throws IOException {
        InetSocketAddress from = (InetSocketAddress) sender;
        InetSocketAddress g = group;
        channel.send(message, g == null ? from : new InetSocketAddress(g.getAddress(), from.getPort()));
        return !message.hasRemaining();
    }

    @Override
    SocketAddress sender() {
        return sender;
    }

    @Override
    public void close() {
        Channels.close(channel);
    }
}
