// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.sockets;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.verbs.Context;

/**
 * {@code stack-lat}, {@code stack-bw} and {@code stack-connect}: between two stacks, a stack and the kernel, and the kernels of both
 * ends by the same interfaces.
 */
public final class PerfStackTcp {
    private PerfStackTcp() {}

    private static PerfTcpHost host(boolean initiator, @Nullable Context context, PerfControl peer)
            throws IOException {
        return context == null
                ? new PerfTcpHost.Kernel(initiator, peer)
                : new PerfTcpHost.User(initiator, context, peer);
    }

    /**
     * The side that is measured against.
     *
     * @param context null for the kernel
     */
    public static PerfLoop serve(PerfJob job, PerfControl client, @Nullable Context context) throws IOException {
        PerfTcpHost host = host(false, context, client);
        try {
            client.send("READY port=" + host.listen());
            return job.test() == PerfTest.STACK_CONNECT
                    ? new Acceptor(client, host)
                    : PerfTcp.of(job, client, accept(host, client), false).closing(host);
        } catch (IOException | RuntimeException e) {
            host.close();
            throw e;
        }
    }

    /** The side that measures; as the other. */
    public static PerfLoop connect(PerfJob job, String test, PerfControl server, @Nullable Context context,
            int answerSeconds) throws IOException {
        PerfTcpHost host = host(true, context, server);
        try {
            server.send(test);
            PerfFields ready = server.expect("READY", answerSeconds);
            int port = (int) ready.number("port", 1, 65_535);
            return job.test() == PerfTest.STACK_CONNECT
                    ? new Connector(server, host, port)
                    : PerfTcp.of(job, server, host.connect(port), true).closing(host);
        } catch (IOException | RuntimeException e) {
            host.close();
            throw e;
        }
    }

    private static ByteChannel accept(PerfTcpHost host, PerfControl peer) throws IOException {
        long turns = 0;
        for (;;) {
            ByteChannel c = host.accept();
            if (c != null) {
                return c;
            }
            turns = peer.spin(turns);
        }
    }

    /** {@code stack-connect}: a connection, a byte there and one back. */
    private abstract static class Connecting extends PerfLoop {
        final PerfTcpHost host;
        private final ByteBuffer one = ByteBuffer.allocateDirect(1);

        Connecting(PerfControl peer, PerfTcpHost host) {
            super(peer);
            this.host = host;
        }

        final void write(ByteChannel channel) throws IOException {
            PerfTcp.write(channel, one, peer);
        }

        final void read(ByteChannel channel) throws IOException {
            one.clear();
            long turns = 0;
            for (int n = 0; n <= 0;) {
                n = channel.read(one);
                if (n < 0) {
                    throw PerfTcp.closed();
                }
                turns = peer.spin(turns);
            }
        }

        @Override
        public void close() throws IOException {
            host.close();
        }
    }

    /** The side that measures. */
    private static final class Connector extends Connecting {
        private final int port;

        Connector(PerfControl peer, PerfTcpHost host, int port) {
            super(peer, host);
            this.port = port;
        }

        @Override
        protected void burst(int n) throws IOException {
            for (int i = 0; i < n; i++) {
                try (ByteChannel c = host.connect(port)) {
                    write(c);
                    read(c);
                }
                roundTrip();
            }
        }
    }

    /** The side that is connected to. */
    private static final class Acceptor extends Connecting {
        Acceptor(PerfControl peer, PerfTcpHost host) {
            super(peer, host);
        }

        @Override
        protected void burst(int n) throws IOException {
            for (int i = 0; i < n; i++) {
                try (ByteChannel c = accept(host, peer)) {
                    read(c);
                    write(c);
                }
            }
        }
    }
}
