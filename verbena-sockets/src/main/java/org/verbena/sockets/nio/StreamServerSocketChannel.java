// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.FileDescriptor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;
import sun.nio.ch.SelectionKeyImpl;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.rules.Decision;
import org.verbena.sockets.rules.Role;
import org.verbena.sockets.rules.Rules;
import org.verbena.sockets.stream.OpenSocket;
import org.verbena.sockets.stream.Stream;

/**
 * A listening channel: all of it is the inner channel's, one of the JDK's, but what it accepts becomes a
 * {@link StreamSocketChannel}.
 */
final class StreamServerSocketChannel extends VerbenaServerSocketChannel implements SelChImpl {
    private final ServerSocketChannel inner;
    private final SelChImpl socket;
    private final DescriptorHold hold;
    private final ChannelOptions options;
    private final ServerSocket adaptor;

    private final Interrupts interrupts;

    /** What holds for the thread that made this channel; another may bind it. */
    private final boolean offloaded;

    /** The decision of the rules when it was bound; accepted connections follow it. */
    private volatile Decision decision = Decision.DEFAULT;

    private volatile @Nullable OpenSocket published;

    StreamServerSocketChannel(SelectorProvider provider, ServerSocketChannel inner) {
        this(provider, inner, Interrupts.CLOSE_CHANNEL, Rules.isOffloaded());
    }

    /**
     * @param interrupts for what it accepts
     * @param offloaded the value of {@link Rules#isOffloaded} when the program made its socket
     */
    StreamServerSocketChannel(
            SelectorProvider provider, ServerSocketChannel inner, Interrupts interrupts, boolean offloaded) {
        super(provider);
        this.inner = inner;
        this.interrupts = interrupts;
        this.offloaded = offloaded;
        this.socket = (SelChImpl) inner;
        this.hold = new DescriptorHold(inner);
        this.options = new ChannelOptions(this, inner);
        this.adaptor = ChannelServerSocket.of(this);
    }

    /** The JDK's channel under this one. */
    ServerSocketChannel inner() {
        return inner;
    }

    @Override
    public @Nullable SocketChannel accept() throws IOException {
        return accept(inner::accept);
    }

    /** How a connection is taken from the inner channel. */
    @FunctionalInterface
    interface Accepting {
        @Nullable
        SocketChannel accept() throws IOException;
    }

    @Nullable
    StreamSocketChannel accept(Accepting how) throws IOException {
        checkOpen();
        SocketChannel connection;
        try {
            connection = how.accept();
        } finally {
            if (!inner.isOpen()) {
                close(); // by the interruption of a thread that waited
            }
        }
        if (connection == null) {
            return null;
        }
        try {
            countAccepted();
            return StreamSocketChannel.accepted(provider(), connection, interrupts, decision);
        } catch (Throwable t) {
            connection.close();
            throw t;
        }
    }

    /** Counts a connection, one of this channel's or the JDK's. */
    void countAccepted() {
        OpenSocket own = published;
        if (own != null) {
            own.accepted();
        }
    }

    @Override
    public ServerSocketChannel bind(@Nullable SocketAddress local, int backlog) throws IOException {
        checkOpen();
        inner.bind(local, backlog);
        decision = Rules.decide(Role.TCP_SERVER, (InetSocketAddress) inner.getLocalAddress(), null, offloaded);
        String device = decision.device();
        if (device != null) {
            Stream.expect(device);
        }
        OpenSocket own = OpenSocket.listening(inner, decision);
        published = own;
        if (!isOpen()) {
            own.end();
        }
        return this;
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        checkOpen();
        return inner.getLocalAddress();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.set(name, value);
        return this;
    }

    @Override
    public <T> @Nullable T getOption(SocketOption<T> name) throws IOException {
        return options.get(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    public ServerSocket socket() {
        return adaptor;
    }

    private void checkOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        if (block) {
            hold.end();
        }
        inner.configureBlocking(block);
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        OpenSocket own = published;
        if (own != null) {
            own.end();
        }
        inner.close(); // which waits for the selectors that it is registered with, and wakes accepting threads
        if (!isRegistered()) {
            hold.end(); // those that knew it have gone before; from others comes kill()
        }
    }

    /**
     * The inner channel ends by itself, when the inner selector drops its key, or when no selector that is not
     * Verbena's has a key of it.
     */
    @Override
    public void kill() {
        if (!isRegistered()) {
            hold.end();
        }
    }

    // what the JDK's selectors ask, for there may be some from before Verbena came into the process

    @Override
    public FileDescriptor getFD() {
        return socket.getFD();
    }

    @Override
    public int getFDVal() {
        return socket.getFDVal();
    }

    @Override
    public boolean translateAndUpdateReadyOps(int ops, SelectionKeyImpl key) {
        return socket.translateAndUpdateReadyOps(ops, key);
    }

    @Override
    public boolean translateAndSetReadyOps(int ops, SelectionKeyImpl key) {
        return socket.translateAndSetReadyOps(ops, key);
    }

    @Override
    public int translateInterestOps(int ops) {
        hold.begin();
        return socket.translateInterestOps(ops);
    }

    @Override
    public String toString() {
        ServerSocket s = inner.socket();
        String state = !isOpen() ? "closed" : s.isBound() ? String.valueOf(s.getLocalSocketAddress()) : "unbound";
        return VerbenaServerSocketChannel.class.getName() + '[' + state + ']';
    }
}
