// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.zip.DataFormatException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.Json;

/**
 * More of the round trips of a test than its percentiles, in nanoseconds.
 *
 * @param encoded all of them, as HdrHistogram compresses a histogram, by Base64
 */
public record PerfSpread(double min, double mean, double deviation, double fiveNines, String encoded) {
    /** The percentile that is beside those of {@link PerfResult#RANKS}. */
    public static final double RANK = 99.999;
    /** Their names in JSON. */
    public static final List<String> NAMES = List.of("p99_999", "min", "mean", "stdev");
    private static final String ENCODED = "histogram";

    static PerfSpread of(Histogram h) {
        ByteBuffer buffer = ByteBuffer.allocate(h.getNeededByteBufferCapacity());
        int length = h.encodeIntoCompressedByteBuffer(buffer);
        return new PerfSpread(h.getMinValue(), rounded(h.getMean()), rounded(h.getStdDeviation()), h
                .getValueAtPercentile(RANK), Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length)));
    }

    /** As JSON has it, which passes it between processes. */
    private static double rounded(double nanos) {
        return Json.rate(nanos).doubleValue();
    }

    /** All round trips. */
    public Histogram histogram() {
        try {
            return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(encoded)), 0);
        } catch (DataFormatException e) {
            throw new IllegalArgumentException("not a histogram: " + encoded, e);
        }
    }

    /** The medians of several runs, and the round trips of all. */
    static PerfSpread median(List<PerfSpread> runs) {
        if (runs.size() == 1) {
            return runs.getFirst();
        }
        Histogram all = runs.getFirst().histogram();
        all.setAutoResize(true);
        runs.subList(1, runs.size()).forEach(r -> all.add(r.histogram()));
        return new PerfSpread(median(runs, PerfSpread::min), median(runs, PerfSpread::mean), median(runs,
                PerfSpread::deviation), median(runs, PerfSpread::fiveNines), of(all).encoded);
    }

    private static double median(List<PerfSpread> runs, ToDoubleFunction<PerfSpread> figure) {
        return PerfResult.middle(runs.stream().mapToDouble(figure).toArray());
    }

    /** Adds the figures to those of the round trips. */
    void put(ObjectNode rtt) {
        rtt.put("p99_999", Math.round(fiveNines)).put("min", Math.round(min)).put("mean", Json.rate(mean)).put("stdev",
                Json.rate(deviation));
    }

    /** What {@link #of(JsonNode)} reads, for another process. */
    void putEncoded(ObjectNode row) {
        row.put(ENCODED, encoded);
    }

    static @Nullable PerfSpread of(JsonNode row) {
        JsonNode rtt = row.path("rtt_ns");
        return row.has(ENCODED)
                ? new PerfSpread(rtt.path("min").asDouble(), rtt.path("mean").asDouble(), rtt.path("stdev").asDouble(),
                        rtt.path("p99_999").asDouble(), row.path(ENCODED).asText())
                : null;
    }
}
