// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.support.CommandException;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSockets;

/** Creates the channels of the {@code nio} tests: at each end by Verbena or by the JDK, then used in the same way. */
public final class PerfNio {
    /** Longer than the handshake of the ends, four times {@code verbena.stream.patience}; 30 by default. */
    private static final long DECIDE_SECONDS = 10 + 4 * Math.ceilDiv(Long.getLong("verbena.stream.patience", 5000),
            1000);
    private static final int LEAST_BACKLOG = 1024;

    private PerfNio() {}

    public static SelectorProvider provider(PerfJob job, boolean initiator) throws CommandException {
        if (!job.ends().isVerbena(initiator)) {
            return SelectorProvider.provider();
        }
        try {
            return VerbenaSockets.selectorProvider();
        } catch (UnsupportedOperationException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    /** The side that is measured against. */
    public static PerfLoop serve(PerfJob job, PerfControl client) throws IOException {
        ServerSocketChannel listener = provider(job, false).openServerSocketChannel();
        List<SocketChannel> channels = new ArrayList<>();
        try {
            listener.bind(new InetSocketAddress(client.localAddress(), 0), Math.max(LEAST_BACKLOG, job.connections()));
            client.send("READY port=" + ((InetSocketAddress) listener.getLocalAddress()).getPort());
            if (job.test() == PerfTest.NIO_CONNECT) {
                return job.connections() == 1
                        ? new PerfNioConnect.Acceptor(job, client, listener)
                        : new PerfNioConnects.Acceptor(job, client, listener);
            }
            for (int i = 0; i < job.connections(); i++) {
                channels.add(PerfTcp.accept(listener, client));
            }
            listener.close();
            return loop(job, client, channels, false);
        } catch (IOException | RuntimeException e) {
            listener.close();
            close(channels);
            throw e;
        }
    }

    /** The side that measures. */
    public static PerfLoop connect(PerfJob job, PerfControl server, InetSocketAddress address) throws IOException {
        if (job.test() == PerfTest.NIO_CONNECT) {
            return job.connections() == 1
                    ? new PerfNioConnect.Connector(job, server, provider(job, true), address)
                    : new PerfNioConnects.Connector(job, server, provider(job, true), address);
        }
        List<SocketChannel> channels = new ArrayList<>();
        try {
            for (int i = 0; i < job.connections(); i++) {
                SocketChannel channel = provider(job, true).openSocketChannel();
                channels.add(channel);
                channel.connect(address);
            }
            return loop(job, server, channels, true);
        } catch (IOException | RuntimeException e) {
            close(channels);
            throw e;
        }
    }

    /** After a failed set-up: the listener continues to serve others. */
    private static void close(List<SocketChannel> channels) throws IOException {
        for (SocketChannel channel : channels) {
            channel.close();
        }
    }

    private static PerfLoop loop(PerfJob job, PerfControl peer, List<SocketChannel> channels, boolean initiator)
            throws IOException {
        for (SocketChannel channel : channels) {
            awaitCarrier(job, channel, peer);
        }
        return switch (job.test()) {
            case NIO_LAT_SELECT, NIO_LAT_SELECTNOW -> {
                for (SocketChannel channel : channels) {
                    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                }
                yield new PerfNioSelect(job, peer, selector(channels), channels, initiator);
            }
            case NIO_BW -> channels.size() == 1
                    ? PerfTcp.of(job, peer, channels.getFirst(), initiator)
                    : PerfNioMany.of(job, peer, selector(channels), channels, initiator);
            case NIO_TRANSFER -> initiator
                    ? new PerfNioTransfer.Sender(job, peer, channels.getFirst())
                    : PerfTcp.of(job, peer, channels.getFirst(), false);
            case NIO_TRANSFER_FROM -> initiator
                    ? PerfTcp.of(job, peer, channels.getFirst(), true)
                    : new PerfNioTransfer.Receiver(job, peer, channels.getFirst());
            default -> PerfTcp.latency(job, peer, channels, initiator);
        };
    }

    /** A new selector for channels that do not block from now on. */
    private static Selector selector(List<SocketChannel> channels) throws IOException {
        for (SocketChannel channel : channels) {
            channel.configureBlocking(false);
        }
        return channels.getFirst().provider().openSelector();
    }

    /**
     * Waits until the transport of outgoing bytes is decided. Between two ends with Verbena that is a ring: a
     * connection that stays with TCP is no result. Towards a plain peer it is TCP.
     */
    public static void awaitCarrier(PerfJob job, SocketChannel channel, PerfControl peer) throws IOException {
        if (!(channel instanceof VerbenaSocketChannel ours) || ours.isOutputByRing()) {
            return;
        }
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DECIDE_SECONDS);
        for (boolean first = true; !ours.isOutputByRing(); first = false) {
            String reason = ours.fallbackReason();
            if (!reason.isEmpty() && job.ends() == PerfEnds.VERBENA_TO_PLAIN) {
                return;
            }
            if (!reason.isEmpty()) {
                throw new CommandException("the connection " + channel + " stays with TCP: " + reason);
            }
            if (System.nanoTime() > end) {
                throw new CommandException("the ends of " + channel + " do not agree on rings within " + DECIDE_SECONDS
                        + " s: give slow ones longer with -Dverbena.stream.patience=MILLISECONDS");
            }
            peer.look(first);
            LockSupport.parkNanos(100_000);
        }
    }
}
