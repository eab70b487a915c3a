// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.SamplePoint;

/** Each packet that a context drops is counted at its sample point, and so are congestion marks and notifications. */
class DroppedPacketsTest extends HandMadePackets {
    @Test
    void packetsWithoutQueuePairAreCounted() throws Exception {
        assertCounted(SamplePoint.DEVICE_BAD_ICRC, context, () -> sendRaw(packet(RC_SEND_ONLY, DEFAULT_PKEY, rc
                .number(),
                1, 2)));
        assertCounted(SamplePoint.DEVICE_MALFORMED, context, () -> sendRaw(new byte[5]));
        assertCounted(SamplePoint.DEVICE_BAD_PKEYS, context, () -> send(peer, packet(RC_SEND_ONLY, 0x8123, rc.number()),
                0));
        assertCounted(SamplePoint.DEVICE_BAD_QUEUE_PAIRS, context, () -> send(peer, packet(RC_SEND_ONLY, DEFAULT_PKEY,
                0xfffff0), 0));
        assertCounted(SamplePoint.DEVICE_BAD_ADDRESSES, context, () -> send(stranger, packet(RC_SEND_ONLY, DEFAULT_PKEY,
                rc.number()), 0));
    }

    @Test
    void datagramsWithWrongQkeyAreCounted() throws Exception {
        assertCounted(SamplePoint.QP_BAD_QKEYS, ud, () -> send(peer, packet(UD_SEND_ONLY, DEFAULT_PKEY, ud.number(),
                QKEY + 1, 7), 0));
    }

    @Test
    void marksAndNotificationsAreCounted() throws Exception {
        try (Counters sent = context.createCounters()) {
            sent.attach(CounterAttachAttributes.of(SamplePoint.QP_CNP_SENT, 0), rc);
            assertCounted(SamplePoint.QP_ECN_MARKED, rc, () -> send(peer, packet(RC_SEND_ONLY, DEFAULT_PKEY, rc
                    .number()), CONGESTION_EXPERIENCED));
            assertThat(await(sent, 1)).isEqualTo(1);
            sent.detach(rc);
        }
        assertCounted(SamplePoint.QP_CNP_HANDLED, rc, () -> send(peer, packet(CNP, DEFAULT_PKEY, rc.number(), 0, 0, 0,
                0), 0));
        // of the same congestion: not within 50 microseconds, however slow the machine is
        try (Counters counters = context.createCounters()) {
            counters.attach(CounterAttachAttributes.of(SamplePoint.QP_CNP_IGNORED, 0), rc);
            for (long end = System.nanoTime() + PATIENCE_NANOS; read(counters) == 0;) {
                assertThat(System.nanoTime() - end).as("ignored notifications").isNegative();
                for (int i = 0; i < 8; i++) {
                    send(peer, packet(CNP, DEFAULT_PKEY, rc.number(), 0, 0, 0, 0), 0);
                }
                cq.startPoll();
            }
            counters.detach(rc);
        }
    }

    @Test
    void wireBytesAreCounted() throws Exception {
        try (Counters counters = context.createCounters()) {
            counters.attach(CounterAttachAttributes.of(SamplePoint.DEVICE_RX_WIRE_BYTES, 0), context);
            counters.attach(CounterAttachAttributes.of(SamplePoint.DEVICE_TX_WIRE_BYTES, 1), context);
            send(peer, packet(RC_SEND_ONLY, DEFAULT_PKEY, rc.number()), 0); // no receive: RNR NAK
            long[] values = new long[2];
            for (long end = System.nanoTime() + PATIENCE_NANOS; values[0] == 0 || values[1] == 0;) {
                assertThat(System.nanoTime() - end).as("%d bytes received, %d sent", values[0], values[1]).isNegative();
                cq.startPoll();
                counters.read(values, 0);
            }
            assertThat(values[0]).as("header and checksum").isEqualTo(12 + 4);
            assertThat(values[1]).as("with an acknowledgement's header").isEqualTo(12 + 4 + 4);
            counters.detach(context);
        }
    }
}
