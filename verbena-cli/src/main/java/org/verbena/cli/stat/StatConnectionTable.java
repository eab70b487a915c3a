// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;

/** The connections of processes as a table that fits a terminal: what has no room is left out, the least important first. */
final class StatConnectionTable {
    private static final int PID_WIDTH = 7;
    private static final int LEAST_ADDRESS = 15;
    private static final int IPV4_ADDRESS = 21;
    private static final int LONGEST_ADDRESS = 47;
    private static final int LEAST_CARRIER = 15;
    private static final int LONGEST_CARRIER = 25;
    private static final int FIGURE = 8;
    private static final int RING = 10;
    private static final int STATE = 12;
    private static final int COMMAND = 10;
    private static final Set<String> EARLY = Set.of("CONNECTING", "HANDSHAKE");
    /** Of a connection that has no carrier yet. */
    static final String UNDECIDED = "undecided";

    /** A count of a connection with a column of its own, and when that is left out. */
    private record Count(String title, int point, int rank) {
        String name() {
            return title.toLowerCase(Locale.ROOT);
        }
    }

    private static final List<Count> COUNTS = List.of(new Count("WAKES", SocketSamplePoint.CONNECTION_WAKE_UPS, 5),
            new Count("BELLS", SocketSamplePoint.CONNECTION_DOORBELLS, 6),
            new Count("STALLS", SocketSamplePoint.CONNECTION_STALLS, 7),
            new Count("GROWTHS", SocketSamplePoint.CONNECTION_GROWTHS, 10));

    private StatConnectionTable() {}

    /** Whether an object is a connection. */
    static boolean isConnection(StatObject o) {
        return o.type() == SocketObjectType.CONNECTION;
    }

    /**
     * A line for each connection.
     *
     * @param all true for those of all processes, whose numbers and commands are shown
     * @param rates true if rates matter more than totals
     * @param extras for the screen, else null
     */
    static StatTable of(List<StatDelta> processes, boolean all, boolean rates, StatTable.@Nullable Extras extras) {
        List<StatRow> rows = new ArrayList<>();
        int[] longest = new int[3];
        for (StatDelta d : processes) {
            for (StatObject o : d.process().objects()) {
                if (isConnection(o)) {
                    longest[0] = Math.max(longest[0], text(o, "local").length());
                    longest[1] = Math.max(longest[1], text(o, "remote").length());
                    longest[2] = Math.max(longest[2], carrier(o).length());
                    StatSocketTable.Key key = new StatSocketTable.Key(d.process().key(), o.key());
                    rows.add(StatRow.late(key, () -> cells(d, o, all, rates, extras)));
                }
            }
        }
        return new StatTable(columns(longest, all, rates, extras != null), rows, extras == null
                ? null
                : total(extras.totals(), all, rates));
    }

    private static List<StatTable.Column> columns(int[] longest, boolean all, boolean rates, boolean trend) {
        List<StatTable.Column> columns = new ArrayList<>();
        if (all) {
            columns.add(new StatTable.Column("pid", "PID", PID_WIDTH, false));
        }
        int local = Math.clamp(longest[0], LEAST_ADDRESS, LONGEST_ADDRESS);
        int remote = Math.clamp(longest[1], LEAST_ADDRESS, LONGEST_ADDRESS);
        int carrier = Math.clamp(longest[2], UNDECIDED.length(), LONGEST_CARRIER);
        columns.add(new StatTable.Column("local", "LOCAL", local, StatTable.Kind.ADDRESS, LEAST_ADDRESS, 0));
        columns.add(new StatTable.Column("remote", "REMOTE", remote, StatTable.Kind.ADDRESS, Math.min(remote,
                IPV4_ADDRESS), 0));
        columns.add(new StatTable.Column("by", "BY", carrier, StatTable.Kind.TEXT, Math.min(carrier, LEAST_CARRIER),
                0));
        String[] first = rates ? new String[] {"-rate", "/s"} : new String[] {"-bytes", ""};
        String[] second = rates ? new String[] {"-bytes", ""} : new String[] {"-rate", "/s"};
        bytes(columns, first, 0);
        columns.add(new StatTable.Column("rx-ring", "RX-RING", RING, StatTable.Kind.NUMBER, RING, 1));
        columns.add(new StatTable.Column("tx-ring", "TX-RING", RING, StatTable.Kind.NUMBER, RING, 2));
        bytes(columns, second, 3);
        if (trend) {
            columns.add(StatTable.trend(8));
        }
        for (Count c : COUNTS) {
            columns.add(new StatTable.Column(c.name(), c.title() + (rates ? "/s" : ""), c.title().length() + 3,
                    StatTable.Kind.NUMBER, c.title().length() + 3, c.rank()));
        }
        columns.add(new StatTable.Column("state", "STATE", STATE, StatTable.Kind.TEXT, STATE, 4));
        if (all) {
            columns.add(new StatTable.Column("command", "COMMAND", 0, StatTable.Kind.TEXT, COMMAND, 9));
        }
        return columns;
    }

    private static void bytes(List<StatTable.Column> columns, String[] names, int rank) {
        for (String way : new String[] {"RX", "TX"}) {
            columns.add(new StatTable.Column(way.toLowerCase(Locale.ROOT) + names[0], way + "-B" + names[1], FIGURE,
                    StatTable.Kind.NUMBER, FIGURE, rank));
        }
    }

    private static StatRow total(StatTotals t, boolean all, boolean rates) {
        List<StatRow.Cell> cells = new ArrayList<>(List.of(StatRow.Cell.of(StatTable.TOTAL), StatRow.Cell.of(""),
                StatRow.Cell.of("")));
        if (all) {
            cells.addFirst(StatRow.Cell.of(StatTable.TOTAL));
            cells.set(1, StatRow.Cell.of(""));
        }
        bytes(t, rates, cells);
        cells.add(StatRow.Cell.of(""));
        cells.add(StatRow.Cell.of(""));
        bytes(t, !rates, cells);
        cells.add(StatRow.Cell.of(""));
        for (Count c : COUNTS) {
            cells.add(sum(t, rates, o -> o.value(c.point())));
        }
        cells.add(StatRow.Cell.of(""));
        if (all) {
            cells.add(StatRow.Cell.of("all processes"));
        }
        return new StatRow(StatTable.TOTAL, cells);
    }

    private static void bytes(StatTotals t, boolean rates, List<StatRow.Cell> cells) {
        for (StatFigure f : new StatFigure[] {StatFigure.RX_BYTES, StatFigure.TX_BYTES}) {
            cells.add(sum(t, rates, o -> o.figure(f)));
        }
    }

    private static StatRow.Cell sum(StatTotals t, boolean rates, ToLongFunction<StatObject> what) {
        return StatRow.Cell.of(() -> t.connections(rates, what), rates ? StatText::rate : StatText::total);
    }

    private static List<StatRow.Cell> cells(StatDelta d, StatObject o, boolean all, boolean rates,
            StatTable.@Nullable Extras extras) {
        StatProcess p = d.process();
        List<StatRow.Cell> cells = new ArrayList<>();
        if (all) {
            cells.add(StatRow.Cell.of(Long.toString(p.pid()), (double) p.pid()));
        }
        cells.add(StatRow.Cell.of(text(o, "local")));
        cells.add(StatRow.Cell.of(text(o, "remote")));
        cells.add(StatRow.Cell.of(carrier(o)));
        bytes(d, o, rates, cells);
        cells.add(ring(o, "in"));
        cells.add(ring(o, "out"));
        bytes(d, o, !rates, cells);
        if (extras != null) {
            cells.add(StatRow.Cell.bars(() -> extras.trend().apply(new StatSocketTable.Key(p.key(), o.key()))));
        }
        for (Count c : COUNTS) {
            cells.add(!o.has(c.point())
                    ? StatRow.Cell.of("", -1)
                    : rates ? StatTable.rate(() -> d.rate(o, c.point())) : StatTable.total(() -> o.value(c.point())));
        }
        cells.add(StatRow.Cell.of(o.state()));
        if (all) {
            cells.add(StatRow.Cell.of((p.silent() ? "(does not answer) " : "") + StatText.command(p.command())));
        }
        return cells;
    }

    private static void bytes(StatDelta d, StatObject o, boolean rates, List<StatRow.Cell> cells) {
        for (StatFigure f : new StatFigure[] {StatFigure.RX_BYTES, StatFigure.TX_BYTES}) {
            cells.add(!o.has(f)
                    ? StatRow.Cell.of("", -1)
                    : rates ? StatTable.rate(() -> d.rate(o, f)) : StatTable.total(() -> o.figure(f)));
        }
    }

    private static String text(StatObject o, String attribute) {
        return o.attributes().getOrDefault(attribute, "") instanceof String s ? s : "";
    }

    /**
     * What carries what comes in and what goes out, as {@code ring}, {@code ring/tcp} or {@code tcp plain_peer}, with the
     * reason for TCP; {@code undecided} as long as that is so.
     */
    static String carrier(StatObject o) {
        String in = text(o, "inBy");
        String out = text(o, "outBy");
        String why = text(o, "byTcpFor");
        if (why.isEmpty() && (EARLY.contains(o.state()) || in.isEmpty() && out.isEmpty())) {
            return UNDECIDED;
        }
        return (in.equals(out) ? in : in + "/" + out) + (why.isEmpty() ? "" : " " + why);
    }

    /** What waits in a ring, and the ring's size; sorted by the part of it that is full. */
    private static StatRow.Cell ring(StatObject o, String direction) {
        return o.attributes().get(direction + "Ring") instanceof Long size && size > 0
                && o.attributes().get(direction + "Occupied") instanceof Long occupied
                        ? StatRow.Cell.of(() -> (double) occupied / size, _ -> StatText.size(occupied) + "/" + StatText
                                .size(size))
                        : StatRow.Cell.of("-", -1);
    }
}
