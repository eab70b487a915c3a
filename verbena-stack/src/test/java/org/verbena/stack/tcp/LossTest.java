// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;

/** How losses are found out and made good, and what becomes of the congestion window. */
final class LossTest {
    private static final int ACK = Peer.ACK;
    private static final int S = 1000;
    private static final long TRIP = 50 * Peer.MS;

    private static TcpSettings.Builder reno() {
        return DataTest.plain().cubic(false).maximumSegment(S);
    }

    /** A connection whose round trip is known, with so many segments on their way. */
    private static Connection underway(Peer p, TcpSettings s, int segments) throws IOException {
        p.trip = TRIP;
        Connection c = p.accepted(s);
        p.write(c, S);
        p.take();
        p.pass(TRIP);
        p.acknowledge(S + 1);
        c.recovery.congestion.window = segments * S;
        p.write(c, segments * S);
        assertThat(p.take()).hasSize(segments);
        p.pass(TRIP);
        p.nothing();
        return c;
    }

    /** The number of a segment's first byte, of those that {@link #underway} has sent. */
    private static int at(int segment) {
        return 1 + (1 + segment) * S;
    }

    private static List<Integer> sequences(Peer p) {
        return p.take().stream().map(Peer.Seen::sequence).toList();
    }

    @Test
    void threeDuplicatesWithoutSack() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().sack(false).build(), 10);
        p.write(c, 20 * S);
        p.acknowledge(at(0));
        p.acknowledge(at(0));
        assertThat(sequences(p)).as("limited transmit").containsExactly(at(10), at(11));
        p.acknowledge(at(0));
        assertThat(sequences(p)).containsExactly(at(0));
        assertThat(c.recovery.congestion.threshold).isEqualTo(6 * S); // half of 12
        assertThat(c.recovery.congestion.window).isEqualTo(9 * S);
        for (int i = 0; i < 7; i++) {
            p.acknowledge(at(0)); // inflates
        }
        assertThat(sequences(p)).containsExactly(at(12), at(13), at(14), at(15));
        p.acknowledge(at(5)); // in part: the next is lost, too
        assertThat(sequences(p)).contains(at(5));
        p.acknowledge(at(12));
        assertThat(c.recovery.congestion.window).isEqualTo(6 * S);
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.OPEN);
        assertThat(c.recovery.retransmitted).isEqualTo(2);
    }

    @Test
    void whatIsNoDuplicateIsNotCounted() throws IOException { // RFC 5681, 2
        Peer p = new Peer();
        Connection c = underway(p, reno().sack(false).build(), 10);
        for (int i = 0; i < 5; i++) {
            p.window -= 10;
            p.acknowledge(at(0));
            p.data(1);
        }
        assertThat(c.recovery.retransmitted).isZero();
    }

    @Test
    void blocksTellWhatIsLost() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 10);
        p.expected = at(0);
        p.sack(at(1), at(2));
        p.nothing();
        p.sack(at(1), at(3));
        p.nothing();
        p.sack(at(1), at(4));
        assertThat(sequences(p)).containsExactly(at(0));
        assertThat(c.recovery.congestion.threshold).isEqualTo(5 * S);
        p.sack(at(5), at(7), at(1), at(4));
        assertThat(sequences(p)).containsExactly(at(4));
        p.sack(at(5), at(10), at(1), at(4));
        p.nothing();
        p.acknowledge(at(10));
        assertThat(c.recovery.congestion.window).isEqualTo(5 * S);
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.OPEN);
        assertThat(c.recovery.lost).isEqualTo(2);
        assertThat(p.host.tcp.memory()).isNotNegative();
    }

    @Test
    void aFewThatComeLateAreNotLost() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 4);
        p.expected = at(0);
        p.sack(at(1), at(2));
        p.pass(5 * Peer.MS); // less than a quarter of a round trip
        p.nothing();
        p.acknowledge(at(2));
        p.acknowledge(at(4));
        p.pass(Peer.SECOND);
        p.nothing();
        assertThat(c.recovery.lost).isZero();
    }

    @Test
    void afterTheReorderingWindowItIsLost() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 4);
        p.expected = at(0);
        p.sack(at(1), at(2));
        p.pass(20 * Peer.MS);
        assertThat(sequences(p)).containsExactly(at(0));
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.FAST);
    }

    @Test
    void blocksOfOneAcknowledgmentAreNoReordering() throws IOException { // RFC 8985, 6.2, step 3: in the order of numbers
        Peer p = new Peer();
        underway(p, reno().build(), 10);
        p.expected = at(0);
        p.sack(at(7), at(8), at(3), at(4), at(1), at(2)); // acknowledgments between were lost; the latest comes first
        assertThat(sequences(p)).as("three segments are enough").contains(at(0), at(2));
    }

    @Test
    void onAPathThatReordersThreeSegmentsAreNotEnough() throws IOException { // RFC 8985, 6.2, steps 3 and 4
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 4);
        p.expected = at(0);
        p.sack(at(3), at(4));
        p.sack(at(2), at(4));
        p.sack(at(1), at(4)); // the other way around
        p.take();
        p.expected = at(4);
        p.sack(at(0), at(2)); // which came twice
        c.recovery.congestion.window = 20 * S;
        p.write(c, 4 * S);
        p.take();
        p.pass(TRIP);
        p.sack(at(5), at(8));
        assertThat(sequences(p)).as("it may come").doesNotContain(at(4));
        p.pass(TRIP);
        assertThat(sequences(p)).as("within a quarter of a trip, or a few").contains(at(4));
    }

    @Test
    void aLostRetransmissionIsFoundOut() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 20);
        p.expected = at(0);
        p.sack(at(1), at(4));
        assertThat(sequences(p)).containsExactly(at(0));
        p.write(c, 20 * S);
        p.pass(TRIP);
        p.sack(at(1), at(20));
        List<Integer> more = sequences(p);
        assertThat(more).isNotEmpty().doesNotContain(at(0)).contains(at(20));
        p.pass(TRIP + 20 * Peer.MS);
        p.take();
        p.sack(at(1), at(21)); // what was sent after the retransmission has come
        assertThat(sequences(p)).contains(at(0));
    }

    @Test
    void theTailIsProbed() throws IOException { // RFC 8985, 7
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 4);
        p.pass(60 * Peer.MS);
        assertThat(sequences(p)).as("after two round trips").containsExactly(at(3));
        p.pass(TRIP);
        p.expected = at(0);
        p.sack(at(3), at(4)); // only the probe has come
        p.pass(30 * Peer.MS);
        assertThat(sequences(p)).contains(at(0));
        p.sack(at(3), at(4), at(0), at(1));
        p.acknowledge(at(4));
        assertThat(c.sender.outstanding()).isZero();
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.OPEN);
    }

    @Test
    void aProbeThatMakesALossGoodReducesTheWindow() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 4);
        p.acknowledge(at(2));
        p.pass(120 * Peer.MS);
        assertThat(sequences(p)).containsExactly(at(3));
        int before = c.recovery.congestion.window;
        p.acknowledge(at(4)); // without DSACK: the first was lost; told by a later acknowledgment
        p.write(c, S);
        p.acknowledge(at(5));
        assertThat(c.recovery.congestion.window).isLessThan(before);
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.OPEN);
    }

    @Test
    void withoutAnswersTheTimerDoubles() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().sack(false).build(), 3);
        long begin = p.now() - TRIP;
        p.pass(3600 * Peer.SECOND);
        List<Peer.Seen> all = p.take();
        assertThat(all).hasSize(15).allMatch(s -> s.sequence() == at(0) && s.length() == S);
        List<Long> gaps = new ArrayList<>();
        long before = begin;
        for (Peer.Seen s : all) {
            gaps.add((s.time() - before) / Peer.MS);
            before = s.time();
        }
        for (int i = 1; i < 15; i++) {
            assertThat(gaps.get(i)).isBetween(Math.min(2 * gaps.get(i - 1) - 5, 119_990), Math.min(2 * gaps.get(i - 1)
                    + 5, 120_005));
        }
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.error()).isEqualTo(Errno.ETIMEDOUT);
        p.close(c);
        p.nothingIsLeft();
    }

    @Test
    void afterATimeoutItBeginsSlowly() throws IOException {
        for (boolean sack : new boolean[] {true, false}) {
            Peer p = new Peer();
            Connection c = underway(p, reno().sack(sack).build(), 8);
            p.pass(Peer.SECOND);
            p.take();
            assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.TIMEOUT);
            assertThat(c.recovery.congestion.window).isEqualTo(S);
            assertThat(c.recovery.congestion.threshold).isEqualTo(4 * S);
            p.acknowledge(at(1));
            assertThat(sequences(p)).containsExactly(at(1), at(2));
            p.acknowledge(at(3));
            assertThat(sequences(p)).hasSize(4);
            p.acknowledge(at(8));
            assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.OPEN);
            assertThat(c.sender.outstanding()).isZero();
            assertThat(c.recovery.congestion.window).isLessThanOrEqualTo(6 * S);
        }
    }

    @Test
    void whatIsSelectivelyAcknowledgedIsNotSentAgain() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 6);
        p.expected = at(0);
        p.sack(at(2), at(3));
        p.sack(at(5), at(6), at(2), at(3));
        for (int i = 0; i < 100; i++) {
            p.pass(Peer.SECOND / 10);
            assertThat(sequences(p)).doesNotContain(at(2), at(5));
            p.expected = at(0);
        }
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
    }

    @Test
    void aPeerMayDropWhatItHasAcknowledgedSelectively() throws IOException { // RFC 2018, 8
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 6);
        p.expected = at(0);
        p.sack(at(1), at(6));
        assertThat(sequences(p)).containsExactly(at(0));
        p.acknowledge(at(1)); // and no more
        p.pass(2 * Peer.SECOND);
        assertThat(sequences(p)).contains(at(1));
        for (int i = 2; i <= 6; i++) {
            p.acknowledge(at(i));
            p.pass(Peer.MS);
        }
        assertThat(c.sender.outstanding()).isZero();
        assertThat(c.sender.sent.inFlight()).isZero();
    }

    @Test
    void aTimeoutForNothingIsUndone() throws IOException { // RFC 3522, RFC 4015
        Peer p = new Peer();
        TcpSettings s = TcpSettings.builder().cubic(false).maximumSegment(S + 12).build();
        Connection c = underway(p, s, 8);
        int old = p.echo;
        int before = c.recovery.congestion.window;
        p.pass(400 * Peer.MS);
        p.take();
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.TIMEOUT);
        p.expected = at(1);
        p.draft(ACK).echo(old).send(); // of the first, not of the one that was sent again
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.OPEN);
        assertThat(c.recovery.congestion.window).isGreaterThanOrEqualTo(before);
        assertThat(sequences(p)).isEmpty();
        assertThat(c.sender.sent.inFlight()).isEqualTo(7 * S);
    }

    @Test
    void aTimeoutForALossIsNotUndone() throws IOException {
        Peer p = new Peer();
        TcpSettings s = TcpSettings.builder().cubic(false).maximumSegment(S + 12).build();
        Connection c = underway(p, s, 8);
        p.pass(400 * Peer.MS);
        p.take();
        p.acknowledge(at(1));
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.TIMEOUT);
        assertThat(c.recovery.congestion.window).isLessThan(3 * S);
    }

    @Test
    void theUserTimeoutEndsIt() throws IOException { // RFC 9293, 3.8.3
        Peer p = new Peer();
        Connection c = underway(p, reno().userTimeout(Duration.ofSeconds(10)).build(), 3);
        p.pass(9 * Peer.SECOND);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        p.pass(2 * Peer.SECOND);
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.error()).isEqualTo(Errno.ETIMEDOUT);
    }

    @Test
    void aLongUserTimeoutOutlastsFifteenTries() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().userTimeout(Duration.ofHours(2)).build(), 3);
        p.pass(7000 * Peer.SECOND);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        p.pass(600 * Peer.SECOND);
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
    }

    @Test
    void anErrorIsToldInTheEndUnlessSomethingHasComeSince() throws IOException {
        for (boolean since : new boolean[] {false, true}) {
            Peer p = new Peer();
            Connection c = underway(p, reno().build(), 3);
            p.icmp(3, 1, 0, at(1));
            assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
            if (since) {
                p.acknowledge(at(1));
            }
            p.pass(3600 * Peer.SECOND);
            assertThat(c.error()).isEqualTo(since ? Errno.ETIMEDOUT : Errno.EHOSTUNREACH);
        }
    }

    @Test
    void congestionThatThePeerSawReducesTheWindowOnceInARoundTrip() throws IOException { // RFC 3168, 6.1.2
        Peer p = new Peer();
        TcpSettings s = reno().build();
        Listener l = p.host.tcp.listen(80, 5, s);
        Peer.Draft d = p.syn(s);
        d.flags |= Peer.ECE | Peer.CWR;
        d.send();
        assertThat(p.one().has(Peer.ECE)).isTrue();
        p.next = 1;
        p.acknowledge(1);
        Connection c = l.accept();
        c.recovery.congestion.window = 10 * S;
        p.write(c, 10 * S);
        assertThat(p.take()).hasSize(10).allMatch(x -> x.ecn() == 2);
        for (int i = 1; i <= 4; i++) {
            p.expected = 1 + i * S;
            p.send(ACK | Peer.ECE);
        }
        assertThat(c.recovery.congestion.threshold).isBetween(4 * S, 5 * S);
        assertThat(c.recovery.congestion.window).isLessThan(6 * S);
        p.acknowledge(1 + 9 * S);
        p.write(c, 10 * S);
        List<Peer.Seen> all = p.take();
        assertThat(all.getFirst().has(Peer.CWR)).isTrue();
        assertThat(all.stream().skip(1)).noneMatch(x -> x.has(Peer.CWR));
        // The other way.
        p.draft(ACK).data(10).congested().send();
        p.next += 10;
        p.pass(Peer.SECOND / 10);
        assertThat(p.take().getLast().has(Peer.ECE)).isTrue();
        p.data(10);
        p.pass(Peer.SECOND / 10);
        assertThat(p.take().getLast().has(Peer.ECE)).isTrue();
        p.draft(ACK | Peer.CWR).data(10).send();
        p.next += 10;
        p.pass(Peer.SECOND / 10);
        assertThat(p.take().getLast().has(Peer.ECE)).isFalse();
    }

    @Test
    void whatIsSentAgainIsNotMarkedAsCapable() throws IOException { // RFC 3168, 6.1.5
        Peer p = new Peer();
        TcpSettings s = reno().ecn(true).build();
        p.host.tcp.listen(80, 5, s);
        Peer.Draft d = p.syn(s);
        d.flags |= Peer.ECE | Peer.CWR;
        d.send();
        assertThat(p.one().ecn()).isZero();
        p.next = 1;
        p.acknowledge(1);
        assertThat(p.seen).isEmpty();
    }

    @Test
    void afterARestItBeginsWithTheInitialWindow() throws IOException { // RFC 5681, 4.1
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 40);
        p.acknowledge(at(40));
        assertThat(c.recovery.congestion.window).isGreaterThanOrEqualTo(40 * S);
        p.pass(10 * Peer.SECOND);
        p.write(c, 30 * S);
        assertThat(p.take()).hasSize(10);
    }

    @Test
    void whatOvertakesOthersDoesNotWidenTheWindow() throws IOException { // RFC 3042, 2
        for (boolean sack : new boolean[] {true, false}) {
            Peer p = new Peer();
            Connection c = underway(p, reno().sack(sack).build(), 10);
            p.write(c, 10 * S);
            int before = c.recovery.congestion.window;
            for (int i = 2; i < 4; i++) {
                p.expected = at(0);
                if (sack) {
                    p.sack(at(1), at(i));
                } else {
                    p.acknowledge(at(0));
                }
                assertThat(sequences(p)).as("one for each that has arrived").containsExactly(at(8 + i));
            }
            assertThat(c.recovery.congestion.window).isEqualTo(before);
            p.acknowledge(at(3)); // it was no loss: one more has arrived
            assertThat(c.recovery.congestion.window).isEqualTo(before + S);
        }
    }

    @Test
    void aWindowThatWasUsedGrowsToItsDouble() throws IOException { // in slow start, with nothing more to send
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 10);
        for (int i = 2; i <= 10; i += 2) {
            p.acknowledge(at(i));
            assertThat(c.recovery.congestion.window).isEqualTo((10 + i) * S);
        }
        p.write(c, 9 * S);
        p.take();
        p.acknowledge(at(19));
        assertThat(c.recovery.congestion.window).as("less than a half was used").isEqualTo(20 * S);
    }

    @Test
    void blocksOfALateAcknowledgmentCount() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 10);
        p.acknowledge(at(3));
        assertThat(c.sender.sent.sackedBytes()).isZero();
        p.expected = at(2); // sent before, and overtaken
        p.sack(at(5), at(7));
        assertThat(c.sender.sent.sackedBytes()).isEqualTo(2 * S);
        assertThat(c.sender.una).isEqualTo(p.hostInitial + at(3));
        p.sack(at(1), at(3)); // acknowledged since
        assertThat(c.sender.sent.sackedBytes()).isEqualTo(2 * S);
    }

    @Test
    void aLossThatAProbeMadeGoodHalvesWhatWasUnderWay() throws IOException { // RFC 8985, 7.4.2
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 10);
        c.recovery.congestion.window = 40 * S;
        p.pass(3 * TRIP);
        assertThat(sequences(p)).containsExactly(at(9)); // the probe
        p.write(c, S);
        assertThat(sequences(p)).containsExactly(at(10));
        p.acknowledge(at(11));
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.OPEN);
        assertThat(c.recovery.congestion.window).isEqualTo(11 * S / 2);
    }

    @Test
    void blocksOutsideOfWhatIsUnderWayAreNone() throws IOException {
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 10);
        p.acknowledge(at(3));
        SentSegments sent = c.sender.sent;
        int inFlight = sent.inFlight();
        p.expected = at(2); // overtaken
        p.sack(at(3) + Integer.MAX_VALUE, at(3) - 2); // each number is ahead of another
        p.sack(at(9), at(11)); // beyond what was sent
        p.sack(at(7), at(5));
        p.sack(at(1), at(2));
        assertThat(sent.sackedBytes()).isZero();
        assertThat(sent.inFlight()).isEqualTo(inFlight);
        assertThat(sequences(p)).isEmpty();
    }

    /** Whatever numbers acknowledgments and blocks have, no byte is counted that was not sent. */
    @Test
    void randomAcknowledgmentsAndBlocksKeepTheAccount() {
        Seeds.each(Thorough.ON ? 5_000 : 200, random -> {
            Peer p = new Peer();
            Connection c = underway(p, reno().build(), 20);
            int[] edges = {0, 1, -1, 2, S, -S, Integer.MAX_VALUE, Integer.MIN_VALUE, 1 << 30};
            for (int i = 0; i < 60 && c.state == TcpState.ESTABLISHED; i++) {
                p.expected = at(random.nextInt(-2, 20)) + edges[random.nextInt(random.nextInt(1, edges.length + 1))];
                int left = at(random.nextInt(-2, 24)) + edges[random.nextInt(edges.length)];
                int right = at(random.nextInt(-2, 24)) + edges[random.nextInt(edges.length)];
                p.sack(left, right);
                p.take();
                p.pass(random.nextInt(3) * TRIP);
                SentSegments sent = c.sender.sent;
                int outstanding = c.sender.outstanding();
                assertThat(sent.sackedBytes()).isBetween(0, outstanding);
                assertThat(sent.lostBytes()).isBetween(0, outstanding);
                assertThat(sent.inFlight()).isBetween(0, outstanding);
                int sum = 0;
                for (int k = 0; k < sent.size(); k++) {
                    assertThat(sent.length(k)).isPositive();
                    sum += sent.length(k);
                }
                assertThat(sum).isEqualTo(outstanding);
            }
        });
    }

    @Test
    void theTailIsProbedInThePlaceOfATimeout() throws IOException { // RFC 8985, 7.2
        Peer p = new Peer();
        Connection c = underway(p, reno().build(), 1);
        int window = c.recovery.congestion.window;
        long timeout = c.info().retransmissionTimeout();
        assertThat(timeout).isLessThan(2 * TRIP + 200 * Peer.MS); // a probe would be later
        p.pass(timeout - TRIP + 5 * Peer.MS);
        assertThat(sequences(p)).containsExactly(at(0));
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.OPEN);
        assertThat(c.recovery.congestion.window).isEqualTo(window);
        p.pass(timeout + 5 * Peer.MS);
        assertThat(sequences(p)).containsExactly(at(0));
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.TIMEOUT);
        p.acknowledge(at(1));
        assertThat(c.recovery.congestion.window).as("slow start has begun").isEqualTo(2 * S);
    }
}
