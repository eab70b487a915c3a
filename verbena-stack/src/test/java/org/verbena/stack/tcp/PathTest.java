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

/** Paths that take less than the link, and peers that are silent. */
final class PathTest {
    private static final int SEGMENT = 1460;

    @Test
    void aRouterTellsHowLongPacketsMayBe() throws IOException { // RFC 1191
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 3 * SEGMENT);
        p.take();
        int window = c.recovery.congestion.window;
        p.icmp(3, 4, 1000, 1);
        List<Peer.Seen> all = p.take();
        assertThat(all).isNotEmpty().allMatch(s -> s.length() <= 960);
        assertThat(all.getFirst().sequence()).isEqualTo(1);
        assertThat(c.sender.segment).isEqualTo(960);
        int at = 1;
        while (at < 3 * SEGMENT + 1) {
            at = Math.min(at + 960, 3 * SEGMENT + 1);
            p.acknowledge(at);
        }
        assertThat(p.take()).allMatch(s -> s.length() <= 960);
        assertThat(c.sender.outstanding()).isZero();
        assertThat(c.recovery.congestion.threshold).as("no sign of congestion").isEqualTo(
                CongestionControl.UNLIMITED);
        assertThat(c.recovery.congestion.window).isGreaterThanOrEqualTo(window * 960 / SEGMENT);
        p.icmp(3, 4, 68, 3 * SEGMENT); // acknowledged already: anybody may say so
        assertThat(c.sender.segment).isEqualTo(960);
    }

    @Test
    void oneWhoDoesNotSeeTheConnectionIsNotBelieved() throws IOException { // RFC 5927
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 2 * SEGMENT);
        p.take();
        for (int n : new int[] {0, -1, 2 * SEGMENT + 1, 1 << 31}) {
            p.icmp(3, 4, 600, n);
            p.icmp(3, 3, 0, n);
        }
        assertThat(c.sender.segment).isEqualTo(SEGMENT);
        assertThat(c.softError()).isZero();
        p.icmp(3, 4, 1500, 1); // no less than now
        p.nothing();
        p.icmp(3, 4, 0, 1); // of an old router, about a packet of 1000 bytes
        assertThat(c.sender.segment).isEqualTo(512);
    }

    @Test
    void anotherConnectionToThatHostBeginsWithShorterSegments() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 3 * SEGMENT);
        p.take();
        p.icmp(3, 4, 1000, 1);
        p.take();
        assertThat(p.host.tcp.pathSegment(c.path())).isEqualTo(960);
        p.acknowledge(3 * SEGMENT + 1);
        p.take();
        p.data(SEGMENT); // longer than what goes the other way
        p.data(SEGMENT);
        p.acknowledgment(2 * SEGMENT + 1);
        assertThat(c.readable()).isEqualTo(2 * SEGMENT);
    }

    @Test
    void aHardErrorDoesNotEndWhatStands() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 100);
        p.icmp(3, 3, 0, 1);
        p.icmp(3, 2, 0, 1);
        p.icmp(12, 0, 0, 1);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
    }

    @Test
    void aBlackHoleIsFoundOut() throws IOException { // RFC 4821
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 5 * SEGMENT);
        p.take();
        int got = 1;
        for (int i = 0; i < 200 && c.sender.outstanding() > 0; i++) {
            p.pass(Peer.SECOND / 10);
            for (Peer.Seen s : p.take()) {
                if (s.length() <= 1240 && s.sequence() <= got) {
                    got = Math.max(got, s.sequence() + s.length());
                }
            }
            p.acknowledge(got);
        }
        assertThat(got).isEqualTo(5 * SEGMENT + 1);
    }

    private static TcpSettings alive() {
        return DataTest.plain().keepAlive(true).keepAliveIdle(Duration.ofSeconds(100)).keepAliveInterval(Duration
                .ofSeconds(10)).keepAliveProbes(3).build();
    }

    @Test
    void aSilentPeerThatAnswersIsKept() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(alive());
        for (int i = 0; i < 10; i++) {
            p.pass(99 * Peer.SECOND);
            p.nothing();
            p.pass(2 * Peer.SECOND);
            Peer.Seen s = p.one();
            assertThat(s.sequence()).isZero();
            assertThat(s.length()).isZero();
            p.acknowledge(1);
        }
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
    }

    @Test
    void aSilentPeerThatDoesNotAnswerIsReset() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(alive());
        p.pass(129 * Peer.SECOND);
        assertThat(p.take()).hasSize(3);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        p.pass(2 * Peer.SECOND);
        assertThat(p.one().has(Peer.RST)).isTrue();
        assertThat(c.error()).isEqualTo(Errno.ETIMEDOUT);
        p.nothingIsLeft();
    }

    @Test
    void aSilentPeerThatHasStartedAnewResets() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(alive());
        p.pass(101 * Peer.SECOND);
        p.one();
        p.draft(Peer.RST).send();
        assertThat(c.error()).isEqualTo(Errno.ECONNRESET);
    }

    @Test
    void thisEndAnswersQuestions() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        for (int i = 0; i < 100; i++) {
            p.draft(Peer.ACK).sequence(0).send();
            p.acknowledgment(1);
            p.draft(Peer.ACK).sequence(0).data(1).send(); // as old ones ask
            assertThat(p.one().acknowledgment()).isEqualTo(1);
            p.pass(Peer.SECOND);
        }
        assertThat(c.readable()).isZero();
    }
}
