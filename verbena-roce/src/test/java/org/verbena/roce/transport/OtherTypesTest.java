// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.roce.transport.Packets.bytes;
import static org.verbena.roce.transport.Packets.deth;
import static org.verbena.roce.transport.Packets.packet;
import static org.verbena.roce.transport.Packets.reth;
import static org.verbena.roce.transport.Packets.word;
import static org.verbena.roce.transport.Script.in;
import static org.verbena.roce.transport.Script.own;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/** UC, UD and XRC with hand-made packets: the differences to RC. */
class OtherTypesTest {
    private static final int QKEY = 0x11223344;
    private static final int SRQ = 0x000777;

    private static long at(Script s, long offset) {
        return s.end.at(offset);
    }

    private static void receive(Script s, long id, long offset, long length) {
        s.end.receives.post(id, TestEnd.KEY, at(s, offset), length);
    }

    // ---- UC

    @Test
    void ucCompletesWhenLastPacketIsSent() throws Exception {
        Script s = Script.connected(QueuePairType.UC);
        s.end.send(1, 0, 300);
        assertThat(s.end.sent).containsExactly(new TestEnd.Sent(1, WcStatus.SUCCESS, 300));
        s.leaves(0x20, own(0)).leaves(0x22, own(1)).nothingLeaves();
        SendWqe w = s.end.wqe(2, SendOpcode.WRITE_IMM);
        w.rkey = 5;
        w.immediate = 9;
        w.addSge(TestEnd.KEY, at(s, 0), 0);
        s.end.post(w);
        s.leaves(0x2b, own(2), "0000000000000000" + "00000005" + "00000000" + "00000009").nothingLeaves();
        assertThat(s.end.transport.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void ucLostPacketDropsItsMessageOnly() throws Exception {
        Script s = Script.connected(QueuePairType.UC);
        receive(s, 7, 0, 1000);
        receive(s, 8, 1000, 1000);
        s.arrives(0x20, in(0), false, bytes(256));
        s.arrives(0x22, in(2), false, bytes(4)); // one is missing
        assertThat(s.end.received).isEmpty();
        s.arrives(0x22, in(3), false, bytes(4)); // a last packet without the first one
        s.arrives(0x24, in(9), false, bytes(8)); // with any PSN
        assertThat(s.end.received).singleElement().isEqualTo(new TestEnd.Received(7, WcStatus.SUCCESS, WcOpcode.RECV, 8,
                0, 0, Script.PEER_NUMBER, false));
        s.arrives(0x20, in(10), false, bytes(256));
        s.arrives(0x25, in(11), false, word(3), bytes(4)); // the previous message has no end
        assertThat(s.end.received.getLast()).isEqualTo(new TestEnd.Received(8, WcStatus.SUCCESS, WcOpcode.RECV, 4, 3,
                WcFlags.WITH_IMM, Script.PEER_NUMBER, false));
        s.nothingLeaves();
        assertThat(s.end.count(SamplePoint.QP_RX_LOST)).isEqualTo(3);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void ucDropsForbiddenWritesAndFailsOnLongMessages() throws Exception {
        Script s = Script.connected(QueuePairType.UC);
        s.arrives(0x2a, in(0), false, reth(at(s, 0), 0x4711, 4), bytes(4));
        s.arrives(0x2a, in(1), false, reth(at(s, 0), TestEnd.KEY, 8), bytes(4));
        s.arrives(0x24, in(2), false, bytes(4)); // no receive
        assertThat(s.memory(0, 8)).containsOnly(0);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.RTS);
        s.arrives(0x2a, in(3), false, reth(at(s, 0), TestEnd.KEY, 4), bytes(4));
        assertThat(s.memory(0, 4)).isEqualTo(bytes(4));
        receive(s, 7, 0, 3);
        s.arrives(0x24, in(4), false, bytes(4));
        assertThat(s.end.received).extracting(TestEnd.Received::status).containsExactly(WcStatus.LOC_LEN_ERR);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.ERR);
        s.nothingLeaves();
    }

    @Test
    void ucAndUdLocalErrorMovesToSqe() throws Exception {
        Script s = Script.connected(QueuePairType.UC);
        SendWqe w = s.end.wqe(1, SendOpcode.SEND);
        w.addSge(0x4711, at(s, 0), 4);
        s.end.post(w);
        assertThat(s.end.told).isEqualTo(QueuePairState.SQE);
        s.end.send(2, 0, 4);
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.LOC_PROT_ERR,
                WcStatus.WR_FLUSH_ERR);
        receive(s, 7, 0, 100);
        s.arrives(0x24, in(0), false, bytes(4));
        assertThat(s.end.received).extracting(TestEnd.Received::status).containsExactly(WcStatus.SUCCESS);
        s.end.to(QueuePairState.RTS);
        s.end.send(3, 0, 4);
        s.leaves(0x24, own(0)).nothingLeaves();
    }

    // ---- UD

    private static Script datagrams() {
        Script s = new Script(QueuePairType.UD);
        s.end.qp.modify(QueuePairState.INIT, QueuePairAttributes.to(QueuePairState.INIT).qkey(QKEY).build(), null);
        s.end.to(QueuePairState.RTR);
        s.end.qp.modify(QueuePairState.RTS, QueuePairAttributes.to(QueuePairState.RTS).sqPsn(5).build(), null);
        return s;
    }

    private static SendWqe datagram(Script s, long id, int opcode, int qkey, long length) throws Exception {
        SendWqe w = s.end.wqe(id, opcode);
        w.path = s.end.wire.path(Script.OWN, 0, Script.PEER, 0, 0, 64);
        w.remoteQueuePair = Script.PEER_NUMBER;
        w.remoteQkey = qkey;
        w.addSge(TestEnd.KEY, at(s, 0), length);
        return w;
    }

    @Test
    void udSendsSinglePackets() throws Exception {
        Script s = datagrams();
        s.end.memory.segment().asSlice(0, 8).copyFrom(MemorySegment.ofArray(bytes(8)));
        s.end.post(datagram(s, 1, SendOpcode.SEND, 0x55, 3));
        s.leaves(0x64, 5, "00000055" + "00000011" + "01020300");
        SendWqe w = datagram(s, 2, SendOpcode.SEND_IMM, 0x80000000, 4); // the queue pair's own Q_Key
        w.immediate = 6;
        s.end.post(w);
        s.leaves(0x65, 6, "11223344" + "00000011" + "00000006" + "01020304").nothingLeaves();
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsOnly(WcStatus.SUCCESS);
        s.end.post(datagram(s, 3, SendOpcode.SEND, 0x55, 4097));
        assertThat(s.end.sent.getLast().status()).isEqualTo(WcStatus.LOC_LEN_ERR);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.SQE);
    }

    @Test
    void udReceiveHasGrhAndDatagram() {
        Script s = datagrams();
        receive(s, 7, 0, 200);
        s.arrives(0x64, 1234, false, deth(QKEY, 0x99), bytes(10));
        assertThat(s.end.received).singleElement().isEqualTo(new TestEnd.Received(7, WcStatus.SUCCESS, WcOpcode.RECV,
                50,
                0, WcFlags.GRH, 0x99, false));
        assertThat(s.memory(40, 10)).isEqualTo(bytes(10));
        String ip = HexFormat.of().formatHex(s.memory(0, 40));
        // 20 bytes of 0, then the IPv4 header: 20 + 8 + 12 + 8 + 12 + 4 bytes long, UDP, 10.0.0.2 to 10.0.0.1
        assertThat(ip).isEqualTo("00".repeat(20) + "45000040" + "00004000" + "40110000".substring(0, 4) + ip.substring(
                60, 64) + "0a000002" + "0a000001");
        int sum = 0;
        for (int i = 40; i < 80; i += 4) {
            sum += Integer.parseInt(ip, i, i + 4, 16);
        }
        assertThat((sum & 0xffff) + (sum >> 16)).as("checksum of the header").isEqualTo(0xffff);
        receive(s, 8, 100, 200);
        s.arrives(0x65, 1, false, deth(QKEY, 0x98), word(4), bytes(1));
        assertThat(s.end.received.getLast()).isEqualTo(new TestEnd.Received(8, WcStatus.SUCCESS, WcOpcode.RECV, 41, 4,
                WcFlags.GRH | WcFlags.WITH_IMM, 0x98, false));
    }

    @Test
    void udOverIpv6() {
        Gid from = Gid.parse("fe80::1");
        Gid to = Gid.parse("fe80::2");
        VirtualNetwork network = new VirtualNetwork(new java.util.Random(1));
        TestEnd end = new TestEnd(network, to, 0x11, QueuePairType.UD, 4096, false);
        end.qp.modify(QueuePairState.RTR, QueuePairAttributes.to(QueuePairState.RTR).qkey(QKEY).build(), null);
        end.receives.post(7, TestEnd.KEY, end.at(0), 200);
        network.inject(from, to, packet(0x64, 0x11, 0, false, deth(QKEY, 1), bytes(4)));
        end.transport.progress(10);
        GlobalRoutingHeader h = GlobalRoutingHeader.of(end.memory.segment());
        assertThat(h.source()).isEqualTo(from);
        assertThat(h.destination()).isEqualTo(to);
        assertThat(h.hopLimit()).isEqualTo(64);
        assertThat(end.memory.segment().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0) & 0xf0).isEqualTo(0x60);
    }

    @Test
    void udDropsUnacceptableDatagrams() {
        Script s = datagrams();
        s.arrives(0x64, 0, false, deth(QKEY, 1), bytes(4)); // no receive
        receive(s, 7, 0, 44);
        s.arrives(0x64, 0, false, deth(QKEY ^ 1, 1), bytes(4)); // another key
        s.arrives(0x64, 0, false, deth(QKEY, 1), bytes(5)); // too long; the receive stays
        assertThat(s.end.received).isEmpty();
        assertThat(s.drops(DropReason.QKEY)).isEqualTo(1);
        assertThat(s.drops(DropReason.UNRELIABLE)).isEqualTo(2);
        assertThat(s.end.count(SamplePoint.QP_RX_LOST)).isEqualTo(3);
        s.arrives(0x64, 0, false, deth(QKEY, 1), bytes(4));
        assertThat(s.end.received).hasSize(1);
        s.end.receives.post(8, 0x4711, at(s, 0), 100);
        s.arrives(0x64, 0, false, deth(QKEY, 1), bytes(4));
        assertThat(s.end.received.getLast().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void multicastReachesMembersOnly() {
        Script s = datagrams();
        Gid group = Gid.parse("::ffff:239.1.2.3");
        receive(s, 7, 0, 200);
        byte[] p = packet(0x64, 0xffffff, 0, false, deth(QKEY, 1), bytes(4));
        s.network.inject(Script.PEER, group, p);
        s.progress();
        assertThat(s.drops(DropReason.QUEUE_PAIR)).isEqualTo(1);
        s.end.transport.attach(s.end.qp, group);
        s.end.transport.attach(s.end.qp, group);
        s.network.inject(Script.PEER, Gid.parse("::ffff:239.1.2.4"), p);
        s.network.inject(Script.PEER, group, p);
        s.progress();
        assertThat(s.end.received).hasSize(1);
        assertThat(s.end.transport.detach(s.end.qp, group)).isTrue();
        assertThat(s.end.transport.detach(s.end.qp, group)).isFalse();
        s.network.inject(Script.PEER, group, p);
        s.progress();
        assertThat(s.end.received).hasSize(1);
    }

    // ---- XRC

    private static Script target(TestReceives[] made) throws Exception {
        Script s = Script.connected(QueuePairType.XRC_RECV);
        made[0] = new TestReceives(s.end.memory, true);
        s.end.queues.put(SRQ, made[0]);
        return s;
    }

    @Test
    void xrcRequestsNameTheirSrq() throws Exception {
        Script s = Script.connected(QueuePairType.XRC_SEND);
        SendWqe w = s.end.wqe(1, SendOpcode.SEND);
        w.remoteSharedReceiveQueue = SRQ;
        w.addSge(TestEnd.KEY, at(s, 0), 257);
        s.end.post(w);
        s.leaves(0xa0, own(0), "00000777" + "00".repeat(256)).leaves(0xa2, own(1), "00000777" + "00000000")
                .nothingLeaves();
        s.arrives(0xb1, own(1), false, Packets.aeth(0x1f, 1));
        assertThat(s.end.sent).containsExactly(new TestEnd.Sent(1, WcStatus.SUCCESS, 257));
        w = s.end.wqe(2, SendOpcode.READ);
        w.remoteSharedReceiveQueue = SRQ;
        w.rkey = 3;
        w.addSge(TestEnd.KEY, at(s, 0), 4);
        s.end.post(w);
        s.leaves(0xac, own(2), "00000777" + "0000000000000000" + "00000003" + "00000004").nothingLeaves();
        s.arrives(0xb0, own(2), false, Packets.aeth(0x1f, 2), bytes(4));
        assertThat(s.end.sent).hasSize(2);
        s.arrives(0xa4, in(0), true, word(SRQ), bytes(4)); // it accepts no requests
        assertThat(s.drops(DropReason.OPCODE)).isEqualTo(1);
    }

    @Test
    void xrcResponsesNameNoSrq() throws Exception {
        TestReceives[] queue = new TestReceives[1];
        Script s = target(queue);
        queue[0].post(7, TestEnd.KEY, at(s, 0), 100);
        s.arrives(0xa4, in(0), true, word(SRQ), bytes(4));
        s.leaves(0xb1, in(0), "1f000001").nothingLeaves();
        assertThat(s.end.received).singleElement().extracting(TestEnd.Received::wrId).isEqualTo(7L);
        s.arrives(0xac, in(1), true, word(SRQ), reth(at(s, 0), TestEnd.KEY, 4));
        s.leaves(0xb0, in(1), "1f000002" + "01020304").nothingLeaves();
        s.arrives(0xb1, own(0), false, Packets.aeth(0x1f, 1)); // it sends no requests
        assertThat(s.drops(DropReason.OPCODE)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 0xffffff})
    void xrcUnknownSrqIsRejected(int number) throws Exception {
        Script s = target(new TestReceives[1]);
        s.arrives(0xa4, in(0), true, word(number), bytes(4));
        s.leaves(0xb1, in(0), "61000000").nothingLeaves();
        assertThat(s.end.events).containsExactly(AsyncEventType.QP_REQ_ERR);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void xrcSrqChangeWithinMessageIsRejected() throws Exception {
        TestReceives[] queue = new TestReceives[1];
        Script s = target(queue);
        s.end.queues.put(SRQ + 1, new TestReceives(s.end.memory, true));
        queue[0].post(7, TestEnd.KEY, at(s, 0), 1000);
        s.arrives(0xa0, in(0), false, word(SRQ), bytes(256));
        s.arrives(0xa2, in(1), true, word(SRQ + 1), bytes(4));
        s.leaves(0xb1, in(1), "61000000").nothingLeaves();
        assertThat(s.end.received).extracting(TestEnd.Received::status).containsExactly(WcStatus.WR_FLUSH_ERR);
    }

    // ---- shared receive queues

    @Test
    void failedQueuePairKeepsUnusedSrqReceives() throws Exception {
        VirtualNetwork network = new VirtualNetwork(new java.util.Random(1));
        TestEnd end = new TestEnd(network, Script.OWN, Script.NUMBER, QueuePairType.RC, 1 << 16, true);
        end.mtu = 256;
        end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
        for (int i = 0; i < 3; i++) {
            end.receives.post(i, TestEnd.KEY, end.at(0), 1000);
        }
        network.inject(Script.PEER, Script.OWN, packet(0x00, Script.NUMBER, in(0), true, bytes(256)));
        end.transport.progress(10);
        end.to(QueuePairState.ERR);
        assertThat(end.received).extracting(TestEnd.Received::status).containsExactly(WcStatus.WR_FLUSH_ERR);
        assertThat(end.receives.size()).isEqualTo(2);
        assertThat(end.events).contains(AsyncEventType.QP_LAST_WQE_REACHED);
        end.to(QueuePairState.RESET);
        end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
        network.inject(Script.PEER, Script.OWN, packet(0x00, Script.NUMBER, in(0), true, bytes(256)));
        end.transport.progress(10);
        end.to(QueuePairState.RESET);
        assertThat(end.receives.size()).as("a receive of an interrupted message is returned").isEqualTo(2);
    }
}
