// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SelectionKey;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.Stream;

/** What the two directions of a channel have in common: one thread at a time, which may wait, and how it ends. */
abstract class Direction {
    /**
     * Bytes of an array at a time, as with the JDK's: TCP copies them to memory outside the heap, which each thread
     * keeps.
     */
    static final int MAX_OF_ARRAY = 128 << 10;

    /** Larger arrays are not kept from being collected. */
    private static final int MAX_KEPT = 16 << 10;

    final StreamSocketChannel channel;
    private final int op;
    private final DirectionLock lock = new DirectionLock();
    private final Spin spin = new Spin();

    private volatile boolean shut;

    /** The array of the last call, most often that of the next; guarded by the lock. */
    private @Nullable ByteBuffer wrapped;

    /** An interrupt that a sleep took away; guarded by the lock. */
    private boolean interrupted;

    /** @param op the operation of selection keys that belongs to it */
    Direction(StreamSocketChannel channel, int op) {
        this.channel = channel;
        this.op = op;
    }

    final DirectionLock lock() {
        return lock;
    }

    final Spin spin() {
        return spin;
    }

    /** A part of an array as a buffer, without a new one for the array of the last call; the lock is held. */
    @SuppressWarnings("ByteBufferBackingArray") // it is wrapped from its beginning
    final ByteBuffer wrap(byte[] array, int offset, int length) {
        ByteBuffer buffer = wrapped;
        if (buffer == null || buffer.array() != array) {
            buffer = ByteBuffer.wrap(array);
            wrapped = array.length <= MAX_KEPT ? buffer : null;
        }
        return buffer.clear().position(offset).limit(offset + length);
    }

    /** Waits until no thread uses the stream of the channel, which is closed; then all polls are in the process's sums. */
    final void awaitUnused() {
        lock.awaitUnused();
        spin.close();
    }

    final boolean isShut() {
        return shut;
    }

    /** Before the thread, which holds the lock, waits; {@link #end} comes after it in any case. */
    final void begin() {
        lock.stepAside();
        channel.beginBlocking();
        lock.stepBack();
    }

    /**
     * After the thread waited.
     *
     * @param completed whether it got what it waited for
     * @throws AsynchronousCloseException if not, and the channel was closed
     */
    final void end(boolean completed) throws AsynchronousCloseException {
        lock.stepAside();
        try {
            if (interrupted) {
                interrupted = false;
                Thread.currentThread().interrupt();
            }
            channel.endBlocking(completed);
        } finally {
            lock.stepBack();
        }
    }

    /**
     * Sleeps between {@link #begin} and {@link #end} until the direction may be ready, the time is over, or it is
     * closed.
     *
     * @param nanos 0 without end
     * @throws InterruptedIOException if the thread is interrupted, and the caller is to close the channel
     */
    final void sleep(Stream stream, long nanos) throws IOException {
        Waiting waiting = channel.waiting();
        int before = waiting.prepare(stream, op);
        if (waiting.arm(stream, op) == 0) {
            interrupted |= waiting.await(lock, stream, op, before, nanos);
            channel.interrupts().check();
        }
    }

    /** Ends the direction and wakes waiting threads. */
    final void shutdown(Stream stream) throws IOException {
        shut = true;
        channel.waiting().stop(op);
        if (op == SelectionKey.OP_WRITE) {
            stream.stopWaitingForPeer();
        }
        lock.lock();
        try {
            if (channel.isOpen()) {
                endStream(stream);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the direction of the stream; the lock is held. */
    abstract void endStream(Stream stream) throws IOException;
}
