// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.util.Collection;
import java.util.List;

import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfResult;

/**
 * What a run measures, as far as the columns of its table depend on it: known before the first row is.
 *
 * @param latency there are round trips
 * @param bandwidth there are bandwidths
 * @param udp there is a datagram test to compare with
 * @param erm there are copies to remote memory
 * @param spread round trips have more than percentiles
 * @param connections there are rows of several connections
 * @param largest the greatest message
 * @param tests how many tests, each of which may have several rows
 * @param rate messages are sent at fixed times
 * @param limit there are limits of the machine to compare with
 * @param tcp there is TCP to compare with
 */
record PerfShape(boolean latency, boolean bandwidth, boolean udp, boolean erm, boolean spread, boolean connections,
        long largest, long tests, boolean rate, boolean limit, boolean tcp) {
    private static PerfShape of(Collection<PerfTest> tests, boolean spread, boolean connections, long largest,
            long names, boolean rate) {
        return new PerfShape(tests.stream().anyMatch(t -> !t.isBandwidth()), tests.stream().anyMatch(
                PerfTest::isBandwidth), tests.stream().anyMatch(PerfTest::isUdp), tests.stream().anyMatch(
                        PerfTest::isErmCopy), spread, connections, largest, names, rate, !rate && tests.stream()
                                .anyMatch(PerfTest::isLimit), tests
                                        .stream().anyMatch(t -> t.isNio() || t.isStackTcp()
                                                || t == PerfTest.TCP_LAT_SPIN
                                                || t == PerfTest.TCP_BW));
    }

    static PerfShape of(PerfOptions options) {
        return of(options.tests(), options.tests().stream().anyMatch(t -> !t.isBandwidth()), options.tests().stream()
                .anyMatch(PerfTest::takesConnections)
                && options.connections().stream().anyMatch(n -> n > 1), Math.max(PerfTest.LIMIT_TWOLINE.fixedSize,
                        options.sizes().stream().mapToLong(Long::longValue).max().orElse(0)), options.tests().size(),
                !options.rates().isEmpty());
    }

    static PerfShape of(List<PerfResult> results) {
        return of(results.stream().map(PerfResult::test).toList(), results.stream().anyMatch(r -> r.spread() != null),
                results.stream().anyMatch(r -> r.connections() > 1),
                results.stream().mapToLong(PerfResult::size).max().orElse(0), results.stream().map(PerfTable::name)
                        .distinct().count(), results.stream().anyMatch(r -> r.rate() != null));
    }
}
