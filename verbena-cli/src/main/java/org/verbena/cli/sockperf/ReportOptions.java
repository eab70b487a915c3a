// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

import org.verbena.cli.support.CommandException;

/** The options of a client that say what is reported. */
final class ReportOptions {
    @Option(names = "--full-rtt", description = "Times of round trips (default: halves of them).") boolean fullRtt;

    @Option(names = "--full-log", paramLabel = "FILE",
            description = "Write when each message was sent and answered, as CSV.")
    @Nullable Path fullLog;

    @Option(names = "--histogram", paramLabel = "BIN:LOW:HIGH",
            description = "Draw how the latencies are spread, microseconds.")
    @Nullable String histogram;

    @Option(names = "--ci_sig_level", paramLabel = "PERCENT", defaultValue = "99",
            description = "Of the confidence interval (default: ${DEFAULT-VALUE}).") double confidence = 99;

    @Option(names = "--giga-size", description = "Bandwidths in GBps and Gbps.") boolean giga;

    @Option(names = "--increase_output_precision",
            description = "Bandwidths with nine digits behind the point.") boolean precise;

    @Option(names = "--json", paramLabel = "FILE",
            description = "Write the result as JSON, too; - is standard output, alone.")
    @Nullable String json;

    @Option(names = "--hgrm", paramLabel = "FILE",
            description = "Write the percentiles of the times since messages were to be sent, as HdrHistogram's tools read them.")
    @Nullable Path hgrm;

    /**
     * The bins of the histogram, microseconds.
     *
     * @param bin width of one
     * @param low where the first begins
     * @param high where the last ends at the earliest
     */
    record Bins(int bin, int low, int high) {
        /** Where the bin that is not whole within the range ends. */
        int end() {
            return low + Math.ceilDiv(high - low, bin) * bin;
        }
    }

    @Nullable
    Bins bins() throws CommandException {
        String h = histogram;
        if (h == null) {
            return null;
        }
        if (h.matches("[0-9]{1,8}:[0-9]{1,8}:[0-9]{1,8}")) {
            String[] three = h.split(":", -1);
            Bins b = new Bins(Integer.parseInt(three[0]), Integer.parseInt(three[1]), Integer.parseInt(three[2]));
            if (b.bin > 0 && b.low < b.high) {
                return b;
            }
        }
        throw new CommandException("--histogram " + h + " is not BIN:LOW:HIGH in microseconds, such as 1:0:50");
    }

    /** Makes sure before the run that the files can be written. */
    void prepare() throws IOException {
        for (Path file : new @Nullable Path[] {fullLog, hgrm, json == null || json.equals("-")
                ? null
                : Path.of(json)}) {
            if (file != null) {
                Files.newOutputStream(file).close();
            }
        }
    }

    /** Refuses what a run without latencies cannot report. */
    void requireNone(String mode) throws CommandException {
        if (fullLog != null || hgrm != null || histogram != null || fullRtt) {
            throw new CommandException(mode
                    + " measures no latency: it has none for --full-log, --hgrm, --histogram and --full-rtt");
        }
    }

    void check() throws CommandException {
        if (!(confidence > 0 && confidence < 100)) {
            throw new CommandException("--ci_sig_level " + confidence + " is not between 0 and 100 percent");
        }
        Bins _ = bins();
    }
}
