package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.Stream;

/** The direction of a channel that comes in: one reader at a time, which waits or not. */
final class Input {
    private static final int END = -1;

    private final StreamSocketChannel channel;
    private final DirectionLock lock = new DirectionLock();
    private final Spin spin = new Spin();

    private volatile boolean shut;

    /** An interrupt that a sleep took away; guarded by the lock. */
    private boolean interrupted;

    Input(StreamSocketChannel channel) {
        this.channel = channel;
    }

    DirectionLock lock() {
        return lock;
    }

    Spin spin() {
        return spin;
    }

    boolean isShut() {
        return shut;
    }

    int read(ByteBuffer into) throws IOException {
        Objects.requireNonNull(into);
        return (int) read(into, null, 0, 0);
    }

    long read(ByteBuffer[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        return read(null, into, offset, length);
    }

    private long read(@Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        lock.lock();
        try {
            Stream stream = channel.connectedStream();
            channel.beforeBytes(stream);
            if (shut) {
                return END;
            }
            boolean waits = channel.isBlocking();
            if (!waits || !Thread.currentThread().isInterrupted()) {
                long n = attempt(stream, one, many, offset, length);
                if (n != 0 || !waits || Buffers.remaining(one, many, offset, length) == 0) {
                    return n;
                }
            }
            return await(stream, one, many, offset, length, 0);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reads for the socket adaptor.
     *
     * @param timeoutNanos 0 waits without end
     * @throws SocketTimeoutException if nothing came in time
     * @throws IllegalBlockingModeException if the channel does not block
     */
    int read(ByteBuffer into, long timeoutNanos) throws IOException {
        lock.lock();
        try {
            Stream stream = channel.connectedStream();
            channel.beforeBytes(stream);
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            if (shut) {
                return END;
            }
            if (!Thread.currentThread().isInterrupted()) {
                long n = attempt(stream, into, null, 0, 0);
                if (n != 0) {
                    return (int) n;
                }
            }
            return (int) await(stream, into, null, 0, 0, timeoutNanos);
        } finally {
            lock.unlock();
        }
    }

    private static long attempt(
            Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        long n = 0;
        if (one != null) {
            Buffers.checkWritable(one);
            n = stream.read(one);
        } else if (many != null) {
            Buffers.checkWritable(many, offset, length);
            n = stream.read(many, offset, length);
        }
        if (n == 0) {
            Buffers.checkAccess(one, many, offset, length);
        }
        return n;
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
        if (stream.isInputByRing() && spin.poll(stream, OP_READ, channel)) {
            long n = attempt(stream, one, many, offset, length);
            if (n != 0) {
                spin.waited(System.nanoTime() - start);
                return n;
            }
        }
        long n = 0;
        lock.stepAside();
        channel.beginBlocking();
        try {
            lock.stepBack();
            n = sleep(stream, one, many, offset, length, start, timeoutNanos);
        } finally {
            lock.stepAside();
            giveInterruptBack();
            try {
                channel.endBlocking(n > 0);
            } finally {
                lock.stepBack();
            }
        }
        return n == 0 && shut ? END : n;
    }

    private void giveInterruptBack() {
        if (interrupted) {
            interrupted = false;
            Thread.currentThread().interrupt();
        }
    }

    /** Until something came, the end, or the channel or its input is closed: 0. */
    private long sleep(
            Stream stream,
            @Nullable ByteBuffer one,
            ByteBuffer @Nullable [] many,
            int offset,
            int length,
            long start,
            long timeoutNanos)
            throws IOException {
        while (channel.isOpen() && !shut) {
            long n = attempt(stream, one, many, offset, length);
            if (n != 0) {
                spin.waited(System.nanoTime() - start);
                return n;
            }
            if (Buffers.remaining(one, many, offset, length) == 0) {
                return 0;
            }
            long left = 0;
            if (timeoutNanos != 0) {
                left = timeoutNanos - (System.nanoTime() - start);
                if (left <= 0) {
                    throw new SocketTimeoutException("Read timed out");
                }
            }
            if (stream.arm(OP_READ, null) == 0) {
                interrupted |= channel.waiting().await(stream, OP_READ, left);
            }
        }
        return 0;
    }

    /** Ends the direction: a reader that waits finds the end. */
    void shutdown(Stream stream) throws IOException {
        shut = true;
        channel.waiting().stop(OP_READ);
        lock.lock();
        try {
            if (channel.isOpen()) {
                stream.shutdownInput();
            }
        } finally {
            lock.unlock();
        }
    }
}
