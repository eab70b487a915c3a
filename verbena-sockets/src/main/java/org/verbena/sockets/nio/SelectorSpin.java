// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

/**
 * How long a selector polls memory before its thread sleeps; see {@link SpinBudget}. Belongs to the thread that selects.
 */
final class SelectorSpin {
    /** Polls of memory between two reads of the clock. */
    static final int POLLS = 16;

    private static final long YIELD_NANOS = 2000;

    private final long limitNanos = Spin.processLimit();
    private final SpinBudget budget = new SpinBudget();
    private long yieldedAt;

    long budget() {
        return budget.nanos(limitNanos);
    }

    /** Adapts to a poll that has found something ready, or has not. */
    void polled(boolean found, long nanos) {
        budget.polled(found, nanos);
    }

    void close() {
        budget.close();
    }

    /** Lets other virtual threads have the carrier now and then. */
    @SuppressWarnings("ThreadPriorityCheck") // a virtual thread gives its carrier away
    void share(long now) {
        if (now - yieldedAt >= YIELD_NANOS && Thread.currentThread().isVirtual()) {
            yieldedAt = now;
            Thread.yield();
        }
    }

    /** Adapts to a wait that is over. */
    void waited(long nanos) {
        budget.waited(nanos, limitNanos);
    }
}
