// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

import org.verbena.cli.support.CommandException;

/** The options of a client that say what it sends. */
final class LoadOptions {
    private static final int LONGEST_SECONDS = 36_000_000;
    private static final int MOST_MESSAGES = 100_000_000;
    private static final int MOST_RATE = 10_000_000;
    private static final int MOST_BURST = 10_000;
    private static final String MAX = "max";

    @Option(names = {"-t", "--time"}, paramLabel = "SECONDS",
            description = "How long, besides 0.45 s that are not counted (default: 1).")
    @Nullable Integer seconds;

    @Option(names = {"-n", "--number-of-packets"}, paramLabel = "N",
            description = "How many messages, besides 9000 that are not counted, in place of a time.")
    @Nullable Integer messages;

    @Option(names = {"-m", "--msg-size"}, paramLabel = "BYTES", defaultValue = "14",
            description = "Length of a message, from 14 (default: ${DEFAULT-VALUE}).") int bytes = Message.HEADER_BYTES;

    @Option(names = {"-r", "--range"}, paramLabel = "BYTES", defaultValue = "0",
            description = "Lengths vary by so much.") int range;

    @Option(names = {"-b", "--burst"}, paramLabel = "N", defaultValue = "1",
            description = "Messages that are sent at a time (default: ${DEFAULT-VALUE}).") int burst = 1;

    @Option(names = {"--mps", "--pps"}, paramLabel = "N",
            description = "Messages per second, or max (default: under-load 10000, else max).")
    @Nullable String rate;

    /** The plan that these describe. */
    Plan plan(Plan.Mode mode, long every, int defaultRate, boolean integrity) throws CommandException {
        require(bytes >= Message.HEADER_BYTES && bytes <= Message.MAX_BYTES, "--msg-size " + bytes, Message.HEADER_BYTES
                + " to "
                + Message.MAX_BYTES + " bytes");
        require(range >= 0 && bytes - range >= Message.HEADER_BYTES && bytes + range <= Message.MAX_BYTES, "--range "
                + range,
                "such that all messages have " + Message.HEADER_BYTES + " to " + Message.MAX_BYTES + " bytes");
        require(burst >= 1 && burst <= MOST_BURST, "--burst " + burst, "1 to " + MOST_BURST);
        long period = period(defaultRate);
        Integer n = messages;
        Integer s = seconds;
        if (n != null && s != null) {
            throw new CommandException("--time and --number-of-packets each say when it ends: give one of the two");
        }
        if (n != null) {
            require(n >= 1 && n <= MOST_MESSAGES, "--number-of-packets " + n, "1 to " + MOST_MESSAGES);
        }
        int time = s == null ? 1 : s;
        require(time >= 1 && time <= LONGEST_SECONDS, "--time " + time, "1 to " + LONGEST_SECONDS + " seconds");
        long nanos = n != null ? 0 : time * 1_000_000_000L + Plan.WARM_UP_NANOS + Plan.COOL_DOWN_NANOS;
        long all = n == null ? 0 : n + Plan.WARM_UP_MESSAGES + Plan.COOL_DOWN_MESSAGES;
        if (every > 0 && (n != null || period > 0)) {
            Times.requireRoom((n != null ? all : (double) nanos / period * burst) / every);
        }
        return new Plan(mode, bytes, range, burst, period, every, nanos, all, integrity, null);
    }

    /** From one burst to the next, nanoseconds; 0: at once. */
    private long period(int defaultRate) throws CommandException {
        String r = rate == null ? defaultRate == 0 ? MAX : "" + defaultRate : rate;
        if (r.equalsIgnoreCase(MAX)) {
            return 0;
        }
        int perSecond = r.matches("[0-9]{1,8}") ? Integer.parseInt(r) : 0;
        require(perSecond >= 1 && perSecond <= MOST_RATE, "--mps " + r, "1 to " + MOST_RATE + ", or max");
        return Math.max(1, Math.round(1e9 * burst / perSecond));
    }

    private static void require(boolean right, String option, String what) throws CommandException {
        if (!right) {
            throw new CommandException(option + " is not " + what);
        }
    }
}
