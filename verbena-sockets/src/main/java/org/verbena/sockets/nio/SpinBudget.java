// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import org.verbena.sockets.stream.PollCounters;

/**
 * How long to poll memory before sleeping: as long as that has paid. A wait that was short shows a conversation: the next one
 * polls up to the limit. Short is what polling would have met if neither end had slept, and sleeping costs either end a
 * wake-up, so it is some times the limit. After longer waits the budget halves, down to zero: an idle thread does not poll.
 *
 * <p>Short waits alone do not show that polling pays: a thread with much to do waits briefly, and finds nothing by polling
 * until its own process gives the processor away. So after a few polls in vain the next waits do not poll, ever more of them,
 * and then one poll is as long as a short wait, so that it meets a peer that sleeps as well. A poll that finds something ends
 * that. For one thread at a time.
 */
final class SpinBudget {
    private static final long MIN_NANOS = 500;
    /** Waits up to this multiple of the limit are short. */
    private static final int SHORT = 5;
    /** After this many polls in vain, one after the other, waits do not poll. */
    private static final int MOST_IN_VAIN = 4;
    /** How many waits, the first time and at most. */
    private static final int LEAST_PAUSE = 16;
    private static final int MOST_PAUSE = 1024;

    private final PollCounters counters = new PollCounters();
    private long budgetNanos;
    private int inVain;
    /** Waits to come that do not poll. */
    private int paused;
    private int nextPause = LEAST_PAUSE;
    /** The next poll is the one after a pause. */
    private boolean probing;

    /** What the next wait may poll for. */
    long nanos(long limitNanos) {
        if (paused > 0) {
            return 0;
        }
        return probing && budgetNanos >= limitNanos ? SHORT * limitNanos : Math.min(budgetNanos, limitNanos);
    }

    /** Adapts to a poll of so many nanoseconds that has found what was waited for, or has not. */
    void polled(boolean found, long nanos) {
        counters.polled(found, nanos);
        probing = false;
        if (found) {
            inVain = 0;
            nextPause = LEAST_PAUSE;
        } else if (++inVain >= MOST_IN_VAIN) {
            inVain = MOST_IN_VAIN - 1; // one in vain after the pause is enough for the next
            paused = nextPause;
            nextPause = Math.min(2 * nextPause, MOST_PAUSE);
            probing = true;
        }
    }

    /** Adapts to a wait that is over, for what was waited for has come. */
    void waited(long nanos, long limitNanos) {
        if (paused > 0) {
            paused--;
        }
        if (nanos <= SHORT * limitNanos) {
            budgetNanos = limitNanos;
        } else {
            budgetNanos = budgetNanos < MIN_NANOS ? 0 : budgetNanos / 2;
        }
    }

    /** The channel or selector is closed. */
    void close() {
        counters.add();
    }
}
