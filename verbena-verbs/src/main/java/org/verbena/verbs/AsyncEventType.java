// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Kind of an asynchronous event, {@code enum ibv_event_type}: an open set, later versions may add values. */
public final class AsyncEventType {
    /** A completion queue overran. */
    public static final int CQ_ERR = 0;
    /** A queue pair failed and moved to the error state. */
    public static final int QP_FATAL = 1;
    /** The peer sent an invalid request. */
    public static final int QP_REQ_ERR = 2;
    /** The peer tried an access that it is not allowed. */
    public static final int QP_ACCESS_ERR = 3;
    /** The first message arrived on a queue pair that is ready to receive. */
    public static final int COMM_EST = 4;
    /** The send queue is drained. */
    public static final int SQ_DRAINED = 5;
    /** A connection moved to its alternate path. */
    public static final int PATH_MIG = 6;
    /** A connection could not move to its alternate path. */
    public static final int PATH_MIG_ERR = 7;
    /** The device is unusable. */
    public static final int DEVICE_FATAL = 8;
    /** The port came up. */
    public static final int PORT_ACTIVE = 9;
    /** The port went down. */
    public static final int PORT_ERR = 10;
    /** The port's local identifier changed. */
    public static final int LID_CHANGE = 11;
    /** The partition keys changed. */
    public static final int PKEY_CHANGE = 12;
    /** The subnet manager changed. */
    public static final int SM_CHANGE = 13;
    /** A shared receive queue failed. */
    public static final int SRQ_ERR = 14;
    /** A shared receive queue has fewer receives than its limit. */
    public static final int SRQ_LIMIT_REACHED = 15;
    /** A queue pair on a shared receive queue will take no more of it. */
    public static final int QP_LAST_WQE_REACHED = 16;
    /** The subnet manager asks for registration. */
    public static final int CLIENT_REREGISTER = 17;
    /** The GID table changed. */
    public static final int GID_CHANGE = 18;
    /** A work queue failed. */
    public static final int WQ_FATAL = 19;
    /** The speed of the port changed. */
    public static final int DEVICE_SPEED_CHANGE = 20;

    private AsyncEventType() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case CQ_ERR -> "CQ_ERR";
            case QP_FATAL -> "QP_FATAL";
            case QP_REQ_ERR -> "QP_REQ_ERR";
            case QP_ACCESS_ERR -> "QP_ACCESS_ERR";
            case COMM_EST -> "COMM_EST";
            case SQ_DRAINED -> "SQ_DRAINED";
            case PATH_MIG -> "PATH_MIG";
            case PATH_MIG_ERR -> "PATH_MIG_ERR";
            case DEVICE_FATAL -> "DEVICE_FATAL";
            case PORT_ACTIVE -> "PORT_ACTIVE";
            case PORT_ERR -> "PORT_ERR";
            case LID_CHANGE -> "LID_CHANGE";
            case PKEY_CHANGE -> "PKEY_CHANGE";
            case SM_CHANGE -> "SM_CHANGE";
            case SRQ_ERR -> "SRQ_ERR";
            case SRQ_LIMIT_REACHED -> "SRQ_LIMIT_REACHED";
            case QP_LAST_WQE_REACHED -> "QP_LAST_WQE_REACHED";
            case CLIENT_REREGISTER -> "CLIENT_REREGISTER";
            case GID_CHANGE -> "GID_CHANGE";
            case WQ_FATAL -> "WQ_FATAL";
            case DEVICE_SPEED_CHANGE -> "DEVICE_SPEED_CHANGE";
            default -> Integer.toString(value);
        };
    }
}
