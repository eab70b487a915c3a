package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.List;
import java.util.Random;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Bpf;
import org.verbena.linux.Fd;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.tests.cli.RoceNamespaces;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/**
 * What a network and its hosts do to connections by RoCE: packets are lost, somebody in between takes the connection and
 * makes another, somebody speaks nonsense. Each byte arrives all the same.
 */
@Timeout(300)
class RemoteFaultsTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int PIECE = 1 << 20;
    private static final int SERVICE = 4792;
    private static final int MAGIC = 0x5642_5352;
    private static final String SERVER = "rules=use stream tcp_server *:* device " + RoceNamespaces.DEVICE_B;
    private static final String CLIENT = "rules=use stream tcp_client *:* device " + RoceNamespaces.DEVICE_A;
    private static final String WAITS = ",stream.delay=0,stream.wait=60000";

    @TempDir static Path dir;
    private static TalkProcess.Program talk;

    /** A server, and what goes with it. */
    private record Beside(TalkProcess server, String port, AutoCloseable other) implements AutoCloseable {
        @Override
        public void close() throws Exception {
            server.close();
            other.close();
        }
    }

    @BeforeAll
    static void prepare() throws Exception {
        talk = new TalkProcess.Program(dir, "RemoteTalk");
    }

    private static JsonNode summary(String file) throws IOException {
        return MAPPER.readTree(Files.readString(dir.resolve(file)));
    }

    private static String patience(int milliseconds, String summary) {
        return ",stream.patience=" + milliseconds + WAITS + ",summary=" + dir.resolve(summary);
    }

    private static void allArrives(TalkProcess server, TalkProcess client, long pieces) throws IOException {
        assertThat(client.line()).isEqualTo("begun");
        assertThat(server.line()).isEqualTo("begun");
        assertThat(client.line()).isEqualTo("same");
        assertThat(server.line()).isEqualTo("whole " + pieces * PIECE);
    }

    // ---- loss

    private static final int JUMP_IF_GREATER = 0x25;
    private static final int MOVE = 0xb7;
    private static final int MOVE_REGISTER = 0xbf;
    private static final int CALL = 0x85;
    private static final int EXIT = 0x95;
    private static final int RANDOM_NUMBER = 7; // bpf_get_prandom_u32
    private static final int XDP_DROP = 1;
    private static final int ONE_IN = 100;

    private static Fd losing() throws Exception {
        return Bpf.load(Bpf.BPF_PROG_TYPE_XDP, new long[] {
            Bpf.instruction(CALL, 0, 0, 0, RANDOM_NUMBER),
            Bpf.instruction(MOVE_REGISTER, 1, 0, 0, 0),
            Bpf.instruction(MOVE, 0, 0, 0, Bpf.XDP_PASS),
            Bpf.instruction(JUMP_IF_GREATER, 1, 0, 1, (int) ((1L << 32) / ONE_IN)),
            Bpf.instruction(MOVE, 0, 0, 0, XDP_DROP),
            Bpf.instruction(EXIT, 0, 0, 0, 0)}, "Apache-2.0");
    }

    /** Of what an interface in the calling thread's namespace receives, one packet in a hundred is lost. */
    private static Fd lossAt(Fd program, String device) throws Exception {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            return Bpf.attach(program, NetworkLinks.index(netlink, device.substring("roce_".length())),
                    Bpf.XDP_FLAGS_SKB_MODE);
        }
    }

    @Test
    void whatTheNetworkLosesIsSentAgain() throws Exception {
        RoceNamespaces.with(() -> {
            Fd program = losing();
            int lost = 0;
            for (int i = 0; i < 40 * ONE_IN; i++) {
                lost += Bpf.testRun(program, new byte[60]) == XDP_DROP ? 1 : 0;
            }
            assertThat(lost).as("of %s packets", 40 * ONE_IN).isBetween(5, 200);
            Fd loss = lossAt(program, RoceNamespaces.DEVICE_B);
            program.close(); // the attachment keeps it
            TalkProcess server = talk.start(SERVER + patience(60_000, "lossy-server"), "serve", "2");
            return new Beside(server, server.line(), loss);
        }, both -> {
            try (Fd program = losing(); Fd loss = lossAt(program, RoceNamespaces.DEVICE_A)) {
                assertThat(loss.value()).isPositive();
                TalkProcess client = talk.start(CLIENT + patience(60_000, "lossy-client"), "send",
                        RoceNamespaces.ADDRESS_B, both.port(), "8", "2");
                allArrives(both.server(), client, 8);
                allArrives(both.server(), client, 8);
                client.end();
                both.server().end();
            }
        });
        assertThat(summary("lossy-client").get("bytes").get("sent_by_ring").intValue()).isEqualTo(16 * PIECE);
        assertThat(summary("lossy-server").get("bytes").get("received_by_ring").intValue()).isEqualTo(16 * PIECE);
    }

    // ---- somebody in between

    private static void copy(SocketChannel from, SocketChannel to) {
        ByteBuffer buffer = ByteBuffer.allocate(64 << 10);
        try {
            while (from.read(buffer) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining()) {
                    to.write(buffer);
                }
                buffer.clear();
            }
            to.shutdownOutput();
        } catch (IOException e) {
            // the ends notice what is missing
        }
    }

    /** Takes one connection and makes another, in the namespace of the calling thread. */
    private static void relay(ServerSocketChannel listener, InetSocketAddress to) {
        Thread.ofPlatform().daemon().name("relay").start(() -> {
            try (SocketChannel in = listener.accept(); SocketChannel out = SocketChannel.open(to)) {
                Thread back = Thread.ofPlatform().daemon().start(() -> copy(out, in));
                copy(in, out);
                back.join();
            } catch (IOException | InterruptedException e) {
                // the ends notice
            }
        });
    }

    /** Both ends are hosts with the rule, but what each calls its connection is not the other's. */
    @Test
    void connectionsThatAreTwoGoByTcp() throws Exception {
        RoceNamespaces.with(() -> {
            TalkProcess server = talk.start(SERVER + patience(3_000, "behind"), "serve", "1");
            ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress(
                    RoceNamespaces.ADDRESS_B, 0));
            relay(listener, new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(server.line())));
            return new Beside(server, "" + listener.socket().getLocalPort(), listener);
        }, both -> {
            TalkProcess client = talk.start(CLIENT + patience(60_000, "before"), "send", RoceNamespaces.ADDRESS_B, both
                    .port(), "2", "1");
            allArrives(both.server(), client, 2);
            client.end();
            both.server().end();
        });
        assertThat(summary("before").get("fallbacks").toString()).isEqualTo("{\"remote_peer\":1}");
        assertThat(summary("behind").get("fallbacks").toString()).isEqualTo("{\"plain_peer\":1}");
        assertThat(summary("before").get("bytes").get("sent_by_tcp").intValue()).isEqualTo(2 * PIECE);
        assertThat(summary("behind").get("bytes").get("received_by_tcp").intValue()).isEqualTo(2 * PIECE);
    }

    // ---- nonsense

    /** As docs/stream.md has it: private data of a request. */
    private static byte[] request(int version, int clientPort, int serverPort, int client, int server, long nonce) {
        return ByteBuffer.allocate(56).putInt(MAGIC).put((byte) version).put((byte) 0).putShort((short) 0)
                .putShort((short) clientPort).putShort((short) serverPort).putInt(1).putLong(2).putLong(nonce)
                .putLong(3).putLong(4).putInt(client).putInt(server).array();
    }

    private static int word(String address) {
        return ByteBuffer.wrap(InetAddress.ofLiteral(address).getAddress()).getInt();
    }

    /** One who asks the service for sessions. */
    private record Asker(Context context, ProtectionDomain pd, CompletionQueue cq) {
        QueuePair queuePair() throws VerbsException {
            return pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(8).maxReceiveWr(8).build());
        }

        Connection connect(QueuePair qp, byte[] said, int milliseconds) throws VerbsException {
            return context.connectionManager().connect(qp, new InetSocketAddress(RoceNamespaces.ADDRESS_B, SERVICE),
                    ConnectionParameters.builder().timeout(Duration.ofMillis(milliseconds)).privateData(said).build());
        }

        /** As the other, once somebody listens: a device is opened while the program goes on. */
        Connection connectLater(QueuePair qp, byte[] said) throws Exception {
            long end = System.nanoTime() + 60_000_000_000L;
            while (true) {
                try {
                    return connect(qp, said, 20_000);
                } catch (ConnectionRejectedException e) {
                    if (e.reason() != ConnectionRejectedException.INVALID_SERVICE_ID || System.nanoTime() > end) {
                        throw e;
                    }
                    Thread.sleep(20);
                }
            }
        }

        /** What the service says to it; null if it says nothing in time. */
        byte @Nullable [] refusal(byte[] said, int milliseconds) throws VerbsException {
            try (QueuePair qp = queuePair()) {
                throw new AssertionError("accepted: " + connect(qp, said, milliseconds));
            } catch (ConnectionRejectedException e) {
                return e.privateData();
            } catch (VerbsException e) {
                return null;
            }
        }
    }

    private static void garbage(Asker asker) throws VerbsException {
        Random random = new Random(5);
        int client = word(RoceNamespaces.ADDRESS_A);
        int server = word(RoceNamespaces.ADDRESS_B);
        for (int i = 0; i < 60; i++) {
            byte[] said = new byte[random.nextInt(57)];
            random.nextBytes(said);
            assertThat(asker.refusal(said, 20_000)).startsWith(0x56, 0x42, 0x53, 0x52, 1, 3);
        }
        byte[] old = request(0, 1000, 2000, client, server, 7);
        assertThat(asker.refusal(old, 20_000)).startsWith(0x56, 0x42, 0x53, 0x52, 1, 2);
        byte[] other = request(1, 1000, 2000, client + 1, server, 7);
        assertThat(asker.refusal(other, 20_000)).as("translated on the way").startsWith(0x56, 0x42, 0x53, 0x52, 1, 1);
        for (int i = 0; i < 60; i++) { // of connections that are not there: they are held, and nobody waits for the answer
            asker.refusal(request(1, 1000 + i, 2000, client, server, i), 20);
        }
    }

    /** A connection whose end asks for a session as it should, and then sends what makes no sense. */
    private static void nonsense(Asker asker, String port, TalkProcess server) throws Exception {
        byte[] piece = new byte[PIECE];
        try (SocketChannel tcp = SocketChannel.open(new InetSocketAddress(RoceNamespaces.ADDRESS_B, Integer.parseInt(
                port))); QueuePair qp = asker.queuePair()) {
            long nonce = 0x0123_4567_89ab_cdefL;
            byte[] asks = request(1, tcp.socket().getLocalPort(), Integer.parseInt(port), word(
                    RoceNamespaces.ADDRESS_A), word(RoceNamespaces.ADDRESS_B), nonce);
            try (Connection session = asker.connectLater(qp, asks);
                    MemoryRegion memory = asker.pd().allocate(96,
                            AccessFlags.LOCAL_WRITE)) {
                ByteBuffer said = ByteBuffer.wrap(session.privateData());
                assertThat(said.remaining()).isEqualTo(56);
                assertThat(said.getInt(0)).isEqualTo(MAGIC);
                assertThat(said.getLong(24)).isEqualTo(nonce);
                memory.segment().fill((byte) 0x5a);
                assertThat(qp.sendQueue().postSend(1, SendFlags.SIGNALED, memory, 0, 96)).isZero();
                while (asker.cq().startPoll() != 0) {
                    Thread.sleep(1);
                }
                asker.cq().endPoll();
                ByteBuffer bytes = ByteBuffer.wrap(piece);
                while (bytes.hasRemaining()) {
                    tcp.write(bytes);
                }
                assertThat(server.line()).isEqualTo("begun");
                tcp.shutdownOutput();
                ByteBuffer hash = ByteBuffer.allocate(32);
                while (hash.hasRemaining()) {
                    assertThat(tcp.read(hash)).isPositive();
                }
                assertThat(hash.array()).isEqualTo(MessageDigest.getInstance("SHA-256").digest(piece));
                assertThat(server.line()).isEqualTo("whole " + PIECE);
            }
        }
    }

    @Test
    void whoSpeaksNonsenseIsLeftAndTheOthersAreNot() throws Exception {
        RoceNamespaces.with(() -> {
            TalkProcess server = talk.start(SERVER + patience(5_000, "asked"), "serve", "2");
            return new Beside(server, server.line(), () -> {});
        }, both -> {
            try (Context context = Verbs.open(RoceNamespaces.DEVICE_A)) {
                Asker asker = new Asker(context, context.allocateProtectionDomain(), context.createCompletionQueue(16));
                nonsense(asker, both.port(), both.server());
                garbage(asker);
            }
            TalkProcess client = talk.start(CLIENT + patience(60_000, "sane"), "send", RoceNamespaces.ADDRESS_B, both
                    .port(), "4", "1");
            allArrives(both.server(), client, 4);
            client.end();
            both.server().end();
        });
        assertThat(summary("sane").get("connections").get("stream").intValue()).isOne();
        assertThat(summary("sane").get("bytes").get("sent_by_ring").intValue()).isEqualTo(4 * PIECE);
        assertThat(summary("asked").get("connections").get("stream").intValue()).isOne();
        assertThat(summary("asked").get("fallbacks").size()).isOne();
        assertThat(summary("asked").get("bytes").get("received_by_ring").intValue()).isEqualTo(4 * PIECE);
    }

    /** An offer of a connection that is not there, as docs/stream.md has it. */
    private static void offer(ByteBuffer letter, int clientPort, int serverPort) {
        letter.clear().order(ByteOrder.BIG_ENDIAN).putInt(0, MAGIC).put(4, (byte) 1).put(5, (byte) 1)
                .putShort(8, (short) clientPort).putShort(10, (short) serverPort).putLong(16, clientPort);
        letter.order(ByteOrder.LITTLE_ENDIAN).putLong(32, 0x4d41_4552_5453_4256L).putInt(40, 2).putInt(44, 1)
                .putInt(32 + 36, 4096);
    }

    /** What it is told it takes never: who tells it would wait for ever. */
    @Test
    void whoTakesNoLettersHoldsUpNobody() throws Exception {
        RoceNamespaces.with(() -> {
            TalkProcess server = talk.start(SERVER + patience(2_000, "held"), "serve", "2");
            return new Beside(server, server.line(), () -> {});
        }, both -> {
            int port = Integer.parseInt(both.port());
            try (Context context = Verbs.open(RoceNamespaces.DEVICE_A)) {
                Asker asker = new Asker(context, context.allocateProtectionDomain(), context.createCompletionQueue(16));
                try (SocketChannel tcp = SocketChannel.open(new InetSocketAddress(RoceNamespaces.ADDRESS_B, port));
                        QueuePair qp = asker.queuePair();
                        Connection session = asker.connectLater(qp, request(1, tcp.socket().getLocalPort(), port, word(
                                RoceNamespaces.ADDRESS_A), word(RoceNamespaces.ADDRESS_B), 9));
                        MemoryRegion memory = asker.pd().allocate(96, AccessFlags.LOCAL_WRITE)) {
                    assertThat(session.isConnected()).isTrue();
                    ByteBuffer letter = memory.segment().asByteBuffer();
                    for (int i = 0; i < 300; i++) {
                        offer(letter, 1 + i, port);
                        assertThat(qp.sendQueue().postSend(i, SendFlags.SIGNALED, memory, 0, 96)).isZero();
                        while (asker.cq().startPoll() != 0) {
                            Thread.sleep(1);
                        }
                        asker.cq().endPoll();
                    }
                    tcp.write(ByteBuffer.allocate(1));
                    assertThat(both.server().line()).isEqualTo("begun");
                    Thread.sleep(3_000); // longer than the patience: it is told that there are no such connections
                    tcp.shutdownOutput();
                    assertThat(both.server().line()).isEqualTo("whole 1");
                    TalkProcess plain = talk.start(List.of(), "send", RoceNamespaces.ADDRESS_B, both.port(), "1", "1");
                    allArrives(both.server(), plain, 1);
                    plain.end();
                }
            }
            both.server().end();
        });
        assertThat(summary("held").get("fallbacks").toString()).isEqualTo("{\"plain_peer\":1,\"no_session\":1}");
    }
}
