package org.verbena.cli;

import java.io.PrintWriter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

import picocli.CommandLine.Help.Ansi;

/**
 * The results side by side: all round trips, then all bandwidths, in each the sizes in order, and for each size the
 * machine's limit, verbs and TCP.
 */
final class PerfTable {
    /** Up to here a message and its commit word fit into one cache line. */
    private static final long ONE_LINE = 48;
    private static final double MILLI = 1e6;
    private static final double NOTHING = 0.005;

    private final List<PerfResult> results;
    private final PrintWriter out;
    private final Ansi ansi;

    PerfTable(List<PerfResult> results, PrintWriter out, Ansi ansi) {
        this.results = results.stream().sorted(Comparator.comparingLong(PerfResult::size).thenComparing(
                PerfResult::test))
                .toList();
        this.out = out;
        this.ansi = ansi;
    }

    void print(int runs) {
        section(false);
        section(true);
        note("vs limit: divided by the figure of limit-cacheline (to 48 bytes), limit-twoline (to 64), limit-memcpy.");
        note("vs tcp: so many times faster than tcp-lat-spin, tcp-bw.");
        if (runs > 1) {
            note("Each figure is the median of " + runs + " runs in fresh processes.");
        }
        out.flush();
    }

    private void note(String text) {
        out.println(ansi.string("@|faint " + text + "|@"));
    }

    private void section(boolean bandwidth) {
        List<PerfResult> rows = results.stream().filter(r -> r.test().isBandwidth() == bandwidth).toList();
        if (rows.isEmpty()) {
            return;
        }
        String figures = bandwidth
                ? format("%24s%24s", "BW average[GB/s]", "MsgRate[M/s]")
                : format("%12s%9s%9s%9s%9s", "t_typical", "p90", "p99", "p99.9", "p99.99") + format("%10s", "t_max");
        out.println(ansi.string("@|bold " + (bandwidth ? "Bandwidth" : "Round trips, microseconds (t_typical is p50)")
                + "|@"));
        out.println(ansi.string("@|bold " + format("%-16s%9s%13s%s%9s%10s%8s", "test", "#bytes", "#iterations",
                figures + (bandwidth ? " ".repeat(10) : ""), "B/op", "vs limit", "vs tcp") + "|@"));
        long size = rows.getFirst().size();
        boolean blocks = rows.stream().map(PerfResult::test).distinct().count() > 1;
        for (PerfResult r : rows) {
            if (r.size() != size) {
                if (blocks) {
                    out.println();
                }
                size = r.size();
            }
            row(r);
        }
        out.println();
    }

    private void row(PerfResult r) {
        String end = format("%9s%10s%8s", allocated(r.allocatedPerOperation()), limit(r), tcp(r)).stripTrailing();
        String line = format("%-16s%9d%13d", r.test().title(), r.size(), r.iterations()) + figures(r) + end;
        out.println(r.test().isLimit()
                ? ansi.string("@|cyan " + line + "|@")
                : r.test().isTcp() ? ansi.string("@|faint " + line + "|@") : line);
    }

    private static String figures(PerfResult r) {
        if (r.test().isBandwidth()) {
            return format("%24.3f%24.4f", r.bytesPerSecond() / 1e9, r.messagesPerSecond() / 1e6) + " ".repeat(10);
        }
        StringBuilder b = new StringBuilder();
        int width = 12;
        for (int i = 0; i < r.rtt().size(); i++) {
            b.append(format("%" + (i == r.rtt().size() - 1 ? 10 : width) + "s", micros(r.rtt().get(i))));
            width = 9;
        }
        return b.toString();
    }

    private static String micros(double nanos) {
        return format(nanos < MILLI ? "%.3f" : nanos < 100 * MILLI ? "%.1f" : "%.0f", nanos / 1000);
    }

    private static String allocated(double bytes) {
        return bytes == 0 ? "0" : bytes < NOTHING ? "<0.01" : format("%.2f", bytes);
    }

    private String limit(PerfResult r) {
        if (r.test().isLimit()) {
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

    private String tcp(PerfResult r) {
        if (!r.test().isVerbs()) {
            return "";
        }
        return r.test().isBandwidth()
                ? ratio(r, find(PerfTest.TCP_BW, r.size()), false)
                : ratio(r, find(PerfTest.TCP_LAT_SPIN, r.size()), true);
    }

    private Optional<PerfResult> find(PerfTest test, long size) {
        return results.stream().filter(r -> r.test() == test && r.size() == size).findFirst();
    }

    private static String ratio(PerfResult a, Optional<PerfResult> b, boolean inverse) {
        return b.map(o -> figure(a) / figure(o)).map(q -> inverse ? 1 / q : q)
                .map(q -> format(q < 10 ? "%.2fx" : "%.1fx", q)).orElse("");
    }

    private static double figure(PerfResult r) {
        return r.test().isBandwidth() ? r.bytesPerSecond() : r.rtt().getFirst();
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation is Error Prone's own, no dependency of ours
    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
