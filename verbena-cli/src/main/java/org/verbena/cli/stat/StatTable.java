// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.erm.RemoteMemorySamplePoint;
import org.verbena.sockets.SocketObjectType;
import org.verbena.stack.model.StackObjectType;
import org.verbena.verbs.ObjectType;

/**
 * Processes, or the objects of one, as a table. Immutable.
 *
 * @param columns the last one takes the remaining room
 * @param total the sum of all lines, of those too that a filter takes away; null for none
 */
record StatTable(List<Column> columns, List<StatRow> rows, @Nullable StatRow total) {
    /** Names the sum in the first column. */
    static final String TOTAL = "total";

    private static final int FIGURE_WIDTH = 8;
    private static final int[] KINDS = {ObjectType.QP, ObjectType.CQ, ObjectType.SRQ, ObjectType.MR,
        SocketObjectType.CONNECTION};
    private static final int[] KIND_WIDTHS = {5, 4, 4, 5, 5};
    private static final int[] KIND_RANKS = {0, 3, 4, 2, 0};
    private static final int COMMAND_WIDTH = 30;
    private static final int ABOUT_WIDTH = 11;
    private static final int TREND_RANK = 5;
    /** The last rates that a line has room for. */
    static final int TREND = 12;
    private static final String TREND_NAME = "trend";
    private static final int NAME_WIDTH = 12;
    private static final int LONGEST_NAME = 24;
    private static final int STATE_WIDTH = 5;
    private static final int LONGEST_STATE = 12;

    /** A table without a sum. */
    StatTable(List<Column> columns, List<StatRow> rows) {
        this(columns, rows, null);
    }

    /** What stands in a column. */
    enum Kind {
        /** On the right. */
        NUMBER,
        /** On the left; what is too long is cut at its end. */
        TEXT,
        /** On the left; what is too long is cut at its beginning. */
        ADDRESS
    }

    /**
     * A column.
     *
     * @param name its name in options
     * @param width 0 for all the room that is left
     * @param least the width with which it is still shown
     * @param rank 0 if it is always shown; otherwise the highest is left out first
     */
    record Column(String name, String title, int width, Kind kind, int least, int rank) {
        Column(String name, String title, int width, boolean left) {
            this(name, title, width, left ? Kind.TEXT : Kind.NUMBER, width, 0);
        }

        /** Whether it holds texts. */
        boolean left() {
            return kind != Kind.NUMBER;
        }

        private int gap(boolean first) {
            return left() && !first ? 2 : 0;
        }
    }

    /**
     * What tables on the screen have beside their lines.
     *
     * @param totals the sum of what is shown
     * @param trend the last rates by the key of a line
     */
    record Extras(StatTotals totals, Function<Object, String> trend) {}

    /** A line for each process. */
    static StatTable processes(List<StatDelta> processes, boolean rates) {
        return processes(processes, rates, null);
    }

    /** A line for each process. */
    static StatTable processes(List<StatDelta> processes, boolean rates, @Nullable Extras extras) {
        List<Column> columns = new ArrayList<>();
        columns.add(new Column("pid", "PID", 8, false));
        for (int i = 0; i < KINDS.length; i++) {
            String kind = ObjectType.toString(KINDS[i]);
            columns.add(new Column(kind.toLowerCase(Locale.ROOT), kind.equals("CONNECTION") ? "CONN" : kind,
                    KIND_WIDTHS[i], Kind.NUMBER, KIND_WIDTHS[i], KIND_RANKS[i]));
        }
        figures(columns, rates);
        if (extras != null) {
            columns.add(trend(TREND_RANK));
        }
        columns.add(new Column("command", "COMMAND", 0, Kind.TEXT, COMMAND_WIDTH, 0));
        return new StatTable(columns, processes.stream().map(d -> StatRow.late(d.process().key(), () -> cells(d, rates,
                extras))).toList(), extras == null ? null : total(extras.totals(), rates));
    }

    /** The column of the last rates. */
    static Column trend(int rank) {
        return new Column(TREND_NAME, "TREND", TREND, Kind.TEXT, TREND, rank);
    }

    private static StatRow total(StatTotals t, boolean rates) {
        List<StatRow.Cell> cells = new ArrayList<>(List.of(StatRow.Cell.of(TOTAL)));
        for (int kind : KINDS) {
            cells.add(StatRow.Cell.of(Integer.toString(t.count(kind))));
        }
        figures(cells, t, rates);
        cells.add(StatRow.Cell.of("")); // the trend of all has more room
        cells.add(StatRow.Cell.of("all processes"));
        return new StatRow(TOTAL, cells);
    }

    private static void figures(List<StatRow.Cell> cells, StatTotals t, boolean rates) {
        for (StatFigure f : StatFigure.values()) {
            cells.add(rates ? rate(() -> t.rate(f)) : total(() -> t.figure(f)));
        }
    }

    private static List<StatRow.Cell> cells(StatDelta d, boolean rates, @Nullable Extras extras) {
        StatProcess p = d.process();
        List<StatRow.Cell> cells = new ArrayList<>();
        cells.add(StatRow.Cell.of(Long.toString(p.pid()), (double) p.pid()));
        for (int kind : KINDS) {
            cells.add(StatRow.Cell.of(Integer.toString(p.count(kind)), p.count(kind)));
        }
        for (StatFigure f : StatFigure.values()) {
            cells.add(rates ? rate(() -> d.rate(f)) : total(() -> p.figure(f)));
        }
        if (extras != null) {
            cells.add(StatRow.Cell.bars(() -> extras.trend().apply(p.key())));
        }
        cells.add(StatRow.Cell.of((p.silent() ? "(does not answer) " : "") + StatText.command(p.command())));
        return cells;
    }

    /** A line for each object of a process, of these types; of all if there are none. */
    static StatTable objects(StatDelta d, Set<Integer> types, boolean rates) {
        return objects(d, types, rates, null);
    }

    /** The same, for the screen. */
    static StatTable objects(StatDelta d, Set<Integer> types, boolean rates, @Nullable Extras extras) {
        List<Column> columns = new ArrayList<>();
        int longest = d.process().objects().stream().mapToInt(o -> o.name().length()).max().orElse(0);
        columns.add(new Column("object", "OBJECT", Math.clamp(longest, NAME_WIDTH, LONGEST_NAME), true));
        int state = d.process().objects().stream().mapToInt(o -> o.state().length()).max().orElse(0);
        columns.add(new Column("state", "STATE", Math.clamp(state, STATE_WIDTH, LONGEST_STATE), true));
        figures(columns, rates);
        if (extras != null) {
            columns.add(trend(1));
        }
        columns.add(new Column("about", "ABOUT", 0, Kind.TEXT, ABOUT_WIDTH, 0));
        return new StatTable(columns, d.process().objects().stream()
                .filter(o -> types.isEmpty() || types.contains(o.type())).map(o -> StatRow.late(o.key(), () -> cells(
                        d, o, rates, extras))).toList(),
                extras == null ? null : totalOfOne(extras.totals(), rates));
    }

    private static StatRow totalOfOne(StatTotals t, boolean rates) {
        List<StatRow.Cell> cells = new ArrayList<>(List.of(StatRow.Cell.of(TOTAL), StatRow.Cell.of("")));
        figures(cells, t, rates);
        cells.add(StatRow.Cell.of(""));
        cells.add(StatRow.Cell.of("this process"));
        return new StatRow(TOTAL, cells);
    }

    private static List<StatRow.Cell> cells(StatDelta d, StatObject o, boolean rates, @Nullable Extras extras) {
        List<StatRow.Cell> cells = new ArrayList<>();
        cells.add(StatRow.Cell.of(o.name()));
        cells.add(StatRow.Cell.of(o.state()));
        for (StatFigure f : StatFigure.values()) {
            cells.add(!o.has(f)
                    ? StatRow.Cell.of("", -1) // below the objects that count it
                    : rates ? rate(() -> d.rate(o, f)) : total(() -> o.figure(f)));
        }
        if (extras != null) {
            cells.add(StatRow.Cell.bars(() -> extras.trend().apply(o.key())));
        }
        cells.add(StatRow.Cell.of(about(o)));
        return cells;
    }

    private static void figures(List<Column> columns, boolean rates) {
        for (StatFigure f : StatFigure.values()) {
            String title = switch (f) {
                case TX_BYTES -> "TX-B";
                case RX_BYTES -> "RX-B";
                case ERRORS -> "ERR";
                case WAITS -> "WAIT";
                default -> f.name();
            };
            columns.add(new Column(f.title(), rates ? title + "/s" : title, FIGURE_WIDTH, false));
        }
    }

    /** A rate, which may be unknown. */
    static StatRow.Cell rate(DoubleSupplier v) {
        return StatRow.Cell.of(v, StatText::rate);
    }

    /** A total, unsigned. */
    static StatRow.Cell total(LongSupplier n) {
        return StatRow.Cell.of(() -> StatText.unsigned(n.getAsLong()), StatText::total);
    }

    /** The attributes that distinguish objects. */
    private static String about(StatObject o) {
        Map<String, Object> a = o.attributes();
        return switch (o.type()) {
            case ObjectType.QP -> a.getOrDefault("type", "") + (a.get("peerQp") instanceof Long peer
                    ? " to 0x" + Long.toHexString(peer)
                            + (a.get("peerProcess") instanceof Long pid ? " of process " + pid : "")
                    : "");
            case ObjectType.MR -> (a.get("length") instanceof Long n ? HumanText.size(StatText.unsigned(n)) : "") + " "
                    + a.getOrDefault("access", "");
            case ObjectType.CQ -> a.containsKey("cqe") ? a.get("cqe") + " entries" : "";
            case ObjectType.SRQ -> a.getOrDefault("type", "") + (a.containsKey("maxWr")
                    ? ", " + a.get("maxWr") + " receives"
                    : "");
            case ObjectType.WQ -> a.containsKey("maxWr") ? a.get("maxWr") + " receives" : "";
            case SocketObjectType.CONNECTION, SocketObjectType.LISTENER -> StatSocketTable.about(o);
            case StackObjectType.STACK, StackObjectType.TCP, StackObjectType.TCP_LISTENER, StackObjectType.UDP ->
                StatStackText
                        .about(o);
            case RemoteMemorySamplePoint.OBJECT_TYPE -> regions(a, "local") + " here, " + regions(a, "remote")
                    + " there, "
                    + StatSocketTable.about(o);
            case SocketObjectType.RULE, SocketObjectType.RULE_COUNTER -> StatSocketText.ruleText(o) + ": " + o.value(
                    o.points().length == 0 ? 0 : o.points()[0]) + " sockets";
            case SocketObjectType.SOCKETS -> o.attributes().get("open") + " open, " + o.attributes().get("listening")
                    + " listening";
            default -> o.type() == ObjectType.DEVICE ? "" : o.device();
        };
    }

    /** The number of regions of an end, and their total size. */
    private static String regions(Map<String, Object> a, String end) {
        return a.get(end + "Regions") instanceof Long n && a.get(end + "Bytes") instanceof Long bytes
                ? HumanText.count(n, "region") + (n == 0 ? "" : " of " + HumanText.size(StatText.unsigned(bytes)))
                : "";
    }

    /** The index of the column with this name, or -1. */
    int column(String name) {
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).name().equalsIgnoreCase(name)) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Sorted by a column: texts ascending, figures descending, equal ones in their previous order.
     *
     * @param column its index; -1 keeps the order
     * @param reverse whether to reverse the order
     */
    StatTable sorted(int column, boolean reverse) {
        if (column < 0 || column >= columns.size()) {
            return reverse ? new StatTable(columns, rows.reversed(), total) : this;
        }
        boolean text = column == 0 || columns.get(column).left();
        Comparator<StatRow> order = Comparator.comparingDouble((StatRow r) -> number(r, column));
        if (text) {
            order = order.thenComparing(r -> r.cells().get(column).text());
        }
        if (text == reverse) {
            order = order.reversed();
        }
        return new StatTable(columns, rows.stream().sorted(order).toList(), total);
    }

    private static double number(StatRow r, int column) {
        double n = r.cells().get(column).number();
        return Double.isNaN(n) ? 0 : n;
    }

    /** Only the lines that contain a text. */
    StatTable filtered(String text) {
        return text.isEmpty()
                ? this
                : new StatTable(columns, rows.stream().filter(r -> r.contains(
                        text)).toList(), total);
    }

    /** The header line. */
    String header(int width) {
        return line(i -> columns.get(i).title(), width);
    }

    /** A line. */
    String line(StatRow row, int width) {
        return line(i -> row.cells().get(i).text(), width);
    }

    private String line(IntFunction<String> texts, int width) {
        int[] widths = widths(width);
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < columns.size(); i++) {
            if (widths[i] < 0) {
                continue;
            }
            Column c = columns.get(i);
            b.append(" ".repeat(c.gap(b.isEmpty())));
            String text = texts.apply(i);
            b.append(c.width() == 0
                    ? text
                    : c.kind() == Kind.ADDRESS
                            ? StatText.fitEnd(text, widths[i])
                            : StatText.fit(text, widths[i], c.left()));
        }
        String line = b.toString().stripTrailing();
        return line.length() > width ? StatText.fit(line, width, true) : line;
    }

    /** Whether lines of that width show a column, and can be sorted by it: bars have no order. */
    boolean isOrder(int column, int width) {
        return widths(width)[column] >= 0 && !columns.get(column).name().equals(TREND_NAME);
    }

    /** The width that each column gets of a line; -1 for one that is left out. */
    private int[] widths(int room) {
        int[] widths = columns.stream().mapToInt(Column::least).toArray();
        int left = room - used(widths);
        for (int rank = columns.stream().mapToInt(Column::rank).max().orElse(0); left < 0 && rank > 0; rank--) {
            for (int i = 0; i < widths.length; i++) {
                if (columns.get(i).rank() == rank) {
                    widths[i] = -1;
                }
            }
            left = room - used(widths);
        }
        for (int i = 0; i < widths.length; i++) { // some were asked to shrink
            if (widths[i] >= 0 && left > 0) {
                int more = Math.clamp(columns.get(i).width() - (long) widths[i], 0, left);
                widths[i] += more;
                left -= more;
            }
        }
        return widths;
    }

    private int used(int[] widths) {
        int used = 0;
        boolean first = true;
        for (int i = 0; i < widths.length; i++) {
            if (widths[i] >= 0) {
                used += widths[i] + columns.get(i).gap(first);
                first = false;
            }
        }
        return used;
    }
}
