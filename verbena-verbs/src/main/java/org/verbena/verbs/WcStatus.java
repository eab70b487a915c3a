// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Status of a work completion, {@code enum ibv_wc_status}: an open set, later versions may add values. */
public final class WcStatus {
    /** The work request is done. */
    public static final int SUCCESS = 0;
    /** A message does not fit into the receive buffers, or is longer than the port allows. */
    public static final int LOC_LEN_ERR = 1;
    /** The work request is not consistent with the queue pair. */
    public static final int LOC_QP_OP_ERR = 2;
    /** Reliable datagram only; not used. */
    public static final int LOC_EEC_OP_ERR = 3;
    /** A scatter/gather element lies outside its region, or its key or access does not fit. */
    public static final int LOC_PROT_ERR = 4;
    /** The queue pair was in the error state before the work request could start. */
    public static final int WR_FLUSH_ERR = 5;
    /** A memory window could not be bound. */
    public static final int MW_BIND_ERR = 6;
    /** The peer answered with something unexpected. */
    public static final int BAD_RESP_ERR = 7;
    /** A write with immediate met a receive buffer with wrong rights. */
    public static final int LOC_ACCESS_ERR = 8;
    /** The peer refuses the request: too long for its receive buffer, misaligned atomic, or not allowed. */
    public static final int REM_INV_REQ_ERR = 9;
    /** The remote key does not allow the access. */
    public static final int REM_ACCESS_ERR = 10;
    /** The peer could not complete the operation. */
    public static final int REM_OP_ERR = 11;
    /** The peer did not answer, though the request was repeated. */
    public static final int RETRY_EXC_ERR = 12;
    /** The peer had no receive posted, though the request was repeated. */
    public static final int RNR_RETRY_EXC_ERR = 13;
    /** Reliable datagram only; not used. */
    public static final int LOC_RDD_VIOL_ERR = 14;
    /** Reliable datagram only; not used. */
    public static final int REM_INV_RD_REQ_ERR = 15;
    /** The peer aborted the operation. */
    public static final int REM_ABORT_ERR = 16;
    /** Reliable datagram only; not used. */
    public static final int INV_EECN_ERR = 17;
    /** Reliable datagram only; not used. */
    public static final int INV_EEC_STATE_ERR = 18;
    /** The transport failed. */
    public static final int FATAL_ERR = 19;
    /** The response came too late. */
    public static final int RESP_TIMEOUT_ERR = 20;
    /** Any other failure. */
    public static final int GENERAL_ERR = 21;
    /** An operation of tag matching failed. */
    public static final int TM_ERR = 22;
    /** A matched message is to be fetched by the application. */
    public static final int TM_RNDV_INCOMPLETE = 23;

    private WcStatus() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case SUCCESS -> "SUCCESS";
            case LOC_LEN_ERR -> "LOC_LEN_ERR";
            case LOC_QP_OP_ERR -> "LOC_QP_OP_ERR";
            case LOC_EEC_OP_ERR -> "LOC_EEC_OP_ERR";
            case LOC_PROT_ERR -> "LOC_PROT_ERR";
            case WR_FLUSH_ERR -> "WR_FLUSH_ERR";
            case MW_BIND_ERR -> "MW_BIND_ERR";
            case BAD_RESP_ERR -> "BAD_RESP_ERR";
            case LOC_ACCESS_ERR -> "LOC_ACCESS_ERR";
            case REM_INV_REQ_ERR -> "REM_INV_REQ_ERR";
            case REM_ACCESS_ERR -> "REM_ACCESS_ERR";
            case REM_OP_ERR -> "REM_OP_ERR";
            case RETRY_EXC_ERR -> "RETRY_EXC_ERR";
            case RNR_RETRY_EXC_ERR -> "RNR_RETRY_EXC_ERR";
            case LOC_RDD_VIOL_ERR -> "LOC_RDD_VIOL_ERR";
            case REM_INV_RD_REQ_ERR -> "REM_INV_RD_REQ_ERR";
            case REM_ABORT_ERR -> "REM_ABORT_ERR";
            case INV_EECN_ERR -> "INV_EECN_ERR";
            case INV_EEC_STATE_ERR -> "INV_EEC_STATE_ERR";
            case FATAL_ERR -> "FATAL_ERR";
            case RESP_TIMEOUT_ERR -> "RESP_TIMEOUT_ERR";
            case GENERAL_ERR -> "GENERAL_ERR";
            case TM_ERR -> "TM_ERR";
            case TM_RNDV_INCOMPLETE -> "TM_RNDV_INCOMPLETE";
            default -> Integer.toString(value);
        };
    }
}
