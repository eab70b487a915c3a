// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.FileDescriptor;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;
import sun.nio.ch.SelectionKeyImpl;

import org.verbena.sockets.VerbenaSocketChannel;

/** What a channel answers as the JDK's channel under it does, as long as it is open itself. */
abstract class JdkBackedChannel extends VerbenaSocketChannel implements SelChImpl {
    private final SocketChannel inner;
    private final SelChImpl socket;
    private final ForeignSelectors foreign;

    JdkBackedChannel(SelectorProvider provider, SocketChannel inner) {
        super(provider);
        this.inner = inner;
        this.socket = (SelChImpl) inner;
        this.foreign = new ForeignSelectors(inner);
    }

    /** The JDK's channel under this one. */
    public final SocketChannel inner() {
        return inner;
    }

    /** The registrations of this channel with selectors that are not Verbena's. */
    final ForeignSelectors foreign() {
        return foreign;
    }

    abstract ChannelOptions options();

    final void checkOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public final SocketChannel bind(@Nullable SocketAddress local) throws IOException {
        checkOpen();
        inner.bind(local);
        return this;
    }

    @Override
    public final @Nullable SocketAddress getLocalAddress() throws IOException {
        checkOpen();
        return inner.getLocalAddress();
    }

    @Override
    public final @Nullable SocketAddress getRemoteAddress() throws IOException {
        checkOpen();
        return inner.getRemoteAddress();
    }

    @Override
    public final <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options().set(name, value);
        return this;
    }

    @Override
    public final <T> @Nullable T getOption(SocketOption<T> name) throws IOException {
        return options().get(name);
    }

    @Override
    public final Set<SocketOption<?>> supportedOptions() {
        return options().supported();
    }

    @Override
    public final FileDescriptor getFD() {
        return socket.getFD();
    }

    @Override
    public final int getFDVal() {
        return socket.getFDVal();
    }

    // what the JDK's selectors ask, for there may be some from before Verbena came into the process

    @Override
    public final boolean translateAndUpdateReadyOps(int ops, SelectionKeyImpl key) {
        return foreign.ready(ops, key.nioReadyOps(), key);
    }

    @Override
    public final boolean translateAndSetReadyOps(int ops, SelectionKeyImpl key) {
        return foreign.ready(ops, 0, key);
    }

    @Override
    public final int translateInterestOps(int ops) {
        return foreign.events(ops);
    }

    @Override
    public final String toString() {
        StringBuilder text = new StringBuilder(VerbenaSocketChannel.class.getName()).append('[');
        if (!isOpen()) {
            return text.append("closed]").toString();
        }
        text.append(isConnected() ? "connected" : isConnectionPending() ? "connection-pending" : "unconnected");
        Socket own = socket();
        text.append(own.isInputShutdown() ? " ishut" : "").append(own.isOutputShutdown() ? " oshut" : "");
        if (own.isBound()) {
            text.append(" local=").append(own.getLocalSocketAddress());
        }
        SocketAddress remote = own.getRemoteSocketAddress();
        if (remote != null) {
            text.append(" remote=").append(remote);
        }
        return text.append(']').toString();
    }
}
