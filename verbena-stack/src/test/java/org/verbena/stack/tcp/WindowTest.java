// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** Windows that close and open. */
final class WindowTest {
    private static final int ACK = Peer.ACK;
    private static final int FIN = Peer.FIN;
    private static final int SEGMENT = 1460;

    private static Connection atZero(Peer p, TcpSettings s) throws IOException {
        Connection c = p.accepted(s);
        p.window = 0;
        p.acknowledge(1);
        p.write(c, 5000);
        p.nothing();
        return c;
    }

    @Test
    void aPeerThatStaysAtZeroIsAskedForAnHour() throws IOException {
        Peer p = new Peer();
        Connection c = atZero(p, DataTest.plain().build());
        long end = p.now() + 3600 * Peer.SECOND;
        int probes = 0;
        while (p.now() < end) {
            p.pass(Peer.SECOND / 10);
            for (Peer.Seen s : p.take()) {
                assertThat(s.length()).isZero();
                assertThat(s.sequence()).isZero(); // old: has to be answered
                probes++;
                p.acknowledge(1);
            }
        }
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        assertThat(probes).isBetween(30, 50);
        p.window = 5000;
        p.acknowledge(1);
        assertThat(p.take()).extracting(Peer.Seen::length).containsExactly(SEGMENT, SEGMENT, SEGMENT, 620);
    }

    @Test
    void aPeerThatIsGoneIsGivenUp() throws IOException {
        Peer p = new Peer();
        Connection c = atZero(p, DataTest.plain().build());
        p.pass(3600 * Peer.SECOND);
        assertThat(p.take()).hasSize(15);
        assertThat(c.state()).isEqualTo(TcpState.CLOSED);
        assertThat(c.error()).isEqualTo(Errno.ETIMEDOUT);
    }

    @Test
    void whatNobodyHasAnyMoreDoesNotWaitForever() throws IOException { // else a peer could hold the memory
        Peer p = new Peer();
        Connection c = atZero(p, DataTest.plain().build());
        p.close(c);
        for (int i = 0; i < 6000 && c.state() != TcpState.CLOSED; i++) {
            p.pass(Peer.SECOND / 10);
            if (!p.take().isEmpty()) {
                p.acknowledge(1);
            }
        }
        p.nothingIsLeft();
    }

    @Test
    void finWaitsForTheWindowToo() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.window = 100;
        p.acknowledge(1);
        p.write(c, 100);
        p.finish(c);
        assertThat(p.one().length()).isEqualTo(100);
        p.window = 0;
        p.acknowledge(101);
        p.nothing();
        p.pass(Peer.SECOND);
        assertThat(p.take()).isNotEmpty().allMatch(s -> s.sequence() == 100 && !s.has(FIN));
        p.window = 1;
        p.acknowledge(101);
        assertThat(p.one().has(FIN)).isTrue();
    }

    @Test
    void littleRoomIsNotUsedAtOnce() throws IOException { // RFC 9293, 3.8.6.2.1
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.window = 10_000;
        p.acknowledge(1);
        p.write(c, 20_000);
        assertThat(p.take()).hasSize(6); // full ones only
        p.window = 100;
        p.acknowledge(6 * SEGMENT + 1);
        p.nothing();
        p.pass(Peer.SECOND / 4); // the override timer
        assertThat(p.one().length()).isEqualTo(100);
        p.window = 5000;
        p.acknowledge(6 * SEGMENT + 101);
        assertThat(p.take()).hasSize(3);
    }

    @Test
    void aSmallWindowIsUsedByHalves() throws IOException {
        Peer p = new Peer();
        p.window = 1000;
        Connection c = p.accepted(DataTest.plain().build());
        p.write(c, 5000);
        assertThat(p.one().length()).isEqualTo(1000);
        p.window = 400;
        p.acknowledge(1001);
        p.nothing();
        p.window = 500;
        p.acknowledge(1001);
        assertThat(p.one().length()).isEqualTo(500);
    }

    @Test
    void anOldAcknowledgmentDoesNotChangeTheWindow() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().build());
        p.data(10);
        p.write(c, 10);
        p.draft(ACK).acknowledgment(11).window(5000).send();
        p.draft(ACK).sequence(1).acknowledgment(11).window(10).send();
        p.draft(ACK).acknowledgment(1).window(20).send();
        assertThat(c.sender.window).isEqualTo(5000);
    }

    @Test
    void theReaderOpensTheWindow() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().receiveBuffer(10_000).build());
        for (int i = 0; i < 5; i++) {
            p.data(2000);
        }
        p.pass(50 * Peer.MS);
        Peer.Seen last = p.take().getLast();
        assertThat(last.acknowledgment()).isEqualTo(10_001);
        assertThat(last.window()).isZero();
        p.draft(ACK).data(1).send(); // a probe
        assertThat(p.acknowledgment(10_001).window()).isZero();
        p.draft(ACK).sequence(10_000).send(); // one of the other kind
        assertThat(p.acknowledgment(10_001).window()).isZero();
        c.read(ByteBuffer.allocate(100), p.now());
        p.settle();
        p.nothing(); // too little
        p.draft(ACK).data(1).send();
        assertThat(p.acknowledgment(10_001).window()).isZero();
        p.read(c);
        assertThat(p.acknowledgment(10_001).window()).isEqualTo(10_000);
    }

    @Test
    void theWindowNeverShrinks() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(TcpSettings.builder().receiveBuffer(1 << 20).timestamps(false).build());
        int edge = 0;
        java.util.Random r = new java.util.Random(1);
        for (int i = 0; i < 3000; i++) {
            p.data(1 + r.nextInt(1460));
            if (r.nextInt(3) == 0) {
                c.read(ByteBuffer.allocate(r.nextInt(3000)), p.now());
                p.settle();
            }
            for (Peer.Seen s : p.take()) {
                int e = s.acknowledgment() + (s.window() << c.receiver.scale);
                assertThat(e).isGreaterThan(edge - (1 << c.receiver.scale));
                edge = Math.max(edge, e);
            }
            p.next = Math.min(p.next, c.receiver.next - p.initial);
        }
        assertThat(p.host.tcp.memory()).isLessThanOrEqualTo(1 << 20);
    }

    @Test
    void finMayComeWhenTheWindowIsFull() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().receiveBuffer(2000).build());
        p.draft(ACK | FIN).data(2000).send();
        Peer.Seen s = p.acknowledgment(2002);
        assertThat(s.window()).isZero();
        p.next = 2002;
        assertThat(c.state()).isEqualTo(TcpState.CLOSE_WAIT);
        p.write(c, 100);
        assertThat(p.one().window()).isZero();
        p.acknowledge(101); // is one
        assertThat(c.sender.outstanding()).isZero();
        assertThat(p.read(c)).isEqualTo(2000);
        assertThat(p.read(c)).isEqualTo(-1);
    }

    @Test
    void bytesBeyondTheWindowAreCut() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().receiveBuffer(2000).build());
        p.draft(ACK | FIN).data(3000).send();
        p.acknowledgment(2001);
        assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
        assertThat(p.read(c)).isEqualTo(2000);
        p.take();
        p.draft(ACK).sequence(9000).data(10).send();
        p.acknowledgment(2001);
        assertThat(c.readable()).isZero();
    }

    @Test
    void theGreatestScaleIsUsed() throws IOException {
        Peer p = new Peer();
        TcpSettings s = TcpSettings.builder().timestamps(false).sendBuffer(1 << 26).receiveBuffer(1 << 26).build();
        Listener l = p.host.tcp.listen(Peer.HOST_PORT, 5, s);
        p.draft(Peer.SYN).sequence(0).segmentSize(1460).scale(200).send(); // more than 14 is 14
        assertThat(p.one().options().windowScale()).isEqualTo(11);
        p.next = 1;
        p.acknowledge(1);
        Connection c = l.accept();
        assertThat(c.sender.window).isEqualTo(0xffff << 14);
        assertThat(c.write(ByteBuffer.allocate(1 << 26), p.now())).isEqualTo(1 << 26);
        p.settle();
        List<Peer.Seen> all = p.take();
        assertThat(all).hasSize(10);
        p.draft(ACK).acknowledgment(1 + (1 << 26)).send();
        assertThat(p.one().has(ACK)).as("of bytes that were not sent").isTrue();
        assertThat(c.sender.una).isEqualTo(c.sender.initial + 1);
        p.acknowledge(1 + 10 * SEGMENT);
        assertThat(p.take()).hasSize(20);
    }

    @Test
    void bytesOneByOneDoNotOverfillTheBuffer() throws IOException {
        Peer p = new Peer();
        Connection c = p.accepted(TcpSettings.builder().receiveBuffer(1 << 17).timestamps(false).build());
        for (int i = 0; i < 150; i++) {
            p.data(1000);
            p.next = c.receiver.next - p.initial;
        }
        for (int i = 0; i < 1000; i++) {
            p.draft(ACK).data(1).send();
            p.next = c.receiver.next - p.initial;
        }
        assertThat(c.readable()).isLessThanOrEqualTo((1 << 17) + 2);
        assertThat(p.take().getLast().window()).isZero();
    }
}
