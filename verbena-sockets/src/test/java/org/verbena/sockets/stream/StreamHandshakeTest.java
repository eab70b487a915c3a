// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.linux.UnixSocket;
import org.verbena.testkit.Await;
import org.verbena.testkit.Descriptors;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Context;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** Two ends over the kernel's TCP on loopback: whether the handshake succeeds, and that a failure stays unnoticed. */
@Isolated
class StreamHandshakeTest extends TcpEnds {
    private static final int[] NO_DESCRIPTORS = {};
    private static final String MEMORY = "verbena.stream.memory";
    private static final long LOWEST = 1;
    private static final long OTHER_HEADER = 0x7777_0000L;
    /** Far more than what it takes as a rule, and far less than the patience: on a slow machine it is more. */

    private static byte at(long position, int way) {
        return (byte) (position * 7 + way * 3L + (position >>> 9) + 1);
    }

    /** Moves bytes one way by pieces of changing size; checks each. */
    static final class Way {
        final Stream from;
        final Stream to;
        final int number;
        final ByteBuffer out = ByteBuffer.allocate(70_000);
        final ByteBuffer in = ByteBuffer.allocateDirect(70_000);
        long written;
        long read;

        Way(Stream from, Stream to, int number) {
            this.from = from;
            this.to = to;
            this.number = number;
        }

        void turn(long total) throws IOException {
            int n = (int) Math.min(total - written, 1 + written % 69_997);
            out.clear().limit(n);
            for (int i = 0; i < n; i++) {
                out.put(i, at(written + i, number));
            }
            written += from.write(out);
            in.clear().limit((int) (1 + read % 65_537));
            int m = to.read(in);
            for (int i = 0; i < m; i++) {
                assertThat(in.get(i)).as("byte %d of way %d", read + i, number).isEqualTo(at(read + i, number));
            }
            read += m;
        }
    }

    @Test
    void bytesSwitchToTheRingInFlight() throws Exception {
        Tcp tcp = connect();
        Stream client = Stream.of(tcp.client(), Stream.Role.CLIENT);
        Stream server = Stream.of(tcp.server(), Stream.Role.SERVER);
        Way there = new Way(client, server, 0);
        Way back = new Way(server, client, 1);
        long more = Long.MAX_VALUE; // how much continues after the handshake
        long end = System.nanoTime() + 60_000_000_000L;
        while (there.read < more || back.read < more) {
            assertThat(System.nanoTime()).isLessThan(end);
            there.turn(more);
            back.turn(more);
            if (more == Long.MAX_VALUE && client.isInputByRing() && server.isInputByRing()) {
                more = Math.max(there.written, back.written) + 10_000_000;
            }
        }
        assertThat(there.read).isEqualTo(there.written);
        assertThat(back.read).isEqualTo(back.written);
        assertThat(((RingStream) client).out().bytesByRing()).isGreaterThanOrEqualTo(9_000_000);
        assertThat(((RingStream) client).out().ringSize()).isEqualTo(RingWriter.EAGER_RING); // no thread slept
        client.shutdownOutput();
        Await.until("the end", () -> endOf(server));
        server.close(false);
        tcp.server().close();
        Await.until("the end", () -> endOf(client));
        client.close(false);
    }

    /** Doorbells for room come on TCP too, and only a reader that has all bytes of TCP can distinguish them from data. */
    @ParameterizedTest
    @ValueSource(ints = {0, 100, 16_384})
    void writerIsWokenByTheReader(int first) throws Exception {
        Tcp tcp = connect();
        Stream server = Stream.of(tcp.server(), Stream.Role.SERVER);
        assertThat(server.write(ByteBuffer.allocate(first))).isEqualTo(first); // by TCP: it is alone yet
        Stream client = Stream.of(tcp.client(), Stream.Role.CLIENT);
        Await.until("rings", () -> client.isOutputByRing() && server.isOutputByRing());
        ByteBuffer early = ByteBuffer.allocate(first);
        while (early.hasRemaining()) {
            assertThat(client.read(early)).isNotNegative();
        }
        long written = fill(client);
        assertThat(client.isInputByRing()).isFalse();
        client.arm(SelectionKey.OP_WRITE, null);
        assertThat(client.isInputByRing()).isTrue();
        assertThat(client.kernelOps(SelectionKey.OP_WRITE)).isEqualTo(SelectionKey.OP_READ);
        long end = System.nanoTime() + 30_000_000_000L; // a sleeping writer gets more room without a reader
        while (((RingStream) client).out().ringSize() < Link.maxRing()) {
            assertThat(System.nanoTime()).isLessThan(end);
            written += fill(client);
            client.arm(SelectionKey.OP_WRITE, null);
            client.kernelReady(SelectionKey.OP_READ, SelectionKey.OP_WRITE);
        }
        synchronized (((RingStream) server).link().session) {
            // the engine, which holds it from the last grant to the doorbell, has rung
        }
        client.kernelReady(SelectionKey.OP_READ, SelectionKey.OP_WRITE);
        written += fill(client);
        assertThat(client.arm(SelectionKey.OP_WRITE, null)).isZero();
        try (Selector selector = Selector.open()) {
            tcp.client().register(selector, SelectionKey.OP_READ);
            assertThat(selector.selectNow()).isZero();
            ByteBuffer all = ByteBuffer.allocate((int) written);
            while (all.hasRemaining()) {
                assertThat(server.read(all)).isNotNegative();
            }
            assertThat(selector.select(30_000)).isEqualTo(1);
        }
        assertThat(client.kernelReady(SelectionKey.OP_READ, SelectionKey.OP_WRITE)).isEqualTo(SelectionKey.OP_WRITE);
        client.close(false);
        server.close(false);
    }

    /** Before the first read and beside the reader: bytes of the program, no doorbells. */
    @Test
    void availableCountsBytesWithoutDoorbells() throws Exception {
        Tcp tcp = connect();
        Stream client = Stream.of(tcp.client(), Stream.Role.CLIENT);
        assertThat(client.write(ByteBuffer.allocate(3))).isEqualTo(3); // by TCP: it is alone yet
        Stream server = Stream.of(tcp.server(), Stream.Role.SERVER);
        Await.until("rings", () -> client.isOutputByRing() && server.isOutputByRing() && server.isHandshakeComplete());
        assertThat(server.available(0)).as("TCP has not brought it").isZero();
        assertThat(server.available(3)).isEqualTo(3);
        assertThat(client.write(ByteBuffer.allocate(10))).isEqualTo(10);
        assertThat(server.available(4)).as("a doorbell among it").isEqualTo(13);
        assertThat(server.isInputByRing()).isFalse();
        ByteBuffer into = ByteBuffer.allocate(5);
        Await.until("bytes", () -> {
            try {
                server.read(into);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return !into.hasRemaining();
        });
        assertThat(server.available(0)).isEqualTo(8);
        client.close(false);
        server.close(false);
    }

    /** One thread reads while the ring grows, another asks what there is to read. */
    @Test
    void availableDoesNotDisturbAReader() throws Exception {
        int rounds = Thorough.ON ? 20 : 5;
        for (int round = 0; round < rounds; round++) {
            Tcp tcp = connect();
            Stream client = Stream.of(tcp.client(), Stream.Role.CLIENT);
            Stream server = Stream.of(tcp.server(), Stream.Role.SERVER);
            Await.until("rings", () -> client.isOutputByRing() && server.isOutputByRing());
            Way there = new Way(client, server, 0);
            Thread asks = Thread.ofPlatform().start(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    assertThat(server.available(0)).isNotNegative();
                }
            });
            try {
                while (there.read < 2_000_000) {
                    there.turn(2_000_000);
                    client.arm(SelectionKey.OP_WRITE, null); // so that it grows on
                }
            } finally {
                asks.interrupt();
                asks.join();
            }
            assertThat(((RingStream) client).in().growths() + ((RingStream) client).out().growths()).isPositive();
            client.close(false);
            server.close(false);
        }
    }

    /** Until there is no room any more, and no larger ring comes. */
    private static long fill(Stream stream) throws IOException {
        ByteBuffer some = ByteBuffer.allocate(1000);
        long written = 0;
        int n;
        while ((n = stream.write(some.clear())) > 0) {
            written += n;
        }
        return written;
    }

    private static boolean endOf(Stream stream) {
        try {
            return stream.read(ByteBuffer.allocate(1)) < 0;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The other process asks for a session before it has greeted: the refusal comes first, and its reason is kept. */
    @Test
    void sessionRefusedBeforeTheHandshakeIsCountedByItsCause() throws Exception {
        Tcp tcp = connect();
        long before = StreamCounters.fallbacks(FallbackReason.NO_MEMORY);
        System.setProperty(MEMORY, "1000"); // less than a session itself needs
        try (UnixSocket name = UnixSocket.listen(nameOf(tcp), 4);
                Context context = Verbs.open("shm0");
                Arena arena = Arena.ofConfined()) {
            RingStream server = (RingStream) Stream.of(tcp.server(), Stream.Role.SERVER);
            try (UnixSocket end = name.accept()) {
                MemorySegment message = arena.allocate(HandshakeMessage.BYTES, 8);
                assertThat(end.receive(message, NO_DESCRIPTORS)).isEqualTo(HandshakeMessage.BYTES);
                HandshakeMessage.Hello hello = HandshakeMessage.hello(message, HandshakeMessage.BYTES);
                assertThat(connectTo(context, hello.port())).isEqualTo(Errno.ECONNREFUSED);
                assertThat(server.reason()).isEqualTo(FallbackReason.NONE);
                HandshakeMessage.put(message, new HandshakeMessage.Hello(HandshakeMessage.VERSION, 0, LOWEST, hello
                        .cookie(), 1,
                        hello.accepted()));
                assertThat(end.send(message, 0, HandshakeMessage.BYTES, NO_DESCRIPTORS)).isZero();
            }
            Await.until("fall-back", () -> server.reason() != FallbackReason.NONE);
            assertThat(server.reason()).isEqualTo(FallbackReason.NO_MEMORY);
            assertThat(StreamCounters.fallbacks(FallbackReason.NO_MEMORY)).isEqualTo(before + 1);
            server.close(false);
        } finally {
            System.clearProperty(MEMORY);
        }
    }

    /** As when the other process has made a new session after the old one failed, which this one has not noticed. */
    @Test
    void offerOfAnotherSessionFallsBackToTcp() throws Exception {
        Tcp tcp = connect();
        try (UnixSocket name = UnixSocket.listen(nameOf(tcp), 4);
                Context context = Verbs.open("shm0");
                Arena arena = Arena.ofConfined()) {
            RingStream server = (RingStream) Stream.of(tcp.server(), Stream.Role.SERVER);
            try (UnixSocket end = name.accept()) {
                MemorySegment message = arena.allocate(HandshakeMessage.BYTES, 8);
                assertThat(end.receive(message, NO_DESCRIPTORS)).isEqualTo(HandshakeMessage.BYTES);
                HandshakeMessage.Hello hello = HandshakeMessage.hello(message, HandshakeMessage.BYTES);
                assertThat(connectTo(context, hello.port())).isZero();
                HandshakeMessage.put(message, new HandshakeMessage.Hello(HandshakeMessage.VERSION, 0, LOWEST, hello
                        .cookie(), 1,
                        hello.accepted()));
                assertThat(end.send(message, 0, HandshakeMessage.BYTES, NO_DESCRIPTORS)).isZero();
                assertThat(end.receive(message, NO_DESCRIPTORS)).isEqualTo(HandshakeMessage.BYTES);
                Offer offer = HandshakeMessage.offer(message, HandshakeMessage.BYTES);
                assertThat(offer.headerAddress()).isNotZero();
                HandshakeMessage.put(message, new Offer(0, 1, 4096, 1, 8192, 4096, OTHER_HEADER, 1));
                assertThat(end.send(message, 0, HandshakeMessage.BYTES, NO_DESCRIPTORS)).isZero();
            }
            Await.until("fall-back", () -> server.reason() == FallbackReason.NO_SESSION);
            tcp.client().write(ByteBuffer.wrap(new byte[] {42}));
            ByteBuffer in = ByteBuffer.allocate(1);
            Await.until("a byte by TCP", () -> {
                try {
                    return server.read(in) == 1;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertThat(in.get(0)).isEqualTo((byte) 42);
            server.close(false);
        }
    }

    /** Asks for a session as a process whose number is so low that it is the one that asks; answers the error. */
    private static int connectTo(Context context, int port) throws IOException {
        CompletionQueue cq = context.createCompletionQueue(16);
        QueuePair qp = context.allocateProtectionDomain().createQueuePair(
                QueuePairInitAttributes.builder(cq, cq).build());
        byte[] data = ByteBuffer.allocate(24).putInt(Sessions.MAGIC).putLong(LOWEST).putLong(0).putInt(0).array();
        try {
            context.connectionManager().connect(qp, new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                    ConnectionParameters.builder().privateData(data).build());
            return 0;
        } catch (VerbsException e) {
            return e.errno();
        }
    }

    @Test
    void invalidHandshakeFallsBackToTcp() throws Exception {
        Tcp tcp = connect();
        RingStream client = (RingStream) Stream.of(tcp.client(), Stream.Role.CLIENT);
        String name = nameOf(tcp);
        List<UnixSocket> callers = new ArrayList<>();
        Await.until("the name", () -> {
            try {
                callers.add(UnixSocket.connect(name));
                return true;
            } catch (IOException e) {
                return false;
            }
        });
        try (Arena arena = Arena.ofConfined(); UnixSocket caller = callers.getFirst()) {
            MemorySegment garbage = arena.allocate(HandshakeMessage.BYTES, 8);
            garbage.fill((byte) 0x5a);
            assertThat(caller.send(garbage, 0, HandshakeMessage.BYTES, NO_DESCRIPTORS)).isZero();
            Await.until("fall-back", () -> client.reason() == FallbackReason.BAD_PEER);
        }
        Stream server = new KernelStream(tcp.server(), Stream.Role.SERVER, FallbackReason.RULE);
        Way there = new Way(client, server, 0);
        while (there.read < 100_000) {
            there.turn(100_000);
        }
    }

    @Test
    void thousandIdleConnectionsUseFewMegabytes() throws Exception {
        List<RingStream> all = new ArrayList<>();
        addEnds(all);
        Await.until("a handshake", () -> all.stream().allMatch(stream -> stream.isHandshakeComplete()));
        long before = arenas(all); // other connections may have left larger rings for use again
        for (int i = 0; i < 1000; i++) {
            addEnds(all);
        }
        Await.until("handshakes", () -> all.stream().allMatch(stream -> stream.isHandshakeComplete()));
        long bytes = arenas(all) - before;
        System.out.println("2 x 1000 idle ends take " + bytes + " bytes of rings and control blocks");
        assertThat(bytes).isLessThan(20_000_000);
        all.forEach(stream -> stream.close(false));
        Await.until("memory given back", () -> all.stream().noneMatch(stream -> stream.link().session.streams().all()
                .contains(
                        stream)));
    }

    private void addEnds(List<RingStream> ends) throws Exception {
        Tcp tcp = connect();
        ends.add((RingStream) Stream.of(tcp.client(), Stream.Role.CLIENT));
        ends.add((RingStream) Stream.of(tcp.server(), Stream.Role.SERVER));
    }

    /** Bytes of the sessions' memory, at both ends for both are here. */
    private static long arenas(List<RingStream> streams) {
        return streams.stream().map(stream -> stream.link().session.arena()).distinct()
                .mapToLong(org.verbena.sockets.stream.memory.Arena::total).sum();
    }

    @Test
    void closedConnectionsLeaveNothing() throws Exception {
        List<RingStream> first = new ArrayList<>();
        addEnds(first); // and with them the session, which stays: one of those below may live long enough to need it
        Await.until("a handshake", () -> first.stream().allMatch(stream -> stream.isHandshakeComplete()));
        first.forEach(stream -> stream.close(false));
        cycles(300);
        long before = Descriptors.count();
        cycles(2000);
        Await.until("descriptors given back", () -> Descriptors.count() <= before + 5);
    }

    private void cycles(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            SocketChannel client = SocketChannel.open(listener.getLocalAddress());
            SocketChannel server = listener.accept();
            client.configureBlocking(false);
            server.configureBlocking(false);
            Stream a = Stream.of(client, Stream.Role.CLIENT);
            Stream b = Stream.of(server, Stream.Role.SERVER);
            a.write(ByteBuffer.allocate(10));
            if (i % 3 == 0) {
                Thread.onSpinWait();
            }
            a.close(false);
            client.close();
            b.close(i % 2 == 0);
            server.close();
        }
    }
}
