// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.verbena.cli.perf.report.PerfProgress;
import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfResult;

/**
 * The cost of counting: each test runs alternately in fresh processes that count and in fresh processes that do not, so
 * that changes on the machine affect both.
 */
final class PerfCounting {
    private static final List<String> OFF = List.of("-Dverbena.counters=off");
    private static final double PERCENT = 100;

    /**
     * One test at one size; times are of a round trip or of a message, in nanoseconds.
     *
     * @param with medians of the runs
     * @param noise how far runs without counting differ from each other, as a fraction of their median
     */
    record Row(PerfTest test, long size, double with, double without, double noise) {
        double ratio() {
            return with / without;
        }

        /** True if the difference is no greater than that between runs of the same kind. */
        boolean isNoise() {
            return ratio() - 1 <= noise;
        }

        ObjectNode toJson() {
            ObjectNode o = JsonNodeFactory.instance.objectNode();
            return o.put("test", test.title()).put("size", size).put("counting_ns", with).put("not_counting_ns",
                    without)
                    .put("ratio", ratio()).put("noise", noise);
        }
    }

    private PerfCounting() {}

    static List<Row> measure(PerfOptions options, int runs, PerfProgress progress) throws IOException {
        Map<String, List<List<PerfResult>>> all = new LinkedHashMap<>();
        for (int i = 0; i < 2 * runs; i++) {
            boolean off = (i & 1) == (i >> 1 & 1); // off, on, on, off, off, …
            progress.run(i + 1, 2 * runs);
            for (PerfResult r : PerfPair.run(options, off ? OFF : List.of(), progress)) {
                if (r.ends() == PerfEnds.VERBENA || r.ends() == PerfEnds.NONE) {
                    all.computeIfAbsent(r.test() + " " + r.size() + " " + r.connections(), k -> List.of(
                            new ArrayList<>(), new ArrayList<>()))
                            .get(off ? 1 : 0).add(r);
                }
            }
        }
        return all.values().stream().map(r -> row(r.get(0), r.get(1))).toList();
    }

    static Row row(List<PerfResult> with, List<PerfResult> without) {
        double[] on = times(with);
        double[] off = times(without);
        double median = median(off);
        return new Row(with.getFirst().test(), with.getFirst().size(), median(on), median,
                (off[off.length - 1] - off[0]) / median);
    }

    private static double[] times(List<PerfResult> results) {
        return results.stream().mapToDouble(r -> r.rtt().isEmpty() ? 1e9 / r.messagesPerSecond() : r.rtt().getFirst())
                .sorted().toArray();
    }

    private static double median(double[] sorted) {
        int n = sorted.length;
        return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    }

    static void print(List<Row> rows, int runs, boolean json, PrintWriter out) {
        if (json) {
            out.println(rows.stream().map(r -> "  " + r.toJson()).collect(Collectors.joining(",\n", "[\n", "\n]")));
            return;
        }
        out.printf(Locale.ROOT, "%7s %-16s %12s %12s %8s %8s%n", "#bytes", "test", "counting", "not counting", "ratio",
                "noise");
        for (Row r : rows) {
            out.printf(Locale.ROOT, "%7d %-16s %9.1f ns %9.1f ns %8.2f %8s%n", r.size, r.test.title(), r.with,
                    r.without, r.ratio(), runs > 1 ? String.format(Locale.ROOT, "%.0f%%", PERCENT * r.noise) : "-");
        }
        out.println();
        if (runs == 1) {
            out.println("One run of each kind says nothing of the noise, so nothing of the difference: take --runs 5.");
            return;
        }
        out.println(verdict(rows));
        out.printf("Round trips, or times per message: medians of %d runs of each kind, in turn, in fresh processes.%n",
                runs);
        out.println("noise: how far the runs that do not count differ from each other.");
    }

    static String verdict(List<Row> rows) {
        List<Row> slower = rows.stream().filter(r -> !r.isNoise()).toList();
        if (slower.isEmpty()) {
            return "Counting makes no difference beyond the noise.";
        }
        return slower.stream().map(r -> String.format(Locale.ROOT,
                "%s at %d bytes takes %.0f %% longer when it is counted",
                r.test.title(), r.size, PERCENT * (r.ratio() - 1))).collect(Collectors.joining("; ", "", "."));
    }

    /** The tests that counting can affect. */
    static List<PerfTest> tests() {
        return Arrays.stream(PerfTest.values()).filter(PerfTest::isVerbs).toList();
    }
}
