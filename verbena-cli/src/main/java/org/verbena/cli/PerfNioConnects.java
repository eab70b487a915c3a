package org.verbena.cli;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** {@code nio-connect} with many at once: each side has one thread and one selector. */
final class PerfNioConnects {
    private PerfNioConnects() {}

    /** The side that measures: it begins one whenever one has ended. */
    static final class Connector extends PerfSelecting {
        private final SelectorProvider provider;
        private final InetSocketAddress address;
        private final int atOnce;
        private final ByteBuffer one = ByteBuffer.allocateDirect(1);
        private long ended;

        /** When a connection was begun. */
        private record Begun(long nanos) {}

        Connector(PerfJob job, PerfControl peer, SelectorProvider provider, InetSocketAddress address)
                throws IOException {
            super(peer, provider.openSelector());
            this.provider = provider;
            this.address = address;
            this.atOnce = job.connections();
        }

        /** All that is left of the run is one burst. */
        @Override
        protected void burst(int n) throws IOException {
            long all = remaining;
            long started = 0;
            ended = 0;
            while (ended < all) {
                for (; started < all && started - ended < atOnce; started++) {
                    begin();
                }
                select();
            }
            remaining = 0;
        }

        private void begin() throws IOException {
            SocketChannel channel = provider.openSocketChannel();
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, 0, new Begun(System.nanoTime()));
            if (channel.connect(address)) {
                ask(key, channel);
            } else {
                key.interestOps(SelectionKey.OP_CONNECT);
            }
        }

        private void ask(SelectionKey key, SocketChannel channel) throws IOException {
            if (channel.write(one.clear()) != 1) {
                throw new PerfException("a new connection takes no byte");
            }
            key.interestOps(SelectionKey.OP_READ);
        }

        @Override
        protected void serve(SelectionKey key) throws IOException {
            SocketChannel channel = (SocketChannel) key.channel();
            if (key.isConnectable()) {
                channel.finishConnect();
                ask(key, channel);
                return;
            }
            int n = channel.read(one.clear());
            if (n < 0) {
                throw PerfTcp.closed();
            }
            if (n > 0) {
                // closed by a reset: ports in TIME_WAIT would run out
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                channel.close();
                roundTrip(((Begun) key.attachment()).nanos());
                ended++;
            }
        }
    }

    /** The side that is connected to. */
    static final class Acceptor extends PerfSelecting {
        private final ServerSocketChannel listener;
        private final ByteBuffer one = ByteBuffer.allocateDirect(1);
        private long answered;

        Acceptor(PerfControl peer, ServerSocketChannel listener) throws IOException {
            super(peer, listener.provider().openSelector());
            this.listener = listener;
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
        }

        /** All that is left of the run is one burst. */
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
            int n = channel.read(one.clear());
            if (n < 0) {
                throw PerfTcp.closed();
            }
            if (n > 0) {
                channel.write(one.clear());
                channel.close();
                answered++;
            }
        }
    }
}
