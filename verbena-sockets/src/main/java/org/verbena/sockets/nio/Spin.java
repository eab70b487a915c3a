package org.verbena.sockets.nio;

import java.nio.channels.Channel;

import org.verbena.sockets.stream.Stream;

/**
 * How long one direction of a connection polls memory before its thread sleeps. The budget follows what was seen: a wait
 * that ended within the limit doubles as the next budget, one that did not halves the budget, down to nothing. So a
 * connection that is idle costs one wait and no polling.
 *
 * <p>The limit is the system property {@code verbena.spin}, in microseconds; 0 never spins. Guarded by the lock of its
 * direction.
 */
final class Spin {
    /** The limit for channels that say nothing else, in nanoseconds. */
    static final long DEFAULT_LIMIT_NANOS = 1000L * micros();

    private static final int DEFAULT_MICROS = 20;
    private static final long LEAST_NANOS = 500;

    /** Looks at memory between two looks at the clock, the channel and the thread's interrupt. */
    private static final int LOOKS = 32;

    private static final long YIELD_NANOS = 2000;

    private volatile long limitNanos = DEFAULT_LIMIT_NANOS;
    private long budgetNanos;

    private static int micros() {
        int alone = Runtime.getRuntime().availableProcessors() > 1 ? DEFAULT_MICROS : 0;
        return Math.max(0, Integer.getInteger("verbena.spin", alone));
    }

    void limit(long nanos) {
        limitNanos = nanos;
    }

    long limit() {
        return limitNanos;
    }

    /**
     * Polls for as long as it seems worth while.
     *
     * @param op of a direction that a ring carries
     * @return whether {@code op} is ready; false as well when the channel was closed or the thread interrupted
     */
    @SuppressWarnings("ThreadPriorityCheck") // a virtual thread gives its carrier away
    boolean poll(Stream stream, int op, Channel channel) {
        long budget = Math.min(budgetNanos, limitNanos);
        if (budget == 0) {
            return false;
        }
        Thread self = Thread.currentThread();
        boolean virtual = self.isVirtual();
        long start = System.nanoTime();
        long yielded = 0;
        for (;;) {
            for (int i = 0; i < LOOKS; i++) {
                if (stream.readyOps(op) != 0) {
                    return true;
                }
                Thread.onSpinWait();
            }
            long spun = System.nanoTime() - start;
            if (spun >= budget || !channel.isOpen() || self.isInterrupted()) {
                return false;
            }
            if (virtual && spun - yielded >= YIELD_NANOS) {
                yielded = spun;
                Thread.yield(); // others have the carrier as well
            }
        }
    }

    /** Learns from a wait that is over. */
    void waited(long nanos) {
        long limit = limitNanos;
        if (nanos <= limit) {
            budgetNanos = Math.min(limit, Math.max(LEAST_NANOS, 2 * nanos));
        } else {
            budgetNanos = budgetNanos < LEAST_NANOS ? 0 : budgetNanos / 2;
        }
    }
}
