// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.roce.transport.Packets.ACK;
import static org.verbena.roce.transport.Packets.aeth;
import static org.verbena.roce.transport.Script.own;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/** When a requester of type RC sends again: after a NAK of RNR, and after silence (IBTA volume 1, 9.7.5). */
class RetryScriptTest {
    private Script s;

    @BeforeEach
    void connect() throws Exception {
        s = Script.connected(QueuePairType.RC);
    }

    // ---- RNR

    @Test
    void rnrNakWaitsForItsTimer() {
        s.post(1, SendOpcode.SEND, 4);
        s.post(2, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0)).leaves(0x04, own(1)).nothingLeaves();
        s.acknowledge(own(1), 0x20 | 14); // 1.28 ms
        s.assertDone(1);
        s.pass(1_279_999);
        s.nothingLeaves();
        s.pass(1);
        s.leaves(0x04, own(1)).nothingLeaves();
        s.acknowledge(own(1), 0x1f);
        s.assertDone(1, 2);
        assertThat(s.end.count(SamplePoint.QP_TX_RNR_WAITS)).isEqualTo(1);
    }

    /** Code 0 is the longest of all; the ACK timer does not run meanwhile. */
    @Test
    void rnrWaitSuspendsTimeout() {
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0));
        s.acknowledge(own(0), 0x20);
        s.pass(655_359_999);
        s.nothingLeaves();
        assertThat(s.end.count(SamplePoint.QP_TX_PEER_WAITS)).isZero();
        s.pass(1);
        s.leaves(0x04, own(0)).nothingLeaves();
        s.pass(Script.TIMEOUT);
        s.leaves(0x04, own(0)).nothingLeaves();
    }

    @Test
    void rnrRetrySevenIsInfinite() throws Exception {
        s.post(1, SendOpcode.SEND, 4);
        for (int i = 0; i < 100; i++) {
            s.acknowledge(own(0), 0x21);
            s.pass(10_000);
        }
        assertThat(s.end.sent).isEmpty();
        s = new Script(QueuePairType.RC);
        s.end.rnrRetries = 2;
        s.end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
        s.post(1, SendOpcode.SEND, 4);
        for (int i = 0; i < 2; i++) {
            s.acknowledge(own(0), 0x21);
            s.acknowledge(own(0), 0x21); // a duplicate counts once
            assertThat(s.end.sent).isEmpty();
            s.pass(10_000);
        }
        s.acknowledge(own(0), 0x21);
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.RNR_RETRY_EXC_ERR);
    }

    // ---- timer

    @Test
    void timeoutRetransmits() {
        s.post(1, SendOpcode.SEND, 600);
        s.leaves(0x00, own(0)).leaves(0x01, own(1)).leaves(0x02, own(2)).nothingLeaves();
        s.pass(Script.TIMEOUT - 1);
        s.nothingLeaves();
        s.pass(1);
        s.leaves(0x00, own(0)).leaves(0x01, own(1)).leaves(0x02, own(2)).nothingLeaves();
        s.acknowledge(own(0), 0x1f);
        s.pass(Script.TIMEOUT - 1);
        s.nothingLeaves();
        s.pass(1);
        s.leaves(0x01, own(1)).leaves(0x02, own(2)).nothingLeaves();
    }

    @Test
    void retriesAreCountedAndResetByProgress() throws Exception {
        s = new Script(QueuePairType.RC);
        s.end.retries = 2;
        s.end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
        s.post(1, SendOpcode.SEND, 600);
        s.pass(Script.TIMEOUT);
        s.acknowledge(own(0), 0x1f);
        s.pass(Script.TIMEOUT);
        s.acknowledge(own(1), 0x60); // shown by a NAK, while a retransmission is under way
        s.pass(Script.TIMEOUT);
        assertThat(s.end.sent).isEmpty();
        s.pass(2 * Script.TIMEOUT);
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.RETRY_EXC_ERR);
        assertThat(s.end.qp.state()).isEqualTo(QueuePairState.ERR);
    }

    /** A suspended peer does not get more to do each time, and has longer than a lost packet would take. */
    @Test
    void timeoutsOfASilentPeerGrowToFourIntervals() throws Exception {
        s = new Script(QueuePairType.RC);
        s.end.retries = 7;
        s.end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0)).nothingLeaves();
        for (int intervals : new int[] {1, 1, 2, 4, 4, 4, 4}) {
            s.pass(intervals * Script.TIMEOUT - 1);
            s.nothingLeaves();
            s.pass(1);
            s.leaves(0x04, own(0)).nothingLeaves();
        }
        s.pass(4 * Script.TIMEOUT - 1);
        assertThat(s.end.sent).isEmpty();
        s.pass(1);
        assertThat(s.end.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.RETRY_EXC_ERR);
    }

    /**
     * As after a process was not scheduled for a while: the response has arrived, behind others, when the timer is
     * checked.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 64})
    void arrivedResponsePreventsTimeout(int batch) {
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0)).nothingLeaves();
        s.network.batch = batch;
        inject(100, own(-1));
        inject(1, own(0));
        s.network.advanceTo(s.network.now() + 2 * Script.TIMEOUT);
        s.end.transport.progress(64);
        s.nothingLeaves();
        s.progress();
        s.assertDone(1);
        s.nothingLeaves();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void packetFloodDoesNotDelayTimer(boolean delayAcks) {
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0)).nothingLeaves();
        inject(64 * 64, own(-1));
        s.network.advanceTo(s.network.now() + Script.TIMEOUT);
        for (int i = 1; i < 64; i++) {
            assertThat(s.end.transport.progress(64, delayAcks)).isEqualTo(64);
            s.nothingLeaves();
        }
        s.end.transport.progress(64, delayAcks);
        s.leaves(0x04, own(0)).nothingLeaves();
    }

    /** ACKs that have arrived and were not received yet. */
    private void inject(int count, int psn) {
        for (int i = 0; i < count; i++) {
            s.network.inject(Script.PEER, Script.OWN, Packets.packet(ACK, Script.NUMBER, psn, false, aeth(0x1f, 0)));
        }
    }

    @Test
    void timeoutZeroDisablesTimer() throws Exception {
        s = new Script(QueuePairType.RC);
        s.end.timeout = 0;
        s.end.connect(Script.PEER, Script.PEER_NUMBER, Script.PEER_PSN, Script.OWN_PSN);
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0));
        assertThat(s.end.transport.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }

    /** Continuous polling reads the clock now and then only, since that costs as much as a tenth of a poll. */
    @Test
    void continuousPollingChecksTimersEveryEightPolls() {
        s.post(1, SendOpcode.SEND, 4);
        s.leaves(0x04, own(0));
        for (int intervals : new int[] {1, 1, 2}) {
            s.network.advanceTo(s.network.now() + intervals * Script.TIMEOUT + 1);
            for (int i = 0; i < 8; i++) {
                s.end.transport.progress(64, true);
            }
            s.leaves(0x04, own(0)).nothingLeaves();
        }
    }
}
