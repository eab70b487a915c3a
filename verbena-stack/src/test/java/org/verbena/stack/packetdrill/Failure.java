// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

/** A script does not hold, or cannot be run. */
final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    /** What is wrong. */
    enum Kind {
        /** A packet is missing. */
        MISSING_PACKET,
        /** A packet was sent that the script does not have. */
        EXTRA_PACKET,
        /** A packet or an answer came at another time. */
        TIME,
        /** The packet is broken, or of another protocol. */
        PACKET,
        FLAGS, SEQUENCE, LENGTH, ACK, WINDOW, URGENT, OPTIONS, TIMESTAMP,
        /** Bytes that are not those of the stream. */
        DATA,
        /** The IP header. */
        IP,
        /** A call returned another value. */
        RETURN,
        /** A call failed otherwise. */
        ERRNO,
        /** An option has another value. */
        VALUE,
        /** A command found something else. */
        COMMAND,
        /** An assertion is not true. */
        ASSERTION,
        /** The script needs what the interpreter or the stack does not have. */
        UNSUPPORTED
    }

    private final Kind kind;

    Failure(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }
}
