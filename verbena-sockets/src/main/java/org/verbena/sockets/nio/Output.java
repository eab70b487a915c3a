// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_WRITE;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;
import sun.nio.ch.Util;

import org.verbena.sockets.memory.MemoryHold;
import org.verbena.sockets.stream.SocketEvents;
import org.verbena.sockets.stream.Stream;

/** The direction of a channel that goes out: one writer at a time, which waits until all is written, or not. */
final class Output extends Direction {
    /** Bytes of a file at a time, where sendfile(2) is of no use: they stay in the cache between the two copies. */
    private static final int PIECE = 64 << 10;

    private volatile @Nullable ZeroCopyOutput zeroCopy;

    Output(StreamSocketChannel channel) {
        super(channel, OP_WRITE);
    }

    int write(ByteBuffer from) throws IOException {
        if (!SocketEvents.ofWrites()) {
            return writeUnrecorded(from);
        }
        SocketAddress remote = channel.remoteOrNull();
        long start = SocketEvents.writeBegins();
        int n = writeUnrecorded(from);
        SocketEvents.wrote(start, n, remote);
        return n;
    }

    long write(ByteBuffer[] from, int offset, int length) throws IOException {
        if (!SocketEvents.ofWrites()) {
            return writeUnrecorded(from, offset, length);
        }
        SocketAddress remote = channel.remoteOrNull();
        long start = SocketEvents.writeBegins();
        long n = writeUnrecorded(from, offset, length);
        SocketEvents.wrote(start, n, remote);
        return n;
    }

    /** Without an event of the Flight Recorder's. */
    int writeUnrecorded(ByteBuffer from) throws IOException {
        Objects.requireNonNull(from);
        return (int) write(from, null, 0, 0, false);
    }

    /** Without an event of the Flight Recorder's. */
    long writeUnrecorded(ByteBuffer[] from, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, from.length);
        ByteBuffer[] distinct = Buffers.distinct(from, offset, length);
        if (distinct == null) {
            return write(null, from, offset, length, false);
        }
        try {
            return write(null, distinct, 0, length, false);
        } finally {
            Buffers.moveOn(from, offset, distinct);
        }
    }

    /**
     * Writes an array for a socket, and nothing of another thread's in between; a channel that does not block is
     * refused.
     */
    void writeFully(byte[] from, int offset, int length) throws IOException {
        lock().lock();
        try {
            ByteBuffer part = wrap(from, offset, length);
            for (int end = offset + length; part.position() < end;) {
                part.limit(Math.min(part.position() + MAX_OF_ARRAY, end));
                write(part, null, 0, 0, true);
            }
        } finally {
            lock().unlock();
        }
    }

    private long write(
            @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length, boolean mustBlock)
            throws IOException {
        lock().lock(channel.blockingLock());
        try {
            Stream stream = channel.connectedStream();
            channel.beforeBytes(stream);
            boolean waits = channel.isBlocking();
            if (mustBlock && !waits) {
                throw new IllegalBlockingModeException();
            }
            checkShut(waits);
            boolean held = one != null && MemoryHold.take(one);
            MemoryHold allHeld = many == null ? null : MemoryHold.take(many, offset, length);
            try {
                return waits
                        ? writeAll(stream, one, many, offset, length)
                        : writeNow(stream, one, many, offset, length);
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

    private static long writeNow(
            Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        long written = attempt(stream, one, many, offset, length);
        long n = 1;
        while (n > 0 && Buffers.remaining(one, many, offset, length) > 0 && stream.makesRoom()) {
            try {
                n = attempt(stream, one, many, offset, length);
            } catch (IOException e) {
                if (written == 0) {
                    throw e;
                }
                return written; // what was written counts; the next call has the exception again
            }
            written += n;
        }
        return written;
    }

    private long writeAll(
            Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        long written = one == null ? 0 : writeFromMemory(stream, one);
        if (!Thread.currentThread().isInterrupted()) {
            written += writeSome(stream, one, many, offset, length);
            if (Buffers.remaining(one, many, offset, length) == 0) {
                return written;
            }
        }
        return written + await(stream, one, many, offset, length);
    }

    /** Sends what can be sent without a copy, until the kernel has let go of it. */
    private int writeFromMemory(Stream stream, ByteBuffer from) throws IOException {
        ZeroCopyOutput z = zeroCopy;
        if (z == null || !z.takes(from)) {
            return 0;
        }
        int start = from.position();
        begin();
        try {
            try {
                int n = 0;
                while (n >= 0 && from.hasRemaining() && channel.isOpen() && !isShut()) {
                    n = z.send(stream, from);
                    if (n == 0) {
                        sleep(stream, 0);
                    }
                }
            } finally { // whatever TCP reports, the kernel may still have the memory
                while (z.isPending() && channel.isOpen()) {
                    z.awaitNotification();
                }
            }
        } finally {
            end(!z.isPending() && !from.hasRemaining());
        }
        return from.position() - start;
    }

    /** Whether large writes go from the program's memory; those under way end as they began. */
    void zeroCopy(boolean on) {
        zeroCopy = on ? new ZeroCopyOutput((SelChImpl) channel.inner()) : null;
    }

    @Nullable
    ZeroCopyOutput zeroCopy() {
        return zeroCopy;
    }

    private void checkShut(boolean waits) throws ClosedChannelException {
        if (isShut()) {
            throw waits ? new ClosedChannelException() : new AsynchronousCloseException();
        }
    }

    /** As {@link StreamSocketChannel#sendFile}. */
    long sendFile(FileChannel file, long position, long count) throws IOException {
        Objects.requireNonNull(file);
        long sent = 0;
        lock().lock(channel.blockingLock());
        try {
            Stream stream = channel.connectedStream();
            boolean waits = channel.isBlocking();
            checkShut(waits);
            long asked;
            long n;
            do { // once even for no byte: what is wrong with the file is reported
                asked = count - sent;
                n = stream.sendFile(file, position + sent, asked);
                while (n == 0 && waits && stream.isOutputByRing() && position + sent < file.size()) {
                    awaitRoom(stream);
                    n = stream.sendFile(file, position + sent, asked);
                }
                // by a piece that is written it waits for room, and learns of the file's end
                if (n < 0 || n == 0 && waits) {
                    asked = Math.min(asked, PIECE);
                    n = sendPiece(stream, file, position + sent, (int) asked);
                }
                sent += n;
            } while (sent < count && n > 0 && (waits ? isUsable() : n == asked || stream.makesRoom()));
        } catch (IOException e) {
            if (sent == 0 || !channel.isOpen() || !file.isOpen()) {
                throw e;
            }
        } finally {
            lock().unlock();
        }
        return sent;
    }

    /** A transfer of a file ends with what it has sent when the channel or its output is closed; the next call reports it. */
    private boolean isUsable() throws IOException {
        if (!channel.isOpen()) {
            throw new AsynchronousCloseException();
        }
        return !isShut();
    }

    /** Waits until the ring has room, or the connection ends. */
    private void awaitRoom(Stream stream) throws IOException {
        boolean room = false;
        begin();
        try {
            while (!room && channel.isOpen() && !isShut()) {
                room = pollOrSleep(stream) || stream.readyOps(OP_WRITE) != 0;
            }
        } finally {
            end(room);
        }
        if (!room) {
            throw new AsynchronousCloseException(); // the output was shut down meanwhile
        }
    }

    /** Reads and writes; 0 if there is no room, or nothing in the file. */
    private int sendPiece(Stream stream, FileChannel file, long position, int count) throws IOException {
        if (stream.isOutputByRing() && !channel.isBlocking() && stream.readyOps(OP_WRITE) == 0) {
            return 0; // so that nothing is read from the file for nothing
        }
        ByteBuffer piece = Util.getTemporaryDirectBuffer(count);
        try {
            piece.limit(count);
            return file.read(piece, position) <= 0 ? 0 : writeUnrecorded(piece.flip());
        } finally {
            Util.releaseTemporaryDirectBuffer(piece);
        }
    }

    private static long attempt(
            Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        return one != null ? stream.write(one) : many != null ? stream.write(many, offset, length) : 0;
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
        begin();
        try {
            written = awaitAll(stream, one, many, offset, length);
            all = Buffers.remaining(one, many, offset, length) == 0;
        } finally {
            end(all);
        }
        if (!all) {
            throw new AsynchronousCloseException(); // the output was shut down meanwhile
        }
        return written;
    }

    /** Until all is written, or the channel or its output is closed. */
    private long awaitAll(Stream stream, @Nullable ByteBuffer one, ByteBuffer @Nullable [] many, int offset, int length)
            throws IOException {
        long written = 0;
        while (channel.isOpen() && !isShut()) {
            written += writeSome(stream, one, many, offset, length);
            if (Buffers.remaining(one, many, offset, length) == 0) {
                break;
            }
            pollOrSleep(stream);
        }
        return written;
    }

    /** Waits once for room; whether polling has found it. */
    private boolean pollOrSleep(Stream stream) throws IOException {
        long start = System.nanoTime();
        boolean room = stream.isOutputByRing() && spin().poll(stream, OP_WRITE, channel);
        if (!room) {
            sleep(stream, 0);
        }
        spin().waited(System.nanoTime() - start);
        return room;
    }

    @Override
    void endStream(Stream stream) throws IOException {
        stream.shutdownOutput();
    }
}
