// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;

import com.sun.management.ThreadMXBean;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Bytes that all threads allocate per operation, but for the one that runs JMH: some 8 KB a second, which would be much
 * for each operation where they are slow. JMH creates it by reflection.
 */
public final class MeasuredAllocation implements InternalProfiler {
    static final String BYTES = "allocated";
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private long before;

    @Override
    public String getDescription() {
        return "bytes allocated per operation";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = ofOthers();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        double bytes = ofOthers() - before;
        return List.of(new ScalarResult(BYTES, bytes / result.getMetadata().getAllOps(), "B/op",
                AggregationPolicy.AVG));
    }

    private static long ofOthers() {
        return THREADS.getTotalThreadAllocatedBytes() - THREADS.getCurrentThreadAllocatedBytes();
    }
}
