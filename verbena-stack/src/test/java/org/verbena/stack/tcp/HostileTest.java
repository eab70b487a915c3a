// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;

import org.junit.jupiter.api.Test;

import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** Segments of somebody who does not see the connection, and of a peer that means ill (RFC 5961, RFC 7323). */
final class HostileTest {
    private static final int ACK = Peer.ACK;
    private static final int RST = Peer.RST;
    private static final int SYN = Peer.SYN;

    @Test
    void onlyTheExactNumberResets() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        for (int n : new int[] {2, 100, 60_000}) {
            p.draft(RST).sequence(n).send();
            assertThat(p.acknowledgment(1).sequence()).isEqualTo(1);
        }
        for (int n : new int[] {0, -1, 1 << 20, 1 << 31}) {
            p.draft(RST).sequence(n).send();
            p.nothing();
        }
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        p.draft(RST).sequence(1).send();
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        p.nothing();
    }

    @Test
    void aSynIsChallenged() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        for (int n : new int[] {1, 0, 500, -500, 1 << 30}) {
            p.draft(SYN).sequence(n).send();
            p.acknowledgment(1);
            p.draft(SYN | ACK).sequence(n).send();
            p.acknowledgment(1);
        }
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
    }

    @Test
    void anAcknowledgmentOutOfRangeIsChallengedAndItsDataDropped() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 100);
        p.one();
        for (int n : new int[] {102, 1 << 20, 1 << 31, 1 - 0xffff - 1}) {
            p.draft(ACK).acknowledgment(n).data(10).send();
            p.acknowledgment(1);
        }
        assertThat(c.readable()).isZero();
        assertThat(c.sender.outstanding()).isEqualTo(100);
        p.draft(ACK).acknowledgment(1 - 0xffff).data(10).send(); // may be an old one
        assertThat(c.readable()).isEqualTo(10);
    }

    @Test
    void challengesAreLimited() throws IOException {
        Peer p = new Peer();
        p.accepted(DataTest.plain().build());
        for (int i = 0; i < 1000; i++) {
            p.draft(SYN).sequence(500).send();
        }
        assertThat(p.take()).hasSize(10);
        p.pass(6 * Peer.SECOND);
        for (int i = 0; i < 1000; i++) {
            p.draft(RST).sequence(500).send();
        }
        assertThat(p.take()).hasSize(10);
        assertThat(p.host.tcp.counts().challenges).isEqualTo(20);
    }

    @Test
    void oldTimestampsAreDropped() throws IOException { // PAWS
        Peer p = new Peer();
        Connection c = p.accepted(TcpSettings.DEFAULT);
        int stamp = p.clock;
        p.data(10);
        int before = p.echo;
        p.take();
        p.pass(3 * Peer.MS);
        p.draft(ACK).data(10).stamp(stamp - 1).send();
        Peer.Seen told = p.acknowledgment(11);
        assertThat(told.options().echo()).as("of the last in order").isEqualTo(stamp);
        assertThat(told.options().timestamp() - before).isNotNegative();
        p.clock = stamp;
        p.draft(ACK).stamp(p.clock - 1).send();
        p.nothing();
        p.draft(ACK).data(10).unstamped().send(); // RFC 7323, 3.2
        p.nothing();
        assertThat(c.readable()).isEqualTo(10);
        assertThat(p.host.tcp.counts().old).isEqualTo(2);
        p.draft(ACK).data(10).stamp(p.clock + 5).send();
        assertThat(c.readable()).isEqualTo(20);
        p.next = 21;
        p.take();
        p.pass(25L * 24 * 3600 * Peer.SECOND); // the clock may have gone round
        p.draft(ACK).data(10).stamp(p.clock - (1 << 30)).send();
        assertThat(c.readable()).isEqualTo(30);
        p.draft(RST).sequence(31).stamp(p.clock - (1 << 31)).send(); // needs none
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
    }

    @Test
    void aTimestampAheadOfAGapIsNotEchoed() throws IOException { // RFC 7323, 4.3
        Peer p = new Peer();
        p.accepted(TcpSettings.DEFAULT);
        int first = p.clock;
        p.draft(ACK).sequence(101).data(100).stamp(first + 50).send();
        assertThat(p.one().options().echo()).isEqualTo(first);
        p.draft(ACK).data(100).stamp(first + 60).send();
        assertThat(p.one().options().echo()).isEqualTo(first + 60);
    }

    @Test
    void blocksThatAreNonsenseDoNothing() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 10_000);
        p.take();
        p.window = 0xffff;
        p.sack(5, 5, 9, 3, 20_000, 30_000, -5, 1);
        p.sack(1 << 31, 2, 2, 1 << 31);
        p.sack(Integer.MAX_VALUE, Integer.MIN_VALUE + 10_100); // behind all by one look, and before all by the other
        p.sack(9000, 10_002);
        p.sack(-1000, -500, 0, 1);
        assertThat(c.sender.sent.sackedBytes()).isZero();
        assertThat(c.sender.sent.inFlight()).isEqualTo(10_000);
        p.sack(1, 10_001); // all of it, though nothing is acknowledged
        assertThat(c.sender.sent.sackedBytes()).isEqualTo(10_000);
        p.pass(Peer.SECOND);
        Invariants.check(p.host);
        p.acknowledge(10_001);
        assertThat(c.sender.outstanding()).isZero();
        Invariants.check(p.host);
    }

    @Test
    void blocksOfSingleBytesAreBounded() throws IOException {
        Peer p = new Peer();
        TcpSettings s = DataTest.plain().windowScale(true).sendBuffer(1 << 20).build();
        Listener l = p.host.tcp.listen(80, 5, s);
        p.draft(SYN).sequence(0).segmentSize(1460).sackPermitted().scale(10).send();
        p.one();
        p.next = 1;
        p.acknowledge(1);
        Connection c = l.accept();
        c.recovery.congestion.window = 1 << 20;
        p.write(c, 200_000);
        for (int i = 1; i < 150_000; i += 16) {
            p.sack(i, i + 1, i + 4, i + 5, i + 8, i + 9, i + 12, i + 13);
            p.seen.clear();
        }
        assertThat(c.sender.sent.size()).isLessThanOrEqualTo((1 << 15) + 10);
        Invariants.check(p.host);
        for (int at = 1; at < 200_001; at += 7777) {
            p.acknowledge(at);
            p.seen.clear();
            Invariants.check(p.host);
        }
        p.acknowledge(200_001);
        assertThat(c.sender.sent.size()).isZero();
        assertThat(c.sender.sent.inFlight()).isZero();
    }

    @Test
    void aReceiverThatAcknowledgesBytesThatHaveNotComeGainsNothing() throws IOException { // optimistic acknowledgments
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 30_000);
        p.take();
        for (int i = 0; i < 100; i++) {
            p.draft(ACK).acknowledgment(30_000).send();
        }
        assertThat(c.sender.una).isEqualTo(c.sender.initial + 1);
    }
}
