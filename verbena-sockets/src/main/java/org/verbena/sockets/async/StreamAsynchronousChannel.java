// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ReadPendingException;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritePendingException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.Net;

import org.verbena.sockets.nio.NioChannels;

/**
 * An asynchronous channel over a channel of this module that does not block, which rings carry where both ends can.
 * What it answers, and throws, is what the JDK's own does. Thread-safe.
 */
public final class StreamAsynchronousChannel extends AsynchronousSocketChannel {
    private enum State {
        UNCONNECTED, PENDING, CONNECTED
    }

    private final SocketChannel channel;
    private final Membership member;
    private final Connecting connecting;
    private final Transfer reading;
    private final Transfer writing;

    private volatile State state;
    private volatile boolean inputShut;
    private volatile boolean outputShut;

    /**
     * Over a channel that was just opened or accepted, which is closed if this fails.
     *
     * @throws java.nio.channels.ShutdownChannelGroupException if the group takes no more
     */
    public StreamAsynchronousChannel(ChannelGroup group, SocketChannel channel) throws IOException {
        super(group.provider());
        this.channel = channel;
        this.state = channel.isConnected() ? State.CONNECTED : State.UNCONNECTED;
        this.member = new Membership(group, this, channel);
        this.connecting = new Connecting();
        this.reading = new Reading();
        this.writing = new Writing();
        try {
            channel.configureBlocking(false);
            member.enter(List.of(connecting, reading, writing));
        } catch (IOException | RuntimeException | Error e) {
            channel.close();
            throw e;
        }
    }

    // -- connecting

    private final class Connecting extends Slot<@Nullable Void> {
        private @Nullable SocketAddress remote;

        Connecting() {
            super(member, OP_CONNECT);
        }

        @Override
        @Nullable
        Object attempt() throws IOException {
            SocketAddress r = remote;
            remote = null; // from the second time on it is asked whether it has come about
            boolean done = r != null ? channel.connect(r) : channel.finishConnect();
            if (done) {
                state = State.CONNECTED;
            }
            return done ? null : NOT_READY;
        }

        @Override
        void forget() {
            remote = null;
        }

        @Override
        void failed(Throwable failure) {
            try {
                close();
            } catch (IOException e) {
                failure.addSuppressed(e);
            }
        }

        @Override
        RuntimeException pendingException() {
            return new ConnectionPendingException();
        }

        @Override
        RuntimeException killedException() {
            return new ConnectionPendingException(); // it was cancelled, and the connection may have been made
        }

        @Override
        void killed() {
            kill();
            reading.kill();
            writing.kill();
        }
    }

    @Override
    public Future<@Nullable Void> connect(SocketAddress remote) {
        Request<@Nullable Void> request = new Request<>(connecting, null, null);
        connect(remote, request);
        return request;
    }

    @Override
    public <A> void connect(SocketAddress remote, A attachment, CompletionHandler<@Nullable Void, ? super A> handler) {
        connect(remote, new Request<@Nullable Void>(connecting, checked(handler), attachment));
    }

    private void connect(SocketAddress remote, Request<@Nullable Void> request) {
        if (!isOpen()) {
            request.end(null, new ClosedChannelException(), true);
            return;
        }
        Net.checkAddress(remote);
        synchronized (member) {
            if (state == State.CONNECTED) {
                throw new AlreadyConnectedException();
            }
            connecting.begin();
            connecting.remote = remote;
            state = State.PENDING;
        }
        connecting.start(request, 0, TimeUnit.MILLISECONDS);
    }

    // -- reading

    private final class Reading extends Transfer {
        Reading() {
            super(member, OP_READ);
        }

        @Override
        int move(ByteBuffer buffer) throws IOException {
            return NioChannels.readUnrecorded(channel, buffer);
        }

        @Override
        long move(ByteBuffer[] buffers) throws IOException {
            return NioChannels.readUnrecorded(channel, buffers);
        }

        @Override
        RuntimeException pendingException() {
            return new ReadPendingException();
        }

        @Override
        RuntimeException killedException() {
            return new IllegalStateException("Reading not allowed due to timeout or cancellation");
        }
    }

    @Override
    @SuppressWarnings("unchecked") // the result for one buffer is an Integer
    public Future<Integer> read(ByteBuffer into) {
        checkWritable(into);
        Request<Number> request = new Request<>(reading, null, null);
        read(request, into, null, 0, TimeUnit.SECONDS);
        return (Future<Integer>) (Future<?>) request;
    }

    @Override
    public <A> void read(
            ByteBuffer into,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        checked(handler);
        checkWritable(into);
        read(request(reading, attachment, handler), into, null, timeout, unit);
    }

    @Override
    public <A> void read(
            ByteBuffer[] into,
            int offset,
            int length,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Long, ? super A> handler) {
        checked(handler);
        Objects.checkFromIndexSize(offset, length, into.length);
        ByteBuffer[] part = Arrays.copyOfRange(into, offset, offset + length);
        for (ByteBuffer b : part) {
            checkWritable(b);
        }
        read(request(reading, attachment, handler), null, part, timeout, unit);
    }

    private void read(
            Request<Number> request,
            @Nullable ByteBuffer one,
            ByteBuffer @Nullable [] many,
            long timeout,
            TimeUnit unit) {
        if (!isOpen()) {
            request.end(null, new ClosedChannelException(), true);
            return;
        }
        checkConnected();
        boolean begun = false;
        synchronized (member) {
            reading.check();
            if (!inputShut && (one == null || one.hasRemaining())) {
                reading.begin();
                reading.set(one, many);
                begun = true;
            }
        }
        if (begun) {
            reading.start(request, timeout, unit);
        } else {
            request.end(Transfer.result(many != null, inputShut ? -1 : 0), null, true);
        }
    }

    private static void checkWritable(ByteBuffer buffer) {
        if (buffer.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    // -- writing

    private final class Writing extends Transfer {
        Writing() {
            super(member, OP_WRITE);
        }

        @Override
        int move(ByteBuffer buffer) throws IOException {
            return NioChannels.writeUnrecorded(channel, buffer);
        }

        @Override
        long move(ByteBuffer[] buffers) throws IOException {
            return NioChannels.writeUnrecorded(channel, buffers);
        }

        @Override
        RuntimeException pendingException() {
            return new WritePendingException();
        }

        @Override
        RuntimeException killedException() {
            return new IllegalStateException("Writing not allowed due to timeout or cancellation");
        }
    }

    @Override
    @SuppressWarnings("unchecked") // the result for one buffer is an Integer
    public Future<Integer> write(ByteBuffer from) {
        Objects.requireNonNull(from);
        Request<Number> request = new Request<>(writing, null, null);
        write(request, from, null, 0, TimeUnit.SECONDS);
        return (Future<Integer>) (Future<?>) request;
    }

    @Override
    public <A> void write(
            ByteBuffer from,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        checked(handler);
        Objects.requireNonNull(from);
        write(request(writing, attachment, handler), from, null, timeout, unit);
    }

    @Override
    public <A> void write(
            ByteBuffer[] from,
            int offset,
            int length,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Long, ? super A> handler) {
        checked(handler);
        Objects.checkFromIndexSize(offset, length, from.length);
        ByteBuffer[] part = Arrays.copyOfRange(from, offset, offset + length);
        write(request(writing, attachment, handler), null, part, timeout, unit);
    }

    private void write(
            Request<Number> request,
            @Nullable ByteBuffer one,
            ByteBuffer @Nullable [] many,
            long timeout,
            TimeUnit unit) {
        if (isOpen()) {
            checkConnected();
            boolean begun = false;
            synchronized (member) {
                writing.check();
                if (!outputShut && (one == null || one.hasRemaining())) {
                    writing.begin();
                    writing.set(one, many);
                    begun = true;
                }
            }
            if (begun) {
                writing.start(request, timeout, unit);
                return;
            }
            if (!outputShut) {
                request.end(0, null, true);
                return;
            }
        }
        request.end(null, new ClosedChannelException(), true);
    }

    // -- both

    private static <H> H checked(H handler) {
        return Objects.requireNonNull(handler, "'handler' is null");
    }

    /** A request whose handler expects the type that is a result for what it asks for. */
    @SuppressWarnings("unchecked")
    private static <A> Request<Number> request(
            Transfer slot, A attachment, CompletionHandler<? extends Number, ? super A> handler) {
        return new Request<>(slot, (CompletionHandler<Number, ? super A>) handler, attachment);
    }

    private void checkConnected() {
        if (state != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
    }

    private void checkOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public AsynchronousSocketChannel shutdownInput() throws IOException {
        checkOpen();
        checkConnected();
        channel.shutdownInput();
        inputShut = true;
        reading.ready(); // a pending read finds the end
        return this;
    }

    @Override
    public AsynchronousSocketChannel shutdownOutput() throws IOException {
        checkOpen();
        checkConnected();
        channel.shutdownOutput();
        outputShut = true;
        writing.ready(); // a pending write fails
        return this;
    }

    @Override
    public AsynchronousSocketChannel bind(@Nullable SocketAddress local) throws IOException {
        checkOpen();
        if (state == State.PENDING) {
            throw new ConnectionPendingException();
        }
        channel.bind(local);
        return this;
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        checkOpen();
        return channel.getLocalAddress();
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        checkOpen();
        return state == State.CONNECTED ? channel.getRemoteAddress() : null;
    }

    @Override
    public <T> AsynchronousSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
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
        return StreamAsynchronousChannel.class.getName() + s.substring(s.indexOf('['));
    }
}
