// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.cli.support.PeerException;
import org.verbena.testkit.Await;
import org.verbena.testkit.Seeds;

/** Messages of a connection of TCP, whose bytes come in any pieces. */
class StreamLinkTest {
    private record Pair(SocketChannel peer, StreamLink link) implements AutoCloseable {
        static Pair open() throws Exception {
            try (ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress
                    .getLoopbackAddress(), 0))) {
                SocketChannel peer = SocketChannel.open(listener.getLocalAddress());
                SocketChannel own = listener.accept();
                own.configureBlocking(false);
                return new Pair(peer, new StreamLink(own));
            }
        }

        @Override
        public void close() throws Exception {
            peer.close();
            link.close();
        }
    }

    private static byte[] message(long sequence, int bytes) {
        ByteBuffer b = ByteBuffer.allocate(bytes);
        Message.header(b, sequence, Message.CLIENT, bytes);
        for (int i = Message.HEADER_BYTES; i < bytes; i++) {
            b.put(i, (byte) (i + sequence));
        }
        return b.array();
    }

    @Test
    void messagesInRandomPiecesArriveWhole() {
        Seeds.each(20, random -> {
            try (Pair p = Pair.open()) {
                List<byte[]> sent = new ArrayList<>();
                ByteBuffer all = ByteBuffer.allocate(4 << 20);
                while (sent.size() < 60) {
                    byte[] m = message(sent.size() + 1, random.nextInt(10) == 0
                            ? Message.MAX_BYTES - random.nextInt(2)
                            : random.nextInt(Message.HEADER_BYTES, 2_000));
                    sent.add(m);
                    all.put(m);
                }
                all.flip();
                int received = 0;
                while (received < sent.size()) {
                    ByteBuffer piece = all.slice(all.position(), Math.min(all.remaining(), random.nextInt(1, 100_000)));
                    p.peer.configureBlocking(false);
                    p.peer.write(piece);
                    all.position(all.position() + piece.position());
                    for (ByteBuffer m = p.link.receive(); m != null; m = p.link.receive()) {
                        assertThat(m).isEqualTo(ByteBuffer.wrap(sent.get(received++)));
                    }
                }
                assertThat(all.hasRemaining()).isFalse();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 13, -1, Message.MAX_BYTES + 1, Integer.MIN_VALUE})
    void lengthsThatNoMessageHasAreRefused(int length) throws Exception {
        try (Pair p = Pair.open()) {
            ByteBuffer b = ByteBuffer.allocate(Message.HEADER_BYTES);
            Message.header(b, 1, Message.CLIENT, length);
            p.peer.write(b);
            assertThatThrownBy(() -> Await.until("an error", () -> p.link.receive() != null)).isInstanceOf(
                    PeerException.class)
                    .hasMessageContaining("does not speak sockperf");
        }
    }

    @Test
    void theEndOfTheConnectionIsTold() throws Exception {
        try (Pair p = Pair.open()) {
            p.peer.write(ByteBuffer.wrap(message(1, 100)));
            p.peer.write(ByteBuffer.wrap(message(2, 100), 0, 50));
            p.peer.close();
            Await.until("a message", () -> p.link.receive() != null);
            assertThatThrownBy(() -> Await.until("the end", () -> p.link.receive() != null)).isInstanceOf(
                    EOFException.class);
        }
    }
}
