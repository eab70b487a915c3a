// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfRate;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.Json;

/**
 * The result of one test at one size.
 *
 * @param device the verbs device, {@code "tcp"}, {@code "udp"}, or empty for channels and the machine's limits
 * @param ends of a test of channels, or of TCP in user space
 * @param connections of a channel's test, else 1
 * @param rtt round trips in nanoseconds in the order of {@link #PERCENTILES}; empty for bandwidth tests
 * @param bytesPerSecond 0 for latency tests
 * @param messagesPerSecond 0 for latency tests
 * @param spread more of the round trips; null for bandwidth tests
 * @param rate of messages that are sent at fixed times, from which their round trips then count; else null
 * @param allocatedPerOperation bytes that the measuring threads of both processes allocated, divided by iterations
 */
public record PerfResult(PerfTest test, long size, String device, PerfEnds ends, int connections, long iterations,
        List<Double> rtt, double bytesPerSecond, double messagesPerSecond, double allocatedPerOperation,
        @Nullable PerfSpread spread, @Nullable PerfRate rate) {
    /** Their names in JSON. */
    public static final List<String> PERCENTILES = List.of("p50", "p90", "p99", "p99_9", "p99_99", "max");
    static final double[] RANKS = {50, 90, 99, 99.9, 99.99, 100};
    /** A percentile with fewer round trips beyond it depends on single ones. */
    public static final int ENOUGH = 10;

    /** Without more of the round trips. */
    public PerfResult(PerfTest test, long size, String device, PerfEnds ends, int connections, long iterations,
            List<Double> rtt, double bytesPerSecond, double messagesPerSecond, double allocatedPerOperation) {
        this(test, size, device, ends, connections, iterations, rtt, bytesPerSecond, messagesPerSecond,
                allocatedPerOperation, null, null);
    }

    /** Of a test of round trips. */
    public static PerfResult latency(PerfJob job, long iterations, Histogram histogram, double allocatedPerOperation) {
        return latency(job, iterations, histogram, allocatedPerOperation, null);
    }

    /** Of a test of round trips whose messages are sent at a rate. */
    static PerfResult latency(PerfJob job, long iterations, Histogram histogram, double allocatedPerOperation,
            @Nullable PerfRate rate) {
        List<Double> rtt = Arrays.stream(RANKS).mapToObj(r -> (double) histogram.getValueAtPercentile(r)).toList();
        return new PerfResult(job.test(), job.size(), device(job), job.ends(), job.connections(), iterations, rtt, 0, 0,
                allocatedPerOperation, PerfSpread.of(histogram), rate);
    }

    /** Of a bandwidth test. */
    static PerfResult bandwidth(PerfJob job, long iterations, double perSecond, double allocatedPerOperation) {
        return new PerfResult(job.test(), job.size(), device(job), job.ends(), job.connections(), iterations, List.of(),
                perSecond * job.size(), perSecond, allocatedPerOperation);
    }

    private static String device(PerfJob job) {
        return job.test().isTcp() || job.test().isStackTcp() && job.ends() == PerfEnds.PLAIN
                ? "tcp"
                : job.test().isUdp() ? "udp" : job.test().takesDevice() ? job.device() : "";
    }

    /** The key that it shares with results of other runs. */
    public String key() {
        return series() + (rate == null ? "" : " " + rate.asked());
    }

    /** The key without the rate. */
    public String series() {
        return test + " " + device + " " + ends + " " + size + " " + connections;
    }

    /** Whether messages of the other were sent at the same rate, or both at none. */
    public boolean hasRateOf(PerfResult other) {
        return rate == null ? other.rate == null : other.rate != null && rate.asked() == other.rate.asked();
    }

    /** What the result is mostly about: bytes per second, or the typical round trip in nanoseconds. */
    public double figure() {
        return test.isBandwidth() ? bytesPerSecond : rtt.getFirst();
    }

    /** Whether fewer than {@link #ENOUGH} round trips were longer than a percentile; never of the longest one. */
    public boolean isUnsure(int i) {
        return isUnsure(RANKS[i]);
    }

    /** The same of any rank. */
    public boolean isUnsure(double rank) {
        return rank < 100 && iterations * (1 - rank / 100) < ENOUGH - 1e-6;
    }

    public ObjectNode toJson() {
        ObjectNode o = JsonNodeFactory.instance.objectNode();
        o.put("test", test.title());
        // every row has every key, for readers that look only at the first one
        o.put("device", device.isEmpty() ? null : device);
        ends.put(o);
        o.put("size", size);
        o.put("connections", test.isNio() ? connections : null);
        o.put("iterations", iterations);
        PerfRate.put(rate, o);
        if (rtt.isEmpty()) {
            o.putNull("rtt_ns");
        } else {
            ObjectNode r = o.putObject("rtt_ns");
            for (int i = 0; i < PERCENTILES.size(); i++) {
                r.put(PERCENTILES.get(i), Math.round(rtt.get(i)));
            }
            if (spread != null) {
                spread.put(r);
            }
        }
        if (bytesPerSecond > 0) {
            o.put("bytes_per_second", Math.round(bytesPerSecond));
            o.put("messages_per_second", Math.round(messagesPerSecond));
        } else {
            o.putNull("bytes_per_second").putNull("messages_per_second");
        }
        if (allocatedPerOperation == 0) {
            o.put("allocated_bytes_per_op", 0);
        } else {
            o.put("allocated_bytes_per_op", Json.rate(allocatedPerOperation));
        }
        return o;
    }

    /** What {@link #fromJson} reads, with all that there is. */
    public ObjectNode toLine() {
        ObjectNode o = toJson();
        if (spread != null) {
            spread.putEncoded(o);
        }
        return o;
    }

    public static PerfResult fromJson(JsonNode o) throws CommandException {
        JsonNode r = o.path("rtt_ns");
        List<Double> rtt = !r.isObject()
                ? List.of()
                : PERCENTILES.stream().map(p -> r.path(p).asDouble()).toList();
        return new PerfResult(PerfTest.of(o.path("test").asText()), o.path("size").asLong(), o.path("device").asText(
                ""), PerfEnds.of(o), o.path("connections").asInt(1), o.path("iterations").asLong(), rtt, o.path(
                        "bytes_per_second").asDouble(), o.path("messages_per_second").asDouble(), o.path(
                                "allocated_bytes_per_op").asDouble(), PerfSpread.of(o), PerfRate.of(o));
    }

    /** The medians of the same test at the same size in several runs, each figure for itself. */
    public static PerfResult median(List<PerfResult> runs) {
        PerfResult first = runs.getFirst();
        List<Double> rtt = first.rtt;
        if (!rtt.isEmpty()) {
            Double[] m = new Double[PERCENTILES.size()];
            Arrays.setAll(m, i -> median(runs, r -> r.rtt.get(i)));
            rtt = List.of(m);
        }
        return new PerfResult(first.test, first.size, first.device, first.ends, first.connections, Math.round(median(
                runs,
                PerfResult::iterations)), rtt, median(runs, PerfResult::bytesPerSecond), median(runs,
                        PerfResult::messagesPerSecond),
                median(runs, PerfResult::allocatedPerOperation), first.spread == null
                        ? null
                        : PerfSpread.median(runs.stream().map(PerfResult::spread)
                                .filter(Objects::nonNull).toList()),
                first.rate == null
                        ? null
                        : PerfRate.of(first.rate.asked(), median(runs, r -> Objects.requireNonNull(r.rate).reached())));
    }

    private static double median(List<PerfResult> runs, ToDoubleFunction<PerfResult> figure) {
        return middle(runs.stream().mapToDouble(figure).toArray());
    }

    /** The median of at least one. */
    static double middle(double[] of) {
        double[] sorted = of.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    }
}
