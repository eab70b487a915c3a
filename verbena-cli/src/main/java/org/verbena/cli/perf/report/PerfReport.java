// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;

import org.verbena.cli.perf.session.PerfClient;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HumanText;

/**
 * Collects what is measured and prints it: rows as they finish on a terminal, the whole elsewhere. If a signal ends this
 * process, it prints before that what there is.
 */
public final class PerfReport implements PerfClient.Watcher, AutoCloseable {
    /**
     * How results are printed.
     *
     * @param machine where it is measured
     * @param live each row at once, in the last run
     * @param room columns of the terminal
     * @param histogram drawn under the table
     * @param files that are written as well
     * @param baseline to compare with, or null
     */
    public record Form(PerfMachine machine, Style style, boolean live, int room, Ansi ansi, boolean histogram,
            PerfFiles files, @Nullable PerfBaseline baseline) {}

    /** What is printed. */
    public enum Style {
        TABLE, JSON, CSV
    }

    private final PerfOptions options;
    private final Form form;
    private final int runs;
    private final PrintWriter out;
    private final PrintWriter err;
    private final PerfProgress progress;
    private final @Nullable PerfTable live;
    private final Set<String> shown = new HashSet<>();
    private final Map<String, List<PerfResult>> byJob = new LinkedHashMap<>();
    private final PerfSweeps sweeps = new PerfSweeps();
    private final Thread hook = new Thread(this::interrupted, "perf-interrupted");
    private final long started = System.currentTimeMillis();
    private int run = 1;
    private boolean printed;
    private boolean interrupted;

    public PerfReport(PerfOptions options, Form form, int runs, PerfProgress progress, PrintWriter out,
            PrintWriter err) {
        this.options = options;
        this.form = form;
        this.runs = runs;
        this.progress = progress;
        this.out = out;
        this.err = err;
        this.live = form.live() && form.style() == Style.TABLE
                ? new PerfTable(PerfShape.of(options), frame(), form.room(), out, form.ansi())
                : null;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private PerfTable.Frame frame() {
        return new PerfTable.Frame(form.machine().lines(), form.baseline(), this::notes);
    }

    /** Where sweeps end, and what the baseline is. */
    private List<String> notes(List<PerfResult> results) {
        List<String> notes = new ArrayList<>();
        if (!options.rates().isEmpty()) {
            long last = options.rates().getLast();
            results.forEach(r -> sweeps.note(r, last, byJob.getOrDefault(r.key(), List.of()).size()).ifPresent(
                    notes::add));
        }
        if (form.baseline() != null) {
            notes.addAll(form.baseline().notes(results, form.machine(), options.toJson(runs)));
        }
        return notes;
    }

    /** The fields of JSON but those that are the same in all rows. */
    private ObjectNode row(PerfResult r) {
        ObjectNode row = r.toJson();
        if (form.baseline() != null) {
            form.baseline().put(r, row);
        }
        return row;
    }

    /** The next run begins. */
    public synchronized void run(int number) {
        run = number;
        progress.run(number, runs);
    }

    @Override
    public void begins(int index, int count, String title) {
        progress.begins(index, count, title);
    }

    @Override
    public synchronized void ended(PerfResult result) {
        progress.ended(result);
        if (printed || sweeps.isBeyondEnd(result)) {
            return;
        }
        sweeps.add(result);
        byJob.values().removeIf(earlier -> sweeps.isBeyondEnd(earlier.getFirst()));
        List<PerfResult> same = byJob.computeIfAbsent(result.key(), k -> new ArrayList<>());
        same.add(result);
        if (live != null && run == runs) {
            shown.add(result.key());
            live.add(PerfResult.median(same));
        }
    }

    /** Everything is measured. */
    public synchronized void print() throws CommandException {
        if (!printed) {
            printed = true;
            progress.close();
            addEarlier();
            write(runs);
        }
    }

    /** Prints what there is, once: a signal ends this process, or has ended the measuring ones. */
    public synchronized void interrupted() {
        if (printed) {
            return;
        }
        printed = true;
        interrupted = true;
        progress.close();
        addEarlier();
        try {
            write(run);
        } catch (CommandException e) {
            err.println("verbena: " + e.getMessage());
        }
        err.println("verbena: interrupted, " + (byJob.isEmpty()
                ? "nothing is measured yet"
                : HumanText.count(byJob.size(), "test") + " of this run " + (byJob.size() == 1 ? "was" : "were")
                        + " complete"));
        err.flush();
    }

    /** What only earlier runs have measured, since this one was interrupted. */
    private void addEarlier() {
        if (live != null && run == runs) {
            byJob.forEach((key, same) -> {
                if (!shown.contains(key)) {
                    live.add(PerfResult.median(same));
                }
            });
        }
    }

    public synchronized boolean isInterrupted() {
        return interrupted;
    }

    private void write(int of) throws CommandException {
        List<PerfResult> results = byJob.values().stream().map(PerfResult::median).toList();
        if (form.style() == Style.CSV) {
            PerfCsv.lines(results, this::row).forEach(out::println);
            tell(results);
        } else if (form.style() == Style.JSON) {
            out.println(results.stream().map(r -> "  " + row(r).<ObjectNode>set("machine", form.machine().toJson())
                    .set("options", options.toJson(runs))).collect(Collectors.joining(",\n", "[\n", "\n]")));
            tell(results);
        } else if (live != null && run == runs) {
            live.end(of);
        } else if (!results.isEmpty()) {
            PerfTable.print(results, frame(), form.room(), of, out, form.ansi());
        }
        if (form.histogram() && form.style() == Style.TABLE) {
            results.stream().filter(r -> r.spread() != null).forEach(r -> PerfFiles.draw(r, form.room(), out));
        }
        out.flush();
        form.files().write(results, started);
    }

    /** What stands under a table, where the output is for programs. */
    private void tell(List<PerfResult> results) {
        notes(results).forEach(n -> err.println("verbena: " + n));
        err.flush();
    }

    @Override
    public void close() {
        progress.close();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the process ends: the hook prints, or has done so
        }
    }
}
