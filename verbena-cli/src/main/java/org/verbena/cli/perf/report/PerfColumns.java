// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

import org.verbena.cli.perf.run.PerfRate;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.perf.session.PerfSpread;

/** The columns of a table: those that a run fills, and of these the most important ones that fit. */
final class PerfColumns {
    /** Of the first column, that of the names. */
    static final int NAME = 18;
    private static final double MILLI = 1e6;
    private static final double NOTHING = 0.005;
    /** Bytes from here on fill their column without decimals. */
    private static final double MANY = 1000;
    /** A mark and seven digits would touch the column before. */
    private static final double LONG_MARKED = 1e5;
    private static final double LONGEST_MARKED = 999.5e6;
    private static final double SECOND = 1e9;
    private static final double HUNDRED = 100;

    /**
     * A column below a heading that several columns may share; the cell is empty if the test has no such figure.
     *
     * @param rank columns of rank 0 are always there, of the others those of lower rank are kept where room is short
     */
    record Column(int rank, String group, String title, int width, Function<PerfResult, String> cell) {}

    private final PerfShape shape;
    private final PerfRatios ratios;

    private PerfColumns(PerfShape shape, PerfRatios ratios) {
        this.shape = shape;
        this.ratios = ratios;
    }

    /** Those that fit, in order. */
    static List<Column> of(PerfShape shape, PerfRatios ratios, int room) {
        return fit(new PerfColumns(shape, ratios).all(), room);
    }

    /** Those of a table that compares only. */
    static List<Column> comparing(PerfShape shape, PerfRatios ratios, int room) {
        return fit(new PerfColumns(shape, ratios).all().stream().filter(c -> c.rank() == 0
                || c.title().startsWith("vs ")).toList(), room);
    }

    private static List<Column> fit(List<Column> all, int room) {
        Set<Column> kept = new HashSet<>();
        int left = room - NAME;
        for (Column c : all.stream().sorted(Comparator.comparingInt(Column::rank)).toList()) {
            if (c.rank() == 0 || c.width() <= left) {
                kept.add(c);
                left -= c.width();
            }
        }
        return all.stream().filter(kept::contains).toList();
    }

    /** Whether a run fills more columns than these. */
    static boolean hasMore(PerfShape shape, PerfRatios ratios, List<Column> columns) {
        return new PerfColumns(shape, ratios).all().size() > columns.size();
    }

    private List<Column> all() {
        List<Column> all = new ArrayList<>();
        all.add(new Column(0, "", "#bytes", Math.max(7, Long.toString(shape.largest()).length() + 1), r -> Long
                .toString(r.size())));
        if (shape.connections()) {
            all.add(new Column(0, "", "#conns", 8, r -> r.test().isNio() ? Integer.toString(r.connections()) : ""));
        }
        if (shape.rate()) {
            String group = "messages / second";
            all.add(new Column(0, group, "asked", 9, r -> r.rate() == null ? "" : Long.toString(r.rate().asked())));
            all.add(new Column(0, group, "reached", 11, r -> r.rate() == null ? "" : reached(r.rate())));
        }
        all.add(new Column(9, "", "#iterations", 12, r -> Long.toString(r.iterations())));
        if (shape.latency()) {
            String group = "round trips, microseconds";
            if (shape.spread()) {
                all.add(new Column(11, group, "t_min", 8, spread(PerfSpread::min)));
            }
            all.add(new Column(0, group, "t_typical", 10, roundTrip(0)));
            all.add(new Column(8, group, "p90", 8, roundTrip(1)));
            all.add(new Column(1, group, "p99", 8, roundTrip(2)));
            all.add(new Column(4, group, "p99.9", 8, roundTrip(3)));
            all.add(new Column(7, group, "p99.99", 8, roundTrip(4)));
            if (shape.spread()) {
                all.add(new Column(12, group, "p99.999", 8, r -> r.spread() == null
                        ? ""
                        : micros(r.spread()
                                .fiveNines(), r.isUnsure(PerfSpread.RANK))));
            }
            all.add(new Column(3, group, "t_max", 8, roundTrip(5)));
            if (shape.spread()) {
                all.add(new Column(10, group, "t_avg", 8, spread(PerfSpread::mean)));
                all.add(new Column(10, group, "t_stdev", 8, spread(PerfSpread::deviation)));
            }
        }
        if (shape.bandwidth()) {
            all.add(new Column(0, "BW average", "GB/s", 11, bandwidth("%.3f", r -> r.bytesPerSecond() / 1e9)));
            all.add(new Column(6, "BW average", "Gbit/s", 9, bandwidth("%.3f", r -> r.bytesPerSecond() * 8 / 1e9)));
            all.add(new Column(5, "MsgRate", "M/s", 9, bandwidth("%.4f", r -> r.messagesPerSecond() / 1e6)));
        }
        all.add(new Column(6, "", "B/op", 7, r -> allocated(r.allocatedPerOperation())));
        if (shape.limit()) {
            all.add(new Column(2, "", "vs limit", 9, ratios::limit));
        }
        if (shape.tcp()) {
            all.add(new Column(2, "", "vs tcp", 7, ratios::tcp));
        }
        if (shape.udp()) {
            all.add(new Column(3, "", "vs udp", 7, ratios::udp));
        }
        if (shape.erm()) {
            all.add(new Column(2, "", "vs write", 9, ratios::write));
            all.add(new Column(2, "", "vs stream", 10, ratios::stream));
        }
        if (ratios.hasBaseline()) {
            all.add(new Column(0, "", "vs baseline", 12, ratios::baseline));
        }
        return all;
    }

    /** Whole numbers where decimals would say nothing. */
    private static String reached(PerfRate rate) {
        return (rate.isKept() ? "" : PerfTable.MISSED) + format(rate.reached() < HUNDRED ? "%.2f" : "%.0f", rate
                .reached());
    }

    private static Function<PerfResult, String> roundTrip(int i) {
        return r -> r.test().isBandwidth() ? "" : micros(r.rtt().get(i), r.isUnsure(i));
    }

    private static Function<PerfResult, String> spread(ToDoubleFunction<PerfSpread> figure) {
        return r -> r.spread() == null ? "" : micros(figure.applyAsDouble(r.spread()), false);
    }

    private static Function<PerfResult, String> bandwidth(String pattern, ToDoubleFunction<PerfResult> figure) {
        return r -> r.test().isBandwidth() ? format(pattern, figure.applyAsDouble(r)) : "";
    }

    private static String micros(double nanos, boolean unsure) {
        if (unsure && nanos >= LONGEST_MARKED) {
            return "~" + format("%.1fs", nanos / SECOND);
        }
        return (unsure ? "~" : "") + format(nanos < (unsure ? LONG_MARKED : MILLI)
                ? "%.3f"
                : nanos < (unsure ? 10 : 100) * MILLI ? "%.1f" : "%.0f", nanos / 1000);
    }

    private static String allocated(double bytes) {
        return bytes == 0 ? "0" : bytes < NOTHING ? "<0.01" : format(bytes < MANY ? "%.2f" : "%.0f", bytes);
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation belongs to Error Prone, which is no dependency
    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
