// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.io.PrintWriter;
import java.util.Locale;

import org.verbena.cli.perf.session.PerfClient;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.Terminal;

/**
 * Shows the progress of a measurement: one live line with a bar and the time left on a terminal, nothing elsewhere. It
 * is drawn when a test begins, and once a second, so that it hardly disturbs what is measured.
 */
public final class PerfProgress implements PerfClient.Watcher, AutoCloseable {
    private static final int BAR = 20;
    private static final int REDRAW_MILLIS = 1000;
    private static final double SECOND = 1e9;
    /** A test that takes longer than expected is not complete. */
    private static final double NEARLY = 0.95;

    private final PrintWriter err;
    private final boolean terminal;
    private final int room;
    private final double expectedNanos;
    private String text = "";
    private int run = 1;
    private int runs = 1;
    private int index;
    private int count;
    private long firstBegan;
    private long began;
    private boolean measures;
    private boolean closed;

    /** For a run of such tests. */
    public PerfProgress(PrintWriter err, PerfOptions options) {
        this(err, options, Terminal.ERR.isTerminal(), Terminal.ERR.columns());
    }

    PerfProgress(PrintWriter err, PerfOptions options, boolean terminal, int room) {
        this.err = err;
        this.terminal = terminal;
        this.room = room;
        this.expectedNanos = options.warmUpNanos() + options.nanos();
        if (terminal) {
            Thread.ofPlatform().daemon().name("perf-progress").start(this::tick);
        }
    }

    private synchronized void tick() {
        try {
            while (!closed) {
                wait(REDRAW_MILLIS);
                if (measures) {
                    draw();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public synchronized void run(int number, int of) {
        run = number;
        runs = of;
        measures = false;
        show(which() + "starting two processes…");
    }

    private String which() {
        return runs > 1 ? "run " + run + " of " + runs + ", " : "";
    }

    @Override
    public synchronized void begins(int at, int of, String title) {
        index = at;
        count = of;
        began = System.nanoTime();
        if (firstBegan == 0) {
            firstBegan = began;
        }
        text = String.format(Locale.ROOT, "%s%d of %d: %s bytes", which(), at + 1, of, title);
        measures = true;
        draw();
    }

    /** Takes the line away, until the next test begins. */
    @Override
    public synchronized void ended(PerfResult result) {
        clear();
    }

    synchronized void clear() {
        measures = false;
        show("");
    }

    @Override
    public synchronized void close() {
        clear();
        closed = true;
        notifyAll();
    }

    private void draw() {
        show(line(text, part(), secondsLeft(), room));
    }

    /** How much is done, from 0 to 1. */
    private double part() {
        return doneTests() / ((double) runs * count);
    }

    private double doneTests() {
        double current = Math.min((System.nanoTime() - began) / eachNanos(), NEARLY);
        return (run - 1) * count + index + current;
    }

    /** The time of a test: that of those before it, else what the options say. */
    private double eachNanos() {
        int before = (run - 1) * count + index;
        return Math.max(1, before == 0 ? expectedNanos : (double) (began - firstBegan) / before);
    }

    private double secondsLeft() {
        return ((double) runs * count - doneTests()) * eachNanos() / SECOND;
    }

    /** The text, and behind it as much of bar and time as fits into a line that does not wrap. */
    static String line(String text, double part, double secondsLeft, int room) {
        int full = (int) Math.round(part * BAR);
        String left = " " + HumanText.time(secondsLeft) + " left";
        String bar = " [" + "#".repeat(full) + "-".repeat(BAR - full) + "]" + left;
        int most = room - 1;
        return text.length() + bar.length() <= most
                ? text + bar
                : text.length() + left.length() <= most
                        ? text + left
                        : text.substring(0, Math.min(text.length(), most));
    }

    private void show(String line) {
        if (terminal && !closed) {
            err.print("\r\033[K" + line);
            err.flush();
        }
    }
}
