// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfResult;

/** Figures of a run divided by each other, as text; empty where the other one is not measured, or not yet. */
final class PerfRatios {
    /** Up to here a message and its commit word fit into one cache line. */
    private static final long ONE_LINE = 48;

    private final List<PerfResult> results;
    private final @Nullable PerfBaseline baseline;

    /** Compares with these results, to which more may be added, and with an earlier run. */
    PerfRatios(List<PerfResult> results, @Nullable PerfBaseline baseline) {
        this.results = results;
        this.baseline = baseline;
    }

    /** Whether there is an earlier run. */
    boolean hasBaseline() {
        return baseline != null;
    }

    String baseline(PerfResult r) {
        OptionalDouble faster = baseline == null ? OptionalDouble.empty() : baseline.faster(r);
        return faster.isPresent() ? text(faster.getAsDouble()) : "no row";
    }

    String limit(PerfResult r) {
        if (r.test().isLimit() || r.test().isErmRegistration()) {
            return "";
        }
        if (r.test().isBandwidth()) {
            return ratio(r, find(PerfTest.LIMIT_MEMCPY, r), false);
        }
        PerfTest limit = r.size() <= ONE_LINE ? PerfTest.LIMIT_CACHELINE : PerfTest.LIMIT_TWOLINE;
        return r.size() > limit.fixedSize && limit == PerfTest.LIMIT_TWOLINE
                ? ""
                : ratio(r, results.stream().filter(o -> o.test() == limit).findFirst(), false);
    }

    String tcp(PerfResult r) {
        if (r.test().isNio() && r.ends().isVerbena(true) || r.test().isStackTcp() && r.ends() != PerfEnds.PLAIN) {
            return ratio(r, results.stream().filter(o -> o.test() == r.test() && o.size() == r.size()
                    && o.connections() == r.connections() && o.hasRateOf(r) && o.ends() == PerfEnds.PLAIN).findFirst(),
                    !r.test()
                            .isBandwidth());
        }
        if (!r.test().takesDevice() || r.test().isStackTcp() || r.test().isErmRegistration()) {
            return "";
        }
        return r.test().isBandwidth()
                ? ratio(r, find(PerfTest.TCP_BW, r), false)
                : ratio(r, find(PerfTest.TCP_LAT_SPIN, r), true);
    }

    String udp(PerfResult r) {
        if (r.test() == PerfTest.RAW_RATE) {
            return ratio(r, find(PerfTest.UDP_RATE, r), false);
        }
        return r.test().takesDevice() && !r.test().isStackTcp() && !r.test().isBandwidth() && !r.test()
                .isErmRegistration()
                        ? ratio(r, find(PerfTest.UDP_LAT_SPIN, r), false)
                        : "";
    }

    String write(PerfResult r) {
        return r.test().isErmCopy()
                ? ratio(r, find(r.test().isBandwidth() ? PerfTest.WRITE_BW : PerfTest.WRITE_IMM_LAT, r), false)
                : "";
    }

    String stream(PerfResult r) {
        PerfTest by = r.test().isBandwidth() ? PerfTest.NIO_BW : PerfTest.NIO_LAT_SPIN;
        return r.test().isErmCopy()
                ? ratio(r, results.stream().filter(o -> o.test() == by && o.size() == r.size() && o.connections() == 1
                        && o.hasRateOf(r) && o.ends() == PerfEnds.VERBENA).findFirst(), !r.test().isBandwidth())
                : "";
    }

    /** All of them. */
    List<String> all(PerfResult r) {
        return List.of(limit(r), tcp(r), udp(r), write(r), stream(r));
    }

    /** The result of a test of the same size, and at the same rate if it has one. */
    private Optional<PerfResult> find(PerfTest test, PerfResult r) {
        return results.stream().filter(o -> o.test() == test && o.size() == r.size() && o.hasRateOf(r)).findFirst();
    }

    private static String ratio(PerfResult a, Optional<PerfResult> b, boolean inverse) {
        return b.map(o -> a.figure() / o.figure()).map(q -> inverse ? 1 / q : q)
                .map(PerfRatios::text).orElse("");
    }

    private static String text(double q) {
        return String.format(Locale.ROOT, q < 10 ? "%.2fx" : "%.1fx", q);
    }
}
