// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** Peers that take nothing, or little. */
final class ZeroWindowTest {
    private static final int ACK = Peer.ACK;

    private static TcpSettings.Builder noDelay() {
        return DataTest.plain().noDelay(true);
    }

    /** A connection that has data, whose peer takes none. */
    private static Connection atZero(Peer p, TcpSettings s) throws IOException {
        Connection c = p.accepted(s);
        p.write(c, 11);
        assertThat(p.one().length()).isEqualTo(11);
        p.window = 0;
        p.acknowledge(12);
        p.write(c, 11);
        p.nothing();
        return c;
    }

    private static void isProbe(Peer.Seen s) {
        assertThat(s.sequence()).isEqualTo(11);
        assertThat(s.length()).isZero();
        assertThat(s.header().flags()).isEqualTo(ACK);
    }

    @Test
    void withoutDataNobodyAsks() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(noDelay().build());
        p.write(c, 11);
        p.one();
        p.window = 0;
        p.acknowledge(12);
        p.pass(600 * Peer.SECOND);
        p.nothing();
        p.write(c, 11);
        p.nothing();
        p.pass(Peer.SECOND);
        isProbe(p.take().getFirst());
        p.window = 1000;
        p.acknowledge(12);
        Peer.Seen s = p.one();
        assertThat(s.sequence()).isEqualTo(12);
        assertThat(s.length()).isEqualTo(11);
    }

    @Test
    void eachTimeItWaitsTwiceAsLong() throws IOException {
        for (boolean answered : new boolean[] {true, false}) {
            Peer p = new Peer();
            atZero(p, noDelay().build());
            long before = p.now();
            long waited = 0;
            for (int i = 0; i < 6; i++) {
                while (p.seen.isEmpty()) {
                    p.pass(Peer.MS);
                }
                Peer.Seen s = p.one();
                isProbe(s);
                if (waited > 0) {
                    assertThat(s.time() - before).isCloseTo(2 * waited, org.assertj.core.data.Offset.offset(10
                            * Peer.MS));
                }
                waited = s.time() - before;
                before = s.time();
                if (answered) {
                    p.acknowledge(12);
                }
            }
            p.window = 1000;
            p.acknowledge(12);
            assertThat(p.one().length()).isEqualTo(11);
        }
    }

    @Test
    void theUserTimeoutCountsForAPeerThatDoesNotAnswer() throws IOException {
        Peer p = new Peer();
        Connection c = atZero(p, noDelay().userTimeout(Duration.ofSeconds(5)).build());
        p.pass(4 * Peer.SECOND);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        p.pass(4 * Peer.SECOND);
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.error()).isEqualTo(Errno.ETIMEDOUT);
        p.take();
        p.acknowledge(12);
        assertThat(p.one().header().flags()).isEqualTo(Peer.RST);
    }

    /** RFC 9293, 3.8.6: a peer should not, but a sender has to stand it. */
    @Test
    void aWindowThatShrinksBelowWhatWasSentStopsNewData() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(noDelay().build());
        p.write(c, 11);
        p.write(c, 11);
        assertThat(p.take()).hasSize(2);
        p.draft(ACK).acknowledgment(1).window(5).send();
        p.write(c, 11);
        p.nothing();
        p.pass(10 * Peer.SECOND);
        List<Peer.Seen> all = p.take();
        assertThat(all).isNotEmpty().allMatch(s -> s.sequence() < 23);
        p.window = 0;
        p.acknowledge(23);
        p.pass(10 * Peer.SECOND);
        assertThat(p.take()).isNotEmpty().allMatch(s -> s.sequence() == 22 && s.length() == 0);
        p.window = 1000;
        p.acknowledge(23);
        assertThat(p.one().sequence()).isEqualTo(23);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
    }

    @Test
    void whatDoesNotFitGoesWithTheNextAcknowledgment() throws IOException {
        for (int room = 10; room <= 12; room++) {
            Peer p = new Peer();
            p.window = room;
            Connection c = p.accepted(noDelay().build());
            p.write(c, 11);
            assertThat(p.one().length()).isEqualTo(Math.min(room, 11));
            if (room >= 11) {
                p.write(c, 11);
            }
            List<Peer.Seen> early = p.take();
            int more = early.stream().mapToInt(Peer.Seen::length).sum();
            assertThat(more).as("within the window").isLessThanOrEqualTo(Math.max(room - 11, 0));
            p.expected = 1 + Math.min(room, 11) + more;
            p.data(11);
            Peer.Seen s = p.one();
            assertThat(s.sequence()).isEqualTo(p.expected);
            assertThat(s.length()).isEqualTo((room >= 11 ? 22 : 11) - (p.expected - 1));
            assertThat(s.acknowledgment()).isEqualTo(12);
            assertThat(s.header().flags()).isEqualTo(ACK | Peer.PSH);
        }
    }

    @Test
    void aReaderThatKeepsUpNeverTellsNothing() throws IOException {
        for (int n : new int[] {64, 512, 1024}) {
            Peer p = new Peer();
            Connection c = p.accepted(DataTest.plain().receiveBuffer(20_000).build());
            for (int i = 0; i < 60_000 / n; i++) {
                p.data(n);
                assertThat(p.read(c)).isEqualTo(n);
                assertThat(p.take()).allMatch(s -> s.window() >= n);
            }
        }
    }

    @Test
    void aFullBufferOfSegmentsOfAnySizeTellsNothing() throws IOException {
        for (int n : new int[] {64, 512, 1024, 1460}) {
            Peer p = new Peer();
            Connection c = p.accepted(DataTest.plain().receiveBuffer(20_000).quickAcks(10_000).build());
            int window = 20_000;
            while (window > 0) {
                p.data(Math.min(n, window));
                Peer.Seen s = p.one();
                assertThat(s.acknowledgment()).isEqualTo(p.next);
                window = s.window();
            }
            assertThat(p.read(c)).isEqualTo(p.next - 1);
        }
    }
}
