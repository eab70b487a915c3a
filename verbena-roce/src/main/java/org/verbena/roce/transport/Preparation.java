// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/**
 * Preparation of a request before its first packet is sent: checks, its length, and the operations that need no packet.
 */
final class Preparation {
    private Preparation() {}

    /**
     * Sets the transport's fields of a request, except {@code first}; SUCCESS, or the status that the request fails
     * with.
     */
    static int prepare(TransportQueuePair qp, SendWqe w, int mtu) {
        w.received = 0;
        w.packets = 0;
        w.length = 0;
        w.expectsResponse = false;
        Memory memory = qp.owner.memory();
        return switch (w.opcode) {
            case SendOpcode.LOCAL_INV -> memory.invalidate(qp.number(), w.rkey, false) == 0
                    ? WcStatus.SUCCESS
                    : WcStatus.LOC_QP_OP_ERR;
            case SendOpcode.BIND_MW -> memory.bind(qp.number(), w) == 0
                    ? WcStatus.SUCCESS
                    : WcStatus.MW_BIND_ERR;
            default -> message(memory, w, mtu);
        };
    }

    private static int message(Memory memory, SendWqe w, int mtu) {
        boolean inline = (w.flags & SendFlags.INLINE) != 0;
        long length = inline ? w.inlineLength : ScatterGather.length(w.sgeCount, w.lengths);
        boolean atomic = w.opcode == SendOpcode.CMP_SWP || w.opcode == SendOpcode.FETCH_ADD;
        boolean read = w.opcode == SendOpcode.READ;
        if (length < 0 || atomic && length != Long.BYTES) {
            return WcStatus.LOC_LEN_ERR;
        }
        int access = atomic || read ? AccessFlags.LOCAL_WRITE : 0;
        if (!inline && !ScatterGather.areAllowed(memory, w.sgeCount, w.lkeys, w.addresses, w.lengths, access)) {
            return WcStatus.LOC_PROT_ERR;
        }
        w.expectsResponse = atomic || read || w.opcode == SendOpcode.FLUSH || w.opcode == SendOpcode.ATOMIC_WRITE;
        w.length = w.opcode == SendOpcode.ATOMIC_WRITE ? Long.BYTES : length;
        w.packets = w.expectsResponse && !read ? 1 : (int) Math.max(1, (length + mtu - 1) / mtu);
        return WcStatus.SUCCESS;
    }
}
