// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfTest;

/**
 * Divides a time among the jobs of a run, so that the whole table is complete within a minute even on a slow machine:
 * time that one job takes beyond its share is taken from the later ones, and time that it leaves is given to them. Used
 * by one thread.
 */
public final class PerfBudget {
    /** For the main job: a minute less the time that two JVMs need to start and to end. */
    public static final long MINUTE_NANOS = 48_000_000_000L;
    /** No limit. */
    public static final long NONE = 0;
    /** The minimum of a job, so that its row has a figure. */
    static final long LEAST_NANOS = 20_000_000;
    /** The first size of a test warms up this many times longer than the others, since its code is compiled then. */
    static final int FIRST_SIZE = 3;

    private final long total;
    private final int[] weights;
    private int begun;

    /**
     * Makes one for these jobs.
     *
     * @param totalNanos for all of them, or {@link #NONE}
     */
    PerfBudget(long totalNanos, List<PerfJob> jobs) {
        total = totalNanos;
        Set<PerfTest> seen = EnumSet.noneOf(PerfTest.class);
        weights = jobs.stream().mapToInt(j -> seen.add(j.test()) ? FIRST_SIZE : 1).toArray();
    }

    /**
     * Starts the next job.
     *
     * @param spentNanos time that all earlier jobs took
     * @return nanoseconds that it may take; {@link Long#MAX_VALUE} without limit
     */
    long next(long spentNanos) {
        int weight = weights[begun];
        long left = 0;
        for (int i = begun; i < weights.length; i++) {
            left += weights[i];
        }
        begun++;
        return total == NONE
                ? Long.MAX_VALUE
                : Math.max(LEAST_NANOS, (long) ((double) (total - spentNanos) * weight / left));
    }
}
