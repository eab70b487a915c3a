// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Objects;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.testkit.Await;
import org.verbena.verbs.VerbsException;

/** What a receive learns of a ring whose packets cannot be held: the peer has this end's offer and has sent none. */
@Timeout(60)
class PacketProbeTest {
    private final SessionPair sessions = SessionPair.ofOne();
    private final FakeTcp[] tcp = FakeTcp.pair(20_000);
    private final RingStream stream = new RingStream(tcp[0], Stream.Role.CLIENT, null, false);
    private final RingStream peer = new RingStream(tcp[1], Stream.Role.SERVER, null, false);
    private final PacketHolder packets = new PacketHolder(4, 8);
    private Link link;
    private Link peerLink;

    PacketProbeTest() throws VerbsException {} // of the sessions

    @BeforeEach
    void peerHasTheOffer() throws Exception {
        link = Link.create(sessions.a, stream);
        peerLink = Link.create(sessions.b, peer);
        assertThat(stream.prepare(link)).isTrue();
        assertThat(peer.prepare(peerLink)).isTrue();
        peer.completeHandshake(link.offer());
    }

    @AfterEach
    void close() throws Exception {
        stream.close(true);
        peer.close(true);
        sessions.close();
    }

    private void read(int count) throws Exception {
        ByteBuffer into = ByteBuffer.allocate(count);
        while (into.hasRemaining()) {
            assertThat(stream.read(into)).isNotNegative();
        }
    }

    @Test
    void ringWithoutAnOfferIsCopied() throws Exception {
        assertThat(peer.write(ByteBuffer.allocate(100))).isEqualTo(100);
        for (int i = 0; i < 2; i++) {
            assertThat(RingPackets.receive(stream, packets, this)).isEqualTo(RingPackets.BY_TCP);
            assertThat(PacketProbe.next(stream)).isEqualTo(PacketProbe.COPY);
        }
        assertThat(stream.isInputByRing()).isTrue();
        assertThat(PacketProbe.hasMore(stream)).isTrue();
        read(100);
        assertThat(PacketProbe.hasMore(stream)).isFalse();
        assertThat(PacketProbe.next(stream)).isZero();
        assertThat(stream.readyOps(java.nio.channels.SelectionKey.OP_READ)).as("a selector waits, too").isZero();
        peer.shutdownOutput();
        assertThat(PacketProbe.next(stream)).isEqualTo(-1);
    }

    /** The engine has found that copied bytes are to be reported when the first packet is held. */
    @Test
    void reportLeavesOutWhatIsHeldMeanwhile() throws Exception {
        peer.write(ByteBuffer.allocate(2000));
        read(2000); // no peer to tell yet
        peer.write(ByteBuffer.allocate(1000));
        RingReader reader = Objects.requireNonNull(stream.in().ring);
        stream.out().open(link, peerLink.offer());
        Thread engine = new Thread(() -> reader.reportIfDue(stream.out()));
        synchronized (link.session) {
            engine.start();
            Await.until("the engine reports", () -> engine.getState() == Thread.State.BLOCKED);
            RingPackets held = new RingPackets(reader, stream.out(), stream.number());
            reader.packets(held);
            assertThat(reader.receive(held, packets)).isEqualTo(1000);
        }
        engine.join();
        link.session.awaitArrival();
        assertThat(BlockLayout.getAcquire(peerLink.block, BlockLayout.CONSUMED)).isEqualTo(2000);
    }
}
