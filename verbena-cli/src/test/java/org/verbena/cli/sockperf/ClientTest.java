// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.cli.sockperf.Plan.Mode;
import org.verbena.cli.sockperf.SocketOptions.Wait;
import org.verbena.cli.support.PeerException;
import org.verbena.testkit.Await;

/** A client and its server in one process, and servers that lose, repeat, reorder and invent answers. */
class ClientTest {
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final long UNCOUNTED = Plan.WARM_UP_MESSAGES + Plan.COOL_DOWN_MESSAGES;
    private static final int COUNTED = 2_000;

    private static Plan plan(Mode mode, int bytes, int range, int burst, long every, boolean integrity) {
        return new Plan(mode, bytes, range, burst, 0, every, 0, UNCOUNTED + COUNTED, integrity, null);
    }

    private static Plan pingPong() {
        return plan(Mode.PING_PONG, 64, 0, 1, 1, true);
    }

    /** Ping-pong that is not as patient. */
    private static Plan hasty() {
        return new Plan(Mode.PING_PONG, 64, 0, 1, 0, 1, 0, UNCOUNTED + COUNTED, true, null, 100_000_000L);
    }

    private static Client client(Plan plan, List<Endpoint> servers, Wait wait) throws IOException {
        SocketOptions options = new SocketOptions();
        Channels channels = new Channels(options);
        List<Link> links = new ArrayList<>();
        for (Endpoint e : servers) {
            links.add(channels.connect(e, null, plan.mode() != Mode.THROUGHPUT));
        }
        return new Client(plan, links, !servers.getFirst().tcp(), wait, options.timeout, channels.provider(), false,
                null, null);
    }

    private static Run run(Plan plan, InetSocketAddress server, Wait wait) throws IOException {
        try (Client c = client(plan, List.of(new Endpoint(false, server, null)), wait)) {
            return c.run();
        }
    }

    /** A server on a thread of its own. */
    private record Served(Server server, Thread thread, StringWriter said) implements AutoCloseable {
        static Served start(boolean nonblocked, @Nullable String mux, Endpoint... at) throws IOException {
            SocketOptions options = new SocketOptions();
            options.nonblocked = nonblocked;
            options.mux = mux;
            StringWriter said = new StringWriter();
            Server s = new Server(new Server.Settings(true, false, true, 1, null), options, List.of(at),
                    new PrintWriter(said));
            return new Served(s, Thread.ofPlatform().daemon().start(() -> {
                try {
                    s.run();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }), said);
        }

        List<Endpoint> endpoints() {
            return server.bound();
        }

        String end() throws InterruptedException {
            close();
            return said.toString();
        }

        @Override
        public void close() throws InterruptedException {
            server.stop();
            thread.join();
        }
    }

    static Stream<Arguments> kinds() {
        return Stream.of(Wait.values()).flatMap(w -> Stream.of(Arguments.of(w, false), Arguments.of(w, true)));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void allMessagesAreAnswered(Wait wait, boolean tcp) throws Exception {
        try (Served s = Served.start(wait == Wait.SPIN, wait == Wait.SELECT ? "e" : null, new Endpoint(tcp, ANY, null));
                Client c = client(plan(Mode.PING_PONG, 700, 600, 3, 1, true), s.endpoints(), wait)) {
            Run r = c.run();
            long messages = Math.ceilDiv(UNCOUNTED + COUNTED, 3) * 3;
            assertThat(r.times().sent()).isEqualTo(messages);
            assertThat(r.times().answered()).isEqualTo(messages);
            Observations v = r.valid();
            assertThat(v).isNotNull();
            assertThat(v.count()).isBetween(COUNTED - 3, COUNTED + 3);
            assertThat(v.dropped() + v.disordered() + r.times().duplicated() + r.times().unexpected()).isZero();
            assertThat(s.end()).contains("Total " + messages + " messages received and handled, " + messages
                    + " answered")
                    .contains(messages + " messages received, 0 gaps with 0 messages, 0 out of order");
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void underLoadSomeMessagesAreAnswered(Wait wait, boolean tcp) throws Exception {
        try (Served s = Served.start(false, "e", new Endpoint(tcp, ANY, null))) {
            Plan p = new Plan(Mode.UNDER_LOAD, 100, 0, 1, 20_000, 10, 0, UNCOUNTED + COUNTED, false, null);
            try (Client c = client(p, s.endpoints(), wait)) {
                Run r = c.run();
                Observations v = r.valid();
                assertThat(v).isNotNull();
                assertThat(v.sent()).isBetween(COUNTED - 20L, COUNTED + 20L);
                assertThat(v.count() + v.dropped() + v.disordered()).isBetween(COUNTED / 10 - 2L, COUNTED / 10 + 2L);
                assertThat(r.times().sent()).isEqualTo(p.messages());
                if (tcp) { // datagrams are dropped where the server is slow
                    assertThat(r.times().answered()).isEqualTo(p.messages() / 10);
                }
                // a message leaves at its time or later
                for (int i = 0; i < v.count(); i++) {
                    assertThat(v.latency(i, true, true)).isGreaterThanOrEqualTo(v.latency(i, false, true));
                }
            }
        }
    }

    @Test
    void severalServersGetMessagesInTurn() throws Exception {
        try (Served s = Served.start(false, null, new Endpoint(true, ANY, null), new Endpoint(true, ANY, null),
                new Endpoint(true, ANY, null)); Client c = client(pingPong(), s.endpoints(), Wait.SELECT)) {
            assertThat(c.run().times().answered()).isEqualTo(UNCOUNTED + COUNTED);
            assertThat(s.end().lines().filter(l -> l.contains("3667 messages received") || l.contains(
                    "3666 messages received")))
                    .hasSize(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Wait.class)
    void lostAnswersAreCountedAndDoNotStopTheRun(Wait wait) throws Exception {
        try (FaultyServer s = new FaultyServer((n, answer, reply) -> {
            if (n != 0 && n % 4_000 != 0) {
                reply.send(answer);
            } else if (n == 0) {
                reply.send(answer); // the question whether there is a server
            }
        })) {
            Run r = run(hasty(), s.address(), wait);
            assertThat(r.times().sent()).isEqualTo(UNCOUNTED + COUNTED);
            assertThat(r.times().sent() - r.times().answered()).isEqualTo(2);
            assertThat(r.valid()).isNotNull();
            assertThat(r.valid().dropped()).isZero(); // both are of the warm-up
        }
        try (FaultyServer s = new FaultyServer((n, answer, reply) -> {
            if (n != 9_000) {
                reply.send(answer);
            }
        })) {
            Run r = run(hasty(), s.address(), wait);
            assertThat(r.valid()).isNotNull();
            assertThat(r.valid().dropped()).isEqualTo(1);
            assertThat(r.valid().count()).isEqualTo(COUNTED - 1);
        }
    }

    @Test
    void repeatedLateAndInventedAnswersAreCountedApart() throws Exception {
        AtomicReference<byte @Nullable []> kept = new AtomicReference<>();
        try (FaultyServer s = new FaultyServer((n, answer, reply) -> {
            byte[] bytes = new byte[answer.remaining()];
            answer.get(0, bytes);
            byte[] late = kept.get();
            if (n == 9_000) {
                reply.send(ByteBuffer.wrap(new byte[] {1, 2, 3}));
                reply.send(ByteBuffer.wrap(new byte[64]));
                ByteBuffer invented = ByteBuffer.allocate(64);
                Message.header(invented, 1_000_000, Message.PONG, 64);
                reply.send(invented);
            }
            if (n == 9_100) {
                kept.set(bytes);
                return;
            }
            reply.send(answer);
            if (n == 9_050) {
                reply.send(ByteBuffer.wrap(bytes));
            }
            if (late != null) {
                kept.set(null);
                reply.send(ByteBuffer.wrap(late));
            }
        })) {
            Plan p = plan(Mode.PING_PONG, 64, 0, 1, 1, false);
            Run r = run(p, s.address(), Wait.SELECT);
            assertThat(r.times().answered()).isEqualTo(p.messages());
            assertThat(r.times().duplicated()).isEqualTo(1);
            assertThat(r.times().unexpected()).isEqualTo(1);
            assertThat(r.malformed()).isEqualTo(2);
            assertThat(r.valid()).isNotNull();
            assertThat(r.valid().disordered()).isEqualTo(1);
            assertThat(r.valid().count()).isEqualTo(COUNTED - 1);
        }
    }

    @Test
    void changedBytesFailTheIntegrityTest() throws Exception {
        try (FaultyServer s = new FaultyServer((n, answer, reply) -> {
            if (n == 10) {
                answer.put(40, (byte) ~answer.get(40));
            }
            reply.send(answer);
        })) {
            assertThatThrownBy(() -> run(pingPong(), s.address(), Wait.BLOCK)).isInstanceOf(PeerException.class)
                    .hasMessageContaining("message 10 ");
        }
    }

    /** The server takes nothing, and the socket's buffers are full. */
    @ParameterizedTest
    @MethodSource("kinds")
    void aRunThatCannotSendEndsInTime(Wait wait, boolean stopped) throws Exception {
        try (ServerSocketChannel silent = ServerSocketChannel.open().bind(ANY);
                Client c = client(new Plan(Mode.UNDER_LOAD, 10_000, 0, 1, 0, 10, stopped
                        ? 3_600_000_000_000L
                        : 500_000_000L, 0, false, null, 100_000_000L), List.of(new Endpoint(true,
                                (InetSocketAddress) silent.getLocalAddress(), null)),
                        wait)) {
            Thread t = Thread.ofPlatform().daemon().start(() -> {
                try {
                    c.run();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            if (stopped) {
                long[] last = {0};
                Await.untilLasting("it waits", () -> last[0] == (last[0] = c.sent()) && last[0] > 0);
                c.stop();
            }
            Await.until("the end", () -> !t.isAlive());
            assertThat(c.sent()).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource(Wait.class)
    void aServerThatVanishesEndsARunWithoutATime(Wait wait) throws Exception {
        try (FaultyServer s = new FaultyServer((n, answer, reply) -> {
            if (n > 0 && n < 50) {
                reply.send(answer);
            }
        })) {
            assertThatThrownBy(() -> run(hasty(), s.address(), wait)).isInstanceOf(PeerException.class)
                    .hasMessageContaining(
                            "is the server down?");
        }
    }

    /** The server has received them all at once, and nothing comes that would wake it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void manySmallMessagesInOnePieceAreAllAnswered(boolean spinning) throws Exception {
        try (Served s = Served.start(spinning, null, new Endpoint(true, ANY, null));
                SocketChannel c = SocketChannel.open(s
                        .endpoints().getFirst().address())) {
            int n = 4_000;
            ByteBuffer all = ByteBuffer.allocate(n * Message.HEADER_BYTES);
            for (int i = 0; i < n; i++) {
                Message.header(all.slice(i * Message.HEADER_BYTES, Message.HEADER_BYTES), i + 1, Message.CLIENT
                        | Message.PONG,
                        Message.HEADER_BYTES);
            }
            while (all.hasRemaining()) {
                c.write(all);
            }
            all.clear();
            while (all.hasRemaining()) {
                assertThat(c.read(all)).isPositive();
            }
            assertThat(Message.sequence(all.position(all.limit() - Message.HEADER_BYTES))).isEqualTo(n);
        }
    }

    /** Its answers wait in the server, and others are answered. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatDoesNotReadHoldsUpNoOther(boolean spinning) throws Exception {
        try (Served s = Served.start(spinning, null, new Endpoint(true, ANY, null));
                SocketChannel deaf = SocketChannel.open(s
                        .endpoints().getFirst().address())) {
            ByteBuffer m = ByteBuffer.allocate(60_000);
            Message.header(m, 1, Message.CLIENT | Message.PONG, m.capacity());
            deaf.configureBlocking(false);
            int[] idle = {0};
            Await.until("the server's answers fill the socket", () -> {
                idle[0] = deaf.write(m) == 0 ? idle[0] + 1 : 0;
                if (!m.hasRemaining()) {
                    m.clear();
                }
                return idle[0] > 20;
            });
            try (Client c = client(pingPong(), s.endpoints(), Wait.SELECT)) {
                assertThat(c.run().times().answered()).isEqualTo(UNCOUNTED + COUNTED);
            }
            deaf.configureBlocking(true);
            ByteBuffer in = ByteBuffer.allocate(60_000);
            while (in.hasRemaining()) {
                assertThat(deaf.read(in)).isPositive();
            }
            assertThat(Message.length(in.flip())).isEqualTo(60_000);
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aRunIsStoppedWhereverItIs(Wait wait, boolean tcp) throws Exception {
        try (ServerSocketChannel silent = ServerSocketChannel.open().bind(ANY);
                FaultyServer nothing = new FaultyServer((n, answer, reply) -> {});
                Client c = client(new Plan(Mode.PING_PONG, 64, 0, 1, 0, 1, 3_600_000_000_000L, 0, false, null), List.of(
                        new Endpoint(
                                tcp, tcp ? (InetSocketAddress) silent.getLocalAddress() : nothing.address(), null)),
                        wait)) {
            AtomicReference<@Nullable Object> ended = new AtomicReference<>();
            Thread t = Thread.ofPlatform().daemon().start(() -> {
                try {
                    ended.set(c.run());
                } catch (IOException | RuntimeException e) {
                    ended.set(e);
                }
            });
            Await.until("a message is sent", () -> c.sent() > 0);
            c.stop();
            Await.until("the end", () -> !t.isAlive());
            assertThat(ended.get()).isInstanceOf(Run.class);
            assertThat(((Run) ended.get()).times().answered()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(value = Mode.class, names = {"PING_PONG", "UNDER_LOAD", "THROUGHPUT"})
    void aServerThatEndsIsTold(Mode mode) throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(ANY)) {
            Thread.ofPlatform().daemon().start(() -> {
                try (SocketChannel s = listener.accept()) {
                    ByteBuffer some = ByteBuffer.allocate(50);
                    while (some.hasRemaining()) {
                        s.read(some);
                    }
                } catch (IOException e) {
                    // the test is over
                }
            });
            try (Client c = client(new Plan(mode, 100, 0, 1, 0, mode == Mode.THROUGHPUT ? 0 : 1, 3_600_000_000_000L, 0,
                    false, null),
                    List.of(new Endpoint(true, (InetSocketAddress) listener.getLocalAddress(), null)), Wait.SELECT)) {
                assertThatThrownBy(c::run).isInstanceOf(IOException.class).satisfiesAnyOf(e -> assertThat(e)
                        .isInstanceOf(
                                EOFException.class).hasMessageContaining("has ended the connection"), e -> assertThat(e)
                                        .hasMessageContaining(
                                                "reset"), e -> assertThat(e).hasMessageContaining("Broken pipe"));
            }
        }
    }

    @Test
    void whereNobodyListensTheRemedyIsTold() throws Exception {
        InetSocketAddress free = new InetSocketAddress("127.77.0.77", 9); // an address that no test binds
        for (Wait wait : Wait.values()) {
            assertThatThrownBy(() -> run(pingPong(), free, wait)).isInstanceOf(PeerException.class)
                    .hasMessageContaining(
                            "sockperf server");
        }
        assertThatThrownBy(() -> client(pingPong(), List.of(new Endpoint(true, free, null)), Wait.BLOCK)).isInstanceOf(
                PeerException.class).hasMessageContaining("sockperf server");
    }

    @Test
    void aMessageAllocatesNothing() throws Exception {
        try (Served s = Served.start(false, null, new Endpoint(false, ANY, null))) {
            var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
            Run warm = run(pingPong(), s.endpoints().getFirst().address(), Wait.BLOCK);
            assertThat(warm.times().answered()).isPositive();
            Plan p = new Plan(Mode.PING_PONG, 64, 0, 1, 0, 1, 0, 60_000, false, null);
            try (Client c = client(p, s.endpoints(), Wait.BLOCK)) {
                long before = threads.getCurrentThreadAllocatedBytes();
                assertThat(c.run().times().answered()).isEqualTo(60_000);
                long bytes = threads.getCurrentThreadAllocatedBytes() - before;
                assertThat(bytes).as("the times of 65536 messages, and little else").isLessThan(65_536 * 24 + 100_000);
            }
        }
    }
}
