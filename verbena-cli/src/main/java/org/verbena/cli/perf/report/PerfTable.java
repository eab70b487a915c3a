// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;

import org.verbena.cli.perf.report.PerfColumns.Column;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.support.Terminal;

/**
 * The results side by side. Either in one table at the end: for each size the machine's limit, verbs, remote memory and
 * TCP, first the round trips, then the bandwidths. Or each row as soon as it is measured, and at the end the ratios to
 * rows that came later.
 */
final class PerfTable {
    private static final Comparator<PerfResult> ORDER = Comparator.comparingLong(PerfResult::size)
            .thenComparing(r -> r.test().isBandwidth()).thenComparing(PerfResult::test)
            .thenComparingInt(PerfResult::connections);
    /** The mark of a rate that was not reached. */
    static final String MISSED = "!";
    private static final List<String> MICROSECONDS = List.of("round trips, microseconds", "microseconds", "us");

    private final PrintWriter out;
    private final Ansi ansi;
    private final PerfShape shape;
    private final Frame frame;
    private final int room;
    private final List<PerfResult> results = new ArrayList<>();
    /** The ratios of each row when it was printed. */
    private final List<List<String>> shown = new ArrayList<>();
    private final PerfRatios ratios;
    private final List<Column> columns;
    private boolean hasMarks;

    /**
     * What is around the rows.
     *
     * @param above lines about the machine
     * @param baseline an earlier run to compare with, or null
     * @param below further sentences about these results
     */
    record Frame(List<String> above, @Nullable PerfBaseline baseline,
            Function<List<PerfResult>, List<String>> below) {
        /** Nothing but what is above. */
        Frame(List<String> above) {
            this(above, null, _ -> List.of());
        }
    }

    /**
     * Makes one without rows.
     *
     * @param room columns of the terminal, or {@link Terminal#UNLIMITED}
     */
    PerfTable(PerfShape shape, Frame frame, int room, PrintWriter out, Ansi ansi) {
        this.frame = frame;
        this.shape = shape;
        this.room = room;
        this.out = out;
        this.ansi = ansi;
        this.ratios = new PerfRatios(results, frame.baseline());
        this.columns = PerfColumns.of(shape, ratios, room);
    }

    /** Prints all at once, under lines about the machine. */
    static void print(List<PerfResult> results, Frame frame, int room, int runs, PrintWriter out, Ansi ansi) {
        PerfTable table = new PerfTable(PerfShape.of(results), frame, room, out, ansi);
        table.under(frame.above());
        table.results.addAll(results.stream().sorted(ORDER).toList());
        table.heading(table.columns);
        table.rows(table.results, table.columns);
        table.notes(runs);
    }

    /** Prints lines above the table, and an empty one. */
    private void under(List<String> lines) {
        lines.forEach(this::note);
        if (!lines.isEmpty()) {
            out.println();
        }
    }

    /** Prints a row that has just been measured. */
    void add(PerfResult result) {
        if (results.isEmpty()) {
            under(frame.above());
            heading(columns);
        }
        results.add(result);
        shown.add(ratios.all(result));
        row(result, columns);
        out.flush();
    }

    /** Nothing more is measured. */
    void end(int runs) {
        if (results.isEmpty()) {
            return;
        }
        List<PerfResult> late = new ArrayList<>();
        for (int i = 0; i < shown.size(); i++) {
            if (!shown.get(i).equals(ratios.all(results.get(i)))) {
                late.add(results.get(i));
            }
        }
        if (!late.isEmpty()) {
            out.println();
            note("Compared with what was measured later:");
            List<Column> few = PerfColumns.comparing(shape, ratios, room);
            heading(few);
            rows(late.stream().sorted(ORDER).toList(), few);
        }
        notes(runs);
    }

    private void notes(int runs) {
        out.println();
        if (shape.limit()) {
            note("vs limit: divided by the figure of limit-cacheline (to 48 bytes), limit-twoline (to 64), limit-memcpy.");
        }
        if (shape.tcp()) {
            note("vs tcp: factor by which it is faster than tcp-lat-spin, tcp-bw; a channel or stack than the same by the kernel.");
        }
        if (shape.udp()) {
            note("vs udp: multiple of the round trip of udp-lat-spin.");
        }
        if (shape.erm()) {
            note("vs write: erm-lat divided by write-imm-lat, erm-bw by write-bw.");
            note("vs stream: factor by which it is faster than nio-lat-spin, nio-bw by rings.");
        }
        if (shape.rate()) {
            note("Round trips count from when a message was to be sent, also if it waited for earlier ones.");
        }
        if (results.stream().anyMatch(r -> r.rate() != null && !r.rate().isKept())) {
            note(MISSED + ": the rate was not reached, messages waited for longer and longer: take a lower one.");
        }
        if (frame.baseline() != null) {
            note("vs baseline: factor by which it is faster than in " + frame.baseline().file() + ", below 1 slower.");
        }
        frame.below().apply(results).forEach(this::note);
        if (hasMarks) {
            note("~: fewer than " + PerfResult.ENOUGH + " round trips were longer, so the figure is chance: measure for"
                    + " longer (-D).");
        }
        if (runs > 1) {
            note("Each figure is the median of " + runs + " runs in fresh processes.");
        }
        if (PerfColumns.hasMore(shape, ratios, columns)) {
            note("More columns: in a wider terminal, in a file or pipe, and with --json.");
        }
        out.flush();
    }

    /** A faint sentence, in lines that fit. */
    private void note(String text) {
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > room) {
                out.println(ansi.string("@|faint " + line + "|@"));
                line.setLength(0);
                line.append(" ");
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        out.println(ansi.string("@|faint " + line + "|@"));
    }

    private void heading(List<Column> of) {
        out.println(ansi.string("@|bold " + groups(of) + "|@"));
        out.println(ansi.string("@|bold " + line("test", of, Column::title) + "|@"));
    }

    private void rows(List<PerfResult> sorted, List<Column> of) {
        long size = sorted.isEmpty() ? 0 : sorted.getFirst().size();
        for (PerfResult r : sorted) {
            if (r.size() != size && shape.tests() > 1) {
                out.println();
            }
            size = r.size();
            row(r, of);
        }
    }

    private void row(PerfResult r, List<Column> of) {
        String line = line(name(r), of, c -> c.cell().apply(r));
        hasMarks |= line.contains("~");
        String style = r.test().isLimit() ? "cyan" : "faint";
        out.println(r.test().isVerbs() || r.ends().isVerbena(true) || r.ends().isStack(true)
                ? line
                : ansi.string("@|" + style + " " + line + "|@"));
    }

    /** Among the rows of a channel or stack, that of the kernel is the reference. */
    static String name(PerfResult r) {
        return switch (r.ends()) {
            case PLAIN -> "  by the kernel";
            case VERBENA_TO_PLAIN, STACK_TO_PLAIN -> "  to a plain peer";
            case PLAIN_TO_STACK -> "  from a plain peer";
            default -> r.test().title();
        };
    }

    /** The upper line of the heading: each group's name at the right end of its columns. */
    private static String groups(List<Column> columns) {
        StringBuilder b = new StringBuilder(" ".repeat(PerfColumns.NAME));
        int width = 0;
        for (int i = 0; i < columns.size(); i++) {
            String group = columns.get(i).group();
            width += columns.get(i).width();
            if (i + 1 == columns.size() || !columns.get(i + 1).group().equals(group)) {
                b.append(right(shortened(group, width), width));
                width = 0;
            }
        }
        return b.toString().stripTrailing();
    }

    private static String shortened(String group, int width) {
        return MICROSECONDS.getFirst().equals(group)
                ? MICROSECONDS.stream().filter(s -> s.length() < width).findFirst().orElse("")
                : group;
    }

    private static String line(String name, List<Column> columns, Function<Column, String> cell) {
        StringBuilder b = new StringBuilder(name + " ".repeat(Math.max(0, PerfColumns.NAME - name.length())));
        columns.forEach(c -> b.append(right(cell.apply(c), c.width())));
        return b.toString().stripTrailing();
    }

    private static String right(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }
}
