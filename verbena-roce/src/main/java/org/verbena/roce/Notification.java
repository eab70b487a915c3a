// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

/**
 * The notification of a completion queue's channel: one for each arming, at the next completion that counts, or later
 * if events are moderated, {@code ibv_modify_cq}. Used under the context's lock.
 */
final class Notification {
    private static final int NOT = 0;
    private static final int SOLICITED = 1;
    private static final int ANY = 2;

    private int armed;
    /** A completion that counts was added; events are moderated. */
    private boolean begun;
    /** An event waits to be taken. */
    private boolean event;
    private int count;
    private long periodNanos;
    /** Completions since the queue was armed. */
    private long completions;
    private long deadline = Long.MAX_VALUE;

    /** Requests an event, in place of one that was not raised or not taken. */
    void arm(boolean solicitedOnly) {
        armed = solicitedOnly && armed != ANY ? SOLICITED : ANY; // an arming for all completions is never narrowed
        begun = false;
        event = false;
        completions = 0;
        deadline = Long.MAX_VALUE;
    }

    /** A completion was added; true if the channel has to be notified. */
    boolean completed(boolean solicited, long now) {
        if (armed == NOT) {
            return false;
        }
        completions++;
        if (!begun) {
            if (armed == SOLICITED && !solicited) {
                return false;
            }
            begun = true;
            deadline = periodNanos > 0 ? now + periodNanos : Long.MAX_VALUE;
        }
        return isEnough() && fire();
    }

    /** True if notifications may be delayed. */
    private boolean isModerated() {
        return count > 1 || count == 0 && periodNanos > 0;
    }

    private boolean isEnough() {
        return !isModerated() || count > 0 && completions >= count;
    }

    private boolean fire() {
        armed = NOT;
        deadline = Long.MAX_VALUE;
        event = true;
        return true;
    }

    /** Changes the moderation; true if the channel has to be notified. */
    boolean moderate(int completionCount, long nanos, long now) {
        count = completionCount;
        periodNanos = nanos;
        if (armed == NOT || !begun) {
            return false;
        }
        deadline = nanos > 0 ? now + nanos : Long.MAX_VALUE;
        return isEnough() && fire();
    }

    /** When {@link #expired} has to be called; {@link Long#MAX_VALUE} for never. */
    long deadline() {
        return deadline;
    }

    /** The deadline may have passed; true if the channel has to be notified. */
    boolean expired(long now) {
        return deadline != Long.MAX_VALUE && now - deadline >= 0 && fire();
    }

    /** True if an event waits; {@code take} removes it. */
    boolean event(boolean take) {
        boolean waits = event;
        event &= !take;
        return waits;
    }
}
