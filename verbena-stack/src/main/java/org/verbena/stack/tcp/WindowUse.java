// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** Whether a connection uses its congestion window: one that does not shall not have it grow (RFC 9438, 5.8; RFC 7661). */
final class WindowUse {
    /** Until here acknowledgments tell that the window kept something from being sent. */
    private int limitedEnd;
    /** The most bytes that were sent and not acknowledged within a round trip, and SND.NXT then. */
    private int most;
    private int mostEnd;

    void begin(int una) {
        limitedEnd = una;
        mostEnd = una;
    }

    /** An acknowledgment is looked at; numbers that were passed come along. */
    void acknowledged(int una) {
        limitedEnd = Sequence.max(limitedEnd, una);
        mostEnd = Sequence.max(mostEnd, una);
    }

    /** The congestion window has kept something from being sent. */
    void limited(int next) {
        limitedEnd = next;
    }

    /** Something was sent. */
    void sent(Sender s) {
        if (!Sequence.isBefore(s.una, mostEnd) || s.outstanding() > most) {
            most = s.outstanding();
            mostEnd = s.next;
        }
    }

    /** Whether the window is used; as Linux has it, in slow start by more than a half. {@code una} is what was acknowledged before. */
    boolean isLimited(int una, CongestionControl c) {
        return Sequence.isBefore(una, limitedEnd) || c.isSlowStart() && most > c.window / 2;
    }
}
