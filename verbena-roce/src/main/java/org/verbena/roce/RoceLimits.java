// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.spi.SendOpcode;

/** The limits of a device, and the operations of its queue pairs. */
final class RoceLimits {
    static final int MAX_QP = 1 << 12;
    static final int MAX_WR = 1 << 14;
    static final int MAX_SGE = 16;
    static final int MAX_INLINE = 1024;
    static final int MAX_CQ = 1 << 12;
    static final int MAX_CQE = 1 << 20;
    static final int MAX_PD = 1 << 12;
    static final int MAX_SRQ = 1024;
    static final int MAX_SRQ_WR = 1 << 14;
    static final int MAX_SRQ_SGE = 16;
    static final int MAX_XRCD = 1024;
    /** Reads and atomics outstanding, either way. */
    static final int MAX_READS = 128;
    static final long MAX_MESSAGE = 1L << 31;
    /** One receive buffer, which may be longer than a message; the length of an element in C has 32 bits. */
    static final long MAX_RECEIVE_BUFFER = 0xffff_ffffL;
    static final long MAX_REGION = 1L << 40;
    static final long MAX_DEVICE_MEMORY = 64L << 20;
    /** Multicast groups, and attachments in all of them. */
    static final int MAX_GROUPS = 256;
    static final int MAX_ATTACHED = 1024;

    private RoceLimits() {}

    /** The operations of a type of queue pair: UC has no packet that invalidates a key. */
    static int operations(int type) {
        int lacks = type == QueuePairType.UC ? SendOperations.SEND_INVALIDATE : 0;
        return SendOpcode.operations(type) & ~lacks;
    }
}
