// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The behaviour of TCP at the end of a connection, derived from the progress of each end: a state between two records
 * may count as either.
 */
final class MomentRule {
    private static final String ABORT = "!Software_caused_connection_abort";
    private static final Set<String> RESETS = Set.of("!Connection_reset", "!Connection_reset_by_peer");

    private MomentRule() {}

    /** The actions and observations of one end: {@link MomentFlow#seen}. */
    record End(String transport, String input, String output, long read, long readBefore, long readAtMost,
            long writtenBefore, long writtenAtMost, long writtenEver, long millis) {
        static End parse(String said) {
            String[] w = said.split("\\|", -1);
            return new End(w[0], w[1], w[2], Long.parseLong(w[3]), Long.parseLong(w[4]), Long.parseLong(w[5]), Long
                    .parseLong(w[6]), Long.parseLong(w[7]), Long.parseLong(w[8]), Long.parseLong(w[9]));
        }

        private boolean isToldOfReset() {
            return RESETS.contains(input) || RESETS.contains(output);
        }

        private boolean isToldOfAbort() {
            return input.equals(ABORT) || output.equals(ABORT);
        }
    }

    /** The records of a process that was ended. */
    record Note(long read, long readAtMost, long written, long writtenAtMost) {
        static Note of(MomentNotes notes, int connection) {
            return new Note(notes.get(connection, MomentNotes.READ), notes.get(connection, MomentNotes.READ_AT_MOST),
                    notes.get(connection, MomentNotes.WRITTEN), notes.get(connection, MomentNotes.WRITTEN_AT_MOST));
        }
    }

    /**
     * What is wrong with what the other end of a process that was ended has seen.
     *
     * @param underWay bytes that this end's kernel had sent by then, and the dead end's had not acknowledged. On a busy machine
     *        they come when that is closed already: the end first, and a reset behind it, of which few are told
     */
    static List<String> afterDeath(int kind, Note dead, End end, long underWay) {
        List<String> wrong = known(end);
        boolean reset = end.isToldOfReset();
        long there = end.writtenBefore - underWay;
        if (end.isToldOfAbort()) {
            wrong.add("an abort, which is for the own socket");
        }
        if (there > dead.readAtMost && !reset) {
            wrong.add("no reset, though " + (there - dead.readAtMost) + " bytes were unread");
        }
        if (end.writtenEver == dead.read && reset) {
            wrong.add("a reset, though all was read");
        }
        bytes(wrong, end, reset && MomentFlow.fillsBuffers(kind), dead.written, dead.writtenAtMost);
        return wrong;
    }

    /** The fault in the observations of an end of a connection that the kernel has destroyed. */
    static List<String> afterDestruction(int kind, End end, End other, boolean own) {
        List<String> wrong = known(end);
        if (!(own ? end.isToldOfAbort() : end.isToldOfReset())) {
            wrong.add("no error");
        }
        if (own ? end.isToldOfReset() : end.isToldOfAbort()) {
            wrong.add("the other end's error");
        }
        bytes(wrong, end, MomentFlow.fillsBuffers(kind), other.writtenBefore, other.writtenEver);
        return wrong;
    }

    private static List<String> known(End end) {
        List<String> wrong = new ArrayList<>();
        if (!Set.of("unused", "-1", ABORT, "!Connection_reset").contains(end.input)) {
            wrong.add("no way to end a read");
        }
        if (!Set.of("unused", ABORT, "!Broken_pipe", "!Connection_reset_by_peer").contains(end.output)) {
            wrong.add("no way to end a write");
        }
        return wrong;
    }

    /** @param mayLose a reset may have come before what its sender's kernel still had, for the receiver's was full */
    private static void bytes(List<String> wrong, End end, boolean mayLose, long written, long atMost) {
        if (end.input.equals("unused")) {
            return;
        }
        if (end.read > atMost) {
            wrong.add((end.read - atMost) + " bytes that were never written");
        }
        if (end.read < written && !mayLose) {
            wrong.add((written - end.read) + " bytes lost");
        }
    }
}
