// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayDeque;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.support.CommandException;

/**
 * {@code nio-connect} with many simultaneous connections: each side has one thread and one selector. See {@link
 * PerfNioConnect}.
 */
abstract class PerfNioConnects extends PerfSelecting {
    protected final PerfJob job;
    private final ByteBuffer one = ByteBuffer.allocateDirect(1);

    private PerfNioConnects(PerfJob job, PerfControl peer, Selector selector) {
        super(peer, selector);
        this.job = job;
    }

    protected final void writeOne(SocketChannel channel) throws IOException {
        if (channel.write(one.clear()) != 1) {
            throw new CommandException("a connection takes no byte");
        }
    }

    /** True if a byte was available. */
    protected final boolean readOne(SocketChannel channel) throws IOException {
        int n = channel.read(one.clear());
        if (n < 0) {
            throw PerfTcp.closed();
        }
        return n > 0;
    }

    /** The side that measures: it opens one whenever another rests or has ended. */
    static final class Connector extends PerfNioConnects {
        private final SelectorProvider provider;
        private final InetSocketAddress address;
        private final int atOnce;
        private final ArrayDeque<SelectionKey> resting = new ArrayDeque<>();
        private int underWay;
        private long ended;

        /** The state of a connection. */
        private static final class Trip {
            /** The start time, moved by the time that it rested; while it rests, the time elapsed until then. */
            long nanos = System.nanoTime();
            boolean rested;
        }

        Connector(PerfJob job, PerfControl peer, SelectorProvider provider, InetSocketAddress address)
                throws IOException {
            super(job, peer, provider.openSelector());
            this.provider = provider;
            this.address = address;
            this.atOnce = job.connections();
        }

        /** The rest of the run is one burst. */
        @Override
        protected void burst(int n) throws IOException {
            long all = remaining;
            long started = 0;
            ended = 0;
            while (ended < all) {
                for (; started < all && underWay < atOnce; started++) {
                    begin();
                }
                boolean last = started == all && underWay == 0;
                while (resting.size() > (last ? 0 : PerfNioConnect.RESTING)) {
                    goOn(resting.remove());
                }
                select();
            }
            remaining = 0;
        }

        private void begin() throws IOException {
            Trip trip = new Trip();
            SocketChannel channel = provider.openSocketChannel();
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, 0, trip);
            underWay++;
            if (channel.connect(address)) {
                ask(key, channel);
            } else {
                key.interestOps(SelectionKey.OP_CONNECT);
            }
        }

        private void ask(SelectionKey key, SocketChannel channel) throws IOException {
            writeOne(channel);
            key.interestOps(SelectionKey.OP_READ);
        }

        private void rest(SelectionKey key, Trip trip) {
            trip.nanos = System.nanoTime() - trip.nanos;
            trip.rested = true;
            key.interestOps(0);
            resting.add(key);
            underWay--;
        }

        private void goOn(SelectionKey key) throws IOException {
            SocketChannel channel = (SocketChannel) key.channel();
            PerfNioConnect.awaitRing(job, channel, peer);
            Trip trip = (Trip) key.attachment();
            trip.nanos = System.nanoTime() - trip.nanos;
            underWay++;
            ask(key, channel);
        }

        @Override
        protected void serve(SelectionKey key) throws IOException {
            SocketChannel channel = (SocketChannel) key.channel();
            if (key.isConnectable()) {
                channel.finishConnect();
                ask(key, channel);
                return;
            }
            if (!readOne(channel)) {
                return;
            }
            Trip trip = (Trip) key.attachment();
            if (!trip.rested) {
                rest(key, trip);
                return;
            }
            // closed by a reset: ports in TIME_WAIT would run out
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            channel.close();
            roundTrip(trip.nanos);
            underWay--;
            ended++;
        }
    }

    /** The side that is connected to. */
    static final class Acceptor extends PerfNioConnects {
        private final ServerSocketChannel listener;
        private long answered;

        Acceptor(PerfJob job, PerfControl peer, ServerSocketChannel listener) throws IOException {
            super(job, peer, listener.provider().openSelector());
            this.listener = listener;
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
        }

        /** The rest of the run is one burst. */
        @Override
        protected void burst(int n) throws IOException {
            answered = 0;
            while (answered < remaining) {
                select();
            }
            remaining = 0;
        }

        @Override
        protected void serve(SelectionKey key) throws IOException {
            if (key.isAcceptable()) {
                for (SocketChannel c = listener.accept(); c != null; c = listener.accept()) {
                    c.configureBlocking(false);
                    c.register(selector, SelectionKey.OP_READ);
                }
                return;
            }
            SocketChannel channel = (SocketChannel) key.channel();
            if (!readOne(channel)) {
                return;
            }
            if (key.attachment() == null) {
                writeOne(channel);
                key.attach(channel); // it has had its first byte
                return;
            }
            PerfNioConnect.awaitRing(job, channel, peer);
            writeOne(channel);
            channel.close();
            answered++;
        }
    }
}
