// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Figures of a run divided by each other, as text; empty where the other one is not measured, or not yet. */
final class PerfRatios {
    /** Up to here a message and its commit word fit into one cache line. */
    private static final long ONE_LINE = 48;

    private final List<PerfResult> results;

    /** Compares with these results, to which more may be added. */
    PerfRatios(List<PerfResult> results) {
        this.results = results;
    }

    String limit(PerfResult r) {
        if (r.test().isLimit() || r.test().isErmRegistration()) {
            return "";
        }
        if (r.test().isBandwidth()) {
            return ratio(r, find(PerfTest.LIMIT_MEMCPY, r.size()), false);
        }
        PerfTest limit = r.size() <= ONE_LINE ? PerfTest.LIMIT_CACHELINE : PerfTest.LIMIT_TWOLINE;
        return r.size() > limit.fixedSize && limit == PerfTest.LIMIT_TWOLINE
                ? ""
                : ratio(r, find(limit, limit.fixedSize), false);
    }

    String tcp(PerfResult r) {
        if (r.test().isNio() && r.ends().isVerbena(true)) {
            return ratio(r, results.stream().filter(o -> o.test() == r.test() && o.size() == r.size()
                    && o.connections() == r.connections() && o.ends() == PerfEnds.PLAIN).findFirst(), !r.test()
                            .isBandwidth());
        }
        if (!r.test().takesDevice() || r.test().isErmRegistration()) {
            return "";
        }
        return r.test().isBandwidth()
                ? ratio(r, find(PerfTest.TCP_BW, r.size()), false)
                : ratio(r, find(PerfTest.TCP_LAT_SPIN, r.size()), true);
    }

    String udp(PerfResult r) {
        return r.test().takesDevice() && !r.test().isBandwidth() && !r.test().isErmRegistration()
                ? ratio(r, find(PerfTest.UDP_LAT_SPIN, r.size()), false)
                : "";
    }

    String write(PerfResult r) {
        return r.test().isErmCopy()
                ? ratio(r, find(r.test().isBandwidth() ? PerfTest.WRITE_BW : PerfTest.WRITE_IMM_LAT, r.size()), false)
                : "";
    }

    String stream(PerfResult r) {
        PerfTest by = r.test().isBandwidth() ? PerfTest.NIO_BW : PerfTest.NIO_LAT_SPIN;
        return r.test().isErmCopy()
                ? ratio(r, results.stream().filter(o -> o.test() == by && o.size() == r.size() && o.connections() == 1
                        && o.ends() == PerfEnds.VERBENA).findFirst(), !r.test().isBandwidth())
                : "";
    }

    /** All of them. */
    List<String> all(PerfResult r) {
        return List.of(limit(r), tcp(r), udp(r), write(r), stream(r));
    }

    private Optional<PerfResult> find(PerfTest test, long size) {
        return results.stream().filter(r -> r.test() == test && r.size() == size).findFirst();
    }

    private static String ratio(PerfResult a, Optional<PerfResult> b, boolean inverse) {
        return b.map(o -> figure(a) / figure(o)).map(q -> inverse ? 1 / q : q)
                .map(q -> String.format(Locale.ROOT, q < 10 ? "%.2fx" : "%.1fx", q)).orElse("");
    }

    private static double figure(PerfResult r) {
        return r.test().isBandwidth() ? r.bytesPerSecond() : r.rtt().getFirst();
    }
}
