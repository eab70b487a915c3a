// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** State of a queue pair, {@code enum ibv_qp_state}; the ordinal is the C value. */
public enum QueuePairState {
    /** Fresh: nothing may be posted. */
    RESET,
    /** Receives may be posted; nothing arrives. */
    INIT,
    /** Ready to receive. */
    RTR,
    /** Ready to send. */
    RTS,
    /** The send queue drains. */
    SQD,
    /** The send queue failed (UC and UD); receiving goes on. */
    SQE,
    /** Failed: all work is flushed with {@link WcStatus#WR_FLUSH_ERR}. */
    ERR;

    /** True if send work requests may be posted: RTS, SQD, SQE, and ERR, where they are flushed. */
    public boolean acceptsSends() {
        return switch (this) {
            case RESET, INIT, RTR -> false;
            case RTS, SQD, SQE, ERR -> true;
        };
    }

    /** True if messages of the peer are taken: RTR, RTS, SQD and SQE. */
    public boolean receives() {
        return switch (this) {
            case RESET, INIT, ERR -> false;
            case RTR, RTS, SQD, SQE -> true;
        };
    }
}
