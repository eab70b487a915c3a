// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Bpf;
import org.verbena.linux.Fd;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.testkit.Await;
import org.verbena.tests.cli.RoceNamespaces;

/**
 * Network faults of connections over RoCE: packets are lost, and a proxy splits the connection in two. Every byte still
 * arrives.
 */
@Timeout(300)
class RemoteFaultsTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int PIECE = 1 << 20;
    private static final String SERVER = "rules=use stream tcp_server *:* device " + RoceNamespaces.DEVICE_B;
    private static final String CLIENT = "rules=use stream tcp_client *:* device " + RoceNamespaces.DEVICE_A;
    /** UDP port 4791 as /proc/net/udp has it. */
    private static final String ROCE_PORT = ":12B7 ";
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

    /** Drops one in a hundred packets that an interface in the namespace of the calling thread receives. */
    private static Fd lossAt(Fd program, String device) throws Exception {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            return Bpf.attach(program, NetworkLinks.index(netlink, device.substring("roce_".length())),
                    Bpf.XDP_FLAGS_SKB_MODE);
        }
    }

    @Test
    void lostPacketsAreRetransmitted() throws Exception {
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
        assertThat(summary("lossy-client").get("bytes").get("sent_by_ring").intValue()).as(
                "the client says %s, the server %s", summary("lossy-client"), summary("lossy-server")).isEqualTo(16
                        * PIECE);
        assertThat(summary("lossy-server").get("bytes").get("received_by_ring").intValue()).isEqualTo(16 * PIECE);
    }

    // ---- a link that comes up late

    private static Netlink down(String device) throws Exception {
        Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
        NetworkLinks.setDown(netlink, NetworkLinks.index(netlink, device.substring("roce_".length())));
        return netlink;
    }

    /** There is no device while the link is down; the server has it as soon as it can. */
    @Test
    void serverThatStartedBeforeItsLinkWasUpTakesSessions() throws Exception {
        RoceNamespaces.with(() -> {
            Netlink netlink = down(RoceNamespaces.DEVICE_B);
            TalkProcess server = talk.start(SERVER + patience(60_000, "late-server"), "serve", "1");
            return new Beside(server, server.line(), netlink);
        }, both -> {
            TalkProcess server = both.server();
            Await.until("the server has no device", () -> server.errors().contains("ENODEV"));
            Netlink netlink = (Netlink) both.other();
            NetworkLinks.setUp(netlink, NetworkLinks.index(netlink, RoceNamespaces.DEVICE_B.substring("roce_"
                    .length())));
            Path sockets = Path.of("/proc/" + server.pid() + "/net/udp");
            Await.until("the server has its device", () -> Files.readString(sockets).contains(ROCE_PORT));
            TalkProcess client = talk.start(CLIENT + patience(60_000, "late-client"), "send",
                    RoceNamespaces.ADDRESS_B, both.port(), "2", "1");
            allArrives(server, client, 2);
            client.end();
            server.end();
        });
        assertThat(summary("late-client").get("bytes").get("sent_by_ring").intValue()).as(
                "the client says %s, the server %s", summary("late-client"), summary("late-server")).isEqualTo(2
                        * PIECE);
    }

    // ---- a proxy in between

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
            // the ends detect the missing bytes
        }
    }

    /** Accepts one connection and opens another, in the namespace of the calling thread. */
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
    void splitConnectionsUseTcp() throws Exception {
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
        assertThat(summary("before").get("fallbacks").toString()).as("the client says %s, the server %s", summary(
                "before"), summary("behind")).isEqualTo("{\"remote_peer\":1}");
        assertThat(summary("behind").get("fallbacks").toString()).isEqualTo("{\"plain_peer\":1}");
        assertThat(summary("before").get("bytes").get("sent_by_tcp").intValue()).isEqualTo(2 * PIECE);
        assertThat(summary("behind").get("bytes").get("received_by_tcp").intValue()).isEqualTo(2 * PIECE);
    }
}
