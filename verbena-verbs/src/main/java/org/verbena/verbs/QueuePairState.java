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
    ERR
}
