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
    private static final int ROUNDS = 2000;

    @AfterEach
    void on() {
        Verbena.offload(true);
    }

    /** Whether a ring came to carry a connection from this end, in a second of traffic at the most. */
    private static boolean isByRing(ServerSocketChannel server, SocketChannel client) throws Exception {
        try (server; client) {
            client.connect(server.getLocalAddress());
            try (SocketChannel peer = server.accept()) {
                for (int i = 0; i < ROUNDS; i++) {
                    exchange(client, peer);
                    if (((VerbenaSocketChannel) client).isOutputByRing()) {
                        return true;
                    }
                    if (i % 2 == 0) {
                        Thread.sleep(0, 500_000);
                    }
                }
                return false;
            }
        }
    }

    private static void exchange(SocketChannel from, SocketChannel to) throws IOException {
        from.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        ByteBuffer in = ByteBuffer.allocate(3);
        while (in.hasRemaining()) {
            assertThat(to.read(in)).isPositive();
        }
        assertThat(in.array()).containsExactly(1, 2, 3);
    }

    private static ServerSocketChannel server() throws IOException {
        return VerbenaServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private static int port(ServerSocketChannel server) throws IOException {
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    @Test
    void withoutARuleTheRingsCarryIt() throws Exception {
        assertThat(isByRing(server(), VerbenaSocketChannel.open())).isTrue();
    }

    @Test
    void aRuleForTheClientIsKept() throws Exception {
        ServerSocketChannel server = server();
        Verbena.addRule("use os tcp_client 127.0.0.1:" + port(server) + ":127.0.0.0/8:* counter clients");
        assertThat(isByRing(server, VerbenaSocketChannel.open())).isFalse();
        assertThat(Verbena.ruleCounters()).containsEntry("clients", 1L);
    }

    @Test
    void aRuleForTheListenerIsKept() throws Exception {
        int port;
        try (ServerSocketChannel free = server()) {
            port = port(free);
        }
        Verbena.addRule("use os tcp_server *:" + port + " counter listeners");
        ServerSocketChannel server = VerbenaServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        assertThat(isByRing(server, VerbenaSocketChannel.open())).isFalse();
        assertThat(Verbena.ruleCounters()).containsEntry("listeners", 1L);
    }

    @Test
    void theThreadThatMadeTheChannelCounts() throws Exception {
        ServerSocketChannel server = server();
        Verbena.offload(Thread.currentThread(), false);
        SocketChannel client = VerbenaSocketChannel.open();
        Verbena.offload(Thread.currentThread(), true);
        assertThat(isByRing(server, client)).isFalse();
    }
}
