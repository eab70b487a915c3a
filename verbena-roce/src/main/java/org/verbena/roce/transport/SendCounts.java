// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.QueuePairPoints;
import org.verbena.verbs.spi.SendOpcode;

/** Counts completed requests. */
final class SendCounts {
    private SendCounts() {}

    static void done(QueuePairOwner owner, SendWqe w) {
        switch (w.opcode) {
            case SendOpcode.SEND, SendOpcode.SEND_IMM, SendOpcode.SEND_INV -> {
                owner.count(SamplePoint.QP_TX_SENDS, 1);
                owner.count(SamplePoint.QP_TX_SEND_BYTES, w.length);
            }
            case SendOpcode.WRITE, SendOpcode.WRITE_IMM, SendOpcode.ATOMIC_WRITE -> {
                owner.count(SamplePoint.QP_TX_WRITES, 1);
                owner.count(SamplePoint.QP_TX_WRITE_BYTES, w.length);
            }
            case SendOpcode.READ -> {
                owner.count(SamplePoint.QP_TX_READS, 1);
                owner.count(SamplePoint.QP_TX_READ_BYTES, w.length);
            }
            case SendOpcode.CMP_SWP, SendOpcode.FETCH_ADD -> owner.count(SamplePoint.QP_TX_ATOMICS, 1);
            default -> owner.count(SamplePoint.QP_TX_OTHERS, 1);
        }
    }

    static void failed(QueuePairOwner owner, int status) {
        owner.count(QueuePairPoints.ofFailedRequest(status), 1);
    }
}
