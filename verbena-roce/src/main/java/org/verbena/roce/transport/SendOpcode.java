// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/** Opcodes of send work requests, {@code enum ibv_wr_opcode}. */
public final class SendOpcode {
    public static final int WRITE = 0;
    public static final int WRITE_IMM = 1;
    public static final int SEND = 2;
    public static final int SEND_IMM = 3;
    public static final int READ = 4;
    public static final int COMPARE_AND_SWAP = 5;
    public static final int FETCH_AND_ADD = 6;
    public static final int LOCAL_INVALIDATE = 7;
    public static final int BIND_WINDOW = 8;
    public static final int SEND_INVALIDATE = 9;
    public static final int FLUSH = 14;
    public static final int ATOMIC_WRITE = 15;

    private SendOpcode() {}
}
