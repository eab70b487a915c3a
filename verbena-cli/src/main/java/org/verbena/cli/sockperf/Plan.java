// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import org.jspecify.annotations.Nullable;

/**
 * What a client is to do.
 *
 * @param mode how
 * @param bytes length of a message
 * @param range how much shorter or longer a message may be
 * @param burst messages that are sent at a time
 * @param periodNanos from one burst to the next; 0: at once
 * @param every which messages ask for an answer: each whose number is a multiple; 0: none
 * @param nanos how long is sent, with warm-up and cool-down; 0: until all messages are sent
 * @param messages how many are sent, with warm-up and cool-down; 0: as many as in the time
 * @param integrity whether answers are compared with what was sent
 * @param playback when how much is sent; null: all the same
 * @param lostNanos what remains unanswered for so long over UDP is lost: ping-pong goes on without it
 */
record Plan(Mode mode, int bytes, int range, int burst, long periodNanos, long every, long nanos, long messages,
        boolean integrity, @Nullable Playback playback, long lostNanos) {
    /** What is not counted at the begin of a run, and at its end: the load is not there yet, or not any more. */
    static final long WARM_UP_NANOS = 400_000_000L;
    static final long COOL_DOWN_NANOS = 50_000_000L;
    private static final long LOST_NANOS = 500_000_000L;
    static final long WARM_UP_MESSAGES = 8_000;
    static final long COOL_DOWN_MESSAGES = 1_000;

    enum Mode {
        /** The next burst when the last one is answered. */
        PING_PONG("ping-pong"),
        /** At a rate, with an answer now and then. */
        UNDER_LOAD("under-load"),
        /** One way. */
        THROUGHPUT("throughput"),
        /** At the times of a file. */
        PLAYBACK("playback");

        final String word;

        Mode(String word) {
            this.word = word;
        }
    }

    /** With half a second until a message is lost. */
    Plan(Mode mode, int bytes, int range, int burst, long periodNanos, long every, long nanos, long messages,
            boolean integrity, @Nullable Playback playback) {
        this(mode, bytes, range, burst, periodNanos, every, nanos, messages, integrity, playback, LOST_NANOS);
    }

    boolean isTimed() {
        return nanos > 0;
    }
}
