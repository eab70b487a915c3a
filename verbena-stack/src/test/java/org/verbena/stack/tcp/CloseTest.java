// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.Host;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** All ways through the states in which a connection ends. */
final class CloseTest {
    private static final int ACK = Peer.ACK;
    private static final int FIN = Peer.FIN;
    private static final int RST = Peer.RST;
    private static final int SYN = Peer.SYN;
    private static final TcpSettings PLAIN = DataTest.plain().build();

    private static Peer.Seen fin(Peer p) {
        Peer.Seen s = p.one();
        assertThat(s.has(FIN)).isTrue();
        return s;
    }

    @Test
    void thisEndFirst() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.finish(c);
        fin(p);
        assertThat(c.state()).isEqualTo(TcpState.FIN_WAIT_1);
        p.acknowledge(2);
        assertThat(c.state()).isEqualTo(TcpState.FIN_WAIT_2);
        p.pass(3600 * Peer.SECOND); // data long after
        p.data(100);
        p.pass(Peer.SECOND);
        p.acknowledgment(101);
        assertThat(p.read(c)).isEqualTo(100);
        p.send(FIN | ACK);
        p.acknowledgment(102);
        assertThat(c.state()).isEqualTo(TcpState.TIME_WAIT);
        assertThat(p.read(c)).isEqualTo(-1);
        assertThat(p.host.tcp.timeWaits()).isEqualTo(1);
        p.close(c);
        p.pass(61 * Peer.SECOND);
        assertThat(p.host.tcp.timeWaits()).isZero();
        p.nothingIsLeft();
    }

    @Test
    void thisEndFirstAndAllAtOnce() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.finish(c);
        fin(p);
        p.expected = 2;
        p.draft(FIN | ACK).data(10).send();
        p.acknowledgment(12);
        assertThat(c.state()).isEqualTo(TcpState.TIME_WAIT);
        assertThat(p.read(c)).isEqualTo(10);
        assertThat(p.read(c)).isEqualTo(-1);
        p.close(c);
        p.nothingIsLeft();
    }

    @Test
    void bothAtTheSameTime() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.write(c, 10);
        p.one();
        p.finish(c);
        fin(p);
        p.send(FIN | ACK);
        p.next = 2;
        assertThat(c.state()).isEqualTo(TcpState.CLOSING);
        p.acknowledgment(2);
        p.acknowledge(11);
        assertThat(c.state()).isEqualTo(TcpState.CLOSING);
        p.acknowledge(12);
        assertThat(c.state()).isEqualTo(TcpState.TIME_WAIT);
        p.nothing();
        p.close(c);
        p.nothingIsLeft();
    }

    @Test
    void theOtherEndFirst() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.send(FIN | ACK);
        p.acknowledgment(2);
        p.next = 2;
        assertThat(c.state()).isEqualTo(TcpState.CLOSE_WAIT);
        p.write(c, 10);
        p.one();
        p.pass(Peer.SECOND / 10);
        p.acknowledge(11);
        p.finish(c);
        assertThat(fin(p).sequence()).isEqualTo(11);
        assertThat(c.state()).isEqualTo(TcpState.LAST_ACK);
        p.acknowledge(12);
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.error()).isZero();
        assertThat(p.host.tcp.timeWaits()).isZero();
        p.close(c);
        p.nothingIsLeft();
        p.send(ACK);
        assertThat(p.one().has(RST)).isTrue();
    }

    @Test
    void finIsSentAgain() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.write(c, 10);
        p.one();
        p.finish(c);
        fin(p);
        p.acknowledge(11);
        p.pass(Peer.SECOND);
        assertThat(p.take()).isNotEmpty().allMatch(s -> s.sequence() == 11 && s.has(FIN) && s.length() == 0);
        p.acknowledge(12);
        assertThat(c.state()).isEqualTo(TcpState.FIN_WAIT_2);
    }

    @Test
    void aLostLastAcknowledgmentIsSentAgain() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.finish(c);
        fin(p);
        p.acknowledge(2);
        p.send(FIN | ACK);
        p.acknowledgment(2);
        p.close(c);
        p.pass(50 * Peer.SECOND);
        p.send(FIN | ACK);
        p.acknowledgment(2);
        p.pass(50 * Peer.SECOND); // the time begins anew
        assertThat(p.host.tcp.timeWaits()).isEqualTo(1);
        p.pass(11 * Peer.SECOND);
        assertThat(p.host.tcp.timeWaits()).isZero();
    }

    @Test
    void inCloseWaitFinMayComeAgain() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.draft(FIN | ACK).data(5).send();
        p.acknowledgment(7);
        p.draft(FIN | ACK).data(5).send();
        assertThat(p.one().acknowledgment()).isEqualTo(7);
        assertThat(c.state()).isEqualTo(TcpState.CLOSE_WAIT);
        assertThat(p.read(c)).isEqualTo(5);
    }

    @Test
    void closeWithUnreadBytesResets() throws IOException { // RFC 2525, 2.17
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.data(10);
        p.close(c);
        Peer.Seen s = p.one();
        assertThat(s.has(RST)).isTrue();
        assertThat(s.sequence()).isEqualTo(1);
        p.nothingIsLeft();
    }

    @Test
    void bytesAfterCloseAreReset() throws IOException { // RFC 9293, 3.6.1
        for (boolean acknowledged : new boolean[] {false, true}) {
            Peer p = new Peer();
            Connection c = p.accepted(PLAIN);
            p.close(c);
            fin(p);
            if (acknowledged) {
                p.acknowledge(2);
            }
            p.expected = 2;
            p.data(10);
            Peer.Seen s = p.one();
            assertThat(s.header().flags()).isEqualTo(RST);
            assertThat(s.sequence()).isEqualTo(2);
            p.nothingIsLeft();
        }
    }

    @Test
    void finAfterCloseIsFine() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.write(c, 10);
        p.close(c);
        p.take();
        p.acknowledge(12);
        p.send(FIN | ACK);
        p.acknowledgment(2);
        assertThat(c.state()).isEqualTo(TcpState.TIME_WAIT);
        p.nothingIsLeft();
    }

    @Test
    void whatWasWrittenBeforeCloseIsSent() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.window = 3000;
        p.acknowledge(1);
        p.write(c, 10_000);
        p.close(c);
        int got = 1;
        for (int i = 0; i < 100 && c.state() != TcpState.FIN_WAIT_2; i++) {
            for (Peer.Seen s : p.take()) {
                got = Math.max(got, s.sequence() + s.length() + (s.has(FIN) ? 1 : 0));
            }
            p.acknowledge(got);
        }
        assertThat(got).isEqualTo(10_002);
        assertThat(c.state()).isEqualTo(TcpState.FIN_WAIT_2);
    }

    @Test
    void anOrphanDoesNotWaitForever() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.close(c);
        fin(p);
        p.acknowledge(2);
        p.pass(59 * Peer.SECOND);
        assertThat(c.state()).isEqualTo(TcpState.FIN_WAIT_2);
        p.pass(2 * Peer.SECOND);
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        p.nothingIsLeft();
        p.data(10);
        assertThat(p.one().has(RST)).isTrue();
    }

    @Test
    void anOrphanThatWasHalfClosedDoesNotEither() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.finish(c);
        fin(p);
        p.acknowledge(2);
        p.close(c);
        p.nothing();
        p.pass(61 * Peer.SECOND);
        p.nothingIsLeft();
    }

    @Test
    void anOrphanWhosePeerIsGoneIsGivenUpSooner() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.write(c, 10);
        p.close(c);
        p.take();
        p.pass(200 * Peer.SECOND);
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(p.take()).filteredOn(s -> s.sequence() == 1).hasSize(8);
        p.nothingIsLeft();
    }

    @Test
    void aResetHasTimestamps() throws IOException { // RFC 7323, 3.2
        Peer p = new Peer();
        Connection c = p.accepted(TcpSettings.DEFAULT);
        p.clock += 7;
        p.data(10);
        p.take();
        c.abort(p.now());
        p.settle();
        Peer.Seen s = p.one();
        assertThat(s.header().flags()).isEqualTo(RST | ACK);
        assertThat(s.options().hasTimestamps()).isTrue();
        assertThat(s.options().echo()).isEqualTo(p.clock);
    }

    @Test
    void abortResetsAndForgets() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.write(c, 5000);
        p.data(10);
        p.take();
        c.abort(p.now());
        p.settle();
        Peer.Seen s = p.one();
        assertThat(s.header().flags()).isEqualTo(RST | ACK);
        assertThat(s.sequence()).isEqualTo(5001);
        assertThat(s.acknowledgment()).isEqualTo(11);
        p.nothingIsLeft();
        assertThat(c.write(ByteBuffer.allocate(1), p.now())).isEqualTo(-Errno.EPIPE);
        c.abort(p.now());
        c.close(p.now());
        p.settle();
        p.nothing();
    }

    @Test
    void aResetIsToldByState() throws IOException {
        for (TcpState s : TcpState.values()) {
            if (!s.isSynchronized() || s == TcpState.TIME_WAIT) {
                continue;
            }
            Peer p = new Peer();
            Connection c = p.accepted(PLAIN);
            bring(p, c, s);
            assertThat(c.state()).isEqualTo(s);
            p.send(RST);
            assertThat(c.state()).isEqualTo(TcpState.CLOSED);
            assertThat(c.error()).isEqualTo(switch (s) {
                case CLOSING, LAST_ACK -> 0;
                default -> Errno.ECONNRESET;
            });
            p.close(c);
            p.nothingIsLeft();
        }
    }

    static void bring(Peer p, Connection c, TcpState s) throws IOException {
        if (s == TcpState.CLOSE_WAIT || s == TcpState.LAST_ACK) {
            p.send(FIN | ACK);
            p.next++;
        }
        if (s == TcpState.FIN_WAIT_1 || s == TcpState.FIN_WAIT_2 || s == TcpState.CLOSING || s == TcpState.LAST_ACK) {
            p.finish(c);
        }
        if (s == TcpState.CLOSING) {
            p.send(FIN | ACK);
            p.next++;
        }
        if (s == TcpState.FIN_WAIT_2) {
            p.acknowledge(2);
        }
        p.take();
    }

    private static Peer timeWait(TcpSettings s) throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(s);
        p.finish(c);
        p.expected = 2;
        p.take();
        p.send(FIN | ACK);
        p.next = 2;
        p.take();
        p.close(c);
        assertThat(p.host.tcp.timeWaits()).isEqualTo(1);
        return p;
    }

    @Test
    void inTimeWaitOldSegmentsAreAnsweredAndResetsAreNot() throws IOException { // RFC 1337
        Peer p = timeWait(PLAIN);
        p.send(ACK);
        p.nothing();
        p.draft(ACK).sequence(1).data(1).send();
        assertThat(p.acknowledgment(2).sequence()).isEqualTo(2);
        p.draft(RST).send();
        p.draft(RST | ACK).send();
        p.nothing();
        p.draft(SYN).sequence(-100).send(); // old
        p.acknowledgment(2);
        assertThat(p.host.tcp.timeWaits()).isEqualTo(1);
    }

    @Test
    void inTimeWaitANewSynBeginsAnew() throws IOException {
        Peer p = timeWait(PLAIN);
        int before = p.hostInitial;
        p.draft(SYN).sequence(1000).send();
        Peer.Seen s = p.one();
        assertThat(s.header().flags()).isEqualTo(SYN | ACK);
        assertThat(s.header().sequence() - before).isPositive();
        assertThat(p.host.tcp.timeWaits()).isZero();
        assertThat(p.host.tcp.counts().reused).isEqualTo(1);
        p.draft(ACK).sequence(1001).acknowledgment(1).send();
        p.nothing();
    }

    @Test
    void inTimeWaitALaterTimestampBeginsAnew() throws IOException { // RFC 6191
        Peer p = timeWait(TcpSettings.DEFAULT);
        p.draft(SYN).sequence(-1000).stamp(p.clock - 1).send();
        p.take();
        assertThat(p.host.tcp.timeWaits()).isEqualTo(1);
        p.draft(SYN).sequence(-1000).stamp(p.clock + 1).send();
        assertThat(p.one().has(SYN | ACK)).isTrue();
        assertThat(p.host.tcp.timeWaits()).isZero();
    }

    @Test
    void thisEndMayUseThePortsAgain() throws IOException {
        Peer p = new Peer();
        Connection c = p.opened(TcpSettings.DEFAULT);
        p.finish(c);
        p.expected = 2;
        p.take();
        p.send(FIN | ACK);
        p.take();
        p.close(c);
        assertThat(Host.connect(p.host.tcp, 80, p.address, p.port, PLAIN, p.now())).isNull();
        p.pass(11 * Peer.SECOND / 10);
        int before = p.hostInitial;
        p.timestamps = false;
        Connection d = Objects.requireNonNull(Host.connect(p.host.tcp, 80, p.address, p.port, PLAIN, p.now()));
        p.settle();
        assertThat(p.one().header().sequence() - before).isPositive();
        assertThat(d.state()).isEqualTo(TcpState.SYN_SENT);
    }

    @Test
    void finBehindAGapWaits() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.draft(FIN | ACK).sequence(101).data(100).send();
        assertThat(p.acknowledgment(1).blocks(p)).containsExactly(101, 201);
        p.draft(FIN | ACK).sequence(201).send();
        p.take();
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        p.draft(ACK).data(100).send();
        p.acknowledgment(202);
        assertThat(c.state()).isEqualTo(TcpState.CLOSE_WAIT);
        assertThat(p.read(c)).isEqualTo(200);
        assertThat(p.read(c)).isEqualTo(-1);
    }

    @Test
    void withoutATimeToWaitNothingIsKept() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().timeWait(java.time.Duration.ZERO).build());
        p.finish(c);
        p.expected = 2;
        p.take();
        p.send(FIN | ACK);
        p.acknowledgment(2);
        p.close(c);
        assertThat(p.host.tcp.timeWaits()).isZero();
        p.nothingIsLeft();
    }
}
