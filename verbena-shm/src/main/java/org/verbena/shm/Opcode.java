package org.verbena.shm;

import org.verbena.verbs.WcOpcode;

/** Send operations, numbered as {@code enum ibv_wr_opcode}. */
final class Opcode {
    static final int WRITE = 0;
    static final int WRITE_IMM = 1;
    static final int SEND = 2;
    static final int SEND_IMM = 3;
    static final int READ = 4;
    static final int CMP_SWP = 5;
    static final int FETCH_ADD = 6;

    private Opcode() {}

    static int completion(int opcode) {
        return switch (opcode) {
            case WRITE, WRITE_IMM -> WcOpcode.RDMA_WRITE;
            case READ -> WcOpcode.RDMA_READ;
            case CMP_SWP -> WcOpcode.COMP_SWAP;
            case FETCH_ADD -> WcOpcode.FETCH_ADD;
            default -> WcOpcode.SEND;
        };
    }
}
