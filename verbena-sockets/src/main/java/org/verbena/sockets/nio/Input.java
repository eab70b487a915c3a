// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.memory.MemoryHold;
import org.verbena.sockets.stream.SocketEvents;
import org.verbena.sockets.stream.Stream;

/** The direction of a channel that comes in: one reader at a time, which waits or not. */
final class Input extends Direction {
    private static final int END = -1;
    /** After this number of empty reads TCP is asked whether the peer is still there. */
    private static final int MAX_EMPTY_READS = 1024;

    /** Consecutive empty reads; guarded by the lock. */
    private int emptyReads;

    Input(StreamSocketChannel channel) {
        super(channel, OP_READ);
    }

    int read(ByteBuffer into) throws IOException {
        if (!SocketEvents.ofReads()) {
            return readUnrecorded(into);
        }
        SocketAddress remote = channel.remoteOrNull();
        long start = SocketEvents.readBegins();
        int n = readUnrecorded(into);
        SocketEvents.read(start, n, remote, 0);
        return n;
    }

    long read(ByteBuffer[] into, int offset, int length) throws IOException {
        if (!SocketEvents.ofReads()) {
            return readUnrecorded(into, offset, length);
        }
        SocketAddress remote = channel.remoteOrNull();
        long start = SocketEvents.readBegins();
        long n = readUnrecorded(into, offset, length);
        SocketEvents.read(start, n, remote, 0);
        return n;
    }

    /** Without an event of the Flight Recorder's. */
    int readUnrecorded(ByteBuffer into) throws IOException {
        Objects.requireNonNull(into);
        return (int) read(into, null, 0, 0);
    }

    /** Without an event of the Flight Recorder's. */
    long readUnrecorded(ByteBuffer[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        return read(null, into, offset, length);
    }

    private long read(@Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        lock().lock(channel.blockingLock());
        try {
            Stream stream = channel.connectedStream();
            channel.beforeBytes(stream);
            if (isShut()) {
                return END;
            }
            boolean held = one != null && take(one);
            MemoryHold allHeld = many == null ? null : take(many, offset, length);
            try {
                return readHeld(stream, one, many, offset, length);
            } finally {
                if (held && one != null) {
                    MemoryHold.release(one);
                }
                MemoryHold.release(allHeld);
            }
        } finally {
            lock().unlock();
        }
    }

    private static boolean take(ByteBuffer into) {
        Buffers.checkWritable(into);
        return MemoryHold.take(into);
    }

    private static @Nullable MemoryHold take(ByteBuffer[] into, int offset, int length) {
        Buffers.checkWritable(into, offset, length);
        return MemoryHold.take(into, offset, length);
    }

    private long readHeld(
            Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        boolean waits = channel.isBlocking();
        if (!waits || !Thread.currentThread().isInterrupted()) {
            long n = attempt(stream, one, many, offset, length);
            if (!waits) {
                countEmptyReads(stream, n == 0);
                return n;
            }
            if (n != 0 || Buffers.remaining(one, many, offset, length) == 0) {
                return n;
            }
        }
        return await(stream, one, many, offset, length, 0);
    }

    /** After a read of a channel that does not block; the lock is held. */
    void countEmptyReads(Stream stream, boolean empty) {
        emptyReads = empty ? emptyReads + 1 : 0;
        if (emptyReads == MAX_EMPTY_READS) {
            emptyReads = 0;
            if (!channel.foreign().areKnown()) { // whose selector takes the doorbells itself
                stream.pollTcp();
            }
        }
    }

    /**
     * Reads for a socket, into an array.
     *
     * @param timeoutMillis 0 waits without end
     * @throws SocketTimeoutException if nothing came in time
     * @throws IllegalBlockingModeException if the channel does not block
     */
    int read(byte[] array, int offset, int length, int timeoutMillis) throws IOException {
        long timeoutNanos = MILLISECONDS.toNanos(timeoutMillis);
        long start = timeoutNanos == 0 ? 0 : System.nanoTime();
        if (!lock().lock(timeoutNanos)) {
            throw timedOut();
        }
        try {
            Stream stream = channel.connectedStream();
            channel.beforeBytes(stream);
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            if (isShut()) {
                return END;
            }
            ByteBuffer into = wrap(array, offset, Math.min(length, MAX_OF_ARRAY));
            if (!Thread.currentThread().isInterrupted()) {
                long n = attempt(stream, into, null, 0, 0);
                if (n != 0) {
                    return (int) n;
                }
            }
            long left = timeoutNanos == 0 ? 0 : Math.max(1, timeoutNanos - (System.nanoTime() - start));
            return (int) await(stream, into, null, 0, 0, left);
        } finally {
            lock().unlock();
        }
    }

    private static SocketTimeoutException timedOut() {
        return new SocketTimeoutException("Read timed out");
    }

    private static long attempt(
            Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        return one != null ? stream.read(one) : many != null ? stream.read(many, offset, length) : 0;
    }

    private long await(
            Stream stream,
            @Nullable ByteBuffer one,
            ByteBuffer @Nullable [] many,
            int offset,
            int length,
            long timeoutNanos)
            throws IOException {
        long start = System.nanoTime();
        if (stream.isInputByRing() && spin().poll(stream, OP_READ, channel)
                && !Thread.currentThread().isInterrupted()) { // else begin() closes the channel, whatever is there
            long n = attempt(stream, one, many, offset, length);
            if (n != 0) {
                spin().waited(System.nanoTime() - start);
                return n;
            }
        }
        long n = 0;
        begin();
        try {
            n = awaitSome(stream, one, many, offset, length, start, timeoutNanos);
        } finally {
            end(n > 0);
        }
        return n == 0 && isShut() ? END : n;
    }

    /** Until something came, the end, or the channel or its input is closed: 0. */
    private long awaitSome(
            Stream stream,
            @Nullable ByteBuffer one,
            ByteBuffer @Nullable [] many,
            int offset,
            int length,
            long start,
            long timeoutNanos)
            throws IOException {
        while (channel.isOpen() && !isShut()) {
            long n = attempt(stream, one, many, offset, length);
            if (n != 0) {
                spin().waited(System.nanoTime() - start);
                return n;
            }
            if (Buffers.remaining(one, many, offset, length) == 0) {
                return 0;
            }
            long left = 0;
            if (timeoutNanos != 0) {
                left = timeoutNanos - (System.nanoTime() - start);
                if (left <= 0) {
                    throw timedOut();
                }
            }
            sleep(stream, left);
        }
        return 0;
    }

    @Override
    void endStream(Stream stream) throws IOException {
        stream.shutdownInput();
    }
}
