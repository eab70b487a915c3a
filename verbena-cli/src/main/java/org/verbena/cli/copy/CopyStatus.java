// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

/** How the copy of a file, or a whole run, ended; with its number on the wire and the exit code for scripts. */
public enum CopyStatus {
    /** The file is at its place and its hash is right. */
    OK(0, 0),
    /** Anything that has no number of its own. */
    FAILED(1, 1),
    /** Another copy writes the same target. */
    BUSY(2, 1),
    /** The listener does not write there: the path leads out of its directory, or is no path. */
    REFUSED(3, 1),
    /** Source and target are one file. */
    SAME_FILE(4, 1),
    /** The listener's file system is full. */
    NO_SPACE(5, 5),
    /** What arrived is not what was sent. */
    VERIFICATION(6, 6),
    /** The source changed while it was copied. */
    CHANGED(7, 6),
    /** The peer broke the protocol. */
    PROTOCOL(8, 1),
    /** The peer has gone, or does not answer any more. */
    PEER_DIED(9, 4),
    /** Nobody listens. */
    NO_LISTENER(10, 3),
    /** A person stopped it. */
    INTERRUPTED(11, 1),
    /** The kernel does not let the sender write into the listener's memory. */
    NOT_PERMITTED(12, 1);

    private final int wire;
    private final int exitCode;

    CopyStatus(int wire, int exitCode) {
        this.wire = wire;
        this.exitCode = exitCode;
    }

    /** Whether the connection is of no use any more, whatever the file. */
    boolean isFatal() {
        return this == PROTOCOL || this == PEER_DIED || this == INTERRUPTED || this == NOT_PERMITTED;
    }

    /** The number in messages. */
    int wire() {
        return wire;
    }

    /** The exit code of a run whose first failure is this. */
    int exitCode() {
        return exitCode;
    }

    /** The status of a number that a peer sent; {@link #FAILED} for one of a later version. */
    static CopyStatus ofWire(int number) {
        for (CopyStatus s : values()) {
            if (s.wire == number) {
                return s;
            }
        }
        return FAILED;
    }
}
