// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.support.CommandException;

/**
 * The round trips of a run as files that tools of HdrHistogram read, and as a drawing.
 *
 * @param log for all rows, by tag; or null
 * @param percentiles for one row, or with the row's name in the file's name for several; or null
 */
public record PerfFiles(@Nullable Path log, @Nullable Path percentiles) {
    private static final double NANOS_IN_MICRO = 1000;
    private static final int STEPS = 2;
    /** Of the longest round trips: what is beyond them is one line. */
    private static final double MOST = 99.99;
    private static final int LABELS = 34;
    private static final int WIDEST = 100;

    /** Fails before anything is measured if they cannot be written. */
    public void require() throws CommandException {
        if (log != null) {
            create(log, "--hlog");
        }
        if (percentiles != null) {
            Path folder = percentiles.toAbsolutePath().getParent();
            if (folder == null || !Files.isWritable(folder)) {
                throw new CommandException("--hgrm " + percentiles + " cannot be written: " + folder
                        + " is not a folder that may be written to");
            }
        }
    }

    private static void create(Path file, String option) throws CommandException {
        try (OutputStream empty = Files.newOutputStream(file)) {
            empty.flush();
        } catch (IOException e) {
            throw new CommandException(option + " " + file + " cannot be written: " + reason(file, e), e);
        }
    }

    private static String reason(Path file, IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "there is no folder " + file.toAbsolutePath().getParent();
            case AccessDeniedException _ -> "this user may not";
            default -> String.valueOf(e.getMessage());
        };
    }

    /** Writes those of all rows. */
    void write(List<PerfResult> results, long startMillis) throws CommandException {
        List<PerfResult> rows = results.stream().filter(r -> r.spread() != null).toList();
        try {
            if (log != null) {
                writeLog(log, rows, startMillis);
            }
            if (percentiles != null) {
                for (PerfResult r : rows) {
                    writePercentiles(rows.size() == 1 ? percentiles : named(percentiles, tag(r)), r);
                }
            }
        } catch (IOException e) {
            throw new CommandException("the histograms cannot be written: " + e, e);
        }
    }

    private static void writeLog(Path file, List<PerfResult> rows, long startMillis) throws IOException {
        try (PrintStream out = new PrintStream(file.toFile(), StandardCharsets.UTF_8)) {
            HistogramLogWriter writer = new HistogramLogWriter(out);
            writer.outputComment("[verbena perf: round trips in nanoseconds, a line for each test]");
            writer.outputLogFormatVersion();
            writer.outputStartTime(startMillis);
            writer.outputLegend();
            for (PerfResult r : rows) {
                Histogram h = histogram(r);
                h.setTag(tag(r));
                h.setStartTimeStamp(startMillis);
                h.setEndTimeStamp(System.currentTimeMillis());
                writer.outputIntervalHistogram(h);
            }
            fail(out);
        }
    }

    private static void writePercentiles(Path file, PerfResult r) throws IOException {
        try (PrintStream out = new PrintStream(file.toFile(), StandardCharsets.UTF_8)) {
            histogram(r).outputPercentileDistribution(out, NANOS_IN_MICRO);
            fail(out);
        }
    }

    private static void fail(PrintStream out) throws IOException {
        if (out.checkError()) {
            throw new IOException("no room, or the device failed");
        }
    }

    private static Histogram histogram(PerfResult r) {
        return Objects.requireNonNull(r.spread()).histogram();
    }

    /** The name of a row, which has no character that means something in a log or in a file's name. */
    static String tag(PerfResult r) {
        return r.test().title() + "-" + r.size() + (r.ends() == PerfEnds.NONE ? "" : "-" + r.ends().title())
                + (r.connections() > 1 ? "-" + r.connections() + "-connections" : "")
                + (r.rate() == null ? "" : "-" + r.rate().asked() + "-per-second");
    }

    /** {@code a-TAG.hgrm} of {@code a.hgrm}. */
    static Path named(Path file, String tag) {
        String name = String.valueOf(file.getFileName());
        int dot = name.lastIndexOf('.');
        return file.resolveSibling(dot > 0
                ? name.substring(0, dot) + "-" + tag + name.substring(dot)
                : name + "-" + tag);
    }

    /** Draws a bar for each part of the round trips, on a logarithmic scale of time. */
    static void draw(PerfResult r, int room, PrintWriter out) {
        Histogram h = histogram(r);
        out.println();
        out.println(tag(r) + ": round trips, microseconds");
        double most = 0;
        int bar = Math.min(room, WIDEST) - LABELS;
        long last = h.getValueAtPercentile(MOST);
        for (double from = h.getMinValue(); from <= last; from = next(from)) {
            most = Math.max(most, (double) count(h, from, next(from)));
        }
        double from = h.getMinValue();
        for (; from <= last; from = next(from)) {
            line(out, from, next(from), count(h, from, next(from)), most, bar);
        }
        if (h.getMaxValue() >= from) {
            double end = h.getMaxValue() + 1.0;
            line(out, from, end, count(h, from, end), most, bar);
        }
    }

    private static double next(double from) {
        return Math.max(from * Math.pow(2, 1.0 / STEPS), from + 1);
    }

    private static long count(Histogram h, double from, double to) {
        long low = (long) Math.ceil(from);
        long high = (long) Math.ceil(to) - 1;
        // both ends are rounded to the histogram's steps, so that no step counts twice
        long below = low <= h.getMinValue() ? 0 : h.getCountBetweenValues(0, h.highestEquivalentValue(low - 1));
        return h.getCountBetweenValues(0, h.highestEquivalentValue(high)) - below;
    }

    private static void line(PrintWriter out, double from, double to, long count, double most, int bar) {
        int length = Math.min(bar, (int) Math.ceil(bar * count / Math.max(1, most)));
        out.println(String.format(Locale.ROOT, "%10.3f - %10.3f %9d %s", from / NANOS_IN_MICRO, to / NANOS_IN_MICRO,
                count, "#".repeat(length)).stripTrailing());
    }
}
