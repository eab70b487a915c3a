// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

import org.junit.jupiter.api.Test;

import org.verbena.sockets.SocketStatistics;
import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.nio.NioChannels;
import org.verbena.sockets.telemetry.SocketLayout;
import org.verbena.verbs.SamplePoint;

/** What sockets publish, in this process; as other processes read it: StatSocketsTest in verbena-tests. */
class PublishedSocketsTest {
    private static final int MESSAGE = 64;
    private static final long LONGEST_NANOS = 60_000_000_000L;

    /** Both ends of a connection in this process that rings carry. */
    private static final class Pair implements AutoCloseable {
        final VerbenaServerSocketChannel server = VerbenaServerSocketChannel.open();
        final VerbenaSocketChannel client = VerbenaSocketChannel.open();
        final VerbenaSocketChannel peer;
        final ByteBuffer out = ByteBuffer.allocateDirect(MESSAGE);
        final ByteBuffer in = ByteBuffer.allocateDirect(MESSAGE);
        long sent;

        Pair() throws Exception {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            client.connect(server.getLocalAddress());
            peer = (VerbenaSocketChannel) server.accept();
            client.configureBlocking(false);
            peer.configureBlocking(false);
            long end = System.nanoTime() + LONGEST_NANOS;
            while (!client.isOutputByRing() || !peer.isInputByRing() || !peer.isOutputByRing()) { // complete at both ends
                pass(1);
                Thread.sleep(1);
                assertThat(System.nanoTime() - end).as(client.fallbackReason()).isNegative();
            }
        }

        /** Messages from the client to its peer, one after the other. */
        void pass(int messages) throws Exception {
            for (int i = 0; i < messages; i++) {
                out.clear();
                while (out.hasRemaining()) {
                    client.write(out);
                }
                in.clear();
                while (in.hasRemaining()) {
                    peer.read(in);
                }
                sent += MESSAGE;
            }
        }

        @Override
        public void close() throws Exception {
            client.close();
            peer.close();
            server.close();
        }
    }

    @Test
    @SuppressWarnings("EnumOrdinal") // the points are in the order of the reasons
    void fallbackReasonsMatchTheSamplePoints() {
        for (FallbackReason reason : FallbackReason.values()) {
            if (reason != FallbackReason.NONE) {
                assertThat(SamplePoint.toString(SocketLayout.FIRST_REASON + reason.ordinal()))
                        .isEqualTo("SOCKETS_BY_TCP_" + reason.name());
            }
        }
    }

    /** What cannot be made here is a channel over one that is none of the JDK's. */
    @Test
    void innerChannelIsClosedIfConstructionFails() {
        FakeTcp inner = FakeTcp.pair(1)[0];
        assertThatThrownBy(() -> NioChannels.over(VerbenaSelectorProvider.instance(), inner))
                .isInstanceOf(ClassCastException.class);
        assertThat(inner.isOpen()).isFalse();
    }

    @Test
    void channelReportsItsTraffic() throws Exception {
        try (VerbenaSocketChannel fresh = VerbenaSocketChannel.open(); Pair pair = new Pair()) {
            assertThat(fresh.statistics()).isEqualTo(new SocketStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
            pair.out.clear();
            pair.client.write(pair.out);
            SocketStatistics client = pair.client.statistics();
            SocketStatistics peer = pair.peer.statistics();
            assertThat(client.sentByRing() + client.sentByTcp()).isEqualTo(pair.sent + MESSAGE);
            assertThat(client.sendRing()).isEqualTo(Link.FIRST_RING);
            assertThat(peer.receivedByRing() + peer.receivedByTcp()).isEqualTo(pair.sent);
            assertThat(peer.receiveRing()).isEqualTo(Link.FIRST_RING);
            assertThat(peer.receiveRingUsed()).isEqualTo(MESSAGE);
            assertThat(client.receivedByRing() + client.receivedByTcp() + peer.sentByRing() + peer.sentByTcp())
                    .isZero();
        }
    }
}
