// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.PrintWriter;
import java.util.Locale;

import org.verbena.cli.support.HumanText;

/**
 * Shows how far a copy is: a bar that is drawn again and again on a terminal, else a line for each file; nothing if a
 * person wants it quiet, except failures. May be used by several threads.
 */
final class CopyProgress {
    private static final int BAR = 24;
    private static final long REDRAW_NANOS = 100_000_000;

    private final PrintWriter err;
    private final boolean quiet;
    private final boolean live;
    private long started = System.nanoTime();
    private long total;
    private long done;
    private long skipped;
    private long drawn;
    private boolean isDrawn;

    CopyProgress(PrintWriter err, boolean quiet, boolean live) {
        this.err = err;
        this.quiet = quiet;
        this.live = live && !quiet;
    }

    synchronized void start(long bytes) {
        total = bytes;
        started = System.nanoTime();
    }

    /** So many bytes more have been sent. */
    synchronized void moved(long bytes, String name) {
        done += bytes;
        long now = System.nanoTime();
        if (live && now - drawn > REDRAW_NANOS) {
            drawn = now;
            draw(name, (now - started) / 1e9);
        }
    }

    /** So many bytes need not be sent. */
    synchronized void skip(long bytes) {
        done += bytes;
        skipped += bytes;
    }

    private void draw(String name, double seconds) {
        double part = total == 0 ? 1 : Math.clamp((double) done / total, 0, 1);
        double rate = (done - skipped) / Math.max(seconds, 1e-3);
        int full = (int) (part * BAR);
        String end = name.length() > 30 ? "…" + name.substring(name.length() - 29) : name;
        err.print("\r\033[K" + String.format(Locale.ROOT, "%3.0f %% [%s%s] %s of %s  %s/s  ETA %s  %s", part * 100,
                "#".repeat(full), " ".repeat(BAR - full), HumanText.size(done), HumanText.size(total), HumanText.size(
                        rate),
                HumanText.time((total - done) / rate), end));
        err.flush();
        isDrawn = true;
    }

    /** A file has ended. */
    synchronized void ended(CopyReport.Outcome o) {
        boolean good = o.status() == CopyStatus.OK;
        if (!good) {
            failed(CopyReport.line(o));
        } else if (!live && !o.directory()) {
            line(CopyReport.line(o));
        }
    }

    /** A line, unless quiet. */
    synchronized void line(String text) {
        if (!quiet) {
            clear();
            err.println(text);
            err.flush();
        }
    }

    /** A failure, which is always printed. */
    synchronized void failed(String text) {
        clear();
        err.println("verbena: " + text);
        err.flush();
    }

    /** Takes the bar away. */
    synchronized void clear() {
        if (isDrawn) {
            err.print("\r\033[K");
            err.flush();
            isDrawn = false;
        }
    }
}
