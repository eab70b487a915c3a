// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayDeque;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** One end of a TCP connection inside a test: bytes arrive when the test demands it, and no sooner. */
final class FakeTcp extends SocketChannel {
    private final ArrayDeque<Byte> onTheWay = new ArrayDeque<>();
    private final ArrayDeque<Byte> arrived = new ArrayDeque<>();
    private final int window;
    private @Nullable FakeTcp peer;
    private boolean finOnTheWay;
    private boolean finArrived;
    private boolean resetArrived;
    private boolean outputShut;
    private boolean inputShut;

    /** Runs when the next read has begun, once. */
    @Nullable Runnable whileReading;

    private FakeTcp(int window) {
        super(SelectorProvider.provider());
        this.window = window;
    }

    /** @param window bytes that may be on the way, arrived and not read included */
    static FakeTcp[] pair(int window) {
        FakeTcp[] ends = {new FakeTcp(window), new FakeTcp(window)};
        ends[0].peer = ends[1];
        ends[1].peer = ends[0];
        return ends;
    }

    /** Lets that number of bytes arrive here; the end of the stream after the last. */
    void arrive(int bytes) {
        for (int i = 0; i < bytes && !onTheWay.isEmpty(); i++) {
            arrived.add(onTheWay.poll());
        }
        finArrived |= finOnTheWay && onTheWay.isEmpty();
    }

    /** The peer breaks the connection off: after what has arrived a read fails, once. */
    void reset() {
        onTheWay.clear();
        resetArrived = true;
    }

    /** Whether poll(2) would report POLLIN. */
    boolean isReadable() {
        return !arrived.isEmpty() || finArrived || resetArrived || inputShut;
    }

    /** Whether something is on the way that will make it readable. */
    boolean willBeReadable() {
        return isReadable() || !onTheWay.isEmpty() || finOnTheWay;
    }

    boolean isWritable() {
        return room() > 0;
    }

    private int room() {
        return window - peer.onTheWay.size() - peer.arrived.size();
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        Runnable meanwhile = whileReading;
        if (meanwhile != null) {
            whileReading = null;
            meanwhile.run();
        }
        if (inputShut) {
            return -1;
        }
        int n = Math.min(into.remaining(), arrived.size());
        for (int i = 0; i < n; i++) {
            into.put(arrived.poll());
        }
        if (n == 0 && resetArrived && into.hasRemaining()) {
            resetArrived = false;
            finArrived = true;
            throw new IOException("Connection reset");
        }
        return n == 0 && finArrived && into.hasRemaining() ? -1 : n;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        if (!isOpen() || outputShut) {
            throw new ClosedChannelException();
        }
        int n = Math.min(from.remaining(), room());
        for (int i = 0; i < n; i++) {
            peer.onTheWay.add(from.get());
        }
        return n;
    }

    @Override
    public SocketChannel shutdownOutput() {
        outputShut = true;
        peer.finOnTheWay = true;
        return this;
    }

    @Override
    public SocketChannel shutdownInput() {
        inputShut = true;
        return this;
    }

    @Override
    protected void implCloseSelectableChannel() {
        shutdownOutput();
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public SocketChannel bind(SocketAddress local) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T getOption(SocketOption<T> name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return Set.of();
    }

    @Override
    public Socket socket() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isConnected() {
        return true;
    }

    @Override
    public boolean isConnectionPending() {
        return false;
    }

    @Override
    public boolean connect(SocketAddress remote) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean finishConnect() {
        throw new UnsupportedOperationException();
    }

    @Override
    public SocketAddress getRemoteAddress() {
        throw new UnsupportedOperationException();
    }

    @Override
    public SocketAddress getLocalAddress() {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void implConfigureBlocking(boolean block) {}
}
