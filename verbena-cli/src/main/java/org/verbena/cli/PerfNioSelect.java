package org.verbena.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.function.Consumer;

/** {@code nio-lat-select}: ping-pong through a selector, over connections that take turns. */
final class PerfNioSelect extends PerfLoop {
    private static final long LOOK_MILLIS = 1000;

    private final Selector selector;
    private final List<SocketChannel> channels;
    private final boolean initiator;
    private final int size;
    private final ByteBuffer out;
    private final Consumer<SelectionKey> serve = this::serve;
    private int answered;

    /** A connection's message that has arrived in part. */
    private record Place(ByteBuffer in) {}

    PerfNioSelect(PerfJob job, PerfControl peer, Selector selector, List<SocketChannel> channels, boolean initiator)
            throws IOException {
        super(peer);
        this.selector = selector;
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
                write(channels.get((int) ((remaining - i) % channels.size())));
            }
            await(i + 1);
            if (initiator) {
                roundTrip();
            }
        }
    }

    /** Until so many messages of the burst have come. */
    private void await(int wanted) throws IOException {
        boolean first = true;
        while (answered < wanted) {
            if (selector.select(serve, LOOK_MILLIS) == 0) {
                peer.look(first);
                first = false;
            }
        }
    }

    private void serve(SelectionKey key) {
        ByteBuffer in = ((Place) key.attachment()).in();
        SocketChannel channel = (SocketChannel) key.channel();
        try {
            if (channel.read(in) < 0) {
                throw new PerfException("the peer closed the TCP connection");
            }
            if (!in.hasRemaining()) {
                in.clear();
                answered++;
                if (!initiator) {
                    write(channel);
                }
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private void write(SocketChannel channel) throws IOException {
        out.clear();
        long turns = 0;
        while (out.hasRemaining()) {
            if (channel.write(out) == 0) {
                turns = peer.spin(turns);
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (SocketChannel channel : channels) {
            channel.close();
        }
        selector.close();
    }
}
