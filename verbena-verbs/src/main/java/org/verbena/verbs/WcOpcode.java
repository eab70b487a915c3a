// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What a work completion is about, {@code enum ibv_wc_opcode}: an open set, later versions may add values. */
public final class WcOpcode {
    /** A send left. */
    public static final int SEND = 0;
    /** A write is done. */
    public static final int RDMA_WRITE = 1;
    /** A read is done. */
    public static final int RDMA_READ = 2;
    /** A compare-and-swap is done. */
    public static final int COMP_SWAP = 3;
    /** A fetch-and-add is done. */
    public static final int FETCH_ADD = 4;
    /** A memory window is bound. */
    public static final int BIND_MW = 5;
    /** A key was invalidated. */
    public static final int LOCAL_INV = 6;
    /** A segmented packet left. */
    public static final int TSO = 7;
    /** A remote flush is done. */
    public static final int FLUSH = 8;
    /** An atomic write is done. */
    public static final int ATOMIC_WRITE = 9;
    /** A message was received. */
    public static final int RECV = 128;
    /** A write with immediate took a receive. */
    public static final int RECV_RDMA_WITH_IMM = 129;

    private WcOpcode() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case SEND -> "SEND";
            case RDMA_WRITE -> "RDMA_WRITE";
            case RDMA_READ -> "RDMA_READ";
            case COMP_SWAP -> "COMP_SWAP";
            case FETCH_ADD -> "FETCH_ADD";
            case BIND_MW -> "BIND_MW";
            case LOCAL_INV -> "LOCAL_INV";
            case TSO -> "TSO";
            case FLUSH -> "FLUSH";
            case ATOMIC_WRITE -> "ATOMIC_WRITE";
            case RECV -> "RECV";
            case RECV_RDMA_WITH_IMM -> "RECV_RDMA_WITH_IMM";
            default -> Integer.toString(value);
        };
    }

    /** True if the completion belongs to a receive queue. */
    public static boolean isReceive(int value) {
        return (value & RECV) != 0;
    }
}
