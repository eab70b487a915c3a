// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;

import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** A completion as a value. */
record Completion(long wrId, int status, int opcode, long byteLength, int immediate, int queuePairNumber,
        int sourceQueuePair, int flags, long timestamp,
        long wallClock, int invalidatedRkey) implements Serializable {
    /** Reads the completion under the cursor. */
    static Completion of(CompletionQueue cq) {
        boolean ok = cq.status() == WcStatus.SUCCESS;
        boolean stamped = (cq.fields() & CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP) != 0;
        return new Completion(cq.wrId(), cq.status(), ok ? cq.opcode() : -1, ok ? cq.byteLength() : -1,
                ok ? cq.immediate() : 0, cq.queuePairNumber(), ok ? cq.sourceQueuePair() : 0, ok ? cq.flags() : 0,
                stamped ? cq.timestamp() : 0, cq.wallClockTimestamp(), ok ? cq.invalidatedRkey() : 0);
    }

    String statusName() {
        return WcStatus.toString(status);
    }

    @Override
    public String toString() {
        return (opcode < 0 ? "" : WcOpcode.toString(opcode) + " ") + "wrId=" + wrId + " " + statusName() + " length="
                + byteLength + " qp=0x" + Integer.toHexString(queuePairNumber);
    }
}
