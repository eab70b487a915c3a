// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.roce.transport.Packets.ATOMIC_ACK;
import static org.verbena.roce.transport.Packets.READ_FIRST;
import static org.verbena.roce.transport.Packets.READ_LAST;
import static org.verbena.roce.transport.Packets.READ_MIDDLE;
import static org.verbena.roce.transport.Packets.READ_ONLY;
import static org.verbena.roce.transport.Packets.aeth;
import static org.verbena.roce.transport.Packets.bytes;
import static org.verbena.roce.transport.Packets.number;
import static org.verbena.roce.transport.Script.own;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/**
 * The packets that a requester of type RC sends, and its handling of each response, rule by rule (IBTA volume 1,
 * 9.7.5).
 */
class RequesterScriptTest {
    private Script s;

    @BeforeEach
    void connect() throws Exception {
        s = Script.connected(QueuePairType.RC);
        s.end.memory.segment().asSlice(0, 4096).copyFrom(MemorySegment.ofArray(bytes(4096)));
    }

    private static String hex(int from, int to) {
        return HexFormat.of().formatHex(bytes(to), from, to);
    }

    // ---- requests

    @Test
    void sendOfThreePacketsIsFirstMiddleLast() {
        SendWqe w = s.wqe(1, SendOpcode.SEND_IMM, 515);
        w.immediate = 0x01020304;
        w.flags |= SendFlags.SOLICITED;
        s.end.post(w);
        s.leaves(0x00, own(0), hex(0, 256)).leaves(0x01, own(1), hex(256, 512)).leaves(0x03, own(2), "01020304" + hex(
                512, 515) + "00").nothingLeaves();
        assertThat(s.end.sent).isEmpty();
        s.acknowledge(own(2), 0x1f);
        s.assertDone(1);
    }

    @Test
    void opcodesProduceTheirPackets() {
        String reth = "112233445566778800004711";
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0), "01020304");
        s.post(2, SendOpcode.WRITE, 4);
        s.leaves(0x0a, own(1), reth + "0000000401020304");
        SendWqe w = s.wqe(3, SendOpcode.WRITE_IMM, 300);
        w.immediate = 7;
        s.end.post(w);
        s.leaves(0x06, own(2), reth + "0000012c" + hex(0, 256)).leaves(0x09, own(3), "00000007" + hex(256, 300));
        w = s.wqe(4, SendOpcode.SEND_INV, 0);
        w.immediate = 9;
        s.end.post(w);
        s.leaves(0x17, own(4), "00000009");
        s.post(5, SendOpcode.READ, 4);
        s.leaves(0x0c, own(5), reth + "00000004");
        w = s.wqe(6, SendOpcode.CMP_SWP, 8);
        w.compareOrAdd = 1;
        w.swap = 2;
        s.end.post(w);
        s.leaves(0x13, own(6), reth + "00000000000000020000000000000001");
        w = s.wqe(7, SendOpcode.FETCH_ADD, 8);
        w.compareOrAdd = 3;
        s.end.post(w);
        s.leaves(0x14, own(7), reth + "00000000000000030000000000000000");
        w = s.wqe(8, SendOpcode.FLUSH, -1);
        w.flushType = 1;
        w.flushLevel = 1;
        w.flushLength = 5;
        s.end.post(w);
        s.leaves(0x1c, own(8), "00000011" + reth + "00000005").nothingLeaves();
    }

    @Test
    void longReadIsSplit() {
        s.end.depth = 2;
        s.end.to(QueuePairState.SQD);
        s.end.qp.modify(QueuePairState.SQD, QueuePairAttributes.builder().maxReadAtomic(2).build(), null);
        s.end.to(QueuePairState.RTS);
        s.post(1, SendOpcode.READ, 16 * 256 * 2 + 1);
        s.leaves(0x0c, own(0), "112233445566778800004711" + "00001000");
        s.leaves(0x0c, own(16), "112233445566878800004711" + "00001000").nothingLeaves(); // two at a time
        for (int i = 0; i < 16; i++) {
            s.arrives(i == 0 ? READ_FIRST : i == 15 ? READ_LAST : READ_MIDDLE, own(i), false,
                    i == 0 || i == 15 ? aeth(0x1f, 1) : new byte[0], new byte[256]);
        }
        s.leaves(0x0c, own(32), "112233445566978800004711" + "00000001").nothingLeaves();
    }

    @Test
    void fenceWaitsForReads() {
        s.post(1, SendOpcode.READ, 4);
        SendWqe w = s.wqe(2, SendOpcode.SEND, 4);
        w.flags |= SendFlags.FENCE;
        s.end.post(w);
        s.leaves(0x0c, own(0)).nothingLeaves();
        s.arrives(READ_ONLY, own(0), false, aeth(0x1f, 1), bytes(4));
        s.leaves(0x04, own(1)).nothingLeaves();
        s.assertDone(1);
    }

    @Test
    void outstandingReadsAreLimited() {
        for (int i = 0; i < 6; i++) {
            s.post(i, i % 2 == 0 ? SendOpcode.READ : SendOpcode.FETCH_ADD, 8);
        }
        s.leaves(0x0c, own(0)).leaves(0x14, own(1)).leaves(0x0c, own(2)).leaves(0x14, own(3)).nothingLeaves();
        s.arrives(READ_ONLY, own(0), false, aeth(0x1f, 1), bytes(8));
        s.leaves(0x0c, own(4)).nothingLeaves();
        s.arrives(ATOMIC_ACK, own(1), false, aeth(0x1f, 2), number(0x0102030405060708L));
        s.leaves(0x14, own(5)).nothingLeaves();
        assertThat(s.end.memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x0102030405060708L);
        s.assertDone(0, 1);
    }

    // ---- ACK

    @Test
    void ackIsCumulative() {
        for (int i = 0; i < 4; i++) {
            s.post(i, SendOpcode.SEND, 4);
        }
        s.acknowledge(own(2), 0x1f);
        s.assertDone(0, 1, 2);
        s.acknowledge(own(1), 0x1f); // an old one
        assertThat(s.drops(DropReason.SEQUENCE)).isEqualTo(1);
        s.acknowledge(own(3), 0x00); // any count of credits
        s.assertDone(0, 1, 2, 3);
    }

    @Test
    void ackOfUnsentPacketIsDropped() {
        s.post(1, SendOpcode.SEND, 4);
        s.acknowledge(own(1), 0x1f);
        s.acknowledge(own(0) - 1, 0x1f);
        s.acknowledge(own(0) + 0x800000, 0x1f);
        assertThat(s.end.sent).isEmpty();
        assertThat(s.drops(DropReason.SEQUENCE)).isEqualTo(3);
        s.acknowledge(own(0), 0x1f);
        s.assertDone(1);
    }

    @Test
    void unsignaledRequestHasNoCompletion() {
        SendWqe w = s.wqe(1, SendOpcode.SEND, 4);
        w.flags = 0;
        s.end.post(w);
        s.post(2, SendOpcode.SEND, 4);
        s.acknowledge(own(1), 0x1f);
        s.assertDone(2);
        assertThat(s.end.count(SamplePoint.QP_TX_SENDS)).isEqualTo(2);
        assertThat(s.end.qp.sends().room()).isEqualTo(64);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x40, 0x5f, 0x64, 0x7f, 0x80, 0xff})
    void reservedSyndromesAreDropped(int syndrome) {
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0));
        s.acknowledge(own(0), syndrome);
        assertThat(s.end.sent).isEmpty();
        s.nothingLeaves();
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void readResponseAcknowledgesEarlierRequests() {
        s.post(1, SendOpcode.SEND, 4);
        s.post(2, SendOpcode.READ, 300);
        s.arrives(READ_FIRST, own(1), false, aeth(0x1f, 2), bytes(256));
        s.assertDone(1);
        s.arrives(READ_LAST, own(2), false, aeth(0x1f, 2), bytes(44));
        s.assertDone(1, 2);
    }

    // ---- implied NAK

    @Test
    void ackAfterMissingResponseRetransmitsRequest() {
        s.post(1, SendOpcode.READ, 300);
        s.post(2, SendOpcode.SEND, 4);
        s.leaves(0x0c, own(0)).leaves(0x04, own(2)).nothingLeaves();
        s.arrives(READ_FIRST, own(0), false, aeth(0x1f, 1), bytes(256));
        s.acknowledge(own(2), 0x1f);
        assertThat(s.end.sent).isEmpty();
        assertThat(s.end.count(SamplePoint.QP_IMPLIED_NAKS)).isEqualTo(1);
        s.leaves(0x0c, own(1), "1122334455667888" + "00004711" + "0000002c").leaves(0x04, own(2)).nothingLeaves();
        s.arrives(READ_ONLY, own(1), false, aeth(0x1f, 1), bytes(44));
        s.assertDone(1);
        s.acknowledge(own(2), 0x1f);
        s.assertDone(1, 2);
    }

    @Test
    void laterResponseImpliesNak() {
        s.post(1, SendOpcode.FETCH_ADD, 8);
        s.post(2, SendOpcode.FETCH_ADD, 8);
        s.leaves(0x14, own(0)).leaves(0x14, own(1)).nothingLeaves();
        s.arrives(ATOMIC_ACK, own(1), false, aeth(0x1f, 2), number(5));
        s.leaves(0x14, own(0)).leaves(0x14, own(1)).nothingLeaves();
        s.arrives(ATOMIC_ACK, own(1), false, aeth(0x1f, 2), number(5)); // a duplicate is no second loss
        s.nothingLeaves();
        s.arrives(ATOMIC_ACK, own(0), false, aeth(0x1f, 1), number(4));
        s.arrives(ATOMIC_ACK, own(1), false, aeth(0x1f, 2), number(5));
        s.assertDone(1, 2);
    }

    // ---- NAK

    @Test
    void sequenceNakRetransmitsFromItsPsn() {
        s.post(1, SendOpcode.SEND, 4);
        s.post(2, SendOpcode.SEND, 600);
        s.post(3, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0)).leaves(0x00, own(1)).leaves(0x01, own(2)).leaves(0x02, own(3)).leaves(0x04, own(4))
                .nothingLeaves();
        s.acknowledge(own(2), 0x60);
        s.assertDone(1);
        s.leaves(0x01, own(2)).leaves(0x02, own(3)).leaves(0x04, own(4)).nothingLeaves();
        assertThat(s.end.count(SamplePoint.QP_PACKET_SEQUENCE_ERRORS)).isEqualTo(1);
        assertThat(s.end.count(SamplePoint.QP_RETRANSMITS)).isEqualTo(3);
        s.acknowledge(own(4), 0x1f);
        s.assertDone(1, 2, 3);
    }

    @ParameterizedTest
    @CsvSource({"0x61, 9", "0x62, 10", "0x63, 11"})
    void otherNaksFailRequestAndFlush(String syndrome, int status) {
        s.end.receives.post(9, TestEnd.KEY, s.end.at(0), 4);
        s.post(1, SendOpcode.SEND, 4);
        s.post(2, SendOpcode.WRITE, 600);
        s.post(3, SendOpcode.SEND, 4);
        s.acknowledge(own(2), Integer.decode(syndrome));
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.SUCCESS, status,
                WcStatus.WR_FLUSH_ERR);
        assertThat(s.end.received).extracting(TestEnd.Received::status).containsExactly(WcStatus.WR_FLUSH_ERR);
        assertThat(s.end.told).isEqualTo(QueuePairState.ERR);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.ERR);
        s.post(4, SendOpcode.SEND, 4);
        assertThat(s.end.sent.getLast()).isEqualTo(new TestEnd.Sent(4, WcStatus.WR_FLUSH_ERR, 0));
        assertThat(s.end.transport.nextDeadline()).as("no timer is left, but one that is evaluated once")
                .satisfiesAnyOf(
                        t -> assertThat(t).isEqualTo(Long.MAX_VALUE), t -> {
                            s.pass(t - s.network.now());
                            assertThat(s.end.transport.nextDeadline()).isEqualTo(Long.MAX_VALUE);
                        });
    }

    // ---- invalid responses

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 252, 260})
    void responseOfWrongLengthFailsRequest(int length) {
        s.post(1, SendOpcode.READ, 300);
        s.arrives(READ_FIRST, own(0), false, aeth(0x1f, 1), bytes(length));
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.BAD_RESP_ERR);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void unrequestedResponseIsDropped() {
        s.post(1, SendOpcode.SEND, 4);
        s.arrives(READ_ONLY, own(0), false, aeth(0x1f, 1), bytes(4));
        s.arrives(ATOMIC_ACK, own(0), false, aeth(0x1f, 1), number(1));
        s.post(2, SendOpcode.READ, 8);
        s.arrives(ATOMIC_ACK, own(1), false, aeth(0x1f, 1), number(1));
        s.assertDone(1); // what the wrong answer acknowledged besides
        assertThat(s.drops(DropReason.SEQUENCE)).isEqualTo(3);
        s.arrives(READ_ONLY, own(1), false, aeth(0x1f, 2), bytes(8));
        s.assertDone(1, 2);
    }

    @Test
    void deregisteredMemoryFailsResponse() {
        s.post(1, SendOpcode.READ, 8);
        s.end.memory.remove(TestEnd.KEY);
        s.arrives(READ_ONLY, own(0), false, aeth(0x1f, 1), bytes(8));
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.LOC_PROT_ERR);
    }

    // ---- local errors

    @Test
    void invalidBufferFailsInOrder() {
        s.post(1, SendOpcode.SEND, 4);
        s.post(2, SendOpcode.WRITE, 1 << 20);
        s.post(3, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0)).nothingLeaves();
        assertThat(s.end.sent).isEmpty();
        s.acknowledge(own(0), 0x1f);
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.SUCCESS,
                WcStatus.LOC_PROT_ERR, WcStatus.WR_FLUSH_ERR);
    }

    @Test
    void memoryDeregisteredBetweenPacketsFailsRequest() {
        s.post(1, SendOpcode.SEND, 300);
        s.leaves(0x00, own(0)).leaves(0x02, own(1)).nothingLeaves();
        s.end.memory.remove(TestEnd.KEY);
        s.acknowledge(own(0), 0x60);
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.LOC_PROT_ERR);
        s.nothingLeaves();
    }

    @Test
    void invalidLengthsFail() throws Exception {
        for (long length : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, (1L << 31) + 1}) {
            connect();
            s.post(1, SendOpcode.SEND, -1);
            s.acknowledge(own(0), 0x1f);
            SendWqe w = s.end.wqe(2, SendOpcode.SEND);
            w.addSge(TestEnd.KEY, s.end.at(0), length);
            s.end.post(w);
            assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.SUCCESS,
                    WcStatus.LOC_LEN_ERR);
        }
        connect();
        s.post(1, SendOpcode.FETCH_ADD, 4);
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.LOC_LEN_ERR);
    }

    @Test
    void bindAndLocalInvalidateRunInOrder() throws Exception {
        SendWqe w = s.end.wqe(1, SendOpcode.BIND_MW);
        w.rkey = 0x55;
        w.remoteAddress = s.end.at(0);
        w.windowLength = 100;
        w.windowAccess = AccessFlags.REMOTE_WRITE;
        s.end.post(w);
        s.assertDone(1);
        assertThat(s.end.memory.has(0x55)).isTrue();
        s.post(2, SendOpcode.SEND, 4);
        w = s.end.wqe(3, SendOpcode.LOCAL_INV);
        w.rkey = 0x55;
        s.end.post(w);
        s.assertDone(1); // not before what was posted before it
        s.acknowledge(own(0), 0x1f);
        s.assertDone(1, 2, 3);
        assertThat(s.end.memory.has(0x55)).isFalse();
        w = s.end.wqe(4, SendOpcode.LOCAL_INV);
        w.rkey = 0x55;
        s.end.post(w);
        assertThat(s.end.sent.getLast().status()).isEqualTo(WcStatus.LOC_QP_OP_ERR);
        connect();
        w = s.end.wqe(5, SendOpcode.BIND_MW);
        w.windowLength = 0;
        s.end.post(w);
        assertThat(s.end.sent.getLast().status()).isEqualTo(WcStatus.MW_BIND_ERR);
    }

    // ---- states

    @Test
    void sqdFinishesStartedRequests() {
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0));
        s.end.qp.modify(QueuePairState.SQD, QueuePairAttributes.to(QueuePairState.SQD).sqdAsyncNotify(true).build(),
                null);
        assertThat(s.end.qp.isDraining()).isTrue();
        s.post(2, SendOpcode.SEND, 4);
        s.nothingLeaves();
        s.acknowledge(own(0), 0x1f);
        assertThat(s.end.events).containsExactly(AsyncEventType.SQ_DRAINED);
        assertThat(s.end.qp.isDraining()).isFalse();
        s.nothingLeaves();
        s.end.to(QueuePairState.RTS);
        s.progress();
        s.leaves(0x04, own(1)).nothingLeaves();
    }

    @Test
    void resetAllowsReuse() throws Exception {
        s.end.receives.post(9, TestEnd.KEY, s.end.at(0), 4);
        s.post(1, SendOpcode.READ, 600);
        s.leaves(0x0c, own(0));
        s.end.to(QueuePairState.ERR);
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.WR_FLUSH_ERR);
        assertThat(s.end.received).extracting(TestEnd.Received::status).containsExactly(WcStatus.WR_FLUSH_ERR);
        s.end.receives.post(10, TestEnd.KEY, s.end.at(0), 4);
        s.end.qp.receivePosted();
        assertThat(s.end.received).hasSize(2);
        s.end.to(QueuePairState.RESET);
        s.end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, 77);
        s.post(2, SendOpcode.SEND, 4);
        s.leaves(0x04, 77);
        s.acknowledge(own(0), 0x1f); // of the previous connection
        s.acknowledge(77, 0x1f);
        assertThat(s.end.sent.getLast()).isEqualTo(new TestEnd.Sent(2, WcStatus.SUCCESS, 4));
    }

    @Test
    void closedQueuePairGetsNoCallbacks() {
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0));
        s.end.qp.close();
        s.acknowledge(own(0), 0x1f);
        s.pass(10 * Script.TIMEOUT);
        s.nothingLeaves();
        assertThat(s.end.sent).isEmpty();
        assertThat(s.drops(DropReason.QUEUE_PAIR)).isEqualTo(1);
        assertThat(s.end.transport.find(Script.NUMBER)).isNull();
    }

    @Test
    void congestionHalvesWindow() {
        for (int i = 0; i < 60; i++) {
            s.post(i, SendOpcode.SEND, 256);
        }
        for (int i = 0; i < 32; i++) {
            s.leaves(0x04, own(i));
        }
        s.nothingLeaves();
        s.arrives(0x81, 0, false, new byte[16]);
        s.acknowledge(own(31), 0x1f);
        for (int i = 32; i < 48 + 1; i++) { // 16, and one for what was acknowledged
            s.leaves(0x04, own(i));
        }
        s.nothingLeaves();
    }
}
