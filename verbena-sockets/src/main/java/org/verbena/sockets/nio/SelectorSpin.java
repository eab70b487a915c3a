package org.verbena.sockets.nio;

/**
 * How long a selector polls memory before its thread sleeps. The budget follows what was seen, as {@link Spin} does for one
 * direction of a connection. Belongs to the thread that selects.
 */
final class SelectorSpin {
    /** Looks at memory between two looks at the clock. */
    static final int LOOKS = 16;

    private static final long LEAST_NANOS = 500;
    private static final long YIELD_NANOS = 2000;

    private final long limitNanos = Spin.DEFAULT_LIMIT_NANOS;
    private long budgetNanos = limitNanos;
    private long yieldedAt;

    long budget() {
        return budgetNanos;
    }

    /** Lets other virtual threads have the carrier now and then. */
    @SuppressWarnings("ThreadPriorityCheck") // a virtual thread gives its carrier away
    void share(long now) {
        if (now - yieldedAt >= YIELD_NANOS && Thread.currentThread().isVirtual()) {
            yieldedAt = now;
            Thread.yield();
        }
    }

    /** Learns from a wait that is over. */
    void waited(long nanos) {
        if (nanos <= limitNanos) {
            budgetNanos = Math.min(limitNanos, Math.max(LEAST_NANOS, 2 * nanos));
        } else {
            budgetNanos = budgetNanos < LEAST_NANOS ? 0 : budgetNanos / 2;
        }
    }
}
