package org.verbena.cli;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** {@code nio-connect}: connect, a byte there, a byte back, close. */
final class PerfNioConnect {
    private PerfNioConnect() {}

    /** Reads the byte that has to come. */
    private static void readOne(SocketChannel channel, ByteBuffer one) throws IOException {
        if (channel.read(one.clear()) != 1) {
            throw PerfTcp.closed();
        }
    }

    /** The side that measures. */
    static final class Connector extends PerfLoop {
        private final SelectorProvider provider;
        private final InetSocketAddress address;
        private final ByteBuffer one = ByteBuffer.allocateDirect(1);

        Connector(PerfControl peer, SelectorProvider provider, InetSocketAddress address) {
            super(peer);
            this.provider = provider;
            this.address = address;
        }

        @Override
        protected void burst(int n) throws IOException {
            for (int i = 0; i < n; i++) {
                try (SocketChannel channel = provider.openSocketChannel()) {
                    channel.connect(address);
                    channel.write(one.clear());
                    readOne(channel, one);
                    // closed by a reset: ports in TIME_WAIT would run out
                    channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                }
                roundTrip();
            }
        }
    }

    /** The side that is connected to. */
    static final class Acceptor extends PerfLoop {
        private final ServerSocketChannel listener;
        private final ByteBuffer one = ByteBuffer.allocateDirect(1);

        Acceptor(PerfControl peer, ServerSocketChannel listener) {
            super(peer);
            this.listener = listener;
        }

        @Override
        protected void burst(int n) throws IOException {
            for (int i = 0; i < n; i++) {
                try (SocketChannel channel = listener.accept()) {
                    readOne(channel, one);
                    channel.write(one.clear());
                }
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }
}
