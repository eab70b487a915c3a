// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.Terminal;
import org.verbena.cli.support.Units;

/** Options that {@code stat} and {@code monitor} have in common. */
final class StatOptions {
    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    @Option(names = {"-i", "--interval"}, paramLabel = "TIME", converter = Units.Time.class, defaultValue = "1",
            description = "Time between two samples, in seconds; 0.5, 200ms. Default 1.") private long intervalNanos;

    @Option(names = {"-n", "--count"}, paramLabel = "N", description = "End after N samples.") private int count;

    @Option(names = "--cached",
            description = "Take the values at hand, without having the process gather those that its"
                    + " peers count.") private boolean cached;

    @Option(names = "--json", description = "Print JSON, an object a line.") private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli reads it
    private boolean help;

    /** The id of a process. */
    static final class Pid implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            try {
                long pid = Long.parseLong(text);
                if (pid >= 1 && pid <= Integer.MAX_VALUE) {
                    return pid;
                }
            } catch (NumberFormatException e) {
                // falls through
            }
            throw new TypeConversionException("'" + text + "' is not the number of a process");
        }
    }

    /** Refuses invalid combinations. */
    void check(CommandSpec spec) {
        if (intervalNanos < LEAST_NANOS) {
            throw new ParameterException(spec.commandLine(), "--interval must be 10ms or more");
        }
        if (spec.commandLine().getParseResult().hasMatchedOption("--count") && count < 1) {
            throw new ParameterException(spec.commandLine(), "--count must be 1 or more");
        }
    }

    long intervalNanos() {
        return intervalNanos;
    }

    /** 0 for any number. */
    int count() {
        return count;
    }

    boolean cached() {
        return cached;
    }

    boolean json() {
        return json;
    }

    /**
     * Sleeps until the next sample.
     *
     * @param last when the last one was due, by {@link System#nanoTime}
     * @return when this one was due; later than scheduled if the last one took long
     */
    long pause(long last) throws InterruptedException {
        long due = Math.max(last + intervalNanos, System.nanoTime());
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            TimeUnit.NANOSECONDS.sleep(left);
        }
        return due;
    }

    /** Flushes the output; false if that fails: the reader has gone, or {@link Main} reports the reason. */
    static boolean flush(PrintWriter out) {
        out.flush();
        return !out.checkError() && !System.out.checkError(); // the writer does not see errors that the stream swallows
    }

    /** The exit code when what was watched has ended. */
    int ended(String why, PrintWriter err) {
        err.println(Terminal.ERR.colours().errorText("verbena: " + why));
        err.flush();
        return count == 0 ? 0 : ExitCode.FAILURE;
    }
}
