// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.plot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.knowm.xchart.CategoryChart;

import org.verbena.bench.compare.Sample;

/**
 * Draws what was measured: reads the JSON that the benchmarks printed into a folder, and writes PNG beside it. {@code bench/plots}
 * calls it; docs/benchmarks.md says which command printed which file.
 */
public final class Plots {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double NANOS = 1000;
    private static final double GIGA = 1e9;
    /** Names in the figures of bench/compare, and in the drawing. */
    private static final Map<String, String> CONTESTANTS = contestants();

    private final Path folder;

    /** A drawing, and the name of what it is made from. */
    private record Plot(String name, String figures, Drawer drawer) {}

    @FunctionalInterface
    private interface Drawer {
        CategoryChart draw() throws IOException;
    }

    private Plots(Path folder) {
        this.folder = folder;
    }

    /** Draws all that was measured; the argument is the folder. */
    public static void main(String[] args) throws IOException {
        new Plots(Path.of(args[0])).draw();
    }

    private void draw() throws IOException {
        List<Plot> all = List.of(new Plot("latency", "compare", this::latency), new Plot("bandwidth", "channels",
                this::bandwidth), new Plot("applications", "applications", this::applications), new Plot("load", "load",
                        this::load));
        List<Plot> measured = all.stream().filter(p -> Files.isReadable(file(p.figures))).toList();
        if (measured.isEmpty()) {
            throw new IOException("nothing to draw in " + folder + ", neither " + String.join(" nor ", all.stream().map(
                    p -> p.figures + ".json").toList()) + ": measure with bench/plots --measure");
        }
        for (Plot p : measured) {
            try {
                Drawing.save(p.drawer.draw(), folder.resolve(p.name + ".png"));
            } catch (JacksonException e) {
                throw new IOException(file(p.figures) + " cannot be read: " + e.getOriginalMessage(), e);
            }
        }
    }

    private static Map<String, String> contestants() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("verbena-send-64", "Verbena, SEND");
        all.put("ucx-tag-64", "UCX, tagged message");
        all.put("aeron-64", "Aeron IPC");
        all.put("verbena-channel-64", "Verbena, SocketChannel");
        all.put("kernel-64", "the JDK's SocketChannel, TCP");
        return all;
    }

    /** Percentiles of round trips of 64 bytes. */
    private CategoryChart latency() throws IOException {
        JsonNode figures = read("compare").path("figures");
        CategoryChart c = Drawing.lines("Round trip of 64 bytes between two processes, both ends spin", "percentile",
                "µs, logarithmic", true);
        CONTESTANTS.forEach((name, title) -> {
            if (figures.has(Sample.percentile(name, "50")) && !figures.has(Sample.percentile(name, "99"))) {
                throw new IllegalArgumentException(file("compare") + " has no percentiles of " + name
                        + ": print it with bench/compare --percentiles --json");
            }
            List<Double> micros = Sample.RANKS.stream().map(r -> figures.path(Sample.percentile(name, r))
                    .asDouble() / NANOS).toList();
            if (micros.getFirst() > 0) {
                c.addSeries(title, Sample.RANKS.stream().map(r -> r + " %").toList(), micros);
            }
        });
        return c;
    }

    /** Bytes a second of channels over the size of a write, by rings and by the kernel. */
    private CategoryChart bandwidth() throws IOException {
        CategoryChart c = Drawing.lines("nio-bw: one SocketChannel, by rings and by the kernel", "bytes a write",
                "GB/s, logarithmic", true);
        Map<String, Map<Long, Double>> rows = new LinkedHashMap<>();
        for (JsonNode r : read("channels")) {
            String by = r.path("transport").asText().equals("stream") ? "Verbena, rings" : "the JDK's, TCP";
            rows.computeIfAbsent(by, k -> new LinkedHashMap<>()).put(r.path("size").asLong(), r.path("bytes_per_second")
                    .asDouble() / GIGA);
        }
        rows.forEach((by, rates) -> {
            List<Long> sizes = List.copyOf(new TreeSet<>(rates.keySet()));
            c.addSeries(by, sizes.stream().map(Drawing::size).toList(), sizes.stream().map(rates::get).toList());
        });
        return c;
    }

    /** How many times more unchanged applications do, from the lines of bench/apps. */
    private CategoryChart applications() throws IOException {
        List<JsonNode> rows = new ArrayList<>();
        try (MappingIterator<JsonNode> lines = JSON.readerFor(JsonNode.class).readValues(file("applications")
                .toFile())) {
            lines.forEachRemaining(rows::add);
        }
        rows.sort(Comparator.comparingDouble(r -> -r.path("ratio").asDouble()));
        CategoryChart c = Drawing.bars("Unchanged applications: throughput with the agent / without", "", "times");
        c.addSeries("ratio", rows.stream().map(r -> r.path("name").asText()).toList(), rows.stream().map(r -> r.path(
                "ratio").asDouble()).toList());
        return c;
    }

    /** Round trips at a fixed rate, counted from the intended time; without rates that were not reached, whose times say little. */
    private CategoryChart load() throws IOException {
        CategoryChart c = Drawing.lines("Latency under load: 64 bytes at a fixed rate, from the intended time",
                "messages a second", "µs, logarithmic", true);
        List<JsonNode> kept = new ArrayList<>();
        read("load").forEach(r -> {
            if (r.path("rate_kept").asBoolean(true)) {
                kept.add(r);
            }
        });
        TreeSet<Long> rates = new TreeSet<>();
        kept.forEach(r -> rates.add(r.path("rate").asLong()));
        for (String transport : List.of("stream", "kernel")) {
            Map<Long, JsonNode> times = new HashMap<>();
            kept.stream().filter(r -> r.path("transport").asText().equals(transport)).forEach(r -> times.put(r.path(
                    "rate").asLong(), r.path("rtt_ns")));
            for (String rank : times.isEmpty() ? List.<String>of() : List.of("p50", "p99")) {
                // all series have the same rates, or the points of one would be drawn at those of another
                List<Double> micros = new ArrayList<>();
                rates.forEach(r -> micros.add(times.containsKey(r)
                        ? times.get(r).path(rank).asDouble() / NANOS
                        : Double.NaN));
                c.addSeries((transport.equals("stream") ? "Verbena, rings, " : "the JDK's, TCP, ") + rank, rates
                        .stream()
                        .map(r -> Drawing.rate(r)).toList(), micros);
            }
        }
        return c;
    }

    private Path file(String name) {
        return folder.resolve(name + ".json");
    }

    private JsonNode read(String name) throws IOException {
        return JSON.readTree(file(name).toFile());
    }
}
