// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

/** How the copy of a file, or a whole run, ended; with its number on the wire and the exit code for scripts. */
public enum CopyStatus {
    /** The file is in its place and its hash is right. */
    OK(0, 0),
    /** Any failure without a number of its own. */
    FAILED(1, 1),
    /** Another copy writes the same target. */
    BUSY(2, 1),
    /** The listener does not write there: the path leads out of its directory, or is invalid. */
    REFUSED(3, 1),
    /** Source and target are the same file. */
    SAME_FILE(4, 1),
    /** The listener's file system is full. */
    NO_SPACE(5, 5),
    /** The bytes that arrived are not those that were sent. */
    VERIFICATION(6, 6),
    /** The source changed while it was copied. */
    CHANGED(7, 6),
    /** The peer broke the protocol. */
    PROTOCOL(8, 1),
    /** The peer is gone, or does not answer any more. */
    PEER_DIED(9, 4),
    /** There is no listener. */
    NO_LISTENER(10, 3),
    /** A user stopped it. */
    INTERRUPTED(11, 1),
    /** The kernel does not let the sender write into the listener's memory. */
    NOT_PERMITTED(12, 1);

    private final int wire;
    private final int exitCode;

    CopyStatus(int wire, int exitCode) {
        this.wire = wire;
        this.exitCode = exitCode;
    }

    /** Whether the connection is unusable from then on, for every file. */
    boolean isFatal() {
        return this == PROTOCOL || this == PEER_DIED || this == INTERRUPTED || this == NOT_PERMITTED;
    }

    /** The number in messages. */
    int wire() {
        return wire;
    }

    /** The exit code of a run with this as its first failure. */
    int exitCode() {
        return exitCode;
    }

    /** The status with the number that a peer sent; {@link #FAILED} for a number of a later version. */
    static CopyStatus ofWire(int number) {
        for (CopyStatus s : values()) {
            if (s.wire == number) {
                return s;
            }
        }
        return FAILED;
    }
}
