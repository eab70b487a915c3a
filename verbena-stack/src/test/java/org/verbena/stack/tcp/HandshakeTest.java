// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.Host;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** How connections begin, or do not. */
final class HandshakeTest {
    private static final int SYN = Peer.SYN;
    private static final int ACK = Peer.ACK;
    private static final int FIN = Peer.FIN;
    private static final int RST = Peer.RST;
    private static final TcpSettings PLAIN = TcpSettings.builder().timestamps(false).sack(false).windowScale(false)
            .build();

    @Test
    void bothEndsAgreeOnWhatBothOffer() throws IOException {
        for (int own = 0; own < 16; own++) {
            for (int other = 0; other < 16; other++) {
                agree(own, other, false);
                agree(own, other, true);
            }
        }
    }

    private static TcpSettings some(int bits) {
        return TcpSettings.builder().timestamps((bits & 1) != 0).sack((bits & 2) != 0).windowScale((bits & 4) != 0).ecn(
                (bits & 8) != 0).build();
    }

    private static void agree(int own, int other, boolean active) throws IOException {
        Peer p = new Peer();
        Connection c;
        Peer.Seen syn;
        int offer = (other & 8) == 0 ? 0 : active ? Peer.ECE : Peer.ECE | Peer.CWR;
        if (active) {
            c = Objects.requireNonNull(Host.connect(p.host.tcp, 80, p.address, p.port, some(own), p.now()));
            p.settle();
            syn = p.one();
            assertThat(syn.header().flags()).isEqualTo(SYN | ((own & 8) == 0 ? 0 : Peer.ECE | Peer.CWR));
            Peer.Draft d = p.syn(some(other)).acknowledgment(1);
            d.flags |= offer;
            d.send();
        } else {
            Listener l = Objects.requireNonNull(p.host.tcp.listen(80, 5, some(own)));
            Peer.Draft d = p.syn(some(other));
            d.flags |= offer;
            d.send();
            syn = p.one();
            assertThat(syn.header().flags()).isEqualTo(SYN | ACK | ((other & 8) == 0 ? 0 : Peer.ECE));
            p.timestamps = (own & other & 1) != 0;
            p.next = 1;
            p.acknowledge(1);
            c = Objects.requireNonNull(l.accept());
        }
        int offered = active ? own : own & other;
        assertThat(syn.options().hasTimestamps()).isEqualTo((offered & 1) != 0);
        assertThat(syn.options().isSackPermitted()).isEqualTo((offered & 2) != 0);
        assertThat(syn.options().windowScale()).isEqualTo((offered & 4) != 0 ? 5 : -1);
        assertThat(syn.options().maximumSegmentSize()).isEqualTo(1460);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        assertThat(c.timestamps).isEqualTo((own & other & 1) != 0);
        assertThat(c.sack).isEqualTo((own & other & 2) != 0);
        assertThat(c.info().receiveScale()).isEqualTo((own & other & 4) != 0 ? 5 : 0);
        assertThat(c.ecn).isEqualTo((active ? own & other & 8 : other & 8) != 0);
        assertThat(c.sender.segment).isEqualTo(1460 - (c.timestamps ? 12 : 0));
    }

    @Test
    void aPortThatNobodyListensAtIsRefused() throws IOException {
        Peer p = new Peer();
        p.draft(SYN).sequence(0).data(3).send();
        Peer.Seen s = p.one();
        assertThat(s.header().flags()).isEqualTo(RST | ACK);
        assertThat(s.header().sequence()).isZero();
        assertThat(s.acknowledgment()).isEqualTo(4);
        p.draft(ACK | FIN).sequence(7).acknowledgment(99).send();
        s = p.one();
        assertThat(s.header().flags()).isEqualTo(RST);
        assertThat(s.sequence()).isEqualTo(99);
        p.draft(RST).send();
        p.draft(RST | ACK).acknowledgment(5).send();
        p.nothing();
        Connection c = p.open(PLAIN);
        p.draft(RST | ACK).sequence(0).acknowledgment(1).send();
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.error()).isEqualTo(Errno.ECONNREFUSED);
        p.nothingIsLeft();
    }

    @Test
    void aWrongAcknowledgmentIsReset() throws IOException {
        Peer p = new Peer();
        Connection c = p.open(PLAIN);
        for (int wrong : new int[] {0, 2, -5, 1 << 30}) {
            p.draft(SYN).sequence(0).acknowledgment(wrong).send();
            Peer.Seen s = p.one();
            assertThat(s.header().flags()).isEqualTo(RST);
            assertThat(s.sequence()).isEqualTo(wrong);
            p.draft(RST).acknowledgment(wrong).send();
            p.nothing();
        }
        p.draft(RST).sequence(0).send();
        p.draft(ACK).acknowledgment(1).send();
        p.draft(FIN).acknowledgment(1).send();
        p.nothing();
        assertThat(c.state()).isEqualTo(TcpState.SYN_SENT);
        p.draft(SYN).sequence(0).acknowledgment(1).send();
        p.acknowledgment(1);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
    }

    @Test
    void bothMayOpenAtTheSameTime() throws IOException {
        for (TcpSettings s : new TcpSettings[] {PLAIN, TcpSettings.DEFAULT}) {
            Peer p = new Peer();
            Connection c = p.open(s);
            p.syn(s).send();
            Peer.Seen answer = p.one();
            assertThat(answer.header().flags()).isEqualTo(SYN | ACK);
            assertThat(answer.sequence()).isZero();
            assertThat(answer.acknowledgment()).isEqualTo(1);
            assertThat(c.state()).isEqualTo(TcpState.SYN_RECEIVED);
            p.timestamps = s.timestamps();
            p.syn(s).acknowledgment(1).send();
            assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
            p.seen.clear();
            p.next = 1;
            p.expected = 1;
            p.data(5);
            assertThat(p.read(c)).isEqualTo(5);
            p.seen.clear();
            p.write(c, 5);
            assertThat(p.one().length()).isEqualTo(5);
        }
    }

    @Test
    void twoHostsMayOpenAtTheSameTime() throws IOException {
        Network n = new Network(1, new org.verbena.stack.ip.Host(1), new org.verbena.stack.ip.Host(2));
        Connection a = Objects.requireNonNull(Host.connect(n.a.tcp, 1000, n.b.address, 2000, TcpSettings.DEFAULT,
                n.now));
        Connection b = Objects.requireNonNull(Host.connect(n.b.tcp, 2000, n.a.address, 1000, TcpSettings.DEFAULT,
                n.now));
        n.pass(Network.SECOND / 10);
        assertThat(a.state()).isEqualTo(TcpState.ESTABLISHED);
        assertThat(b.state()).isEqualTo(TcpState.ESTABLISHED);
        assertThat(n.frames).isLessThan(12);
        a.close(n.now);
        b.close(n.now);
        n.pass(Network.SECOND);
        assertThat(n.a.tcp.timeWaits() + n.b.tcp.timeWaits()).isEqualTo(2);
    }

    @Test
    void synIsSentAgainAndThenNoMore() throws IOException {
        Peer p = new Peer();
        Connection c = p.open(PLAIN);
        long begin = p.now();
        p.pass(200 * Peer.SECOND);
        List<Long> times = new ArrayList<>();
        p.take().forEach(s -> times.add((s.time() - begin) / Peer.SECOND));
        assertThat(times).containsExactly(1L, 3L, 7L, 15L, 31L, 63L);
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.error()).isEqualTo(Errno.ETIMEDOUT);
        p.nothingIsLeft();
    }

    @Test
    void theAnswerIsSentAgainAndThenNoMore() throws IOException {
        Peer p = new Peer();
        Listener l = Objects.requireNonNull(p.host.tcp.listen(80, 5, PLAIN));
        p.syn(PLAIN).send();
        assertThat(p.one().header().flags()).isEqualTo(SYN | ACK);
        p.syn(PLAIN).send(); // it was lost
        assertThat(p.one().header().flags()).isEqualTo(SYN | ACK);
        p.pass(200 * Peer.SECOND);
        assertThat(p.take()).hasSize(6).allMatch(s -> s.header().flags() == (SYN | ACK));
        assertThat(l.half).isZero();
        p.nothingIsLeft();
    }

    @Test
    void afterALostSynTheTimeoutIsLonger() throws IOException { // RFC 6298, 5.7; RFC 5681, 3.1
        Peer p = new Peer();
        Connection c = p.open(PLAIN);
        p.pass(2 * Peer.SECOND);
        p.one();
        p.syn(PLAIN).acknowledgment(1).send();
        p.acknowledgment(1);
        p.next = 1;
        assertThat(c.info().congestionWindow()).isEqualTo(1460);
        p.write(c, 10);
        p.one();
        p.pass(Peer.SECOND * 29 / 10);
        p.nothing();
        p.pass(Peer.SECOND / 5);
        assertThat(p.one().length()).isEqualTo(10);
    }

    @Test
    void aListenerTakesNoNonsense() throws IOException {
        Peer p = new Peer();
        Listener l = Objects.requireNonNull(p.host.tcp.listen(80, 5, PLAIN));
        for (int flags = 0; flags < 256; flags++) {
            p.draft(flags).sequence(0).acknowledgment(1).flags = flags;
            Peer.Draft d = p.draft(flags).sequence(0);
            d.send();
            if ((flags & RST) != 0) {
                p.nothing();
            } else if ((flags & ACK) != 0) {
                assertThat(p.one().header().flags()).isEqualTo(RST);
            } else if ((flags & (SYN | FIN)) == SYN) {
                assertThat(p.one().has(SYN | ACK)).isTrue();
                p.draft(RST).sequence(1).send();
                p.nothing();
            } else {
                p.nothing();
            }
            assertThat(l.half).isZero();
        }
        p.nothingIsLeft();
    }

    @Test
    void aFullBacklogIsServedLater() throws IOException {
        Peer p = new Peer();
        Listener l = Objects.requireNonNull(p.host.tcp.listen(80, 1, PLAIN));
        for (int i = 0; i < 3; i++) { // the third has its answer before the others are ready
            p.port = 5000 + i;
            p.next = 0;
            p.syn(PLAIN).send();
        }
        int[] firsts = p.take().stream().mapToInt(s -> s.header().sequence()).toArray();
        for (int i = 0; i < 3; i++) {
            p.port = 5000 + i;
            p.hostInitial = firsts[i];
            p.next = 1;
            p.acknowledge(1);
        }
        p.nothing();
        assertThat(l.ready()).isEqualTo(2);
        assertThat(l.half).isEqualTo(1);
        p.port = 5003;
        p.next = 0;
        p.syn(PLAIN).send();
        p.nothing(); // not even answered
        assertThat(p.host.tcp.counts().backlogFull).isEqualTo(2);
        assertThat(l.accept()).isNotNull();
        p.port = 5002;
        p.pass(Peer.SECOND * 11 / 10);
        assertThat(p.one().header().flags()).isEqualTo(SYN | ACK); // again
        p.next = 1;
        p.acknowledge(1);
        assertThat(l.ready()).isEqualTo(2);
        assertThat(Objects.requireNonNull(l.accept()).remotePort()).isEqualTo(5001);
        assertThat(Objects.requireNonNull(l.accept()).remotePort()).isEqualTo(5002);
        assertThat(l.accept()).isNull();
        assertThat(l.half).isZero();
    }

    @Test
    void aListenerThatIsClosedResetsWhatNobodyAccepted() throws IOException {
        Peer p = new Peer();
        Listener l = Objects.requireNonNull(p.host.tcp.listen(80, 5, PLAIN));
        p.syn(PLAIN).send();
        p.one();
        p.next = 1;
        p.acknowledge(1);
        p.data(1000);
        p.take();
        p.port++;
        p.next = 0;
        p.syn(PLAIN).send();
        p.one();
        l.close(p.now());
        p.settle();
        assertThat(p.take()).hasSize(2).allMatch(s -> s.has(RST));
        p.nothingIsLeft();
        p.syn(PLAIN).send();
        assertThat(p.one().has(RST)).isTrue();
        assertThat(p.host.tcp.listen(80, 5, PLAIN)).isNotNull();
    }

    @Test
    void oneThatIsResetBeforeItIsAcceptedLeavesNothing() throws IOException {
        Peer p = new Peer();
        Listener l = Objects.requireNonNull(p.host.tcp.listen(80, 5, PLAIN));
        p.syn(PLAIN).send();
        p.one();
        p.next = 1;
        p.acknowledge(1);
        p.data(10_000);
        assertThat(l.ready()).isEqualTo(1);
        p.send(RST);
        assertThat(l.ready()).isZero();
        p.nothingIsLeft();
    }

    @Test
    void dataAndFinMayComeWithTheLastAcknowledgment() throws IOException {
        Peer p = new Peer();
        Listener l = Objects.requireNonNull(p.host.tcp.listen(80, 5, PLAIN));
        p.syn(PLAIN).send();
        p.one();
        p.next = 1;
        p.expected = 1;
        p.draft(ACK | FIN).data(100).send();
        p.acknowledgment(102);
        Connection c = Objects.requireNonNull(l.accept());
        assertThat(c.state()).isEqualTo(TcpState.CLOSE_WAIT);
        assertThat(p.read(c)).isEqualTo(100);
        assertThat(p.read(c)).isEqualTo(-1);
    }

    @Test
    void dataMayComeWithTheAnswer() throws IOException {
        Peer p = new Peer();
        Connection c = p.open(PLAIN);
        Peer.Draft d = p.syn(PLAIN).acknowledgment(1);
        d.data = Peer.bytes(1, 10);
        d.send();
        p.acknowledgment(11);
        assertThat(p.read(c)).isEqualTo(10);
    }

    @Test
    void oldSynOfAPeerThatHasStartedAnewIsFoundOut() throws IOException { // RFC 9293, figure 9 and RFC 5961
        Peer p = new Peer();
        Connection c = p.accepted(PLAIN);
        p.draft(SYN).sequence(70_000).send();
        Peer.Seen challenge = p.one();
        assertThat(challenge.header().flags()).isEqualTo(ACK);
        p.draft(RST).sequence(challenge.acknowledgment()).send();
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.error()).isEqualTo(Errno.ECONNRESET);
    }

    @Test
    void signedSegmentsAreDropped() throws IOException {
        Peer p = new Peer();
        p.host.tcp.listen(80, 5, PLAIN);
        p.draft(SYN).option(29, 4, 1, 1).send();
        Peer.Draft d = p.draft(SYN).option(19, 18);
        d.option(new int[16]);
        d.send();
        p.nothing();
        assertThat(p.host.tcp.counts().signed).isEqualTo(2);
    }

    @Test
    void closeWhileItOpensLeavesNothing() throws IOException {
        Peer p = new Peer();
        Connection c = p.open(PLAIN);
        p.close(c);
        p.nothing();
        p.nothingIsLeft();
        p.syn(PLAIN).acknowledgment(1).send();
        assertThat(p.one().header().flags()).isEqualTo(RST);
    }

    @Test
    void hardErrorsEndAnOpenAndOthersNot() throws IOException { // RFC 5461
        Peer p = new Peer();
        Connection c = p.open(PLAIN);
        p.icmp(3, 1, 0, 0);
        assertThat(c.state()).isEqualTo(TcpState.SYN_SENT);
        p.icmp(3, 3, 0, 77); // of another connection
        assertThat(c.state()).isEqualTo(TcpState.SYN_SENT);
        p.pass(200 * Peer.SECOND);
        assertThat(c.error()).isEqualTo(Errno.EHOSTUNREACH);
        p.take();
        c = p.open(PLAIN);
        p.icmp(3, 3, 0, 0);
        assertThat(c.error()).isEqualTo(Errno.ECONNREFUSED);
        p.nothingIsLeft();
    }
}
