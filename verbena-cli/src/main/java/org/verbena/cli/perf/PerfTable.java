// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

import picocli.CommandLine.Help.Ansi;

/**
 * The results side by side in one table: for each size the machine's limit, verbs, remote memory and TCP, first the
 * round trips, then the bandwidths. Columns that no row would fill are left out.
 */
final class PerfTable {
    /** Up to here a message and its commit word fit into one cache line. */
    private static final long ONE_LINE = 48;
    private static final double MILLI = 1e6;
    private static final double NOTHING = 0.005;
    /** Bytes from here on fill their column without decimals. */
    private static final double MANY = 1000;
    private static final int NAME = 18;

    /** A column below a heading that several columns may share; the cell is empty if the test has no such figure. */
    private record Column(String group, String title, int width, Function<PerfResult, String> cell) {}

    private final List<PerfResult> results;
    private final PrintWriter out;
    private final Ansi ansi;

    PerfTable(List<PerfResult> results, PrintWriter out, Ansi ansi) {
        this.results = results.stream().sorted(Comparator.comparingLong(PerfResult::size)
                .thenComparing(r -> r.test().isBandwidth()).thenComparing(PerfResult::test)
                .thenComparingInt(PerfResult::connections)).toList();
        this.out = out;
        this.ansi = ansi;
    }

    void print(int runs) {
        rows(columns());
        out.println();
        note("vs limit: divided by the figure of limit-cacheline (to 48 bytes), limit-twoline (to 64), limit-memcpy.");
        note("vs tcp: factor by which it is faster than tcp-lat-spin, tcp-bw; a channel than the same by the kernel.");
        if (results.stream().anyMatch(r -> r.test().isUdp())) {
            note("vs udp: multiple of the round trip of udp-lat-spin.");
        }
        if (hasErm()) {
            note("vs write: erm-lat divided by write-imm-lat, erm-bw by write-bw.");
            note("vs stream: factor by which it is faster than nio-lat-spin, nio-bw by rings.");
        }
        if (runs > 1) {
            note("Each figure is the median of " + runs + " runs in fresh processes.");
        }
        out.flush();
    }

    private boolean hasErm() {
        return results.stream().anyMatch(r -> r.test().isErmCopy());
    }

    private void note(String text) {
        out.println(ansi.string("@|faint " + text + "|@"));
    }

    private List<Column> columns() {
        List<Column> all = new ArrayList<>();
        all.add(new Column("", "#bytes", 7, r -> Long.toString(r.size())));
        if (results.stream().anyMatch(r -> r.connections() > 1)) {
            all.add(new Column("", "#conns", 8, r -> r.test().isNio() ? Integer.toString(r.connections()) : ""));
        }
        all.add(new Column("", "#iterations", 12, r -> Long.toString(r.iterations())));
        if (results.stream().anyMatch(r -> !r.test().isBandwidth())) {
            String group = "round trips, microseconds";
            all.add(new Column(group, "t_typical", 10, roundTrip(0)));
            List<String> ranks = List.of("p90", "p99", "p99.9", "p99.99");
            for (int i = 0; i < ranks.size(); i++) {
                all.add(new Column(group, ranks.get(i), 8, roundTrip(i + 1)));
            }
            all.add(new Column(group, "t_max", 8, roundTrip(ranks.size() + 1)));
        }
        if (results.stream().anyMatch(r -> r.test().isBandwidth())) {
            all.add(new Column("BW average", "GB/s", 11, bandwidth("%.3f", r -> r.bytesPerSecond() / 1e9)));
            all.add(new Column("MsgRate", "M/s", 9, bandwidth("%.4f", r -> r.messagesPerSecond() / 1e6)));
        }
        all.add(new Column("", "B/op", 7, r -> allocated(r.allocatedPerOperation())));
        all.add(new Column("", "vs limit", 9, this::limit));
        all.add(new Column("", "vs tcp", 7, this::tcp));
        if (results.stream().anyMatch(r -> r.test().isUdp())) {
            all.add(new Column("", "vs udp", 7, this::udp));
        }
        if (hasErm()) {
            all.add(new Column("", "vs write", 9, this::write));
            all.add(new Column("", "vs stream", 10, this::stream));
        }
        return all;
    }

    private static Function<PerfResult, String> roundTrip(int i) {
        return r -> r.test().isBandwidth() ? "" : micros(r.rtt().get(i));
    }

    private static Function<PerfResult, String> bandwidth(String pattern, ToDoubleFunction<PerfResult> figure) {
        return r -> r.test().isBandwidth() ? format(pattern, figure.applyAsDouble(r)) : "";
    }

    private void rows(List<Column> columns) {
        out.println(ansi.string("@|bold " + groups(columns) + "|@"));
        out.println(ansi.string("@|bold " + line("test", columns, Column::title) + "|@"));
        boolean blocks = results.stream().map(PerfTable::name).distinct().count() > 1;
        long size = results.isEmpty() ? 0 : results.getFirst().size();
        for (PerfResult r : results) {
            if (r.size() != size && blocks) {
                out.println();
            }
            size = r.size();
            String line = line(name(r), columns, c -> c.cell().apply(r));
            String style = r.test().isLimit() ? "cyan" : "faint";
            out.println(r.test().isVerbs() || r.ends().isVerbena(true)
                    ? line
                    : ansi.string("@|" + style + " " + line + "|@"));
        }
    }

    /** Among the rows of a channel, that of the kernel is the reference. */
    private static String name(PerfResult r) {
        return switch (r.ends()) {
            case PLAIN -> "  by the kernel";
            case VERBENA_TO_PLAIN -> "  to a plain peer";
            default -> r.test().title();
        };
    }

    /** The upper line of the heading: each group's name at the right end of its columns. */
    private static String groups(List<Column> columns) {
        StringBuilder b = new StringBuilder(" ".repeat(NAME));
        int width = 0;
        for (int i = 0; i < columns.size(); i++) {
            String group = columns.get(i).group();
            width += columns.get(i).width();
            if (i + 1 == columns.size() || !columns.get(i + 1).group().equals(group)) {
                b.append(right(group, width));
                width = 0;
            }
        }
        return b.toString().stripTrailing();
    }

    private static String line(String name, List<Column> columns, Function<Column, String> cell) {
        StringBuilder b = new StringBuilder(name + " ".repeat(Math.max(0, NAME - name.length())));
        columns.forEach(c -> b.append(right(cell.apply(c), c.width())));
        return b.toString().stripTrailing();
    }

    private static String right(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    private static String micros(double nanos) {
        return format(nanos < MILLI ? "%.3f" : nanos < 100 * MILLI ? "%.1f" : "%.0f", nanos / 1000);
    }

    private static String allocated(double bytes) {
        return bytes == 0 ? "0" : bytes < NOTHING ? "<0.01" : format(bytes < MANY ? "%.2f" : "%.0f", bytes);
    }

    private String limit(PerfResult r) {
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

    private String tcp(PerfResult r) {
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

    private String udp(PerfResult r) {
        return r.test().takesDevice() && !r.test().isBandwidth() && !r.test().isErmRegistration()
                ? ratio(r, find(PerfTest.UDP_LAT_SPIN, r.size()), false)
                : "";
    }

    private String write(PerfResult r) {
        return r.test().isErmCopy()
                ? ratio(r, find(r.test().isBandwidth() ? PerfTest.WRITE_BW : PerfTest.WRITE_IMM_LAT, r.size()), false)
                : "";
    }

    private String stream(PerfResult r) {
        PerfTest by = r.test().isBandwidth() ? PerfTest.NIO_BW : PerfTest.NIO_LAT_SPIN;
        return r.test().isErmCopy()
                ? ratio(r, results.stream().filter(o -> o.test() == by && o.size() == r.size() && o.connections() == 1
                        && o.ends() == PerfEnds.VERBENA).findFirst(), !r.test().isBandwidth())
                : "";
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

    @SuppressWarnings("AnnotateFormatMethod") // the annotation belongs to Error Prone, which is no dependency
    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
