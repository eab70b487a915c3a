// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import org.verbena.cli.support.PeerException;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/**
 * {@code verbena rstream}: {@code rstream} of librdmacm with its option {@code -T v}: the bytes that an end sends count
 * up from 0, and wrap after 255, from the first byte of the connection to the last.
 */
@Command(name = "rstream", sortOptions = false,
        description = {"Sends a stream of bytes to and fro, by the protocol of librdmacm's rsockets.",
            "Either end may be rstream of librdmacm with -T v; what comes is always compared."})
public final class RstreamCommand implements Callable<Integer> {
    private static final int USUAL_PORT = 7471;
    /** The byte that the ends exchange before the first message. */
    private static final int SYNC = 16;
    private static final int PERIOD = 256;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private RstreamOptions options;

    @Override
    public Integer call() throws IOException {
        options.check();
        String device = options.device("");
        InetSocketAddress address = options.address(USUAL_PORT, device);
        try (Context context = Verbs.open(device)) {
            RsocketStream stream = options.isServer() ? accept(context, address) : connect(context, address);
            Transfer transfer = new Transfer(stream, options);
            transfer.run();
            stream.end();
            options.report(1, transfer.iterations * options.count(), options.size(), transfer.nanos);
        }
        return 0;
    }

    private RsocketStream accept(Context context, InetSocketAddress at) throws IOException {
        try (ConnectionListener listener = context.connectionManager().listen(at)) {
            options.sayListening(listener.localAddress());
            ConnectionRequest request = listener.awaitRequest(options.timeout());
            if (request == null) {
                throw new PeerException("no client connected within " + options.timeout().toSeconds() + " seconds");
            }
            return RsocketStream.accept(context, request, options);
        }
    }

    private RsocketStream connect(Context context, InetSocketAddress to) throws IOException {
        try {
            return RsocketStream.connect(context, to, options);
        } catch (VerbsException e) {
            throw PeerException.orNobody(e, to, "rstream");
        }
    }

    /** The messages of one end. */
    private static final class Transfer {
        private final RsocketStream stream;
        private final RstreamOptions options;
        private final MemorySegment pattern;
        private final MemorySegment arrived;
        private int sent;
        private int received;
        private int messages;
        private long iterations;
        /** How long they took, without the initial exchange. */
        private long nanos;

        Transfer(RsocketStream stream, RstreamOptions options) {
            this.stream = stream;
            this.options = options;
            int longest = Math.max(SYNC, options.size());
            pattern = Arena.ofAuto().allocate(PERIOD + longest);
            arrived = Arena.ofAuto().allocate(longest);
            for (int i = 0; i < PERIOD + longest; i++) {
                pattern.set(ValueLayout.JAVA_BYTE, i, (byte) i);
            }
        }

        /** Sends and receives all. */
        void run() throws IOException {
            turn(1, SYNC);
            long start = System.nanoTime();
            while (iterations < options.iterations() || options.followsPeer() && stream.goesOn()) {
                turn(options.count(), options.size());
                iterations++;
                nanos = System.nanoTime() - start;
            }
        }

        /** The client's messages, then the server's. */
        private void turn(int count, int size) throws IOException {
            if (options.isServer()) {
                receive(count, size);
                stream.checkAllRead(); // a client waits for its turn to end
                send(count, size);
            } else {
                send(count, size);
                receive(count, size);
            }
        }

        private void send(int count, int size) throws IOException {
            for (int i = 0; i < count; i++) {
                stream.write(pattern.asSlice(sent, size));
                sent = (sent + size) % PERIOD;
            }
        }

        private void receive(int count, int size) throws IOException {
            for (int i = 0; i < count; i++) {
                MemorySegment to = arrived.asSlice(0, size);
                stream.read(to);
                CmMessages.compare(messages++, to, pattern.asSlice(received, size));
                received = (received + size) % PERIOD;
            }
        }
    }
}
