// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * A stream whose rings a test makes ready, for tests of waiting threads and selectors. Its doorbell is a byte of {@code
 * tcp}.
 */
public final class ScriptedStream extends Stream {
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;

    private final @Nullable ReadableByteChannel tcp;
    private volatile int byRing;
    private volatile int ready;
    private volatile int armed;
    private volatile @Nullable Listener listener;

    /** How often it was armed anew. */
    public final AtomicInteger arms = new AtomicInteger();
    /** How often it was asked for readiness. */
    public final AtomicInteger polls = new AtomicInteger();
    /** Becomes ready in the middle of {@link #arm}, once. */
    public volatile int readyWhileArming;
    /** Why TCP carries both directions to the end; empty if that is not given. */
    public volatile String fallbackReason = "";

    /**
     * @param tcp where doorbells are read; null if there are none
     * @param byRing the directions that a ring carries
     */
    public ScriptedStream(@Nullable ReadableByteChannel tcp, int byRing) {
        super(Role.CLIENT);
        this.tcp = tcp;
        this.byRing = byRing;
    }

    /** Changes the directions that a ring carries, and signals the change. */
    public void carry(int ops) {
        byRing = ops;
        signal();
    }

    /** What of the rings is ready from now on. */
    public void ready(int ops) {
        ready = ops;
    }

    /** Operations that are armed. */
    public int armed() {
        return armed;
    }

    public @Nullable Listener listener() {
        return listener;
    }

    /** As the queue does when an armed operation became ready. */
    public void signal() {
        armed = 0;
        Listener l = listener;
        if (l != null) {
            l.changed();
        }
    }

    @Override
    public int sendZeroCopy(ByteBuffer from) {
        return 0;
    }

    @Override
    public int readyOps(int ops) {
        polls.incrementAndGet();
        return ready & byRing & ops;
    }

    @Override
    public int kernelOps(int ops) {
        return ops & WRITE & ~byRing | (ops != 0 ? READ : 0);
    }

    @Override
    public int kernelReady(int kernelReadyOps, int ops) {
        int found = kernelReadyOps & ~byRing;
        if ((kernelReadyOps & READ) != 0 && (byRing & READ) != 0 && tcp != null) {
            try {
                tcp.read(ByteBuffer.allocate(16));
            } catch (IOException e) {
                found |= READ;
            }
        }
        return (found | readyOps(ops)) & ops;
    }

    @Override
    public int arm(int ops, @Nullable ReadyQueue queue) {
        int mine = ops & byRing;
        if ((armed & mine) != mine) {
            arms.incrementAndGet();
            armed |= mine;
        }
        if (readyWhileArming != 0) {
            ready = readyWhileArming;
            readyWhileArming = 0;
        }
        return ready & mine;
    }

    @Override
    public void listen(@Nullable Listener newListener) {
        listener = newListener;
    }

    @Override
    public boolean isInputByRing() {
        return (byRing & READ) != 0;
    }

    @Override
    public boolean isOutputByRing() {
        return (byRing & WRITE) != 0;
    }

    @Override
    public int read(ByteBuffer into) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer from) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long sendFile(FileChannel file, long position, long count) {
        return -1;
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void shutdownOutput() {}

    @Override
    public void shutdownInput() {}

    @Override
    public void close(boolean reset) {}

    @Override
    public int available(int inTcp) {
        return inTcp;
    }

    @Override
    public boolean keepOutputByTcp() {
        return false;
    }

    @Override
    void addTo(StreamTally tally) {}

    @Override
    void state(StreamState.Reader to) {
        to.readByTcp(0, FallbackReason.NONE);
    }

    @Override
    SocketChannel tcp() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean staysWithTcp() {
        return !fallbackReason().isEmpty();
    }

    @Override
    public String fallbackReason() {
        return fallbackReason;
    }
}
