// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.List;

/** {@code nio-lat-select} and {@code nio-lat-selectnow}: ping-pong through a selector, over connections that take turns. */
final class PerfNioSelect extends PerfSelecting {
    private final List<SocketChannel> channels;
    private final boolean initiator;
    private final int size;
    private final ByteBuffer out;
    private int answered;

    /** A connection's message that has arrived in part. */
    private record Place(ByteBuffer in) {}

    PerfNioSelect(PerfJob job, PerfControl peer, Selector selector, List<SocketChannel> channels, boolean initiator)
            throws IOException {
        super(peer, selector, job.test() == PerfTest.NIO_LAT_SELECTNOW);
        this.channels = channels;
        this.initiator = initiator;
        this.size = Math.toIntExact(job.size());
        this.out = ByteBuffer.allocateDirect(size);
        for (SocketChannel channel : channels) {
            channel.register(selector, SelectionKey.OP_READ, new Place(ByteBuffer.allocateDirect(size)));
        }
    }

    @Override
    protected void burst(int n) throws IOException {
        answered = 0;
        for (int i = 0; i < n; i++) {
            if (initiator) {
                PerfTcp.write(channels.get((int) ((remaining - i) % channels.size())), out, peer);
            }
            while (answered <= i) {
                select();
            }
            if (initiator) {
                roundTrip();
            }
        }
    }

    @Override
    protected void serve(SelectionKey key) throws IOException {
        ByteBuffer in = ((Place) key.attachment()).in();
        SocketChannel channel = (SocketChannel) key.channel();
        if (channel.read(in) < 0) {
            throw PerfTcp.closed();
        }
        if (!in.hasRemaining()) {
            in.clear();
            answered++;
            if (!initiator) {
                PerfTcp.write(channel, out, peer);
            }
        }
    }
}
