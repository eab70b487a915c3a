// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.verbena.verbs.QueuePairType;

/**
 * Operations, numbered as the bits of {@link org.verbena.verbs.SendOperations}. Up to {@link #TSO} that is also their
 * number in {@code enum ibv_wr_opcode}; the two others exist in the extended interface only.
 */
final class SendOperationBit {
    static final int WRITE = 0;
    static final int WRITE_IMM = 1;
    static final int SEND = 2;
    static final int SEND_IMM = 3;
    static final int READ = 4;
    static final int CMP_SWP = 5;
    static final int FETCH_ADD = 6;
    static final int LOCAL_INV = 7;
    static final int BIND_MW = 8;
    static final int SEND_INV = 9;
    static final int TSO = 10;
    static final int FLUSH = 11;
    static final int ATOMIC_WRITE = 12;

    /** The operations of the plain interface. */
    static final int PLAIN = (1 << FLUSH) - 1;

    private static final int RELIABLE = (1 << ATOMIC_WRITE + 1) - 1 & ~(1 << TSO);
    private static final int UNRELIABLE = 1 << WRITE | 1 << WRITE_IMM | 1 << SEND | 1 << SEND_IMM | 1 << LOCAL_INV
            | 1 << BIND_MW | 1 << SEND_INV;
    private static final int DATAGRAM = 1 << SEND | 1 << SEND_IMM | 1 << TSO;
    private static final int RAW = 1 << SEND | 1 << TSO;

    /** Operations within this process. */
    private static final int LOCAL = 1 << LOCAL_INV | 1 << BIND_MW;
    private static final int WITHOUT_BUFFERS = LOCAL | 1 << FLUSH | 1 << ATOMIC_WRITE;
    private static final int INLINE = 1 << WRITE | 1 << WRITE_IMM | 1 << SEND | 1 << SEND_IMM | 1 << SEND_INV;

    private SendOperationBit() {}

    /** The operations of a type of queue pair, a bit each. */
    static int of(int queuePairType) {
        return switch (queuePairType) {
            case QueuePairType.RC, QueuePairType.XRC_SEND -> RELIABLE;
            case QueuePairType.UC -> UNRELIABLE;
            case QueuePairType.UD -> DATAGRAM;
            case QueuePairType.RAW_PACKET -> RAW;
            default -> 0;
        };
    }

    static boolean isLocal(int opcode) {
        return (LOCAL & 1 << opcode) != 0;
    }

    static boolean takesBuffers(int opcode) {
        return (WITHOUT_BUFFERS & 1 << opcode) == 0;
    }

    static boolean takesInline(int opcode) {
        return (INLINE & 1 << opcode) != 0;
    }
}
