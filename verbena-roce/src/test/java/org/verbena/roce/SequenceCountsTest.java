// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;

/** Sequence numbers: each gap, duplicate, loss and stale response increments its sample point by one. */
class SequenceCountsTest extends HandMadePackets {
    private static final int READ_REQUEST = 0x0c;
    private static final int ACKNOWLEDGE = 0x11;
    private static final int OWN_PSN = 500;
    private static final int ACK = 0x1f;
    private static final int RESERVED = 0x40;
    private static final int NAK_SEQUENCE = 0x60;

    private void request(int psn, int opcode, int... words) throws Exception {
        send(peer, numbered(psn, opcode, DEFAULT_PKEY, rc.number(), words), 0);
    }

    private void answer(int psn, int syndrome) throws Exception {
        request(psn, ACKNOWLEDGE, syndrome << 24);
    }

    /** Without a time-out: every retransmission is triggered by the peer. */
    private MemoryRegion toSend() throws Exception {
        rc.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(OWN_PSN).timeout(0).retryCount(7).rnrRetry(7)
                .maxReadAtomic(1).build());
        return pd.allocate(4096, AccessFlags.LOCAL_WRITE);
    }

    private void post(MemoryRegion region) throws Exception {
        assertThat(rc.sendQueue().postSend(1, SendFlags.SIGNALED, region, 0, 8)).isZero();
    }

    private void awaitSent() throws Exception {
        for (long end = System.nanoTime() + PATIENCE_NANOS; cq.startPoll() != 0;) {
            assertThat(System.nanoTime() - end).as("no completion").isNegative();
        }
        assertThat(cq.status()).isEqualTo(WcStatus.SUCCESS);
        cq.endPoll();
    }

    @Test
    void gapsAndDuplicatesAreCounted() throws Exception {
        assertCounted(SamplePoint.QP_OUT_OF_SEQUENCE, rc, () -> request(PSN + 1, RC_SEND_ONLY));
        // the NAK for it was sent: packets after the same gap are dropped
        assertCounted(SamplePoint.DEVICE_BAD_SEQUENCES, context, () -> request(PSN + 2, RC_SEND_ONLY));
        assertCounted(SamplePoint.QP_DUPLICATE_REQUESTS, rc, () -> request(PSN - 1, RC_SEND_ONLY));
        // a READ whose response is not kept
        assertCounted(SamplePoint.DEVICE_BAD_SEQUENCES, context, () -> request(PSN - 2, READ_REQUEST, 0, 0, 1, 8));
    }

    @Test
    void unexpectedResponsesAreCounted() throws Exception {
        MemoryRegion region = toSend();
        assertCounted(SamplePoint.DEVICE_BAD_SEQUENCES, context, () -> answer(OWN_PSN, ACK));
        post(region);
        assertCounted(SamplePoint.DEVICE_BAD_SEQUENCES, context, () -> answer(OWN_PSN, RESERVED));
        assertCounted(SamplePoint.DEVICE_BAD_SEQUENCES, context, () -> answer(OWN_PSN + 1, ACK));
        answer(OWN_PSN, ACK);
        awaitSent();
        assertCounted(SamplePoint.DEVICE_BAD_SEQUENCES, context, () -> answer(OWN_PSN, ACK));
    }

    @Test
    void lossesAreCounted() throws Exception {
        MemoryRegion region = toSend();
        try (Counters again = context.createCounters()) {
            again.attach(CounterAttachAttributes.of(SamplePoint.QP_RETRANSMITS, 0), rc);
            post(region);
            assertThat(read(again)).isZero();
            assertCounted(SamplePoint.QP_PACKET_SEQUENCE_ERRORS, rc, () -> answer(OWN_PSN, NAK_SEQUENCE));
            assertThat(await(again, 1)).isEqualTo(1);
            answer(OWN_PSN, ACK);
            awaitSent();
            assertThat(rc.sendQueue().postRead(2, SendFlags.SIGNALED, region, 0, 8, 1, 1)).isZero();
            post(region);
            // of the SEND, which implies that the READ response was lost
            assertCounted(SamplePoint.QP_IMPLIED_NAKS, rc, () -> answer(OWN_PSN + 2, ACK));
            assertThat(await(again, 2)).as("the SEND, the READ, and what followed").isBetween(2L, 3L);
            again.detach(rc);
        }
    }
}
