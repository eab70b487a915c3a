// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.rules.Decision;
import org.verbena.sockets.rules.Role;
import org.verbena.sockets.rules.Rules;
import org.verbena.sockets.stream.FallbackReason;
import org.verbena.sockets.stream.OpenSocket;
import org.verbena.sockets.stream.Stream;

/** Connects one channel by its inner channel, and has the rules decide what carries the bytes from then on. */
final class Connector {
    /** What makes the connection by the inner channel. */
    @FunctionalInterface
    interface Attempt {
        boolean connect() throws IOException;
    }

    private final StreamSocketChannel channel;
    private final SocketChannel inner;
    /** What holds for the thread that made the channel; another may connect it. */
    private final boolean offloaded;
    private volatile @Nullable OpenSocket pending;

    Connector(StreamSocketChannel channel, boolean offloaded) {
        this.channel = channel;
        this.inner = channel.inner();
        this.offloaded = offloaded;
    }

    /** Makes an attempt, or asks for the outcome of one; returns whether the channel is connected. */
    boolean connect(Attempt how) throws IOException {
        boolean connected = false;
        try {
            channel.input().lock().lock();
            try {
                channel.output().lock().lock();
                try {
                    channel.checkOpen();
                    if (channel.streamOrNull() != null) {
                        throw new AlreadyConnectedException();
                    }
                    if (pending == null) {
                        pending = OpenSocket.connecting(inner);
                    }
                    connected = how.connect();
                    if (connected) {
                        channel.connected(Stream.Role.CLIENT, decision());
                    }
                } finally {
                    channel.output().lock().unlock();
                }
            } finally {
                channel.input().lock().unlock();
            }
        } finally {
            if (connected || !inner.isConnectionPending()) {
                end();
            }
            if (!inner.isOpen()) {
                channel.close(); // a connection that fails closes the inner channel
            }
        }
        return connected;
    }

    /** The decision of the rules on this connection, which is established. */
    private Decision decision() throws IOException {
        return Rules.decide(Role.TCP_CLIENT, (InetSocketAddress) inner.getLocalAddress(),
                (InetSocketAddress) inner.getRemoteAddress(), offloaded);
    }

    /** The channel is connected, or closed. */
    void end() {
        OpenSocket socket = pending;
        pending = null;
        if (socket != null) {
            socket.end();
        }
    }

    /** What carries the bytes of the connection that is made. */
    Stream open(Stream.Role role, Decision decision) {
        Stream made = decision.isKernel()
                ? Stream.byKernel(inner, role, FallbackReason.RULE)
                : channel.foreign().areKnown()
                        ? Stream.byKernel(inner, role, FallbackReason.FOREIGN_SELECTOR)
                        : Stream.of(inner, role, decision.device(), decision.isAtOnce() || Stream.isAtOnce());
        made.decidedBy(decision);
        return made;
    }
}
