// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Channels ask the rules: which connections the rings carry and which the kernel's TCP does to the end. */
class RuledChannelsTest {
    /** Bytes that follow after one end has decided to stay with TCP. */
    private static final int ROUNDS = 2000;
    /** Addresses of the loopback that nothing else uses: rules that are added stay, and other tests get the same ports. */
    private static final String OF_CLIENT_RULE = "127.0.77.1";
    private static final String OF_LISTENER_RULE = "127.0.77.2";
    private static final String OF_CONNECTED = "127.0.77.3";
    private static final String OF_BOUND = "127.0.77.4";
    private static final String OF_CREATED = "127.0.77.5";

    @AfterEach
    void on() {
        Verbena.offload(true);
    }

    /** Whether a ring comes to carry a connection from this end, however long the ends take to decide. */
    private static boolean isByRing(ServerSocketChannel server, SocketChannel client) throws Exception {
        try (server) {
            return nextIsByRing(server, client);
        }
    }

    private static boolean nextIsByRing(ServerSocketChannel server, SocketChannel client) throws Exception {
        try (client) {
            client.connect(server.getLocalAddress());
            try (SocketChannel peer = server.accept()) {
                return comesToBeByRing(client, peer);
            }
        }
    }

    private static boolean comesToBeByRing(SocketChannel client, SocketChannel peer) throws Exception {
        for (int after = 0; after < ROUNDS;) {
            exchange(client, peer);
            if (((VerbenaSocketChannel) client).isOutputByRing()) {
                return true;
            }
            after += stays(client) || stays(peer) ? 1 : 0;
            Thread.sleep(0, 250_000);
        }
        return false;
    }

    private static boolean stays(SocketChannel channel) {
        return !((VerbenaSocketChannel) channel).fallbackReason().isEmpty();
    }

    private static void exchange(SocketChannel from, SocketChannel to) throws IOException {
        from.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        ByteBuffer in = ByteBuffer.allocate(3);
        while (in.hasRemaining()) {
            assertThat(to.read(in)).isPositive();
        }
        assertThat(in.array()).containsExactly(1, 2, 3);
    }

    private static ServerSocketChannel server(InetAddress address) throws IOException {
        return VerbenaServerSocketChannel.open().bind(new InetSocketAddress(address, 0));
    }

    private static ServerSocketChannel server() throws IOException {
        return server(InetAddress.getLoopbackAddress());
    }

    private static SocketChannel connected(ServerSocketChannel server) throws IOException {
        SocketChannel client = VerbenaSocketChannel.open();
        client.connect(server.getLocalAddress());
        return client;
    }

    private static int port(ServerSocketChannel server) throws IOException {
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    @Test
    void ringsAreUsedWithoutARule() throws Exception {
        assertThat(isByRing(server(), VerbenaSocketChannel.open())).isTrue();
    }

    @Test
    void clientRuleIsApplied() throws Exception {
        ServerSocketChannel server = server(InetAddress.getByName(OF_CLIENT_RULE));
        Verbena.addRule("use os tcp_client " + OF_CLIENT_RULE + ":" + port(server) + ":127.0.0.0/8:* counter clients");
        assertThat(isByRing(server, VerbenaSocketChannel.open())).isFalse();
        assertThat(Verbena.ruleCounters()).containsEntry("clients", 1L);
    }

    @Test
    void listenerRuleIsApplied() throws Exception {
        Verbena.addRule("use os tcp_server " + OF_LISTENER_RULE + ":* counter listeners");
        ServerSocketChannel server = server(InetAddress.getByName(OF_LISTENER_RULE));
        assertThat(isByRing(server, VerbenaSocketChannel.open())).isFalse();
        assertThat(Verbena.ruleCounters()).containsEntry("listeners", 1L);
    }

    @Test
    void creatingThreadDecides() throws Exception {
        ServerSocketChannel server = server();
        Verbena.offload(Thread.currentThread(), false);
        SocketChannel client = VerbenaSocketChannel.open();
        Verbena.offload(Thread.currentThread(), true);
        assertThat(isByRing(server, client)).isFalse();
    }

    /** The new rule is for the next connection. */
    @Test
    void establishedConnectionIsUnaffected() throws Exception {
        InetAddress address = InetAddress.getByName(OF_CONNECTED);
        try (ServerSocketChannel server = server(address);
                SocketChannel client = connected(server);
                SocketChannel peer = server.accept()) {
            assertThat(comesToBeByRing(client, peer)).isTrue();
            assertThat(comesToBeByRing(peer, client)).isTrue();

            Verbena.addRule("use os tcp_client " + OF_CONNECTED + ":*");
            Verbena.addRule("use os tcp_server " + OF_CONNECTED + ":*");
            for (int i = 0; i < ROUNDS; i++) {
                exchange(client, peer);
                exchange(peer, client);
            }
            for (SocketChannel c : new SocketChannel[] {client, peer}) {
                assertThat(((VerbenaSocketChannel) c).isOutputByRing()).isTrue();
                assertThat(((VerbenaSocketChannel) c).isInputByRing()).isTrue();
                assertThat(c.getOption(VerbenaSocketOptions.TRANSPORT)).isEqualTo("stream");
            }
            assertThat(nextIsByRing(server, VerbenaSocketChannel.open())).isFalse();
        }
    }

    /** What it accepts follows the rule of its bind; a listener that is bound later follows the new rule. */
    @Test
    void boundListenerIsUnaffected() throws Exception {
        InetAddress address = InetAddress.getByName(OF_BOUND);
        try (ServerSocketChannel created = VerbenaServerSocketChannel.open();
                ServerSocketChannel bound = server(address)) {
            Verbena.addRule("use os tcp_server " + OF_BOUND + ":* counter bound");
            assertThat(nextIsByRing(bound, VerbenaSocketChannel.open())).isTrue();
            assertThat(Verbena.ruleCounters()).doesNotContainKey("bound");

            created.bind(new InetSocketAddress(address, 0));
            assertThat(nextIsByRing(created, VerbenaSocketChannel.open())).isFalse();
            assertThat(Verbena.ruleCounters()).containsEntry("bound", 1L);
        }
    }

    /** Not even its own bind decides. */
    @Test
    void unconnectedChannelFollowsTheNewRule() throws Exception {
        try (ServerSocketChannel server = server(InetAddress.getByName(OF_CREATED))) {
            SocketChannel created = VerbenaSocketChannel.open();
            SocketChannel bound = VerbenaSocketChannel.open();
            bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            assertThat(nextIsByRing(server, VerbenaSocketChannel.open())).isTrue();

            Verbena.addRule("use os tcp_client " + OF_CREATED + ":* counter created");
            assertThat(nextIsByRing(server, created)).isFalse();
            assertThat(nextIsByRing(server, bound)).isFalse();
            assertThat(Verbena.ruleCounters()).containsEntry("created", 2L);

            Verbena.addRule("use stream tcp_client " + OF_CREATED + ":* counter again"); // before the other
            assertThat(nextIsByRing(server, VerbenaSocketChannel.open())).isTrue();
            assertThat(Verbena.ruleCounters()).containsEntry("created", 2L).containsEntry("again", 1L);
        }
    }
}
