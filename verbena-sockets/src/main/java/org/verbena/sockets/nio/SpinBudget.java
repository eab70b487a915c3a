// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import org.verbena.sockets.stream.PollCounters;

/**
 * How long a wait polls memory before its thread sleeps. After a short wait, which shows that the ends converse, the next wait
 * polls up to the limit. A wait is short if polling would have met its end had neither side slept; since each side that sleeps
 * takes time to wake up, that is several times the limit. Each longer wait halves the budget, down to zero: an idle thread does
 * not poll.
 *
 * <p>Short waits alone do not show that polling pays: the waits of a busy thread are short, but its polls find nothing until
 * its own process gives up the processor. After several polls in vain in a row there is a pause, a number of waits that do not
 * poll; each pause is twice as long as the one before, up to a limit. The poll after a pause may take as long as a short wait,
 * so that it also meets a peer that sleeps. Once a poll finds something, the next pause is the shortest again. For one thread
 * at a time.
 */
final class SpinBudget {
    private static final long MIN_NANOS = 500;
    /** Waits up to this multiple of the limit are short. */
    private static final int SHORT = 5;
    /** Number of polls in vain in a row that a pause follows. */
    private static final int MOST_IN_VAIN = 4;
    /** Number of waits in the first pause. */
    private static final int LEAST_PAUSE = 16;
    /** Number of waits in the longest pause. */
    private static final int MOST_PAUSE = 1024;

    private final PollCounters counters = new PollCounters();
    private long budgetNanos;
    private int inVain;
    /** Number of waits left in the pause. */
    private int paused;
    private int nextPause = LEAST_PAUSE;
    /** The next poll is the one after a pause. */
    private boolean probing;

    /** How long the next wait may poll. */
    long nanos(long limitNanos) {
        if (paused > 0) {
            return 0;
        }
        return probing && budgetNanos >= limitNanos ? SHORT * limitNanos : Math.min(budgetNanos, limitNanos);
    }

    /**
     * Adapts to a poll.
     *
     * @param found whether it found what the thread waits for
     * @param nanos how long it took
     */
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

    /** Adapts to a wait that ended because what the thread waited for has come. */
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
