// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayDeque;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;

/**
 * {@code nio-connect}: connect, a byte there and one back; later another byte there and one back, close. In between it
 * rests while others are opened, so that the handshake of two ends with Verbena completes and no measured connection
 * waits for it.
 */
abstract class PerfNioConnect extends PerfLoop {
    /** The number of resting connections: by then most have completed the handshake. */
    static final int RESTING = 32;

    private final PerfJob job;
    private final ArrayDeque<Resting> resting = new ArrayDeque<>();
    private final ByteBuffer one = ByteBuffer.allocateDirect(1);

    /** @param nanos the time from its start to the first byte back */
    private record Resting(SocketChannel channel, long nanos) {}

    private PerfNioConnect(PerfJob job, PerfControl peer) {
        super(peer);
        this.job = job;
    }

    /** Opens a connection. */
    protected abstract SocketChannel open() throws IOException;

    /** A byte there and one back. */
    protected abstract void exchange(SocketChannel channel) throws IOException;

    /** Closes a connection that began at {@code since}, less the time that it rested. */
    protected abstract void close(SocketChannel channel, long since) throws IOException;

    protected final void writeOne(SocketChannel channel) throws IOException {
        channel.write(one.clear());
    }

    /** Reads the expected byte. */
    protected final void readOne(SocketChannel channel) throws IOException {
        if (channel.read(one.clear()) != 1) {
            throw PerfTcp.closed();
        }
    }

    @Override
    protected final void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            begin();
            if (resting.size() > RESTING) {
                end();
            }
        }
    }

    @Override
    protected final void finish() throws IOException {
        while (!resting.isEmpty()) {
            end();
        }
    }

    private void begin() throws IOException {
        long start = System.nanoTime();
        SocketChannel channel = open();
        try {
            exchange(channel);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
        resting.add(new Resting(channel, System.nanoTime() - start));
    }

    private void end() throws IOException {
        Resting rested = resting.remove();
        try (SocketChannel channel = rested.channel()) {
            awaitRing(job, channel, peer);
            long since = System.nanoTime() - rested.nanos();
            exchange(channel);
            close(channel, since);
        }
    }

    /** Between two ends with Verbena; towards a plain peer TCP carries it, whether that is decided or not. */
    static void awaitRing(PerfJob job, SocketChannel channel, PerfControl peer) throws IOException {
        if (job.ends() == PerfEnds.VERBENA) {
            PerfNio.awaitCarrier(job, channel, peer);
        }
    }

    @Override
    public void close() throws IOException {
        for (Resting r : resting) {
            r.channel().close();
        }
    }

    /** The side that measures. */
    static final class Connector extends PerfNioConnect {
        private final SelectorProvider provider;
        private final InetSocketAddress address;

        Connector(PerfJob job, PerfControl peer, SelectorProvider provider, InetSocketAddress address) {
            super(job, peer);
            this.provider = provider;
            this.address = address;
        }

        @Override
        protected SocketChannel open() throws IOException {
            SocketChannel channel = provider.openSocketChannel();
            try {
                channel.connect(address);
                return channel;
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        }

        @Override
        protected void exchange(SocketChannel channel) throws IOException {
            writeOne(channel);
            readOne(channel);
        }

        @Override
        protected void close(SocketChannel channel, long since) throws IOException {
            // closed by a reset: ports in TIME_WAIT would run out
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            channel.close();
            roundTrip(since);
        }
    }

    /** The side that is connected to. */
    static final class Acceptor extends PerfNioConnect {
        private final ServerSocketChannel listener;

        Acceptor(PerfJob job, PerfControl peer, ServerSocketChannel listener) {
            super(job, peer);
            this.listener = listener;
        }

        @Override
        protected SocketChannel open() throws IOException {
            return listener.accept();
        }

        @Override
        protected void exchange(SocketChannel channel) throws IOException {
            readOne(channel);
            writeOne(channel);
        }

        @Override
        protected void close(SocketChannel channel, long since) throws IOException {
            channel.close();
        }

        @Override
        public void close() throws IOException {
            listener.close();
            super.close();
        }
    }
}
