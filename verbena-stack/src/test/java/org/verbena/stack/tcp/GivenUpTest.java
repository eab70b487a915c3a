// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.model.TcpInfo;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** When connections are given up, and what is told of them. */
final class GivenUpTest {
    private static final int ACK = Peer.ACK;
    private static final int FIN = Peer.FIN;
    private static final int RST = Peer.RST;
    /** Of destination unreachable (RFC 792, RFC 1122, RFC 1812), and what they are for an application. */
    private static final int[][] CODES = {{0, Errno.ENETUNREACH}, {1, Errno.EHOSTUNREACH}, {2, Errno.ECONNREFUSED}, {3,
        Errno.ECONNREFUSED}, {5, Errno.EHOSTUNREACH}, {6, Errno.ENETUNREACH}, {7, Errno.EHOSTUNREACH}, {8,
            Errno.EHOSTUNREACH}, {9, Errno.ENETUNREACH}, {10, Errno.EHOSTUNREACH}, {11, Errno.ENETUNREACH}, {12,
                Errno.EHOSTUNREACH}, {13, Errno.EHOSTUNREACH}, {14, Errno.EHOSTUNREACH}, {15, Errno.EHOSTUNREACH}};

    /** After data, and after FIN. */
    @Test
    void whatTheUserTimeoutHasEndedIsReset() throws IOException {
        for (boolean fin : new boolean[] {false, true}) {
            for (int seconds : new int[] {0, 5}) {
                for (int after : new int[] {4, 7}) {
                    Peer p = new Peer();
                    Connection c = p.accepted(DataTest.plain().userTimeout(Duration.ofSeconds(seconds)).build());
                    if (fin) {
                        p.close(c);
                    } else {
                        p.write(c, 100);
                    }
                    p.pass(after * Peer.SECOND);
                    p.take();
                    p.acknowledge(fin ? 2 : 101);
                    if (seconds > 0 && after > seconds) {
                        assertThat(p.one().header().flags()).isEqualTo(RST);
                        p.close(c);
                        p.nothingIsLeft();
                    } else {
                        p.nothing();
                        assertThat(c.state()).isEqualTo(fin ? TcpState.FIN_WAIT_2 : TcpState.ESTABLISHED);
                    }
                }
            }
        }
    }

    @Test
    void ofAnOpenRefusalsAreToldAtOnceAndOtherErrorsInTheEnd() throws IOException { // RFC 9293, 3.9.2.2
        for (int[] code : CODES) {
            Peer p = new Peer();
            Connection c = p.open(DataTest.plain().build());
            p.icmp(3, code[0], 0, 0);
            assertThat(c.state()).as("code %d", code[0]).isEqualTo(code[1] == Errno.ECONNREFUSED
                    ? TcpState.CLOSED
                    : TcpState.SYN_SENT);
            p.pass(200 * Peer.SECOND);
            p.take();
            assertThat(c.error()).as("code %d", code[0]).isEqualTo(code[1]);
            p.next = 1;
            p.acknowledge(1);
            assertThat(p.one().header().flags()).isEqualTo(RST);
        }
    }

    @Test
    void ofAConnectionErrorsAreToldWhenItIsGivenUp() throws IOException {
        for (int[] code : CODES) {
            Peer p = new Peer();
            Connection c = p.accepted(DataTest.plain().userTimeout(Duration.ofSeconds(1)).build());
            p.write(c, 5);
            p.one();
            p.icmp(3, code[0], 0, 1);
            assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
            p.pass(5 * Peer.SECOND);
            assertThat(c.state()).isEqualTo(TcpState.CLOSED);
            assertThat(c.error()).as("code %d", code[0]).isEqualTo(code[1]);
        }
    }

    @Test
    void whenBothCloseFinIsSentAgain() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 10);
        p.one();
        p.acknowledge(11);
        p.finish(c);
        assertThat(p.one().has(FIN)).isTrue();
        p.send(FIN | ACK); // does not acknowledge the other
        p.next++;
        p.acknowledgment(2);
        assertThat(c.state()).isEqualTo(TcpState.CLOSING);
        p.pass(Peer.SECOND);
        assertThat(p.take()).isNotEmpty().allMatch(s -> s.header().flags() == (FIN | ACK) && s.sequence() == 11 && s
                .acknowledgment() == 2);
        assertThat(c.state()).isEqualTo(TcpState.CLOSING);
    }

    @Test
    void anAbortAfterFinIsAReset() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.finish(c);
        assertThat(p.one().header().flags()).isEqualTo(FIN | ACK);
        c.abort(p.now());
        p.settle();
        Peer.Seen s = p.one();
        assertThat(s.header().flags()).isEqualTo(RST | ACK);
        assertThat(s.sequence()).isEqualTo(2);
        p.nothingIsLeft();
    }

    @Test
    void thePeerOfAnOrphanIsResetAfterItsMinute() throws IOException {
        for (int seconds : new int[] {59, 61}) {
            Peer p = new Peer();
            Connection c = p.accepted(DataTest.plain().build());
            p.close(c);
            p.take();
            p.acknowledge(2);
            p.pass(seconds * Peer.SECOND);
            p.nothing();
            p.acknowledge(2);
            if (seconds < 60) {
                p.nothing();
            } else {
                assertThat(p.one().header().flags()).isEqualTo(RST);
            }
        }
    }

    @Test
    void whatIsToldOfAConnectionIsOfItsTripsAndLosses() throws IOException {
        Peer p = new Peer();
        TcpSettings s = DataTest.plain().build();
        Connection c = p.accepted(s);
        p.write(c, 11);
        p.one();
        p.pass(20 * Peer.MS);
        p.acknowledge(12);
        TcpInfo i = c.info();
        assertThat(i.state()).isEqualTo(TcpState.ESTABLISHED);
        assertThat(i.roundTrip()).isPositive();
        assertThat(i.roundTripVariation()).isPositive();
        assertThat(i.retransmissionTimeout()).isGreaterThan(i.roundTrip());
        assertThat(i.congestionWindow()).isGreaterThanOrEqualTo(10 * i.segment());
        assertThat(i.lost()).isZero();
        assertThat(i.retransmitted()).isZero();
        p.write(c, 11);
        p.one();
        p.pass(3 * i.retransmissionTimeout()); // the first is a probe of the tail
        assertThat(p.take()).isNotEmpty().allMatch(x -> x.sequence() == 12 && x.length() == 11);
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.TIMEOUT);
        assertThat(c.info().congestionWindow()).isEqualTo(i.segment());
        assertThat(c.info().lost()).isPositive();
    }

    @Test
    void whatIsLongerThanThePeersSegmentsIsCut() throws IOException {
        Peer p = new Peer();
        Listener l = p.host.tcp.listen(Peer.HOST_PORT, 5, DataTest.plain().build());
        p.draft(Peer.SYN).sequence(0).segmentSize(536).send();
        p.one();
        p.next = 1;
        p.acknowledge(1);
        Connection c = l.accept();
        for (int i = 0; i < 2; i++) {
            int from = p.expected;
            p.write(c, 537);
            Peer.Seen full = p.take().getFirst();
            assertThat(full.length()).isEqualTo(536);
            assertThat(full.header().flags()).isEqualTo(ACK);
            p.acknowledge(from + 536);
            p.seen.add(0, full);
            Peer.Seen rest = p.take().getLast();
            if (rest != full) { // it may have gone with the first
                assertThat(rest.length()).isEqualTo(1);
                assertThat(rest.header().flags()).isEqualTo(ACK | Peer.PSH);
            }
            p.acknowledge(from + 537);
            assertThat(c.sender.outstanding()).isZero();
        }
    }
}
