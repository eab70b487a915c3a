// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Locale;

/**
 * The result of a bandwidth test, in perftest's units.
 *
 * @param size bytes of a message
 * @param peak the best moment, in units of 2^20 bytes a second; 0: not measured
 * @param average in units of 2^20 bytes a second
 * @param messages millions a second
 */
record PerftestReport(long size, long iterations, double peak, double average, double messages) {
    /** The report of an end that measures nothing. */
    static final PerftestReport NONE = new PerftestReport(0, 0, 0, 0, 0);

    static PerftestReport of(long size, long iterations, long nanos) {
        double perSecond = iterations * 1e9 / Math.max(1, nanos);
        return new PerftestReport(size, iterations, 0, perSecond * size / (1 << 20), perSecond / 1e6);
    }

    /** The sum of two ends that sent at the same time. */
    PerftestReport and(PerftestReport other) {
        return new PerftestReport(size, iterations, peak + other.peak, average + other.average, messages
                + other.messages);
    }

    static void printHeader(PrintWriter out) {
        out.println(" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]");
    }

    void print(PrintWriter out) {
        out.println(String.format(Locale.ROOT, " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f", size,
                iterations, peak, average, messages));
        out.flush();
    }

    static void printLatencyHeader(PrintWriter out) {
        out.println(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
                + "   99% percentile[usec]   99.9% percentile[usec]");
    }

    /**
     * Prints a latency test's line.
     *
     * @param iterations messages, as requested; in ping-pong tests one more than there are times
     * @param nanos times of messages
     */
    static void printLatency(PrintWriter out, int size, int iterations, long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        double average = Arrays.stream(sorted).average().orElse(0);
        double variance = Arrays.stream(sorted).mapToDouble(t -> (t - average) * (t - average)).average().orElse(0);
        out.println(String.format(Locale.ROOT, " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f"
                + "     \t%-7.2f\t\t%-7.2f \t\t%-7.2f", size, iterations, at(sorted, 0), at(sorted, 1),
                at(sorted, 0.5), average / 1000, Math.sqrt(variance) / 1000, at(sorted, 0.99), at(sorted, 0.999)));
        out.flush();
    }

    private static double at(long[] sorted, double part) {
        return sorted[(int) Math.min(sorted.length - 1L, (long) (sorted.length * part))] / 1000.0;
    }
}
