// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.verbena.cli.support.CommandException;
import org.verbena.sockets.VerbenaSocketChannel;

/**
 * {@code nio-transfer} and {@code nio-transfer-from}: the side that has the file, so many bytes of it a call. The other side
 * is that of {@code nio-bw}. The file is a temporary one that the page cache holds.
 */
abstract class PerfNioTransfer extends PerfTcp {
    private static final long LENGTH = 64 << 20;
    private static final int PIECE = 1 << 20;

    protected final FileChannel file;
    private final long size;
    private final long length;
    private long next;

    private PerfNioTransfer(PerfJob job, PerfControl peer, SocketChannel channel) throws IOException {
        super(peer, channel);
        this.size = job.size();
        this.length = Math.max(LENGTH, size);
        this.file = temporary(length);
    }

    /** A file of random-looking bytes that has no name any more. */
    private static FileChannel temporary(long length) throws IOException {
        Path path = Files.createTempFile("verbena-perf", null);
        FileChannel file;
        try {
            file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } finally {
            Files.delete(path);
        }
        try {
            ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
            PerfPattern.fill(MemorySegment.ofBuffer(piece), 0, PIECE, 1);
            for (long at = 0; at < length; at += piece.position()) {
                piece.clear().limit((int) Math.min(PIECE, length - at));
                file.write(piece, at);
            }
            return file;
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** Moves at least one of so many bytes between this place in the file and the channel; answers how many it has moved. */
    protected abstract long move(long at, long bytes) throws IOException;

    /** Each operation goes on where in the file the one before it has ended, or at the start if the end is too near. */
    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            long at = next + size > length ? 0 : next;
            next = at + size;
            while (at < next) {
                at += move(at, next - at);
            }
        }
    }

    @Override
    public void close() throws IOException {
        try {
            super.close();
        } finally {
            file.close();
        }
    }

    /** {@code nio-transfer}: the channel is the target. */
    static final class Sender extends PerfNioTransfer {
        Sender(PerfJob job, PerfControl peer, SocketChannel channel) throws IOException {
            super(job, peer, channel);
        }

        @Override
        protected long move(long at, long bytes) throws IOException {
            long sent = channel instanceof VerbenaSocketChannel ours
                    ? ours.sendFile(file, at, bytes) // which transferTo calls under the agent
                    : file.transferTo(at, bytes, channel);
            if (sent == 0) {
                throw new CommandException("a channel that blocks was sent nothing of the file");
            }
            return sent;
        }
    }

    /** {@code nio-transfer-from}: the channel is the source. */
    static final class Receiver extends PerfNioTransfer {
        Receiver(PerfJob job, PerfControl peer, SocketChannel channel) throws IOException {
            super(job, peer, channel);
        }

        /** Its time starts with the first operation that has ended. */
        @Override
        protected boolean receives() {
            return true;
        }

        @Override
        protected long move(long at, long bytes) throws IOException {
            long got = file.transferFrom(channel, at, bytes);
            if (got == 0) {
                throw closed();
            }
            arrived();
            return got;
        }
    }
}
