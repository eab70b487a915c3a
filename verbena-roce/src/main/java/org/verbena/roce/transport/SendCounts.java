// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.Opcode;

/** Counts completed requests. */
final class SendCounts {
    private SendCounts() {}

    static void done(QueuePairOwner owner, SendWqe w) {
        switch (w.opcode) {
            case Opcode.SEND, Opcode.SEND_IMM, Opcode.SEND_INV -> {
                owner.count(SamplePoint.QP_TX_SENDS, 1);
                owner.count(SamplePoint.QP_TX_SEND_BYTES, w.length);
            }
            case Opcode.WRITE, Opcode.WRITE_IMM, Opcode.ATOMIC_WRITE -> {
                owner.count(SamplePoint.QP_TX_WRITES, 1);
                owner.count(SamplePoint.QP_TX_WRITE_BYTES, w.length);
            }
            case Opcode.READ -> {
                owner.count(SamplePoint.QP_TX_READS, 1);
                owner.count(SamplePoint.QP_TX_READ_BYTES, w.length);
            }
            case Opcode.CMP_SWP, Opcode.FETCH_ADD -> owner.count(SamplePoint.QP_TX_ATOMICS, 1);
            default -> owner.count(SamplePoint.QP_TX_OTHERS, 1);
        }
    }

    static void failed(QueuePairOwner owner, int status) {
        owner.count(switch (status) {
            case WcStatus.LOC_LEN_ERR -> SamplePoint.QP_REQ_LOCAL_LENGTH_ERRORS;
            case WcStatus.LOC_PROT_ERR -> SamplePoint.QP_REQ_LOCAL_PROTECTION_ERRORS;
            case WcStatus.REM_INV_REQ_ERR -> SamplePoint.QP_REQ_REMOTE_INVALID_REQUESTS;
            case WcStatus.REM_ACCESS_ERR -> SamplePoint.QP_REQ_REMOTE_ACCESS_ERRORS;
            case WcStatus.REM_OP_ERR -> SamplePoint.QP_REQ_REMOTE_OPERATION_ERRORS;
            case WcStatus.RETRY_EXC_ERR -> SamplePoint.QP_REQ_RETRIES_EXCEEDED;
            case WcStatus.RNR_RETRY_EXC_ERR -> SamplePoint.QP_REQ_RNR_RETRIES_EXCEEDED;
            case WcStatus.WR_FLUSH_ERR -> SamplePoint.QP_REQ_FLUSHED;
            default -> SamplePoint.QP_REQ_OTHER_ERRORS;
        }, 1);
    }
}
