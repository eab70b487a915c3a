// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.sockets.VerbenaSocketChannel;

/** A writer that waits for room in a ring at a selector, while TCP stays readable at its end, uses no CPU. */
@Tag("any-provider")
class IdleWriterTest {
    private static final long LONGEST_NANOS = 60_000_000_000L;
    private static final int MILLIS = 300;
    /** It is two or three each millisecond, since the peer cannot ring, and a hundred or more in a busy loop. */
    private static final long MAX_POLLS = 10 * MILLIS;

    private final VerbenaSelectorProvider provider = VerbenaSelectorProvider.instance();

    /** A client that sends a request, ends its output before the handshake completes, and reads late. */
    @Test
    void outputOfThePeerEndedBeforeTheSwitch() throws Exception {
        try (Carrier.Pair pair = halfClosedInTime(); VerbenaSelector selector = new VerbenaSelector(provider)) {
            SocketChannel server = pair.tested();
            server.configureBlocking(false);
            assertThat(TransferTest.read(server, 10)).hasSize(7);
            waitForRoom(selector, server);

            assertIdle(selector);

            pair.peer().configureBlocking(false);
            long end = System.nanoTime() + LONGEST_NANOS;
            while (selector.selectNow() == 0 && System.nanoTime() - end < 0) {
                pair.peer().read(ByteBuffer.allocateDirect(1 << 16));
            }
            assertThat(selector.selectedKeys()).hasSize(1);
        }
    }

    private Carrier.Pair halfClosedInTime() throws Exception {
        for (int i = 0; i < 100; i++) {
            Carrier.Pair pair = halfClosed();
            if (!((VerbenaSocketChannel) pair.peer()).isOutputByRing()) {
                return pair;
            }
            pair.close(); // the handshake completed too soon
        }
        throw new AssertionError("the handshake always completes before the output ends");
    }

    /** The other end has ended its output; the handshake is complete. */
    private Carrier.Pair halfClosed() throws Exception {
        try (ServerSocketChannel listener = provider.openServerSocketChannel().bind(Carrier.anyPort())) {
            SocketChannel client = provider.openSocketChannel();
            client.connect(listener.getLocalAddress());
            client.write(ByteBuffer.allocate(7));
            client.shutdownOutput();
            SocketChannel server = listener.accept();
            long end = System.nanoTime() + LONGEST_NANOS;
            while (!((VerbenaSocketChannel) server).isOutputByRing() && System.nanoTime() - end < 0) {
                Thread.sleep(1);
            }
            assertThat(((VerbenaSocketChannel) server).isOutputByRing()).isTrue();
            return new Carrier.Pair(server, client);
        }
    }

    /** The program ends its own input while it waits: no key changes its interest. */
    @Test
    void shutdownInputKeepsAWaitingWriter() throws Exception {
        try (Carrier.Pair pair = Carrier.RING.connected(); VerbenaSelector selector = new VerbenaSelector(provider)) {
            pair.tested().configureBlocking(false);
            waitForRoom(selector, pair.tested());

            pair.tested().shutdownInput();

            assertIdle(selector);
        }
    }

    /** Until the ring is full for good, and the selector has slept. */
    private static void waitForRoom(VerbenaSelector selector, SocketChannel channel) throws IOException {
        SelectionKey key = channel.register(selector, OP_WRITE);
        long end = System.nanoTime() + LONGEST_NANOS;
        do {
            assertThat(System.nanoTime() - end).as("still room").isNegative();
            ByteBuffer some = ByteBuffer.allocateDirect(1 << 16);
            while (channel.write(some.clear()) > 0) {
                // until there is no room
            }
            selector.selectedKeys().clear();
        } while (selector.select(200) > 0);
        assertThat(key.interestOps()).isEqualTo(OP_WRITE);
    }

    private static void assertIdle(VerbenaSelector selector) throws IOException {
        long before = selector.polls();
        assertThat(selector.select(MILLIS)).isZero();
        assertThat(selector.polls() - before).as("polls in %d ms", MILLIS).isLessThan(MAX_POLLS);
    }
}
