// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.cli.support.CommandException;
import org.verbena.sockets.VerbenaSocketChannel;

/**
 * {@code nio-transfer} and {@code nio-transfer-from}: the side that has the file transfers a fixed number of bytes per
 * call. The other side is that of {@code nio-bw}. The file is a temporary one that the page cache holds.
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

    /** An unlinked file of random-looking bytes. */
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

    /**
     * Transfers at least one and at most this many bytes between this offset of the file and the channel; returns how
     * many.
     */
    protected abstract long move(long at, long bytes) throws IOException;

    /**
     * Each operation continues at the file offset where the previous one ended, or at the start if the end is too near.
     */
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
                    ? ours.sendFile(file, at, bytes) // the method that transferTo calls under the agent
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

        /** The time starts when the first operation has completed. */
        @Override
        protected boolean receives() {
            return true;
        }

        @Override
        protected long move(long at, long bytes) throws IOException {
            long got = channel instanceof VerbenaSocketChannel ours
                    ? ours.receiveFile(file, at, bytes) // the method that transferFrom calls under the agent
                    : file.transferFrom(channel, at, bytes);
            if (got == 0) {
                throw closed();
            }
            arrived();
            return got;
        }
    }
}
