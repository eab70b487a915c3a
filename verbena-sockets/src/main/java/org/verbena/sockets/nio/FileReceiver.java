// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongBinaryOperator;

import org.verbena.linux.Errno;
import org.verbena.sockets.stream.FileHold;
import org.verbena.sockets.stream.RingLoan;
import org.verbena.sockets.stream.SocketEvents;
import org.verbena.sockets.stream.Stream;

/**
 * Receives files from a channel: what a ring brings is written from there, the rest is read and written. It is a function for
 * {@link FileChannel#transferFrom}, as its channel is for {@link FileChannel#transferTo}.
 */
final class FileReceiver implements Function<FileChannel, LongBinaryOperator> {
    /** Bytes that are read at a time where they are not written from the ring, as with the JDK's. */
    private static final int PIECE = 8 << 10;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private static final long END = -1;
    /** The answer of {@link #receiveFromRing} if the caller is to read. */
    private static final long READ = RingLoan.NOT_WRITTEN;

    private final StreamSocketChannel channel;
    private final Input input;

    FileReceiver(StreamSocketChannel channel, Input input) {
        this.channel = channel;
        this.input = input;
    }

    /** Receives a number of bytes of {@code file} to a position, and throws what {@link FileChannel#transferFrom} does. */
    @Override
    public LongBinaryOperator apply(FileChannel file) {
        return (position, count) -> {
            try {
                return receive(file, position, count);
            } catch (IOException e) {
                throw StreamSocketChannel.undeclared(e);
            }
        };
    }

    /** As {@link StreamSocketChannel#receiveFile}. */
    long receive(FileChannel file, long position, long count) throws IOException {
        if (!file.isOpen() || !channel.isOpen()) {
            throw new ClosedChannelException();
        }
        if (!FileHold.isWritable(file)) {
            throw new NonWritableChannelException();
        }
        StreamSocketChannel.checkRange(position, count);
        try {
            return receivePieces(file, position, count);
        } catch (ClosedChannelException e) {
            throw transferFailed(e, file);
        }
    }

    private long receivePieces(FileChannel file, long position, long count) throws IOException {
        long done = 0;
        ByteBuffer piece = null;
        try {
            while (done < count) {
                long n = receiveFromRing(file, position + done, count - done);
                if (n == READ) {
                    piece = piece == null ? ByteBuffer.allocate((int) Math.min(count, PIECE)) : piece.clear();
                    n = input.read(piece.limit((int) Math.min(count - done, piece.capacity())));
                    if (n > 0) {
                        n = file.write(piece.flip(), position + done);
                        if (piece.hasRemaining()) {
                            return done + n; // the rest is lost, as with the JDK's
                        }
                    }
                }
                if (n <= 0) {
                    break;
                }
                done += n;
            }
        } catch (IOException e) {
            if (done == 0) {
                throw e;
            }
        }
        return done;
    }

    /** Writes a piece from the ring; -1 at the end of the stream; {@link #READ}; 0 if nothing is there, and the channel does not block. */
    private long receiveFromRing(FileChannel file, long position, long count) throws IOException {
        input.lock().lock(channel.blockingLock());
        try {
            Stream stream = channel.connectedStream();
            channel.beforeBytes(stream);
            if (input.isShut()) {
                return END;
            }
            RingLoan loan = stream.loan();
            if (loan == null) {
                return READ;
            }
            boolean recorded = SocketEvents.ofReads();
            long start = recorded ? SocketEvents.readBegins() : 0;
            long n = lend(stream, loan, count);
            if (n > 0) {
                n = write(loan, file, position);
            }
            if (recorded && n != READ) { // else the bytes are yet to be read
                SocketEvents.read(start, n, channel.remoteOrNull(), 0);
            }
            return n;
        } finally {
            input.lock().unlock();
        }
    }

    private int lend(Stream stream, RingLoan loan, long count) throws IOException {
        if (!channel.isBlocking()) {
            int n = loan.lend(count);
            input.countEmptyReads(stream, n == 0);
            return n;
        }
        int n = Thread.currentThread().isInterrupted() ? 0 : loan.lend(count);
        while (n == 0) {
            await(stream);
            if (!channel.isOpen()) { // while it stepped aside: the stream may be given back
                throw new AsynchronousCloseException();
            }
            n = input.isShut() ? (int) END : loan.lend(count);
        }
        return n;
    }

    /** Waits until the ring has something, or an end. */
    private void await(Stream stream) throws IOException {
        long start = System.nanoTime();
        if (!input.spin().poll(stream, OP_READ, channel) || Thread.currentThread().isInterrupted()) {
            boolean ready = false;
            input.begin();
            try {
                while (!ready && channel.isOpen() && !input.isShut()) {
                    ready = stream.readyOps(OP_READ) != 0;
                    if (!ready) {
                        input.sleep(stream, 0);
                    }
                }
            } finally {
                input.end(ready);
            }
        }
        input.spin().waited(System.nanoTime() - start);
    }

    /** Writes what is lent. A file may take long: a thread that closes the channel does not wait for it. */
    private long write(RingLoan loan, FileChannel file, long position) throws IOException {
        long n = 0;
        input.lock().stepAside();
        try {
            do {
                if (Thread.currentThread().isInterrupted()) {
                    file.write(NOTHING, position); // closes the file, and says so
                }
                n = loan.write(file, position);
            } while (n == -Errno.EINTR && file.isOpen());
        } finally {
            input.lock().stepBack();
            if (channel.isOpen()) {
                loan.take((int) Math.max(0, n));
            } else {
                loan.end();
            }
        }
        if (n >= 0) {
            return n;
        }
        if (!file.isOpen()) {
            throw new AsynchronousCloseException();
        }
        if (n != RingLoan.NOT_WRITTEN) {
            throw new IOException(Errno.text((int) -n));
        }
        return READ;
    }

    /** As with the JDK's: an interrupt closes both channels, and a channel that is closed meanwhile is asynchronously. */
    private AsynchronousCloseException transferFailed(ClosedChannelException e, FileChannel file) {
        if (e instanceof ClosedByInterruptException || Thread.currentThread().isInterrupted()) {
            ClosedByInterruptException interrupted = e instanceof ClosedByInterruptException c
                    ? c
                    : new ClosedByInterruptException();
            closeBoth(file, interrupted);
            return interrupted;
        }
        if (e instanceof AsynchronousCloseException a) {
            return a;
        }
        AsynchronousCloseException closed = new AsynchronousCloseException();
        closed.addSuppressed(e);
        return closed;
    }

    private void closeBoth(FileChannel file, Exception reason) {
        for (Channel one : List.of(file, channel)) {
            try {
                one.close();
            } catch (IOException e) {
                reason.addSuppressed(e);
            }
        }
    }
}
