package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.ScriptedStream;
import org.verbena.sockets.stream.Stream;

/** A channel for selectors alone: its stream is a script. */
final class ScriptedChannel extends AbstractSelectableChannel implements StreamCarried {
    private final SelectableChannel inner;
    private final ScriptedStream stream;
    private final AtomicReference<@Nullable SelectorKey> listening = new AtomicReference<>();

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
        listener.connected();
    }

    @Override
    public void forget(ConnectionListener listener) {}

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
