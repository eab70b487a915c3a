// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import java.io.IOException;

/**
 * Finds how many messages a run at a rate may send to end in time. What a warm-up shows is no measure of that: its fastest
 * batch may have been faster than the transport is for long, and a run of as many messages as that promises lasts as many
 * times longer. So it tries the rate itself, in batches that become longer until one takes a good part of the time.
 */
final class PerfTrial {
    /** Two answers tell a rate. */
    static final long LEAST = 2;

    /** So many times longer than a trial is the run; a run of few messages ends in time without one. */
    private static final int PART = 8;
    private static final long FIRST = 16;
    private static final int GROWTH = 4;

    /** Sends messages at the rate. */
    interface Batch {
        /** Sends {@code n} and returns the nanoseconds until the last answer. */
        long run(long n) throws IOException;

        /** Whether the answers of the last ones came as fast as the messages were to be sent. */
        boolean isKept();
    }

    private PerfTrial() {}

    /**
     * The number of messages for a run.
     *
     * @param interval nanoseconds between two
     * @param nanos how long it may last
     */
    static long messages(double interval, long nanos, Batch batch) throws IOException {
        long wanted = Math.max(LEAST, (long) (nanos / interval));
        long spent = 0;
        double each = interval;
        for (long n = FIRST; n <= wanted / PART && spent < nanos;) {
            long took = Math.max(1, batch.run(n));
            spent += took;
            double tried = (double) took / n;
            each = batch.isKept() ? interval : Math.max(interval, tried);
            if (took >= nanos / (2 * PART)) {
                break;
            }
            n = Math.clamp((long) (nanos / (PART * tried)), 1, GROWTH * n);
        }
        return Math.clamp((long) (nanos / each), LEAST, wanted);
    }
}
