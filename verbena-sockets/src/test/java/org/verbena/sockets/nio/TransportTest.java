// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.util.Random;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;

/** What carries a connection that was half closed, or that carries urgent data; each byte arrives whatever it is. */
@Tag("any-provider")
@Execution(ExecutionMode.CONCURRENT)
class TransportTest {
    private static final int PIECE = 10_000;
    private static final long FULL_NANOS = 500_000_000;

    /** What the client does before it is accepted, so that the handshake cannot complete yet. */
    private interface First {
        void with(VerbenaSocketChannel client) throws IOException;
    }

    private record Pair(VerbenaSocketChannel client, VerbenaSocketChannel server) implements AutoCloseable {
        static Pair open() throws IOException {
            return open(client -> {});
        }

        static Pair open(First first) throws IOException {
            try (VerbenaServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
                listener.bind(Carrier.anyPort());
                VerbenaSocketChannel client = VerbenaSocketChannel.open();
                // as it is: copying all options must work
                client.setOption(VerbenaSocketOptions.TRANSPORT, "undecided");
                assertThatThrownBy(() -> client.setOption(VerbenaSocketOptions.TRANSPORT, "stream"))
                        .isInstanceOf(UnsupportedOperationException.class);
                assertThat(client.getOption(VerbenaSocketOptions.TRANSPORT)).isEqualTo("undecided");
                client.connect(listener.getLocalAddress());
                first.with(client);
                return new Pair(client, (VerbenaSocketChannel) listener.accept());
            }
        }

        boolean isUndecided() throws IOException {
            return transport(client).equals("undecided") || transport(server).equals("undecided");
        }

        @Override
        public void close() throws IOException {
            client.close();
            server.close();
        }
    }

    private static String transport(SocketChannel c) throws IOException {
        return c.getOption(VerbenaSocketOptions.TRANSPORT);
    }

    /** A piece of random bytes, there. */
    private static void pass(SocketChannel from, SocketChannel to, Random random) throws Exception {
        byte[] out = new byte[PIECE];
        random.nextBytes(out);
        Thread writer = Thread.ofPlatform().start(() -> {
            try {
                for (ByteBuffer b = ByteBuffer.wrap(out); b.hasRemaining();) {
                    from.write(b);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        ByteBuffer in = ByteBuffer.allocate(PIECE);
        while (in.hasRemaining()) {
            assertThat(to.read(in)).isNotNegative();
        }
        writer.join();
        assertThat(in.array()).isEqualTo(out);
    }

    @Test
    void transportIsDecidedOnceAndUnknownForAClosedChannel() throws Exception {
        try (Pair p = Pair.open()) {
            Random random = new Random(1);
            while (p.isUndecided()) {
                pass(p.client, p.server, random);
            }
            assertThat(transport(p.client) + transport(p.server)).isEqualTo("streamstream");
            p.client.shutdownOutput();
            assertThat(p.server.read(ByteBuffer.allocate(1))).isNegative();
            pass(p.server, p.client, random);
            p.server.shutdownOutput();
            assertThat(p.client.read(ByteBuffer.allocate(1))).isNegative();
            p.client.shutdownInput();
            assertThat(transport(p.client) + transport(p.server)).isEqualTo("streamstream");
            p.client.close();
            assertThatThrownBy(() -> transport(p.client)).isInstanceOf(ClosedChannelException.class);
        }
    }

    /** The other direction goes on, by whatever the ends come to. */
    @Test
    void transportOfAHalfClosedChannelIsDecided() throws Exception {
        for (int i = 0; i < 20; i++) {
            try (Pair p = Pair.open()) {
                VerbenaSocketChannel ends = i % 2 == 0 ? p.client : p.server;
                VerbenaSocketChannel goesOn = i % 2 == 0 ? p.server : p.client;
                Random random = new Random(i);
                if (i % 4 < 2) {
                    pass(ends, goesOn, random);
                }
                ends.shutdownOutput();
                if (i % 5 == 0) {
                    assertThat(goesOn.read(ByteBuffer.allocate(1))).isNegative();
                }
                while (p.isUndecided()) {
                    pass(goesOn, ends, random);
                }
                pass(goesOn, ends, random);
                assertThat(transport(ends)).isIn("stream", "kernel");
                assertThat(goesOn.read(ByteBuffer.allocate(1))).isNegative();
                goesOn.shutdownOutput();
                assertThat(ends.read(ByteBuffer.allocate(1))).isNegative();
            }
        }
    }

    @Test
    void directionAfterUrgentDataStaysWithTcp() throws Exception {
        try (Pair p = Pair.open(client -> client.socket().sendUrgentData(1))) {
            Random random = new Random(1);
            while (p.isUndecided() || !p.client.isInputByRing()) {
                pass(p.client, p.server, random);
                pass(p.server, p.client, random);
            }
            assertThat(transport(p.client) + transport(p.server)).isEqualTo("streamstream");
            assertThat(p.client.isOutputByRing()).isFalse();
            p.client.socket().sendUrgentData(2);
            pass(p.client, p.server, random);
            pass(p.server, p.client, random);
        }
    }

    private static String text(SocketChannel from, int length) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(length);
        while (b.hasRemaining()) {
            assertThat(from.read(b)).isNotNegative();
        }
        return new String(b.array(), US_ASCII);
    }

    private static void write(SocketChannel to, String text) throws IOException {
        assertThat(to.write(ByteBuffer.wrap(text.getBytes(US_ASCII)))).isEqualTo(text.length());
    }

    /**
     * There is no room for it as long as the peer has not sent its option; its engine may stand still for a while.
     */
    private static void urgent(SocketChannel to, int data) throws IOException {
        for (boolean sent = false; !sent;) {
            try {
                to.socket().sendUrgentData(data);
                sent = true;
            } catch (SocketException e) {
                assertThat(e).hasMessage("Socket buffer full");
            }
        }
    }

    /** On rings as on TCP: among the bytes where they are wanted so, else nowhere. */
    @ParameterizedTest
    @EnumSource(Carrier.class)
    void urgentDataIsReadInlineIfEnabled(Carrier carrier) throws Exception {
        for (boolean accepted : new boolean[] {false, true}) {
            try (Carrier.Pair p = accepted ? carrier.accepted() : carrier.connected()) {
                SocketChannel from = p.tested();
                SocketChannel to = p.peer();
                to.socket().setOOBInline(true);
                StringBuilder all = new StringBuilder();
                for (int i = 0; i < 100; i++) {
                    write(from, "a".repeat(i % 7));
                    urgent(from, '0' + i % 10);
                    all.append("a".repeat(i % 7)).append(i % 10);
                }
                assertThat(text(to, all.length())).isEqualTo(all.toString());
                to.socket().setOOBInline(false);
                write(from, "b");
                urgent(from, 'U');
                write(from, "c");
                assertThat(text(to, 2)).isEqualTo("bc");
                to.configureBlocking(false);
                assertThat(to.read(ByteBuffer.allocate(1))).isZero();
                to.configureBlocking(true);
                for (SocketOption<?> o : to.supportedOptions()) {
                    if (o.name().equals("SO_OOBINLINE")) {
                        inline(to, o);
                    }
                }
                urgent(from, 'V');
                write(from, "d");
                assertThat(text(to, 2)).isEqualTo("Vd");
                if (carrier == Carrier.RING) {
                    VerbenaSocketChannel sender = (VerbenaSocketChannel) from;
                    assertThat(sender.isOutputByRing()).isTrue();
                    assertThat(sender.statistics().sentByRing()).isGreaterThanOrEqualTo(all.length() + 4L);
                }
            }
        }
    }

    @SuppressWarnings("unchecked") // its type is Boolean
    private static void inline(SocketChannel channel, SocketOption<?> option) throws IOException {
        channel.setOption((SocketOption<Boolean>) option, true);
    }

    /** An option set before the handshake holds on the rings. */
    @Test
    void inlineOptionSetBeforeTheHandshakeHoldsOnRings() throws Exception {
        for (int i = 0; i < 10; i++) {
            try (VerbenaServerSocketChannel listener = VerbenaServerSocketChannel.open();
                    VerbenaSocketChannel client = VerbenaSocketChannel.open()) {
                listener.bind(Carrier.anyPort());
                client.socket().setOOBInline(true);
                client.connect(listener.getLocalAddress());
                try (VerbenaSocketChannel server = (VerbenaSocketChannel) listener.accept()) {
                    server.socket().setOOBInline(i % 2 == 0);
                    boolean clients = false;
                    boolean servers = false;
                    Random random = new Random(i);
                    while (!clients || !servers) { // at once, the handshake may be about to complete
                        if (!clients && client.isOutputByRing()) {
                            clients = true;
                            urgent(client, 'c');
                            write(client, "C");
                            assertThat(text(server, i % 2 == 0 ? 2 : 1)).isEqualTo(i % 2 == 0 ? "cC" : "C");
                        }
                        if (!servers && server.isOutputByRing()) {
                            servers = true;
                            urgent(server, 's');
                            write(server, "S");
                            assertThat(text(client, 2)).isEqualTo("sS");
                        }
                        pass(client, server, random);
                        pass(server, client, random);
                    }
                }
            }
        }
    }

    /** A channel that blocks waits for room in the ring. */
    @Test
    void inlineUrgentDataWaitsForRoom() throws Exception {
        try (Carrier.Pair p = Carrier.RING.connected()) {
            p.peer().socket().setOOBInline(true);
            p.tested().configureBlocking(false);
            long sent = 0;
            long full = 0; // since when; until then the ring may be replaced by a larger one
            while (full == 0 || System.nanoTime() - full < FULL_NANOS) {
                int n = p.tested().write(ByteBuffer.allocate(PIECE));
                if (n == 0) {
                    try {
                        p.tested().socket().sendUrgentData('u');
                        n = 1;
                    } catch (SocketException e) {
                        assertThat(e).hasMessage("Socket buffer full");
                        Thread.sleep(2);
                    }
                }
                sent += n;
                full = n > 0 ? 0 : full == 0 ? System.nanoTime() : full;
            }
            p.tested().configureBlocking(true);
            Thread sender = Thread.ofPlatform().start(() -> {
                try {
                    p.tested().socket().sendUrgentData('U');
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            sender.join(50);
            assertThat(text(p.peer(), (int) sent + 1)).endsWith("\0U");
            sender.join();
        }
    }

    /**
     * Where TCP is full it is as the JDK's; a ring that is full leaves TCP free. Nothing of what was written is lost.
     */
    @ParameterizedTest
    @EnumSource(Carrier.class)
    void urgentDataWithAFullBufferLosesNothing(Carrier carrier) throws Exception {
        MessageDigest written = MessageDigest.getInstance("SHA-256");
        MessageDigest read = MessageDigest.getInstance("SHA-256");
        try (Carrier.Pair p = carrier.connected()) {
            Random random = new Random(1);
            byte[] bytes = new byte[PIECE];
            long sent = 0;
            // since when; what is left of the window, too small for a segment, TCP fills after 0.2 s only
            long full = 0;
            p.tested().configureBlocking(false);
            for (boolean forGood = false; !forGood;) {
                long now = System.nanoTime();
                random.nextBytes(bytes);
                int n = p.tested().write(ByteBuffer.wrap(bytes));
                written.update(bytes, 0, n);
                sent += n;
                forGood = n == 0 && full != 0 && now - full > FULL_NANOS;
                full = n > 0 ? 0 : full == 0 ? now : full;
                Thread.sleep(n == 0 ? 2 : 0);
            }
            String outcome = "sent";
            try {
                p.tested().socket().sendUrgentData(1);
            } catch (IOException e) {
                outcome = e.toString();
            }
            assertThat(outcome).isEqualTo(carrier == Carrier.RING ? "sent" : "java.io.IOException: Socket buffer full");
            p.tested().configureBlocking(true);
            p.tested().shutdownOutput();
            ByteBuffer in = ByteBuffer.allocate(PIECE);
            while (p.peer().read(in.clear()) >= 0) {
                read.update(in.array(), 0, in.position());
                sent -= in.position();
            }
            assertThat(sent).isZero();
            assertThat(read.digest()).isEqualTo(written.digest());
        }
    }
}
