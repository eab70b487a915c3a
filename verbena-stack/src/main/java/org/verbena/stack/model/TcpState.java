// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.model;

/** States of a connection (RFC 9293, 3.3.2), but for LISTEN, which is no connection yet. */
public enum TcpState {
    /** A SYN was sent. */
    SYN_SENT,
    /** A SYN was received, and answered. */
    SYN_RECEIVED,
    /** Data goes both ways. */
    ESTABLISHED,
    /** This end has sent all, and the peer does not know yet. */
    FIN_WAIT_1,
    /** This end has sent all, and the peer knows. */
    FIN_WAIT_2,
    /** The peer has sent all. */
    CLOSE_WAIT,
    /** Both have sent all at the same time. */
    CLOSING,
    /** Both have sent all, the peer first, and it does not know yet. */
    LAST_ACK,
    /** Both have sent all, this end first; old segments may still come. */
    TIME_WAIT,
    /** There is no connection any more. */
    CLOSED;

    /** Whether both ends know the other's first sequence number. */
    public boolean isSynchronized() {
        return this != SYN_SENT && this != SYN_RECEIVED && this != CLOSED;
    }

    /** Whether data can still come from the peer. */
    public boolean receives() {
        return this == ESTABLISHED || this == FIN_WAIT_1 || this == FIN_WAIT_2;
    }

    /** Whether this end may send data, or has some unacknowledged. */
    public boolean sends() {
        return this == ESTABLISHED || this == CLOSE_WAIT || this == FIN_WAIT_1 || this == CLOSING || this == LAST_ACK;
    }
}
