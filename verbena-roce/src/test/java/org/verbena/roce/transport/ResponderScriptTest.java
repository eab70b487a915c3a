// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.roce.transport.Packets.ACK;
import static org.verbena.roce.transport.Packets.ATOMIC_ACK;
import static org.verbena.roce.transport.Packets.ATOMIC_WRITE;
import static org.verbena.roce.transport.Packets.COMPARE_AND_SWAP;
import static org.verbena.roce.transport.Packets.FETCH_AND_ADD;
import static org.verbena.roce.transport.Packets.FLUSH;
import static org.verbena.roce.transport.Packets.READ;
import static org.verbena.roce.transport.Packets.READ_FIRST;
import static org.verbena.roce.transport.Packets.READ_LAST;
import static org.verbena.roce.transport.Packets.READ_ONLY;
import static org.verbena.roce.transport.Packets.SEND_FIRST;
import static org.verbena.roce.transport.Packets.SEND_LAST;
import static org.verbena.roce.transport.Packets.SEND_MIDDLE;
import static org.verbena.roce.transport.Packets.SEND_ONLY;
import static org.verbena.roce.transport.Packets.SEND_ONLY_IMM;
import static org.verbena.roce.transport.Packets.SEND_ONLY_INVALIDATE;
import static org.verbena.roce.transport.Packets.WRITE_FIRST;
import static org.verbena.roce.transport.Packets.WRITE_LAST;
import static org.verbena.roce.transport.Packets.WRITE_LAST_IMM;
import static org.verbena.roce.transport.Packets.WRITE_MIDDLE;
import static org.verbena.roce.transport.Packets.WRITE_ONLY;
import static org.verbena.roce.transport.Packets.aeth;
import static org.verbena.roce.transport.Packets.atomicEth;
import static org.verbena.roce.transport.Packets.bytes;
import static org.verbena.roce.transport.Packets.number;
import static org.verbena.roce.transport.Packets.packet;
import static org.verbena.roce.transport.Packets.reth;
import static org.verbena.roce.transport.Packets.word;
import static org.verbena.roce.transport.Script.in;

import java.lang.foreign.ValueLayout;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** A responder's reply of type RC to each packet, rule by rule (IBTA volume 1, 9.7.4 and 9.7.5.1). */
class ResponderScriptTest {
    private Script s;

    @BeforeEach
    void connect() throws Exception {
        s = Script.connected(QueuePairType.RC);
    }

    private void receive(long id, long offset, long length) {
        s.end.receives.post(id, TestEnd.KEY, s.end.at(offset), length);
    }

    private long at(long offset) {
        return s.end.at(offset);
    }

    // ---- ACK

    @Test
    void ackHasPsnAndMsn() {
        receive(7, 0, 100);
        s.arrives(SEND_ONLY, in(0), true, bytes(10));
        s.leaves(ACK, in(0), "1f000001").nothingLeaves();
        assertThat(s.end.received).singleElement().isEqualTo(new TestEnd.Received(7, WcStatus.SUCCESS, WcOpcode.RECV,
                10, 0, 0, Script.PEER_NUMBER, false));
        assertThat(s.memory(0, 12)).isEqualTo(java.util.Arrays.copyOf(bytes(10), 12)); // the padding is not written
    }

    @Test
    void noAckWithoutAckRequest() {
        receive(7, 0, 100);
        s.arrives(SEND_ONLY, in(0), false, bytes(10));
        s.nothingLeaves();
        assertThat(s.end.received).hasSize(1);
    }

    /** Polls continuously. */
    private void poll(int times) {
        for (int i = 0; i < times; i++) {
            s.end.transport.progress(64, true);
        }
    }

    private void arrivesUnanswered(int n) {
        s.network.inject(Script.PEER, Script.OWN, packet(SEND_ONLY, Script.NUMBER, in(n), true, bytes(4)));
        poll(1);
        s.nothingLeaves();
    }

    @Test
    void continuousPollingDelaysAndMergesAcks() {
        for (int i = 0; i < 4; i++) {
            receive(i, 100L * i, 100);
        }
        arrivesUnanswered(0);
        assertThat(s.end.transport.nextDeadline()).as("no thread is woken for it").isGreaterThan(s.network.now());
        poll(5);
        arrivesUnanswered(1);
        assertThat(s.end.received).hasSize(2);
        poll(20);
        s.leaves(ACK, in(1), "1f000002").nothingLeaves();
        arrivesUnanswered(2);
        s.progress();
        s.leaves(ACK, in(2), "1f000003").nothingLeaves();
        arrivesUnanswered(3);
        s.end.transport.flushAcks();
        s.leaves(ACK, in(3), "1f000004").nothingLeaves();
        s.end.transport.flushAcks();
        poll(40);
        s.nothingLeaves();
    }

    @Test
    void batchesAndNaksAreNotDelayed() {
        for (int i = 0; i < 3; i++) {
            receive(i, 100L * i, 100);
            s.network.inject(Script.PEER, Script.OWN, packet(SEND_ONLY, Script.NUMBER, in(i), true, bytes(4)));
        }
        poll(1);
        s.leaves(ACK, in(2), "1f000003").nothingLeaves();
        s.network.inject(Script.PEER, Script.OWN, packet(READ, Script.NUMBER, in(3), true, reth(at(0), TestEnd.KEY,
                4)));
        poll(1);
        s.leaves(READ_ONLY, in(3)).nothingLeaves();
        s.network.inject(Script.PEER, Script.OWN, packet(SEND_ONLY, Script.NUMBER, in(5), true, bytes(4)));
        poll(1);
        s.leaves(ACK, in(4), "60000004").nothingLeaves();
    }

    @Test
    void batchGetsOneAck() {
        receive(1, 0, 100);
        receive(2, 100, 100);
        s.arriveTogether(packet(SEND_ONLY, Script.NUMBER, in(0), true, bytes(4)), packet(SEND_ONLY, Script.NUMBER, in(
                1), true, bytes(8)), packet(WRITE_ONLY, Script.NUMBER, in(2), true, reth(at(500), TestEnd.KEY, 4),
                        bytes(4)));
        s.leaves(ACK, in(2), "1f000003").nothingLeaves();
    }

    @Test
    void messageOfThreePackets() {
        receive(7, 0, 1000);
        s.arrives(SEND_FIRST, in(0), false, bytes(256));
        s.arrives(SEND_MIDDLE, in(1), true, bytes(256));
        s.leaves(ACK, in(1), "1f000000"); // no message is complete yet
        s.arrives(SEND_LAST, in(2), true, bytes(1));
        s.leaves(ACK, in(2), "1f000001").nothingLeaves();
        assertThat(s.end.received).singleElement().extracting(TestEnd.Received::bytes).isEqualTo(513L);
        assertThat(s.memory(512, 2)).containsExactly(1, 0);
    }

    @Test
    void immediateAndSolicited() {
        receive(7, 0, 100);
        byte[] p = packet(SEND_ONLY_IMM, Script.NUMBER, in(0), true, word(0x01020304), bytes(3));
        p[1] |= (byte) 0x80;
        s.arriveTogether(p);
        assertThat(s.end.received).singleElement().isEqualTo(new TestEnd.Received(7, WcStatus.SUCCESS, WcOpcode.RECV, 3,
                0x01020304, WcFlags.WITH_IMM, Script.PEER_NUMBER, true));
    }

    @Test
    void writeWithImmediateConsumesReceiveOnly() {
        receive(7, 0, 0);
        s.arrives(WRITE_FIRST, in(0), false, reth(at(1000), TestEnd.KEY, 300), bytes(256));
        s.arrives(WRITE_LAST_IMM, in(1), true, word(5), bytes(44));
        s.leaves(ACK, in(1), "1f000001").nothingLeaves();
        assertThat(s.end.received).singleElement().isEqualTo(new TestEnd.Received(7, WcStatus.SUCCESS,
                WcOpcode.RECV_RDMA_WITH_IMM, 300, 5, WcFlags.WITH_IMM, Script.PEER_NUMBER, false));
        assertThat(s.memory(1000, 256)).isEqualTo(bytes(256));
        assertThat(s.memory(1256, 44)).isEqualTo(bytes(44));
    }

    @Test
    void emptyWriteNeedsNoKey() {
        s.arrives(WRITE_ONLY, in(0), true, reth(-1, 0x12345678, 0));
        s.leaves(ACK, in(0), "1f000001").nothingLeaves();
    }

    // ---- out of sequence, duplicates

    @Test
    void gapSendsOneNakAndDropsFollowing() {
        receive(7, 0, 100);
        receive(8, 0, 100);
        s.arrives(SEND_ONLY, in(1), true, bytes(4));
        s.leaves(ACK, in(0), "60000000");
        s.arrives(SEND_ONLY, in(2), true, bytes(4));
        s.nothingLeaves();
        assertThat(s.end.count(SamplePoint.QP_OUT_OF_SEQUENCE)).isEqualTo(2);
        assertThat(s.end.received).isEmpty();
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.leaves(ACK, in(0), "1f000001").nothingLeaves();
        s.arrives(SEND_ONLY, in(2), true, bytes(4)); // another gap causes another NAK
        s.leaves(ACK, in(1), "60000001").nothingLeaves();
    }

    @Test
    void duplicateIsAcknowledgedNotExecuted() {
        receive(7, 0, 100);
        receive(8, 200, 100);
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.arrives(WRITE_ONLY, in(1), true, reth(at(500), TestEnd.KEY, 4), bytes(4));
        s.leaves(ACK, in(0)).leaves(ACK, in(1));
        s.end.memory.segment().set(ValueLayout.JAVA_BYTE, 500, (byte) 77);
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.leaves(ACK, in(1), "1f000002").nothingLeaves();
        s.arrives(WRITE_ONLY, in(1), true, reth(at(500), TestEnd.KEY, 4), bytes(4));
        s.leaves(ACK, in(1), "1f000002").nothingLeaves();
        assertThat(s.memory(500, 1)).containsExactly(77);
        assertThat(s.end.received).hasSize(1);
        assertThat(s.end.count(SamplePoint.QP_DUPLICATE_REQUESTS)).isEqualTo(2);
    }

    /**
     * A request whose response was lost is retransmitted: an ACK with the READ's PSN would mean that it is complete.
     */
    @Test
    void duplicateBeforeReadIsAcknowledgedWithItsOwnPsn() {
        receive(7, 0, 100);
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.leaves(ACK, in(0));
        s.arrives(READ, in(1), true, reth(at(0), TestEnd.KEY, 300));
        s.leaves(READ_FIRST, in(1)).leaves(READ_LAST, in(2));
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.leaves(ACK, in(0), "1f000002").nothingLeaves();
        s.arrives(WRITE_ONLY, in(3), true, reth(at(500), TestEnd.KEY, 4), bytes(4));
        s.leaves(ACK, in(3));
        s.arrives(FETCH_AND_ADD, in(4), true, atomicEth(at(600), TestEnd.KEY, 1, 0));
        s.leaves(ATOMIC_ACK, in(4));
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.leaves(ACK, in(3), "1f000004").nothingLeaves();
        s.arrives(WRITE_ONLY, in(3), true, reth(at(500), TestEnd.KEY, 4), bytes(4));
        s.leaves(ACK, in(3), "1f000004").nothingLeaves();
        assertThat(s.end.received).hasSize(1);
    }

    @Test
    void sendWithPsnOfReadIsDropped() {
        s.arrives(READ, in(0), true, reth(at(0), TestEnd.KEY, 4));
        s.leaves(READ_ONLY, in(0));
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.nothingLeaves();
        assertThat(s.drops(DropReason.SEQUENCE)).isEqualTo(1);
    }

    @Test
    void halfOfPsnSpaceIsDuplicate() {
        s.arrives(WRITE_ONLY, in(-0x800000), true, reth(0, 0, 0));
        s.leaves(ACK, in(-1), "1f000000").nothingLeaves();
        s.arrives(WRITE_ONLY, in(0x7fffff), true, reth(0, 0, 0));
        s.leaves(ACK, in(0), "60000000").nothingLeaves();
    }

    // ---- RNR

    @Test
    void missingReceiveSendsRnrNak() {
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.leaves(ACK, in(0), "21000000").nothingLeaves(); // the timer's code is 1
        s.arrives(SEND_ONLY, in(1), true, bytes(4)); // it was sent before the sender received the NAK
        s.nothingLeaves();
        receive(7, 0, 100);
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.leaves(ACK, in(0), "1f000001").nothingLeaves();
        assertThat(s.end.count(SamplePoint.QP_RX_OUT_OF_BUFFER)).isEqualTo(1);
    }

    @Test
    void onlyLastPacketOfWriteWithImmediateNeedsReceive() {
        s.arrives(WRITE_FIRST, in(0), false, reth(at(1000), TestEnd.KEY, 260), bytes(256));
        s.arrives(WRITE_LAST_IMM, in(1), true, word(5), bytes(4));
        s.leaves(ACK, in(1), "21000000").nothingLeaves();
        assertThat(s.memory(1256, 4)).containsOnly(0);
        receive(7, 0, 0);
        s.arrives(WRITE_LAST_IMM, in(1), true, word(5), bytes(4));
        s.leaves(ACK, in(1), "1f000001").nothingLeaves();
        assertThat(s.memory(1256, 4)).isEqualTo(bytes(4));
    }

    // ---- invalid requests

    @ParameterizedTest
    @ValueSource(ints = {SEND_MIDDLE, SEND_LAST, WRITE_MIDDLE, WRITE_LAST})
    void missingFirstPacketIsInvalid(int opcode) {
        receive(7, 0, 1000);
        s.arrives(opcode, in(0), true, bytes(256));
        s.assertRefused(0x61, in(0), 0);
        assertThat(s.end.events).contains(AsyncEventType.QP_REQ_ERR);
        assertThat(s.end.received).singleElement().extracting(TestEnd.Received::status).isEqualTo(
                WcStatus.WR_FLUSH_ERR);
    }

    @ParameterizedTest
    @ValueSource(ints = {SEND_FIRST, SEND_ONLY, WRITE_MIDDLE, WRITE_LAST, READ})
    void otherRequestWithinMessageIsInvalid(int opcode) {
        receive(7, 0, 1000);
        s.arrives(SEND_FIRST, in(0), false, bytes(256));
        byte[] rest = opcode == READ ? reth(at(0), TestEnd.KEY, 8) : bytes(256);
        s.arrives(opcode, in(1), true, rest);
        s.assertRefused(0x61, in(1), 0);
        assertThat(s.end.received).singleElement().extracting(TestEnd.Received::status).isEqualTo(
                WcStatus.WR_FLUSH_ERR);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 252, 260})
    void shortFirstPacketIsInvalid(int length) {
        receive(7, 0, 1000);
        s.arrives(SEND_FIRST, in(0), true, bytes(length));
        s.assertRefused(0x61, in(0), 0);
    }

    @Test
    void emptyLastAndLongOnlyPacketsAreInvalid() throws Exception {
        receive(7, 0, 1000);
        s.arrives(SEND_FIRST, in(0), false, bytes(256));
        s.arrives(SEND_LAST, in(1), true);
        s.assertRefused(0x61, in(1), 0);
        connect();
        receive(7, 0, 1000);
        s.arrives(SEND_ONLY, in(0), true, bytes(257));
        s.assertRefused(0x61, in(0), 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {255, 257, 512, 514, Integer.MIN_VALUE, -1})
    void writeLengthMismatchIsInvalid(int length) {
        s.arrives(WRITE_FIRST, in(0), false, reth(at(1000), TestEnd.KEY, length), bytes(256));
        s.arrives(WRITE_LAST, in(1), true, bytes(257 - 256));
        if (length == 257) {
            s.leaves(ACK, in(1), "1f000001").nothingLeaves();
        } else {
            boolean atOnce = length < 256; // as are those beyond 2^31
            s.leaves(ACK, in(atOnce ? 0 : 1)).nothingLeaves();
            assertThat(s.end.qp.state()).isEqualTo(QueuePairState.ERR);
        }
    }

    @Test
    void longMessageFailsReceiveAndRequest() {
        receive(7, 0, 9);
        receive(8, 0, 100);
        s.arrives(SEND_ONLY, in(0), true, bytes(10));
        s.assertRefused(0x61, in(0), 0);
        assertThat(s.end.received).extracting(TestEnd.Received::status).containsExactly(WcStatus.LOC_LEN_ERR,
                WcStatus.WR_FLUSH_ERR);
        assertThat(s.memory(0, 10)).containsOnly(0);
    }

    @Test
    void receiveOfForeignMemoryIsOperationError() {
        s.end.receives.post(7, 0x4711, at(0), 100);
        s.arrives(SEND_ONLY, in(0), true, bytes(10));
        s.assertRefused(0x63, in(0), 0);
        assertThat(s.end.received).extracting(TestEnd.Received::status).containsExactly(WcStatus.LOC_PROT_ERR);
    }

    @ParameterizedTest
    @ValueSource(ints = {WRITE_ONLY, READ, COMPARE_AND_SWAP, FETCH_AND_ADD, FLUSH, ATOMIC_WRITE})
    void forbiddenOperationIsInvalid(int opcode) throws Exception {
        s = new Script(QueuePairType.RC);
        s.end.access = AccessFlags.LOCAL_WRITE;
        s.end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
        s.arrives(opcode, in(0), true, request(opcode, at(0), TestEnd.KEY));
        s.assertRefused(0x61, in(0), 0);
        assertThat(s.end.events).contains(AsyncEventType.QP_REQ_ERR);
    }

    private static byte[] request(int opcode, long address, int key) {
        return switch (opcode) {
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> atomicEth(address, key, 1, 0);
            case FLUSH -> concat(word(1), reth(address, key, 8));
            case READ -> reth(address, key, 8);
            default -> concat(reth(address, key, 8), bytes(8));
        };
    }

    private static byte[] concat(byte[] a, byte[] b) {
        byte[] c = java.util.Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, c, a.length, b.length);
        return c;
    }

    @ParameterizedTest
    @ValueSource(ints = {WRITE_ONLY, READ, COMPARE_AND_SWAP, FETCH_AND_ADD, FLUSH, ATOMIC_WRITE})
    void wrongRkeyIsAccessError(int opcode) throws Exception {
        s.arrives(opcode, in(0), true, request(opcode, at(0), 0x4711));
        s.assertRefused(0x62, in(0), 0);
        assertThat(s.end.events).contains(AsyncEventType.QP_ACCESS_ERR);
        connect();
        s.arrives(opcode, in(0), true, request(opcode, at(1 << 16), TestEnd.KEY));
        s.assertRefused(0x62, in(0), 0);
        assertThat(s.end.count(SamplePoint.QP_RESP_REMOTE_ACCESS_ERRORS)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {COMPARE_AND_SWAP, FETCH_AND_ADD, ATOMIC_WRITE})
    void misalignedAtomicIsInvalid(int opcode) {
        s.arrives(opcode, in(0), true, request(opcode, at(4), TestEnd.KEY));
        s.assertRefused(0x61, in(0), 0);
    }

    @Test
    void readWithZeroDepthIsInvalid() throws Exception {
        s = new Script(QueuePairType.RC);
        s.end.depth = 0;
        s.end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
        s.arrives(READ, in(0), true, reth(at(0), TestEnd.KEY, 8));
        s.assertRefused(0x61, in(0), 0);
    }

    @Test
    void nothingIsSentAfterError() {
        s.arrives(SEND_LAST, in(0), true, bytes(4));
        s.assertRefused(0x61, in(0), 0);
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.nothingLeaves();
        assertThat(s.drops(DropReason.QUEUE_PAIR)).isEqualTo(1);
    }

    // ---- invalidation

    @Test
    void sendWithInvalidateInvalidatesWindow() {
        s.end.memory.addWindow(0x55, 0, 100, AccessFlags.REMOTE_WRITE, Script.NUMBER);
        receive(7, 0, 100);
        s.arrives(SEND_ONLY_INVALIDATE, in(0), true, word(0x55), bytes(4));
        s.leaves(ACK, in(0), "1f000001").nothingLeaves();
        assertThat(s.end.memory.has(0x55)).isFalse();
        assertThat(s.end.received).singleElement().isEqualTo(new TestEnd.Received(7, WcStatus.SUCCESS, WcOpcode.RECV, 4,
                0x55, WcFlags.WITH_INV, Script.PEER_NUMBER, false));
    }

    @Test
    void invalidateOfRegionKeyIsAccessError() {
        receive(7, 0, 100);
        s.arrives(SEND_ONLY_INVALIDATE, in(0), true, word(TestEnd.KEY), bytes(4));
        s.assertRefused(0x62, in(0), 0);
        assertThat(s.end.received).singleElement().extracting(TestEnd.Received::status).isEqualTo(
                WcStatus.REM_INV_REQ_ERR);
        assertThat(s.memory(0, 4)).containsOnly(0);
    }

    // ---- packets without a response

    @Test
    void foreignPacketsAreDroppedAndCounted() {
        receive(7, 0, 100);
        byte[] good = packet(SEND_ONLY, Script.NUMBER, in(0), true, bytes(4));
        byte[] version = good.clone();
        version[1] |= 1;
        byte[] pkey = good.clone();
        pkey[3] = 1;
        byte[] opcode = good.clone();
        opcode[0] = 0x15;
        byte[] unreliable = good.clone();
        unreliable[0] = 0x24;
        byte[] padding = packet(SEND_ONLY, Script.NUMBER, in(0), true);
        padding[1] |= 0x30;
        byte[] ackWithPayload = packet(ACK, Script.NUMBER, in(0), false, aeth(0x1f, 0), number(0));
        s.arriveTogether(version, pkey, opcode, unreliable, padding, ackWithPayload, new byte[11], new byte[0],
                new byte[13], packet(SEND_ONLY, 0x99, in(0), true), packet(WRITE_ONLY, Script.NUMBER, in(0), true,
                        word(1)));
        s.network.inject(org.verbena.verbs.Gid.parse("::ffff:10.0.0.3"), Script.OWN, good);
        s.progress();
        s.nothingLeaves();
        assertThat(s.drops(DropReason.VERSION)).isEqualTo(1);
        assertThat(s.drops(DropReason.PKEY)).isEqualTo(1);
        assertThat(s.drops(DropReason.OPCODE)).isEqualTo(2);
        assertThat(s.drops(DropReason.MALFORMED)).isEqualTo(6);
        assertThat(s.drops(DropReason.QUEUE_PAIR)).isEqualTo(1);
        assertThat(s.drops(DropReason.ADDRESS)).isEqualTo(1);
        s.arriveTogether(good);
        s.leaves(ACK, in(0), "1f000001").nothingLeaves();
    }

    @Test
    void firstRequestInRtrRaisesCommEst() throws Exception {
        s = new Script(QueuePairType.RC);
        s.end.toInit();
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.nothingLeaves();
        s.end.toReceive(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN);
        receive(7, 0, 100);
        s.arrives(SEND_ONLY, in(0), true, bytes(4));
        s.leaves(ACK, in(0), "1f000001").nothingLeaves();
        s.arrives(WRITE_ONLY, in(1), true, reth(0, 0, 0));
        assertThat(s.end.events).containsExactly(AsyncEventType.COMM_EST);
    }

    @Test
    void ecnMarkSendsCnp() {
        byte[] p = packet(WRITE_ONLY, Script.NUMBER, in(0), false, reth(0, 0, 0));
        s.network.injectMarked(Script.PEER, Script.OWN, p);
        s.progress();
        s.leaves(0x81, 0, "00".repeat(16)).nothingLeaves();
        s.network.injectMarked(Script.PEER, Script.OWN, packet(WRITE_ONLY, Script.NUMBER, in(1), false, reth(0, 0, 0)));
        s.progress();
        s.nothingLeaves(); // not again within the interval
    }
}
