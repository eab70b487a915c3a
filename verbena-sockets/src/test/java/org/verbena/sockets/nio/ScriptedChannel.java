// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;
import sun.nio.ch.SelectionKeyImpl;

import org.verbena.sockets.stream.ScriptedStream;
import org.verbena.sockets.stream.Stream;

/** A channel that only selectors use; its stream follows a script. */
final class ScriptedChannel extends AbstractSelectableChannel implements StreamCarried, SelChImpl {
    private final SelectableChannel inner;
    private final List<ConnectionListener> listeners = new CopyOnWriteArrayList<>();
    private final ScriptedStream stream;
    private final AtomicReference<@Nullable SelectorKey> listening = new AtomicReference<>();
    /** What {@link #kill} throws; null if nothing. */
    @Nullable IOException failure;
    /** How often a selector has killed it. */
    int kills;

    ScriptedChannel(SelectorProvider provider, SelectableChannel inner, ScriptedStream stream) throws IOException {
        super(provider);
        this.inner = inner;
        this.stream = stream;
        inner.configureBlocking(false);
        configureBlocking(false);
    }

    ScriptedStream stream() {
        return stream;
    }

    @Override
    public SelectableChannel inner() {
        return inner;
    }

    @Override
    public @Nullable Stream streamOrNull() {
        return stream;
    }

    @Override
    public void onConnected(ConnectionListener listener) {
        listeners.add(listener);
        listener.connected();
    }

    @Override
    public void forget(ConnectionListener listener) {
        listeners.remove(listener);
    }

    @Override
    public void onListenerRemoved() {
        listeners.forEach(ConnectionListener::connected);
    }

    @Override
    public void kill() throws IOException {
        kills++;
        IOException e = failure;
        if (e != null) {
            throw e;
        }
    }

    @Override
    public FileDescriptor getFD() {
        return ((SelChImpl) inner).getFD();
    }

    @Override
    public int getFDVal() {
        return ((SelChImpl) inner).getFDVal();
    }

    @Override
    public boolean translateAndUpdateReadyOps(int ops, SelectionKeyImpl key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean translateAndSetReadyOps(int ops, SelectionKeyImpl key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int translateInterestOps(int ops) {
        throw new UnsupportedOperationException();
    }

    @Override
    public AtomicReference<@Nullable SelectorKey> listening() {
        return listening;
    }

    @Override
    public int validOps() {
        return OP_READ | OP_WRITE | OP_CONNECT;
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        inner.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) {}
}
