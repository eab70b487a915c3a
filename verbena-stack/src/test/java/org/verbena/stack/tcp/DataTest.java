// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.stack.ip.Host;
import org.verbena.stack.model.TcpSettings;

/** When data and acknowledgments are sent. */
final class DataTest {
    private static final int ACK = Peer.ACK;
    private static final int SEGMENT = 1460;

    static TcpSettings.Builder plain() {
        return TcpSettings.builder().timestamps(false).windowScale(false).quickAcks(0);
    }

    @Test
    void anAcknowledgmentMayWait() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(plain().build());
        p.data(100);
        p.nothing();
        p.pass(39 * Peer.MS);
        p.nothing();
        p.pass(3 * Peer.MS);
        p.acknowledgment(101);
        p.data(100);
        p.write(c, 5); // goes with data
        Peer.Seen s = p.one();
        assertThat(s.length()).isEqualTo(5);
        assertThat(s.acknowledgment()).isEqualTo(201);
        p.acknowledge(6);
        p.pass(Peer.SECOND);
        p.nothing();
    }

    @Test
    void everySecondSegmentIsAcknowledgedAtOnce() throws IOException {
        Peer p = new Peer();
        p.accepted(plain().build());
        for (int i = 0; i < 10; i += 2) {
            p.data(SEGMENT);
            p.nothing();
            p.data(SEGMENT);
            p.acknowledgment(1 + (i + 2) * SEGMENT);
        }
    }

    @Test
    void theFirstSegmentsAreAcknowledgedAtOnce() throws IOException {
        Peer p = new Peer();
        p.accepted(plain().quickAcks(3).build());
        for (int i = 1; i <= 3; i++) {
            p.data(10);
            p.acknowledgment(1 + 10 * i);
        }
        p.data(10);
        p.nothing();
    }

    @Test
    void gapsAreToldAtOnce() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(plain().build());
        p.draft(ACK).sequence(101).data(100).send();
        assertThat(p.acknowledgment(1).blocks(p)).containsExactly(101, 201);
        p.draft(ACK).sequence(301).data(100).send();
        assertThat(p.acknowledgment(1).blocks(p)).containsExactly(301, 401, 101, 201);
        p.draft(ACK).sequence(501).data(100).send();
        assertThat(p.acknowledgment(1).blocks(p)).containsExactly(501, 601, 301, 401, 101, 201);
        p.draft(ACK).sequence(701).data(100).send();
        assertThat(p.acknowledgment(1).blocks(p)).containsExactly(701, 801, 501, 601, 301, 401, 101, 201);
        p.draft(ACK).sequence(901).data(100).send();
        assertThat(p.acknowledgment(1).blocks(p)).containsExactly(901, 1001, 701, 801, 501, 601, 301, 401);
        p.draft(ACK).sequence(201).data(50).send(); // grows the oldest
        assertThat(p.acknowledgment(1).blocks(p)).containsExactly(101, 251, 901, 1001, 701, 801, 501, 601);
        p.draft(ACK).sequence(1).data(100).send(); // fills the first gap
        assertThat(p.acknowledgment(251).blocks(p)).containsExactly(901, 1001, 701, 801, 501, 601, 301, 401);
        p.draft(ACK).sequence(251).data(650).send();
        assertThat(p.acknowledgment(1001).blocks(p)).startsWith(301, 401); // of which the first came twice
        p.next = 1001;
        assertThat(p.read(c)).isEqualTo(1000);
    }

    @Test
    void withTimestampsThreeBlocksFit() throws IOException {
        Peer p = new Peer();
        p.accepted(TcpSettings.builder().windowScale(false).build());
        for (int i = 0; i < 5; i++) {
            p.draft(ACK).sequence(101 + 200 * i).data(100).send();
        }
        assertThat(p.take().getLast().blocks(p)).containsExactly(901, 1001, 701, 801, 501, 601);
    }

    @Test
    void whatCameTwiceIsTold() throws IOException { // RFC 2883, 4
        Peer p = new Peer();
        p.accepted(plain().build());
        p.data(1000);
        p.pass(Peer.SECOND);
        p.take();
        p.draft(ACK).sequence(501).data(500).send(); // 4.1.1
        assertThat(p.acknowledgment(1001).blocks(p)).containsExactly(501, 1001);
        p.draft(ACK).sequence(1501).data(500).send();
        assertThat(p.acknowledgment(1001).blocks(p)).containsExactly(1501, 2001);
        p.draft(ACK).sequence(501).data(500).send(); // 4.1.3, with a gap
        assertThat(p.acknowledgment(1001).blocks(p)).containsExactly(501, 1001, 1501, 2001);
        p.draft(ACK).sequence(1501).data(250).send(); // 4.2, in a larger block
        assertThat(p.acknowledgment(1001).blocks(p)).containsExactly(1501, 1751, 1501, 2001);
        p.draft(ACK).sequence(1751).data(500).send(); // in part
        assertThat(p.acknowledgment(1001).blocks(p)).containsExactly(1751, 2001, 1501, 2251);
        p.draft(ACK).sequence(501).data(600).send(); // in part, and new
        assertThat(p.acknowledgment(1101).blocks(p)).containsExactly(501, 1001, 1501, 2251);
        p.next = 1101;
        p.send(ACK); // once only
        p.nothing();
    }

    @Test
    void withoutSackNoBlockIsTold() throws IOException {
        Peer p = new Peer();
        p.accepted(plain().sack(false).build());
        p.draft(ACK).sequence(101).data(100).send();
        assertThat(p.acknowledgment(1).header().headerBytes()).isEqualTo(20);
        p.draft(ACK).sequence(101).data(100).send();
        assertThat(p.acknowledgment(1).header().headerBytes()).isEqualTo(20);
    }

    @Test
    void rangesBehindGapsAreLimited() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(plain().build());
        for (int i = 0; i < 2000; i++) {
            p.draft(ACK).sequence(2 + 2 * i).data(1).send();
        }
        assertThat(c.receiver.ranges()).isEqualTo(Receiver.MOST_RANGES);
        assertThat(p.host.tcp.memory()).isLessThanOrEqualTo(8192);
        p.take();
        p.data(6000);
        assertThat(p.read(c)).isEqualTo(6000);
        assertThat(c.receiver.hasGaps()).isFalse();
    }

    @Test
    void nagleHoldsASmallSegmentBackBehindAnother() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(plain().build());
        p.write(c, 10);
        assertThat(p.one().length()).isEqualTo(10);
        p.write(c, 10);
        p.write(c, 20);
        p.nothing();
        p.acknowledge(11);
        assertThat(p.one().length()).isEqualTo(30);
        p.acknowledge(41);
        p.write(c, SEGMENT + 10); // Minshall: the small one follows a full one
        List<Peer.Seen> all = p.take();
        assertThat(all).extracting(Peer.Seen::length).containsExactly(SEGMENT, 10);
        assertThat(all.get(0).has(Peer.PSH)).isFalse();
        assertThat(all.get(1).has(Peer.PSH)).isTrue();
        p.write(c, 10);
        p.nothing();
        p.finish(c); // ends the wait
        assertThat(p.one().has(Peer.FIN)).isTrue();
    }

    @Test
    void withoutNagleAllGoesAtOnce() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(plain().build());
        p.write(c, 1);
        p.write(c, 2);
        p.one();
        c.noDelay(true, p.now());
        assertThat(p.host.wire.sent).isNotEmpty();
        p.settle();
        assertThat(p.one().length()).isEqualTo(2);
        p.write(c, 3);
        assertThat(p.one().length()).isEqualTo(3);
    }

    @Test
    void corkHoldsBackWhatIsNotFull() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(plain().noDelay(true).build());
        c.cork(true, p.now());
        p.write(c, 1000);
        p.pass(Peer.SECOND);
        p.nothing();
        p.write(c, 1000);
        assertThat(p.one().length()).isEqualTo(SEGMENT);
        c.cork(false, p.now());
        p.settle();
        assertThat(p.one().length()).isEqualTo(2000 - SEGMENT);
        c.cork(true, p.now());
        p.write(c, 10);
        p.finish(c);
        assertThat(p.one().has(Peer.FIN | Peer.PSH)).isTrue();
    }

    @Test
    void withoutNagleWhatACorkHoldsGoes() throws IOException { // as tcp(7) of Linux has it
        Peer p = new Peer();
        Connection c = p.accepted(plain().build());
        c.cork(true, p.now());
        p.write(c, 10);
        p.nothing();
        c.noDelay(true, p.now());
        p.settle();
        assertThat(p.one().length()).isEqualTo(10);
        p.write(c, 10);
        p.pass(Peer.SECOND);
        assertThat(p.take()).as("the cork stays for what is written later").allMatch(s -> s.sequence() < 11);
    }

    @Test
    void corkFillsSegmentsOfThePeersLength() throws IOException {
        Peer p = new Peer();
        Listener l = p.host.tcp.listen(Peer.HOST_PORT, 5, plain().build());
        p.draft(Peer.SYN).sequence(0).segmentSize(536).send();
        p.one();
        p.next = 1;
        p.acknowledge(1);
        Connection c = l.accept();
        c.cork(true, p.now());
        p.write(c, 11);
        p.write(c, 11);
        p.nothing();
        p.write(c, 537);
        Peer.Seen s = p.one();
        assertThat(s.length()).isEqualTo(536);
        assertThat(s.header().flags()).isEqualTo(ACK);
        p.acknowledge(537);
        p.nothing();
        c.cork(false, p.now());
        p.settle();
        s = p.one();
        assertThat(s.length()).isEqualTo(23);
        assertThat(s.has(Peer.PSH)).isTrue();
    }

    @Test
    void urgentDataIsToldUntilItIsAcknowledged() throws IOException { // RFC 6093
        Peer p = new Peer();
        Connection c = p.accepted(plain().build());
        p.write(c, 10);
        p.one();
        assertThat(c.writeUrgent((byte) 7, p.now())).isEqualTo(1);
        p.settle();
        p.nothing();
        p.acknowledge(11);
        Peer.Seen s = p.one();
        assertThat(s.has(Peer.URG)).isTrue();
        assertThat(s.header().urgent()).isEqualTo(1);
        assertThat(s.length()).isEqualTo(1);
        p.acknowledge(12);
        p.write(c, 10);
        assertThat(p.one().has(Peer.URG)).isFalse();
        p.draft(ACK).data(10).urgent(3).send();
        assertThat(p.read(c)).as("in line").isEqualTo(10);
    }

    @Test
    void urgentDataThatFindsNoRoomChangesNothing() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(plain().sendBuffer(3000).build());
        p.window = 0;
        p.acknowledge(1);
        p.write(c, 2000);
        assertThat(c.writeUrgent((byte) 1, p.now())).isEqualTo(1);
        int urgent = c.sender.urgent;
        c.write(ByteBuffer.allocate(5000), p.now());
        assertThat(c.writeUrgent((byte) 1, p.now())).isZero();
        assertThat(c.sender.urgent).isEqualTo(urgent);
    }

    @Test
    void anAcknowledgmentAtTheEdgeOfTheWindowIsTaken() throws IOException { // as Linux has it: the peer has sent all that it may
        Peer p = new Peer();
        Connection c = p.accepted(plain().receiveBuffer(4000).build());
        p.write(c, 100);
        p.one();
        for (int i = 0; i < 3; i++) { // the first is lost
            p.draft(ACK).sequence(1001 + 1000 * i).data(1000).send();
        }
        p.take();
        p.draft(ACK).sequence(4001).acknowledgment(101).send();
        assertThat(c.sender.outstanding()).isZero();
    }

    @Test
    void memoryThatIsGivenBackServesOthers() throws IOException {
        Host h = new Host(1, Host.MTU, 4096, 40_000);
        Peer p = new Peer(h);
        Listener l = h.tcp.listen(Peer.HOST_PORT, 5, plain().build());
        Connection c = p.accepted(l, plain().build());
        for (int i = 0; i < 200 && h.tcp.counts().noMemory == 0; i++) {
            p.data(1000);
        }
        assertThat(h.tcp.memory()).isLessThanOrEqualTo(40_000);
        p.next = c.receiver.next - p.initial;
        p.take();
        int had = p.next - 1;
        assertThat(p.read(c)).isEqualTo(had);
        p.pass(2 * Peer.SECOND); // at rest it has no memory
        assertThat(h.tcp.memory()).isZero();
        p.take();
        p.write(c, 20_000);
        p.data(1000);
        assertThat(p.read(c)).isEqualTo(1000);
    }
}
