// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.verbs.VerbsException;

/** An end that has sent {@code closed} writes nothing more: the peer's memory may serve another connection by then. */
class LateWordsTest {
    private LinkedPair pair;
    private SessionPair sessions;
    private RingStream stream;
    private RingStream peer;

    @BeforeEach
    void completeHandshake() throws VerbsException {
        pair = new LinkedPair(20_000, SessionPair.ofOne());
        pair.completeHandshake();
        sessions = pair.sessions;
        stream = pair.stream;
        peer = pair.peer;
    }

    @AfterEach
    void disconnect() throws VerbsException {
        pair.close();
    }

    /** The engine's thread is in the middle of the handshake while another thread closes the channel. */
    @Test
    void handshakeCompletedAfterCloseWritesNothing() throws Exception {
        peer.write(ByteBuffer.allocate(3000));
        stream.read(ByteBuffer.allocate(3000));
        stream.close(false);
        long[] before = words();
        assertThat(before[BlockLayout.CLOSED / 8]).isNotZero();
        stream.in().onPeerOffer(stream.out());
        stream.in().grow(stream.out());
        stream.arm(SelectionKey.OP_READ | SelectionKey.OP_WRITE, null);
        stream.out().close(BlockLayout.END_ABORT);
        assertThat(words()).isEqualTo(before);
    }

    private long[] words() {
        return pair.peerLink.block.toArray(ValueLayout.JAVA_LONG);
    }

    /** A number is given to the next connection while something of the one before is still on its way. */
    @Test
    void lateWordsOfAClosedConnectionDoNotDisturbTheNext() throws Exception {
        RingStream next = new RingStream(FakeTcp.pair(10)[0], Stream.Role.CLIENT, null, false);
        Link.create(sessions.a, next);
        next.dataArrived();
        next.spaceArrived();
        assertThat(next.figures().doorbells()).isZero();
    }

    /** A peer may be several rings ahead of a reader that has not even taken what TCP brought. */
    @Test
    void ringsAreGrantedWithoutAReader() throws Exception {
        FakeTcp[] tcp = FakeTcp.pair(20_000);
        RingStream from = new RingStream(tcp[0], Stream.Role.CLIENT, null, false);
        RingStream to = new RingStream(tcp[1], Stream.Role.SERVER, null, false);
        Link fromLink = Link.create(sessions.a, from);
        Link toLink = Link.create(sessions.b, to);
        byte[] sent = new byte[500_000];
        new java.util.Random(1).nextBytes(sent);
        ByteBuffer left = ByteBuffer.wrap(sent);
        left.limit(1000);
        from.write(left); // by TCP
        left.limit(sent.length);
        assertThat(from.prepare(fromLink)).isTrue();
        assertThat(to.prepare(toLink)).isTrue();
        from.completeHandshake(toLink.offer());
        to.completeHandshake(fromLink.offer());
        int calls = 0;
        while (left.hasRemaining()) {
            from.write(left);
            if (left.hasRemaining() && from.arm(SelectionKey.OP_WRITE, null) == 0) {
                assertThat(sessions.b.answerProgressRequests()).isTrue();
                assertThat(from.readyOps(SelectionKey.OP_WRITE)).as("call %d", ++calls).isEqualTo(
                        SelectionKey.OP_WRITE);
            }
        }
        assertThat(calls).isEqualTo(4);
        assertThat(to.isInputByRing()).isFalse();
        tcp[1].arrive(2000);
        ByteBuffer got = ByteBuffer.allocate(sent.length);
        while (got.hasRemaining()) {
            assertThat(to.read(got)).isPositive();
        }
        assertThat(got.array()).isEqualTo(sent);
        assertThat(to.in().growths()).isEqualTo(4);
    }

    /** A writer that returned from makesRoom without a call to the peer's engine makes that call when it arms. */
    @Test
    void armCallsTheEngineOfThePeerAfterMakesRoomDidNot() throws Exception {
        ByteBuffer more = ByteBuffer.allocate(500_000);
        stream.write(more);
        assertThat(more.hasRemaining()).isTrue();
        Thread.currentThread().interrupt();
        assertThat(stream.makesRoom()).isFalse();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(stream.arm(SelectionKey.OP_WRITE, null)).isZero();
        assertThat(sessions.b.answerProgressRequests()).isTrue();
        assertThat(stream.readyOps(SelectionKey.OP_WRITE)).isEqualTo(SelectionKey.OP_WRITE);
    }
}
