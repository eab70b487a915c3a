// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import static java.nio.channels.SelectionKey.OP_ACCEPT;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.AcceptPendingException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * An asynchronous listener over one of this module that does not block; what it accepts is in its group. Thread-safe.
 */
public final class StreamAsynchronousServerChannel extends AsynchronousServerSocketChannel {
    private final ServerSocketChannel channel;
    private final Membership member;
    private final Accepting accepting;

    /**
     * Over a channel that was just opened, which is closed if this fails.
     *
     * @throws ShutdownChannelGroupException if the group takes no more
     */
    public StreamAsynchronousServerChannel(ChannelGroup group, ServerSocketChannel channel) throws IOException {
        super(group.provider());
        this.channel = channel;
        this.member = new Membership(group, this, channel);
        this.accepting = new Accepting();
        try {
            channel.configureBlocking(false);
            member.enter(List.of(accepting));
        } catch (IOException | RuntimeException | Error e) {
            channel.close();
            throw e;
        }
    }

    private final class Accepting extends Slot<AsynchronousSocketChannel> {
        Accepting() {
            super(member, OP_ACCEPT);
        }

        @Override
        Object attempt() throws IOException {
            SocketChannel accepted = channel.accept();
            if (accepted == null) {
                return NOT_READY;
            }
            try {
                return new StreamAsynchronousChannel(group(), accepted);
            } catch (ShutdownChannelGroupException e) {
                throw new IOException(e);
            }
        }

        @Override
        void forget() {}

        @Override
        void dispose(@Nullable AsynchronousSocketChannel accepted) {
            if (accepted != null) {
                try {
                    accepted.close();
                } catch (IOException e) {
                    // the program has not seen it
                }
            }
        }

        @Override
        RuntimeException pendingException() {
            return new AcceptPendingException();
        }

        @Override
        RuntimeException killedException() {
            return new IllegalStateException("Accept not allowed due to cancellation");
        }

        /** Else a handler that accepts the next one would serve the first last, and lose all if one throws. */
        @Override
        boolean mayCallAtOnce() {
            return false;
        }
    }

    @Override
    public Future<AsynchronousSocketChannel> accept() {
        Request<AsynchronousSocketChannel> request = new Request<>(accepting, null, null);
        accept(request);
        return request;
    }

    @Override
    public <A> void accept(A attachment, CompletionHandler<AsynchronousSocketChannel, ? super A> handler) {
        accept(new Request<>(accepting, Objects.requireNonNull(handler, "'handler' is null"), attachment));
    }

    private void accept(Request<AsynchronousSocketChannel> request) {
        if (!isOpen()) {
            request.end(null, new ClosedChannelException(), true);
            return;
        }
        if (!channel.socket().isBound()) {
            throw new NotYetBoundException();
        }
        synchronized (member) {
            accepting.begin();
        }
        accepting.start(request, 0, TimeUnit.MILLISECONDS);
    }

    @Override
    public AsynchronousServerSocketChannel bind(@Nullable SocketAddress local, int backlog) throws IOException {
        channel.bind(local, backlog);
        return this;
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        return channel.getLocalAddress();
    }

    @Override
    public <T> AsynchronousServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> @Nullable T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public boolean isOpen() {
        return member.isOpen();
    }

    @Override
    public void close() throws IOException {
        member.close();
    }

    @Override
    public String toString() {
        String s = channel.toString(); // of the channel that carries it, from its state on
        return StreamAsynchronousServerChannel.class.getName() + s.substring(s.indexOf('['));
    }
}
