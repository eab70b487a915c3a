// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HumanText;

/**
 * Collects what is measured and prints it: rows as they finish on a terminal, the whole elsewhere. If a signal ends this
 * process, it prints before that what there is.
 */
final class PerfReport implements PerfClient.Watcher, AutoCloseable {
    /**
     * How results are printed.
     *
     * @param machine where it is measured
     * @param live each row at once, in the last run
     * @param room columns of the terminal
     * @param histogram drawn under the table
     * @param files that are written as well
     */
    record Form(PerfMachine machine, Style style, boolean live, int room, Ansi ansi, boolean histogram,
            PerfFiles files) {}

    /** What is printed. */
    enum Style {
        TABLE, JSON, CSV
    }

    private final Form form;
    private final int runs;
    private final PrintWriter out;
    private final PrintWriter err;
    private final PerfProgress progress;
    private final @Nullable PerfTable live;
    private final Map<String, List<PerfResult>> byJob = new LinkedHashMap<>();
    private final Thread hook = new Thread(this::interrupted, "perf-interrupted");
    private final long started = System.currentTimeMillis();
    private int run = 1;
    private boolean printed;
    private boolean interrupted;

    PerfReport(PerfOptions options, Form form, int runs, PerfProgress progress, PrintWriter out, PrintWriter err) {
        this.form = form;
        this.runs = runs;
        this.progress = progress;
        this.out = out;
        this.err = err;
        this.live = form.live() && form.style() == Style.TABLE
                ? new PerfTable(PerfShape.of(options), form.machine().lines(), form.room(), out, form.ansi())
                : null;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** The next run begins. */
    synchronized void run(int number) {
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
        if (printed) {
            return;
        }
        List<PerfResult> same = byJob.computeIfAbsent(result.key(), k -> new ArrayList<>());
        same.add(result);
        if (live != null && run == runs) {
            live.add(PerfResult.median(same));
        }
    }

    /** Everything is measured. */
    synchronized void print() throws CommandException {
        if (!printed) {
            printed = true;
            progress.close();
            write(runs);
        }
    }

    /** Prints what there is, once: a signal ends this process, or has ended the measuring ones. */
    synchronized void interrupted() {
        if (printed) {
            return;
        }
        printed = true;
        interrupted = true;
        progress.close();
        if (live != null && run == runs) { // what only earlier runs have measured
            byJob.values().stream().filter(r -> r.size() < runs).forEach(r -> live.add(PerfResult.median(r)));
        }
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

    synchronized boolean isInterrupted() {
        return interrupted;
    }

    private void write(int of) throws CommandException {
        List<PerfResult> results = byJob.values().stream().map(PerfResult::median).toList();
        if (form.style() == Style.CSV) {
            PerfCsv.lines(results).forEach(out::println);
        } else if (form.style() == Style.JSON) {
            out.println(results.stream().map(r -> "  " + r.toJson().set("machine", form
                    .machine().toJson())).collect(Collectors.joining(",\n", "[\n", "\n]")));
        } else if (live != null && run == runs) {
            live.end(of);
        } else if (!results.isEmpty()) {
            PerfTable.print(results, form.machine().lines(), form.room(), of, out, form.ansi());
        }
        if (form.histogram() && form.style() == Style.TABLE) {
            results.stream().filter(r -> r.spread() != null).forEach(r -> PerfFiles.draw(r, form.room(), out));
        }
        out.flush();
        form.files().write(results, started);
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
