// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;

/** A selector with thousands of connections that rings carry, of which a few have data. */
@Timeout(300)
@Isolated
class ManyConnectionsTest {
    private static final int WANTED = 3000;
    /** Handshakes at the same time, which take descriptors. */
    private static final int AT_ONCE = 200;
    private static final int ROUNDS = 3000;
    /** The connections that were ready a moment ago, the one that is, and again after a wait that was too short. */
    private static final int MAX_POLLS = 4 * (ActiveKeys.MAX_POLLED + 2);
    private static final long LIMIT_NANOS = 60_000_000_000L;

    private final List<VerbenaSocketChannel> clients = new ArrayList<>();
    private final List<VerbenaSocketChannel> servers = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (VerbenaSocketChannel c : clients) {
            c.close();
        }
        for (VerbenaSocketChannel c : servers) {
            c.close();
        }
    }

    /** As many as descriptors allow, two each, with a margin. */
    private static int connections() throws IOException {
        String limit = Files.readAllLines(Path.of("/proc/self/limits")).stream().filter(l -> l.startsWith(
                "Max open files"))
                .findFirst().orElseThrow().split(" +", -1)[3];
        int n = (int) Math.min(WANTED, (Long.parseLong(limit) - 6 * AT_ONCE) / 2);
        if (n < WANTED) {
            System.out.println("ManyConnectionsTest: only " + n + " connections, for " + limit + " descriptors");
        }
        return n;
    }

    private void connect(int connections) throws Exception {
        try (VerbenaServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            for (int i = 0; i < connections; i++) {
                VerbenaSocketChannel client = VerbenaSocketChannel.open();
                clients.add(client);
                client.connect(listener.getLocalAddress());
                servers.add((VerbenaSocketChannel) listener.accept());
                if (i % AT_ONCE == 0 || i == connections - 1) {
                    for (VerbenaSocketChannel c : clients) {
                        awaitRings(c);
                    }
                    for (VerbenaSocketChannel c : servers) {
                        awaitRings(c);
                    }
                }
            }
        }
    }

    private static void awaitRings(VerbenaSocketChannel channel) throws Exception {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (!"stream".equals(channel.getOption(VerbenaSocketOptions.TRANSPORT))) {
            assertThat(channel.fallbackReason()).isEmpty();
            assertThat(System.nanoTime() - end).as("nanoseconds over the time for handshakes").isNegative();
            Thread.sleep(1);
        }
    }

    /** A byte of a client's, which the selector finds, and nothing else. */
    private void sendByte(VerbenaSelector selector, int i) throws IOException {
        clients.get(i).write(ByteBuffer.wrap(new byte[] {(byte) i}));
        assertThat(selector.select()).isEqualTo(1);
        SelectionKey key = selector.selectedKeys().iterator().next();
        assertThat(key.channel()).isSameAs(servers.get(i));
        ByteBuffer in = ByteBuffer.allocate(2);
        assertThat(servers.get(i).read(in)).isEqualTo(1);
        assertThat(in.get(0)).isEqualTo((byte) i);
        selector.selectedKeys().clear();
    }

    @Test
    void selectionPollsReadyConnectionsOnly() throws Exception {
        int connections = connections();
        assertThat(connections).isGreaterThan(20 * MAX_POLLS);
        connect(connections);
        try (VerbenaSelector selector = new VerbenaSelector(VerbenaSelectorProvider.instance())) {
            for (VerbenaSocketChannel c : servers) {
                c.configureBlocking(false);
                c.register(selector, SelectionKey.OP_READ);
            }
            for (int i = 0; i < connections; i++) { // the first byte finds the way into the ring
                sendByte(selector, i);
            }
            assertThat(servers).allMatch(c -> c.isInputByRing());
            assertThat(selector.select(10)).isZero(); // arms those that were ready a moment ago
            long before = selector.polls();

            assertThat(selector.select(100)).isZero();
            assertThat(selector.polls() - before).as("polls where nothing is ready").isLessThanOrEqualTo(MAX_POLLS);

            before = selector.polls();
            Random random = new Random(7);
            for (int i = 0; i < ROUNDS; i++) {
                sendByte(selector, random.nextInt(connections));
            }
            long polls = selector.polls() - before;
            System.out.println("ManyConnectionsTest: " + polls + " polls of keys in " + ROUNDS + " selections among "
                    + connections + " connections");
            assertThat(polls).isBetween((long) ROUNDS, (long) MAX_POLLS * ROUNDS);
        }
    }
}
