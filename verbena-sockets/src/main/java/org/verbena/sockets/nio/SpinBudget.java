// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

/**
 * How long to poll memory before sleeping. A wait that was short shows a conversation: the next one polls up to the
 * limit. Short is what polling would have met if neither end had slept, and sleeping costs either end a wake-up, so it
 * is some times the limit. After longer waits the budget halves, down to zero: an idle thread does not poll.
 */
final class SpinBudget {
    private static final long MIN_NANOS = 500;
    /** Waits up to this multiple of the limit are short. */
    private static final int SHORT = 5;

    private long budgetNanos;

    /** What the next wait may poll for. */
    long nanos(long limitNanos) {
        return Math.min(budgetNanos, limitNanos);
    }

    /** Adapts to a wait that is over. */
    void waited(long nanos, long limitNanos) {
        if (nanos <= SHORT * limitNanos) {
            budgetNanos = limitNanos;
        } else {
            budgetNanos = budgetNanos < MIN_NANOS ? 0 : budgetNanos / 2;
        }
    }
}
