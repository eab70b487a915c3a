// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.List;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPattern;

/** {@code nio-bw} over many connections: each side serves all that are ready, through one selector. */
final class PerfNioMany {
    private PerfNioMany() {}

    static PerfLoop of(PerfJob job, PerfControl peer, Selector selector, List<SocketChannel> channels,
            boolean initiator) throws IOException {
        for (SocketChannel channel : channels) {
            channel.register(selector, initiator ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        }
        return initiator ? new Sender(job, peer, selector) : new Receiver(job, peer, selector);
    }

    /** Writes at most one message to each connection that accepts bytes; bytes are counted. */
    private static final class Sender extends PerfSelecting {
        private final ByteBuffer buffer;
        private final long size;
        private long left;

        Sender(PerfJob job, PerfControl peer, Selector selector) {
            super(peer, selector);
            this.size = job.size();
            this.buffer = ByteBuffer.allocateDirect(Math.toIntExact(size));
        }

        @Override
        protected void burst(int n) throws IOException {
            left = n * size;
            while (left > 0) {
                select();
            }
        }

        @Override
        protected void serve(SelectionKey key) throws IOException {
            buffer.clear().limit((int) Math.min(left, size));
            left -= ((SocketChannel) key.channel()).write(buffer);
        }
    }

    /** Reads the available bytes, as many as fit. */
    private static final class Receiver extends PerfSelecting {
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(PerfTcp.RECEIVE_BUFFER);
        private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
        private final boolean consume;
        private final long size;
        private long left;
        private long sum;

        Receiver(PerfJob job, PerfControl peer, Selector selector) {
            super(peer, selector);
            this.size = job.size();
            this.consume = job.consume();
        }

        @Override
        protected boolean receives() {
            return true;
        }

        /** The rest of the run is one burst. */
        @Override
        protected void burst(int n) throws IOException {
            left = remaining * size;
            while (left > 0) {
                select();
            }
            remaining = 0;
        }

        @Override
        protected void serve(SelectionKey key) throws IOException {
            int got = ((SocketChannel) key.channel()).read(buffer.clear());
            if (got < 0) {
                throw PerfTcp.closed();
            }
            arrived();
            if (consume) {
                sum += PerfPattern.sum(memory, 0, got);
            }
            left -= got;
        }

        @Override
        public String toString() {
            return "sum " + sum;
        }
    }
}
