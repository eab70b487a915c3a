// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.math.BigDecimal;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.xdp.monitor.MonitorSample;
import org.verbena.xdp.monitor.MonitorSample.Count;

/**
 * A sample of a monitored interface and the one before as a table, JSON and CSV, with all that is missing in it.
 *
 * @param by what its lines are
 * @param begun when the run began, by {@link System#nanoTime}
 * @param look the sample
 * @param before null for the first sample
 * @param lines by bytes a second, then by bytes
 * @param captured packets that are written to a file; -1 without one
 */
record TrafficReport(TrafficOptions options, TrafficBy by, long begun, TrafficLook look, @Nullable MonitorSample before,
        List<TrafficLine> lines, long captured) {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
    private static final double SECOND = 1e9;
    private static final int FIGURE_WIDTH = 9;
    private static final int LONGEST_NAME = 100;
    private static final int USUAL_LINES = 20;
    /** Keys of the sums in the history, which no line has. */
    private static final Object RECEIVED = "";
    private static final Object SENT = " ";
    private static final String RATE = "bytes/s";
    /** The names of the columns behind the first. */
    static final List<String> FIGURES = List.of("packets/s", RATE, "avg-packets/s", "avg-bytes/s", "packets", "bytes");

    /** Makes the lines. */
    static TrafficReport of(TrafficOptions options, TrafficBy by, long begun, TrafficLook look,
            @Nullable MonitorSample before, long captured) {
        return new TrafficReport(options, by, begun, look, before, TrafficLine.of(by, look.sample(), before).stream()
                .sorted(Comparator.comparingLong((TrafficLine l) -> l.recent().bytes()).thenComparingLong(l -> l
                        .total().bytes()).reversed().thenComparing(TrafficLine::name)).toList(), captured);
    }

    private MonitorSample now() {
        return look.sample();
    }

    /** Of this sample. */
    private double seconds() {
        MonitorSample b = before;
        return Math.max(1, now().nanos() - (b == null ? begun : b.nanos())) / SECOND;
    }

    /** Of the whole run. */
    private double elapsed() {
        return Math.max(1, now().nanos() - begun) / SECOND;
    }

    private Count recent() {
        MonitorSample b = before;
        return b == null ? now().total() : now().total().since(b.total());
    }

    // ---- for people

    /** The columns, and a line for each flow, address or port. */
    StatTable table(@Nullable StatHistory history, boolean blocks) {
        String name = by.toString();
        int longest = lines.stream().mapToInt(l -> l.name().length()).max().orElse(0);
        List<StatTable.Column> columns = new ArrayList<>(List.of(new StatTable.Column(name, name.toUpperCase(
                Locale.ROOT),
                Math.clamp(longest, name.length(), LONGEST_NAME), true)));
        for (String figure : FIGURES) {
            columns.add(new StatTable.Column(figure, switch (figure) {
                case "packets/s" -> "PKT/s";
                case RATE -> "B/s";
                case "avg-packets/s" -> "AVG-PKT/s";
                case "avg-bytes/s" -> "AVG-B/s";
                default -> figure.toUpperCase(Locale.ROOT);
            }, FIGURE_WIDTH + (figure.startsWith("avg") ? 2 : 0), false));
        }
        if (history != null) {
            columns.add(StatTable.trend(1));
        }
        StatTable table = new StatTable(columns, lines.stream().map(l -> row(l, history, blocks)).toList());
        return options.sort().isEmpty() ? table : table.sorted(table.column(options.sort()), false);
    }

    private StatRow row(TrafficLine l, @Nullable StatHistory history, boolean blocks) {
        double seconds = seconds();
        double elapsed = elapsed();
        List<StatRow.Cell> cells = new ArrayList<>(List.of(StatRow.Cell.of(l.name()), StatTable.rate(() -> l.recent()
                .packets() / seconds), StatTable.rate(() -> l.recent().bytes() / seconds), StatTable.rate(() -> l
                        .total().packets() / elapsed), StatTable.rate(() -> l.total().bytes() / elapsed), StatTable
                                .total(l.total()::packets), StatTable.total(l.total()::bytes)));
        if (history != null) {
            cells.add(StatRow.Cell.bars(() -> history.bars(l.name(), StatTable.TREND, blocks)));
        }
        return new StatRow(l.name(), cells);
    }

    /** Adds the rates of all lines, and forgets lines that are gone. */
    void remember(StatHistory history) {
        MonitorSample b = before;
        Set<Object> names = new HashSet<>(Set.of(RECEIVED, SENT));
        history.add(RECEIVED, now().received().since(b == null ? Count.NONE : b.received()).bytes() / seconds());
        history.add(SENT, now().sent().since(b == null ? Count.NONE : b.sent()).bytes() / seconds());
        for (TrafficLine l : lines) {
            names.add(l.name());
            history.add(l.name(), l.recent().bytes() / seconds());
        }
        history.retain(names);
    }

    /** What stands above the table. */
    String title() {
        MonitorSample b = before;
        return TIME.format(look.time().atZone(ZoneId.systemDefault())) + "  " + options.netdev() + "  received "
                + rates(now()
                        .received(), b == null ? Count.NONE : b.received()) + ", sent " + rates(now().sent(), b == null
                                ? Count.NONE
                                : b.sent()) + String.format(Locale.ROOT, "  over %.3f s", seconds()) + (options.filter()
                                        .isEmpty() ? "" : "  [" + HumanText.printable(options.filter()) + "]");
    }

    private String rates(Count all, Count earlier) {
        Count recent = all.since(earlier);
        return StatText.rate(recent.packets() / seconds()) + " packets/s " + StatText.rate(recent.bytes() / seconds())
                + " B/s";
    }

    /** Both directions, for the screen: the rates of the sum and the last ones as bars. */
    String sums(StatHistory history, int bars, boolean blocks) {
        MonitorSample b = before;
        return "in  " + rates(now().received(), b == null ? Count.NONE : b.received()) + " " + history.bars(RECEIVED,
                bars, blocks) + "  out " + rates(now().sent(), b == null ? Count.NONE : b.sent()) + " " + history.bars(
                        SENT, bars, blocks);
    }

    /** What is missing in the table, and why. */
    List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (now().evicted() > 0 || now().outside().packets() > 0) {
            notes.add(HumanText.count(now().evicted(), "flow") + " had to make room for others (--flows): "
                    + HumanText.count(now().outside().packets(), "packet") + " of " + now().outside().bytes()
                    + " bytes are in the sums alone");
        }
        if (captured >= 0) {
            notes.add(HumanText.count(captured, "packet") + " written to " + options.write() + (now().ringLost() == 0
                    ? ""
                    : "; " + now().ringLost() + " lost there, because the ring was full (--ring): they are counted"));
        }
        if (!look.xdp().isEmpty()) {
            notes.add("an " + look.xdp() + " is attached: what it takes or drops is not counted here");
        }
        return notes;
    }

    /** As text, a line an element. */
    List<String> text(@Nullable StatHistory history, boolean blocks, int width) {
        StatTable table = table(history, blocks);
        List<String> text = new ArrayList<>(List.of(title(), table.header(width)));
        int most = options.lines(USUAL_LINES);
        table.rows().stream().limit(most).forEach(r -> text.add(table.line(r, width)));
        if (table.rows().size() > most) {
            text.add("(" + (table.rows().size() - most) + " more: --lines)");
        }
        text.addAll(notes());
        return text;
    }

    // ---- for programs

    private static Map<String, @Nullable Object> count(Count c) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("packets", c.packets());
        m.put("bytes", c.bytes());
        return m;
    }

    private static Map<String, @Nullable Object> rate(Count c, double seconds) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("packets", StatJson.rounded(c.packets() / seconds));
        m.put("bytes", StatJson.rounded(c.bytes() / seconds));
        return m;
    }

    private List<TrafficLine> chosen() {
        List<TrafficLine> all = lines;
        if (!options.sort().isEmpty()) {
            Map<Object, TrafficLine> byName = new LinkedHashMap<>();
            all.forEach(l -> byName.put(l.name(), l));
            all = table(null, false).rows().stream().map(r -> byName.get(r.key())).filter(Objects::nonNull)
                    .toList();
        }
        return all.stream().limit(options.lines(Integer.MAX_VALUE)).toList();
    }

    private boolean hasEnds() {
        return by != TrafficBy.FLOW;
    }

    /** An object. */
    String json() {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("time", look.time().toString());
        m.put("interface", options.netdev());
        m.put("filter", options.filter().isEmpty() ? null : options.filter());
        m.put("seconds", StatJson.rounded(seconds()));
        m.put("elapsed", StatJson.rounded(elapsed()));
        m.put("received", count(now().received()));
        m.put("sent", count(now().sent()));
        m.put("rates", rate(recent(), seconds()));
        m.put("averages", rate(now().total(), elapsed()));
        m.put("by", by.toString());
        List<Object> all = new ArrayList<>();
        for (TrafficLine l : chosen()) {
            Map<String, @Nullable Object> line = new LinkedHashMap<>(l.fields());
            line.putAll(count(l.total()));
            line.put("rates", rate(l.recent(), seconds()));
            line.put("averages", rate(l.total(), elapsed()));
            if (hasEnds()) {
                line.put("from", count(l.from()));
                line.put("to", count(l.to()));
            }
            all.add(line);
        }
        m.put("lines", all);
        m.put("evicted_flows", now().evicted());
        m.put("outside", count(now().outside()));
        m.put("captured", captured < 0 ? null : captured);
        m.put("capture_lost", captured < 0 ? null : now().ringLost());
        m.put("xdp", look.xdp().isEmpty() ? null : look.xdp());
        return StatJson.write(m);
    }

    /** Lines of values, the first time behind a line of their names. */
    List<String> csv(boolean names) {
        List<String> text = new ArrayList<>();
        for (TrafficLine l : chosen()) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("time", look.time().toString());
            row.put("interface", options.netdev());
            row.putAll(l.fields());
            row.putAll(count(l.total()));
            rate(l.recent(), seconds()).forEach((k, v) -> row.put(k + "_per_second", v));
            rate(l.total(), elapsed()).forEach((k, v) -> row.put("average_" + k + "_per_second", v));
            if (hasEnds()) {
                count(l.from()).forEach((k, v) -> row.put("from_" + k, v));
                count(l.to()).forEach((k, v) -> row.put("to_" + k, v));
            }
            if (names && text.isEmpty()) {
                text.add(String.join(",", row.keySet()));
            }
            text.add(String.join(",", row.values().stream().map(TrafficReport::cell).toList()));
        }
        return text;
    }

    private static String cell(@Nullable Object value) {
        return value == null
                ? ""
                : value instanceof Double d
                        ? BigDecimal.valueOf(d).toPlainString()
                        : value
                                .toString();
    }
}
