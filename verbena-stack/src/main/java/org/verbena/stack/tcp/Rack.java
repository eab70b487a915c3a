// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** Which of the segments that have arrived was sent last, and how much later others may still arrive (RFC 8985, 5.2 and 6.2). */
final class Rack {
    /** Recoveries after which a longer wait is forgotten. */
    private static final int PERSISTS = 16;

    private final RoundTrip roundTrip;
    /** RACK.xmit_ts, RACK.end_seq and RACK.rtt. */
    private long time;
    private int end;
    private long trip;
    private boolean known;
    /** RACK.fack, and what it was before the acknowledgment that is looked at. */
    private int greatest;
    private int greatestBefore;
    private boolean reordered;
    private int factor = 1;
    private int left;
    private int round;

    Rack(RoundTrip roundTrip) {
        this.roundTrip = roundTrip;
    }

    /** Nothing has arrived yet. */
    void begin(int una) {
        greatest = una;
        round = una;
    }

    /** An acknowledgment is looked at. Numbers that were passed come along. */
    void acknowledged(int una) {
        greatest = Sequence.max(greatest, una);
        greatestBefore = greatest;
        round = Sequence.max(round, una);
    }

    /** A segment is known to have arrived (6.2, steps 1 to 3). */
    void delivered(long sentAt, int behind, boolean again, long now) {
        if (!again && Sequence.isBefore(behind, greatestBefore)) {
            reordered = true;
        }
        greatest = Sequence.max(greatest, behind);
        if (again && now - sentAt < roundTrip.least()) {
            return; // it is the first that has arrived, not the last
        }
        if (!known || isAfter(sentAt, behind, time, end)) {
            known = true;
            time = sentAt;
            end = behind;
            trip = now - sentAt;
        }
    }

    private static boolean isAfter(long time, int end, long otherTime, int otherEnd) {
        return time - otherTime > 0 || time == otherTime && Sequence.isAfter(end, otherEnd);
    }

    /** Whether something has arrived that was sent later than a segment. */
    boolean isOvertaken(long sentAt, int behind) {
        return known && isAfter(time, end, sentAt, behind);
    }

    /** How long a segment that is {@linkplain #isOvertaken overtaken} may still take. */
    long left(long sentAt, long window, long now) {
        return sentAt + trip + window - now;
    }

    /** The reordering window; {@code urgent} if losses are known, or enough has arrived since. */
    long window(boolean urgent) {
        return urgent && !reordered ? 0 : Math.min(factor * roundTrip.least() / 4, roundTrip.smoothed());
    }

    /** Something was sent again for nothing: waits longer from now on. */
    void repeated(int una, int next) {
        if (!Sequence.isBefore(una, round)) { // once in a round trip
            round = next;
            factor++;
            left = PERSISTS;
        }
    }

    /** A recovery is over. */
    void recovered() {
        if (left > 0 && --left == 0) {
            factor = 1;
        }
    }
}
