// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static java.nio.channels.SelectionKey.OP_READ;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.testkit.Await;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;

/**
 * How connections over the kernel's TCP on loopback end that are by rings, or were to be, and which ends must not get
 * them.
 */
@Isolated
class StreamEndTest {
    private final List<AutoCloseable> open = new ArrayList<>();
    private ServerSocketChannel listener;

    @BeforeEach
    void listen() throws IOException {
        listener = opened(ServerSocketChannel.open());
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : open.reversed()) {
            one.close();
        }
    }

    private <T extends AutoCloseable> T opened(T what) {
        open.add(what);
        return what;
    }

    private SocketChannel accept() throws IOException {
        SocketChannel server = opened(listener.accept());
        server.configureBlocking(false);
        return server;
    }

    /** The two ends of a connection, and the channels under them. */
    private record Ends(RingStream client, RingStream server) {
        static int read(RingStream from, ByteBuffer into) {
            try {
                return from.read(into);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Until what the client writes goes by ring, and the server is in it, having read all. */
        void awaitRings() throws Exception {
            Await.until("rings", () -> client.isOutputByRing() && server.isOutputByRing());
            client.write(ByteBuffer.allocate(1));
            Await.until("the ring's first byte", () -> read(server, ByteBuffer.allocate(1)) == 1);
            assertThat(server.isInputByRing()).isTrue();
        }
    }

    private Ends connect() throws IOException {
        SocketChannel client = opened(SocketChannel.open(listener.getLocalAddress()));
        client.configureBlocking(false);
        return new Ends((RingStream) Stream.of(client, Stream.Role.CLIENT),
                (RingStream) Stream.of(accept(), Stream.Role.SERVER));
    }

    /**
     * Bound before it connects: a port that connect(2) chooses may be another connection's too, and cannot be bound.
     */
    private SocketChannel onPort(InetSocketAddress address) throws IOException {
        return opened(SocketChannel.open()).setOption(StandardSocketOptions.SO_REUSEADDR, true).bind(address);
    }

    /** The first connection was reset, and its client has connected again from the same port: they are not mixed up. */
    @Test
    void deadEndDoesNotReceiveANewConnectionOfItsAddresses() throws Exception {
        for (int round = 0; round < 5; round++) {
            SocketChannel first = onPort(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            InetSocketAddress from = (InetSocketAddress) first.getLocalAddress();
            SocketChannel second = onPort(from);
            first.setOption(StandardSocketOptions.SO_LINGER, 0).connect(listener.getLocalAddress());
            SocketChannel dead = accept();
            first.close();
            second.connect(listener.getLocalAddress());
            second.configureBlocking(false);
            SocketChannel live = accept();
            assertThat(live.getRemoteAddress()).isEqualTo(from);

            RingStream client = (RingStream) Stream.of(second, Stream.Role.CLIENT);
            RingStream wrong = (RingStream) Stream.of(dead, Stream.Role.SERVER);
            Await.until("a decision of the dead end", () -> wrong.isHandshakeComplete() || wrong
                    .reason() != FallbackReason.NONE);
            assertThat(wrong.reason()).isEqualTo(FallbackReason.CLOSED_EARLY);
            assertThat(client.isHandshakeComplete()).isFalse();

            RingStream server = (RingStream) Stream.of(live, Stream.Role.SERVER);
            new Ends(client, server).awaitRings();
            for (RingStream one : List.of(client, wrong, server)) {
                one.close(false);
            }
        }
    }

    /** Both programs live: a message that was cut off must not look whole. */
    @Test
    void sessionFailureIsNoOrderlyEnd() throws Exception {
        Ends ends = connect();
        ends.awaitRings();
        ends.client.write(ByteBuffer.allocate(3000));
        ends.server.link().session.queuePair().modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        ByteBuffer in = ByteBuffer.allocate(10_000);
        assertThatThrownBy(() -> {
            long end = System.nanoTime() + 60_000_000_000L;
            while (System.nanoTime() < end) {
                int ready = ends.server.readyOps(OP_READ);
                assertThat(ends.server.read(in)).isGreaterThanOrEqualTo(ready == 0 ? 0 : 1); // a selector reports it too
                Thread.sleep(1);
            }
        }).isInstanceOf(IOException.class).hasMessageContaining("broke off");
        assertThat(in.position()).isEqualTo(3000);
        Await.until("the other end's session to fail", () -> ends.client.link().session.isFailed());
        // until TCP has had its time to report a death nothing is taken
        assertThatThrownBy(() -> Await.until("an error", () -> {
            assertThat(write(ends.client)).isZero();
            return false;
        })).isInstanceOf(UncheckedIOException.class);
        ends.client.close(false);
        ends.server.close(false);
    }

    private static int write(Stream to) {
        try {
            return to.write(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A writer that closes before anybody has noticed: its last bytes may not have come. */
    @Test
    void failedSessionYieldsNoOrderlyEnd() throws Exception {
        VerbenaServerSocketChannel server = opened(VerbenaServerSocketChannel.open());
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        VerbenaSocketChannel writer = opened(VerbenaSocketChannel.open());
        writer.connect(server.getLocalAddress());
        VerbenaSocketChannel reader = opened((VerbenaSocketChannel) server.accept());
        Await.until("rings", () -> {
            try {
                writer.write(ByteBuffer.allocate(1));
                return reader.read(ByteBuffer.allocate(1)) == 1 && writer.isOutputByRing() && reader.isInputByRing()
                        && reader.isOutputByRing();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        List<Session> failing = new ArrayList<>();
        for (Stream s : StreamCounters.open()) {
            if (s instanceof RingStream one && one.isOutputByRing()) {
                failing.add(one.link().session);
                one.link().session.queuePair().modify(QueuePairAttributes.to(QueuePairState.ERR).build());
            }
        }
        Await.until("the writer's session to fail", () -> {
            try {
                writer.write(ByteBuffer.allocate(1));
                return false;
            } catch (IOException e) {
                return true;
            }
        });
        writer.close();
        assertThatThrownBy(() -> {
            while (reader.read(ByteBuffer.allocate(100)) >= 0) {}
        }).isInstanceOf(IOException.class);
        Await.until("both sessions to fail, so that no other connection gets one of them", () -> failing.stream()
                .allMatch(
                        Session::isFailed));
    }

    /** What one end finds out the other learns, too. */
    @Test
    void sessionFailedByOneEndFailsForBoth() throws Exception {
        Ends ends = connect();
        ends.awaitRings();
        Session own = ends.server.link().session;
        own.fail();
        Await.until("the other end's session to fail", () -> ends.client.link().session.isFailed());
        ends.client.close(false);
        ends.server.close(false);
    }

    @Test
    void scatteringReadReturnsBytesBeforeTheReset() throws Exception {
        Ends ends = connect();
        ends.awaitRings();
        ends.client.write(ByteBuffer.allocate(4));
        ends.client.close(true);
        ByteBuffer[] two = {ByteBuffer.allocate(4), ByteBuffer.allocate(100)};
        Await.until("four bytes", () -> {
            try {
                return ends.server.read(two, 0, 2) == 4;
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThatThrownBy(() -> ends.server.read(two, 0, 2)).isInstanceOf(IOException.class).hasMessage(
                "Connection reset");
        ends.server.close(false);
    }

    /** As by TCP: the first write after the peer's end is taken, all of it. */
    @Test
    void gatheringWriteToAClosedEndIsTakenEntirely() throws Exception {
        Ends ends = connect();
        ends.awaitRings();
        ends.server.close(false);
        ByteBuffer[] three = {ByteBuffer.allocate(4), ByteBuffer.allocate(0), ByteBuffer.allocate(100)};
        assertThat(ends.client.write(three, 0, 3)).isEqualTo(104);
        assertThat(three).noneMatch(ByteBuffer::hasRemaining);
        for (ByteBuffer one : three) {
            one.clear();
        }
        assertThatThrownBy(() -> ends.client.write(three, 0, 3)).isInstanceOf(IOException.class).hasMessage(
                "Broken pipe");
        assertThat(three[0].position()).isZero();
        ends.client.close(false);
    }

    /** An end that never read from the ring leaves unread what is there. */
    @Test
    void closeWithUnreadBytesResets() throws Exception {
        Ends ends = connect();
        Await.until("rings", () -> ends.client.isOutputByRing() && ends.server.isOutputByRing());
        ends.client.write(ByteBuffer.allocate(1000));
        ends.server.close(false);
        assertThatThrownBy(() -> ends.client.read(ByteBuffer.allocate(10))).isInstanceOf(IOException.class).hasMessage(
                "Connection reset");
        ends.client.close(false);
    }
}
