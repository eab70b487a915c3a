package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.Stream;

/** The direction of a channel that goes out: one writer at a time, which waits until all is written, or not. */
final class Output {
    private final StreamSocketChannel channel;
    private final DirectionLock lock = new DirectionLock();
    private final Spin spin = new Spin();

    private volatile boolean shut;

    /** An interrupt that a sleep took away; guarded by the lock. */
    private boolean interrupted;

    Output(StreamSocketChannel channel) {
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

    int write(ByteBuffer from) throws IOException {
        Objects.requireNonNull(from);
        return (int) write(from, null, 0, 0, false);
    }

    long write(ByteBuffer[] from, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, from.length);
        return write(null, from, offset, length, false);
    }

    /** Writes for the socket adaptor: a channel that does not block is refused. */
    void writeFully(ByteBuffer from) throws IOException {
        write(from, null, 0, 0, true);
    }

    private long write(
            @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length, boolean mustBlock)
            throws IOException {
        lock.lock();
        try {
            Stream stream = channel.connectedStream();
            channel.beforeBytes(stream);
            boolean waits = channel.isBlocking();
            if (mustBlock && !waits) {
                throw new IllegalBlockingModeException();
            }
            if (shut) {
                throw waits ? new ClosedChannelException() : new AsynchronousCloseException();
            }
            if (!waits) {
                return attempt(stream, one, many, offset, length);
            }
            long written = 0;
            if (!Thread.currentThread().isInterrupted()) {
                written = writeSome(stream, one, many, offset, length);
                if (Buffers.remaining(one, many, offset, length) == 0) {
                    return written;
                }
            }
            return written + await(stream, one, many, offset, length);
        } finally {
            lock.unlock();
        }
    }

    private static long attempt(
            Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        long n = 0;
        if (one != null) {
            n = stream.write(one);
        } else if (many != null) {
            n = stream.write(many, offset, length);
        }
        if (n == 0) {
            Buffers.checkAccess(one, many, offset, length);
        }
        return n;
    }

    /** Until there is no room, or all is written. */
    private static long writeSome(
            Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        long written = 0;
        long n;
        do {
            n = attempt(stream, one, many, offset, length);
            written += n;
        } while (n > 0 && Buffers.remaining(one, many, offset, length) > 0);
        return written;
    }

    private long await(Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        long written = 0;
        boolean all = false;
        lock.stepAside();
        channel.beginBlocking();
        try {
            lock.stepBack();
            written = sleep(stream, one, many, offset, length);
            all = Buffers.remaining(one, many, offset, length) == 0;
        } finally {
            lock.stepAside();
            giveInterruptBack();
            try {
                channel.endBlocking(all);
            } finally {
                lock.stepBack();
            }
        }
        if (!all) {
            throw new AsynchronousCloseException(); // the output was shut down meanwhile
        }
        return written;
    }

    private void giveInterruptBack() {
        if (interrupted) {
            interrupted = false;
            Thread.currentThread().interrupt();
        }
    }

    /** Until all is written, or the channel or its output is closed. */
    private long sleep(Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        long written = 0;
        while (channel.isOpen() && !shut) {
            written += writeSome(stream, one, many, offset, length);
            if (Buffers.remaining(one, many, offset, length) == 0) {
                break;
            }
            long start = System.nanoTime();
            boolean room = stream.isOutputByRing() && spin.poll(stream, OP_WRITE, channel);
            if (!room && stream.arm(OP_WRITE, null) == 0) {
                interrupted |= channel.waiting().await(stream, OP_WRITE, 0);
            }
            spin.waited(System.nanoTime() - start);
        }
        return written;
    }

    /** Ends the direction after what was written: a writer that waits learns that it was closed. */
    void shutdown(Stream stream) throws IOException {
        shut = true;
        channel.waiting().stop(OP_WRITE);
        lock.lock();
        try {
            if (channel.isOpen()) {
                stream.shutdownOutput();
            }
        } finally {
            lock.unlock();
        }
    }
}
