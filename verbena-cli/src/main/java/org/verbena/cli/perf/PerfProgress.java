// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import java.io.PrintWriter;
import java.util.Locale;

import org.verbena.cli.support.Terminal;

/** Shows the progress of a measurement: one live line on a terminal, nothing elsewhere. */
final class PerfProgress implements PerfClient.Watcher {
    private static final double SECOND = 1e9;

    private final PrintWriter err;
    private final boolean terminal;
    private final long start = System.nanoTime();
    private String run = "";

    PerfProgress(PrintWriter err) {
        this.err = err;
        this.terminal = Terminal.ERR.isTerminal();
    }

    void run(int number, int of) {
        run = of > 1 ? "run " + number + " of " + of + ", " : "";
        show(run + "starting two processes…");
    }

    @Override
    public void begins(int index, int count, String title) {
        show(String.format(Locale.ROOT, "%s%d of %d: %s bytes… (%.0f s)", run, index + 1, count, title,
                (System.nanoTime() - start) / SECOND));
    }

    @Override
    public void ended(PerfResult result) {}

    void done() {
        show("");
    }

    private void show(String text) {
        if (terminal) {
            err.print("\r\033[K" + text);
            err.flush();
        }
    }
}
