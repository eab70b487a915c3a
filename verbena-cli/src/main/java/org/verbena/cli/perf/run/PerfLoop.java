// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Objects;

import com.sun.management.ThreadMXBean;
import org.jspecify.annotations.Nullable;

/**
 * One side of one test: the loop that is timed. A subclass does a small burst of operations per call, so that the JVM
 * compiles the method itself and not a loop entered half-way. Nothing in the loop allocates.
 */
public abstract class PerfLoop implements AutoCloseable {
    private static final int BURST = 64;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** The other process. */
    protected final PerfControl peer;
    /** Operations of this run that are left to do, including those of the burst. */
    protected long remaining;
    /** When the run began, or 0 if a receiver has not yet seen its first message. */
    protected long begun;

    private int[] roundTrips = {};
    private int recorded;
    private long last;
    private @Nullable PerfPacer pacer;
    private long elapsed;
    private long allocated;

    protected PerfLoop(PerfControl peer) {
        this.peer = peer;
    }

    /** Does {@code n} operations. */
    protected abstract void burst(int n) throws IOException;

    /** Waits for outstanding operations. */
    protected void finish() throws IOException {}

    /** True if this side only receives: its time starts with the first message. */
    protected boolean receives() {
        return false;
    }

    /** Does {@code n} operations and measures them. */
    public void run(long n) throws IOException {
        recorded = 0;
        long before = THREADS.getCurrentThreadAllocatedBytes();
        last = System.nanoTime();
        begun = receives() ? 0 : last;
        if (pacer != null) {
            pacer.run(n);
        } else {
            for (remaining = n; remaining > 0; remaining -= BURST) {
                burst((int) Math.min(remaining, BURST));
            }
        }
        finish();
        elapsed = System.nanoTime() - begun;
        allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    /** Records the times of round trips into {@code times} from now on, which has room for the longest run. */
    public final void recordInto(int[] times) {
        roundTrips = times;
    }

    /** A round trip ends, and the next begins. */
    protected final void roundTrip() {
        long now = System.nanoTime();
        roundTrips[recorded++] = (int) Math.min(now - last, Integer.MAX_VALUE);
        last = now;
    }

    /** A round trip that began at {@code since} ends while others are in progress. */
    protected final void roundTrip(long since) {
        roundTrips[recorded++] = (int) Math.min(System.nanoTime() - since, Integer.MAX_VALUE);
    }

    /** Messages are sent at the times of {@code p} from now on. */
    public final void paceBy(PerfPacer p) {
        pacer = p;
    }

    /** Whether messages are sent at fixed times. */
    protected final boolean isPaced() {
        return pacer != null;
    }

    /** The answer to the oldest message that was sent at a fixed time is there. */
    protected final void answered() {
        Objects.requireNonNull(pacer).answered();
    }

    /** The answer to such a message is there, by its number in this run. */
    protected final void answered(long k) {
        Objects.requireNonNull(pacer).answered(k);
    }

    /** A message has arrived. */
    protected final void arrived() {
        if (begun == 0) {
            begun = System.nanoTime();
        }
    }

    /** Nanoseconds of the last run. */
    public final long elapsed() {
        return elapsed;
    }

    /** Milliseconds that this JVM has spent compiling since it began. */
    public static long compileMillis() {
        return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
    }

    /** Bytes that this thread allocated in the last run. */
    public final long allocated() {
        return allocated;
    }

    @Override
    public void close() throws IOException {}

    /** The side that has nothing to do. */
    public static class Idle extends PerfLoop {
        public Idle(PerfControl peer) {
            super(peer);
        }

        @Override
        public void run(long n) {}

        @Override
        protected void burst(int n) {}
    }
}
