// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.nio.channels.Channel;

import org.verbena.sockets.stream.Stream;

/**
 * How long one direction of a connection polls memory before its thread sleeps; see {@link SpinBudget}.
 *
 * <p>The limit is the system property {@code verbena.spin}, in microseconds; 0 never spins. Guarded by the lock of its
 * direction.
 */
final class Spin {
    static final String PROPERTY = "verbena.spin";
    private static final int DEFAULT_MICROS = 20;

    /** Polls of memory between two checks of the clock, the channel and the thread's interrupt. */
    private static final int POLLS = 32;

    private static final long YIELD_NANOS = 2000;

    private volatile long limitNanos = Default.LIMIT_NANOS;
    private final SpinBudget budget = new SpinBudget();

    /** The limit for channels without one of their own; read when the first is made, and checked by then. */
    private static final class Default {
        static final long LIMIT_NANOS = 1000L * micros();
    }

    private static int micros() {
        return Integer.getInteger(PROPERTY, Runtime.getRuntime().availableProcessors() > 1 ? DEFAULT_MICROS : 0);
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
        long most = budget();
        if (most == 0) {
            return false;
        }
        Thread self = Thread.currentThread();
        boolean virtual = self.isVirtual();
        long start = System.nanoTime();
        long spun = 0;
        long yielded = 0;
        for (;;) {
            for (int i = 0; i < POLLS; i++) {
                if (stream.readyOps(op) != 0) {
                    budget.polled(true, spun);
                    return true;
                }
                Thread.onSpinWait();
            }
            spun = System.nanoTime() - start;
            if (spun >= most || !channel.isOpen() || self.isInterrupted()) {
                budget.polled(false, spun);
                return false;
            }
            if (virtual && spun - yielded >= YIELD_NANOS) {
                yielded = spun;
                Thread.yield(); // others have the carrier as well
            }
        }
    }

    /** What the next wait would poll for. */
    long budget() {
        return budget.nanos(limitNanos);
    }

    /** Adapts to a wait that is over. */
    void waited(long nanos) {
        budget.waited(nanos, limitNanos);
    }

    /** The channel is closed: no thread polls any more. */
    void close() {
        budget.close();
    }

    /** The limit of this process, in nanoseconds. */
    static long processLimit() {
        return Default.LIMIT_NANOS;
    }
}
