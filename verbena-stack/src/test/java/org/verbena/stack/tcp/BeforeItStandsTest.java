// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** Acknowledgments, resets, windows and data of a connection that does not stand yet. */
final class BeforeItStandsTest {
    private static final int ACK = Peer.ACK;
    private static final int FIN = Peer.FIN;
    private static final int RST = Peer.RST;
    private static final int SYN = Peer.SYN;
    private static final TcpSettings PLAIN = DataTest.plain().build();

    private static Listener answered(Peer p) throws IOException {
        Listener l = Objects.requireNonNull(p.host.tcp.listen(Peer.HOST_PORT, 5, PLAIN));
        p.syn(PLAIN).send();
        assertThat(p.one().header().flags()).isEqualTo(SYN | ACK);
        p.next = 1;
        p.expected = 1;
        return l;
    }

    @Test
    void anAcknowledgmentOfAnotherNumberIsReset() throws IOException {
        Peer p = new Peer();
        Listener l = answered(p);
        for (int wrong : new int[] {0, 2, -5, 1 << 30}) {
            p.draft(ACK).acknowledgment(wrong).data(5).send();
            Peer.Seen s = p.one();
            assertThat(s.header().flags()).isEqualTo(RST);
            assertThat(s.sequence()).isEqualTo(wrong);
            assertThat(l.ready()).isZero();
        }
        p.acknowledge(1);
        p.nothing();
        Connection c = Objects.requireNonNull(l.accept());
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        assertThat(c.readable()).isZero();
    }

    @Test
    void aResetEndsWhatAListenerHasAnswered() throws IOException {
        Peer p = new Peer();
        Listener l = answered(p);
        p.send(RST);
        p.nothing();
        p.nothingIsLeft();
        p.acknowledge(1);
        assertThat(p.one().header().flags()).isEqualTo(RST);
        assertThat(l.ready() + l.half).isZero();
    }

    @Test
    void aResetEndsAnOpenOfBothEnds() throws IOException {
        Peer p = new Peer();
        Connection c = p.open(PLAIN);
        p.syn(PLAIN).send();
        assertThat(p.one().header().flags()).isEqualTo(SYN | ACK);
        p.next = 1;
        p.send(RST);
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.error()).isEqualTo(Errno.ECONNREFUSED);
        p.acknowledge(1);
        assertThat(p.one().header().flags()).isEqualTo(RST);
        p.nothingIsLeft();
    }

    @Test
    void aRefusedOpenLeavesNothingThatAnAcknowledgmentFinds() throws IOException {
        Peer p = new Peer();
        Connection c = p.open(PLAIN);
        p.draft(RST).sequence(0).acknowledgment(1).send();
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.read(ByteBuffer.allocate(10), p.now())).isNotPositive();
        p.acknowledge(1);
        assertThat(p.one().header().flags()).isEqualTo(RST);
    }

    /** The window of SYN is one of that segment; the one that follows has another (RFC 9293, 3.10.7.4). */
    @Test
    void aWindowOfNothingInSynDoesNotLast() throws IOException {
        Peer p = new Peer();
        Listener l = Objects.requireNonNull(p.host.tcp.listen(Peer.HOST_PORT, 5, PLAIN));
        p.syn(PLAIN).window(0).send();
        assertThat(p.one().header().flags()).isEqualTo(SYN | ACK);
        p.next = 1;
        p.window = 1 << 15;
        p.acknowledge(1);
        Connection c = Objects.requireNonNull(l.accept());
        p.write(c, 11);
        Peer.Seen s = p.one();
        assertThat(s.header().flags()).isEqualTo(ACK | Peer.PSH);
        assertThat(s.length()).isEqualTo(11);
    }

    @Test
    void bytesAreNotTakenBeforeItStandsAndGoAtOnceThen() throws IOException {
        Peer p = new Peer();
        Connection c = p.open(PLAIN);
        assertThat(c.write(ByteBuffer.wrap(Peer.bytes(1, 11)), p.now())).isEqualTo(-Errno.ENOTCONN);
        assertThat(c.readable()).isZero();
        p.settle();
        p.nothing();
        p.syn(PLAIN).acknowledgment(1).send();
        p.acknowledgment(1);
        p.next = 1;
        p.expected = 1;
        p.write(c, 11);
        Peer.Seen s = p.one();
        assertThat(s.header().flags()).isEqualTo(ACK | Peer.PSH);
        assertThat(s.length()).isEqualTo(11);
        p.expected = 12;
        p.data(11);
        p.pass(Peer.SECOND / 10);
        p.acknowledgment(12);
        assertThat(p.read(c)).isEqualTo(11);
    }

    /** By a cookie, and without one: what the first segment after SYN may be. */
    @Test
    void dataThatEndsTheHandshakeCountsUnlessSynOrRstIsWithIt() throws IOException {
        for (boolean cookie : new boolean[] {false, true}) {
            for (int flags : new int[] {ACK, ACK | Peer.PSH, ACK | FIN, ACK | SYN, ACK | RST, RST}) {
                Peer p = new Peer();
                Listener l = cookie ? SynCookiesTest.flooded(p) : null;
                if (l == null) {
                    l = answered(p);
                } else {
                    p.syn(PLAIN).send();
                    p.one();
                    p.next = 1;
                    p.expected = 1;
                }
                p.draft(flags).data(11).send();
                boolean good = (flags & (SYN | RST)) == 0;
                assertThat(l.ready()).as("flags %x", flags).isEqualTo(good ? 1 : 0);
                if (good) {
                    Connection c = Objects.requireNonNull(l.accept());
                    assertThat(c.state()).isEqualTo((flags & FIN) == 0
                            ? TcpState.ESTABLISHED
                            : TcpState.CLOSE_WAIT);
                    assertThat(p.read(c)).isEqualTo(11);
                    assertThat(p.read(c)).isEqualTo((flags & FIN) == 0 ? 0 : -1);
                }
            }
        }
    }

    @Test
    void anAnswerWithACookieIsNotSentAgain() throws IOException {
        Peer p = new Peer();
        SynCookiesTest.flooded(p);
        p.syn(PLAIN).send();
        int first = p.one().header().sequence();
        p.pass(5 * Peer.SECOND); // those that are kept are answered again
        assertThat(p.take()).isNotEmpty().noneMatch(s -> s.header().sequence() == first);
    }

    @Test
    void aListenerThatIsClosedResetsWithAnAcknowledgment() throws IOException {
        Peer p = new Peer();
        Listener l = answered(p);
        p.acknowledge(1);
        l.close(p.now());
        p.settle();
        assertThat(p.one().header().flags()).isEqualTo(RST | ACK);
        p.nothingIsLeft();
    }
}
