// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/** The machine's limits and Verbena, each by {@code verbena perf --json} in a fresh pair of processes. */
final class VerbenaRuns {
    private static final ObjectMapper JSON = new ObjectMapper();

    private VerbenaRuns() {}

    static Sample limits() throws IOException {
        return perf("limit-", "limit-cacheline", "limit-twoline");
    }

    static Sample memcpy() throws IOException {
        return perf("limit-", "limit-memcpy", "--size=1m");
    }

    static Sample write8() throws IOException {
        return perf("verbena-", "write-lat", "--size=8");
    }

    static Sample send() throws IOException {
        return perf("verbena-", "send-lat", "--size=32,64");
    }

    /** Percentiles of the round trips of 64 bytes by SEND, and of those between channels by rings and by the kernel. */
    static Sample percentiles() throws IOException {
        Sample s = new Sample();
        for (JsonNode r : rows("send-lat", "nio-lat-spin", "--size=64")) {
            String transport = r.path("transport").asText();
            String name = r.path("test").asText().equals("send-lat")
                    ? "verbena-send-64"
                    : transport.equals("kernel") ? "kernel-64" : "verbena-channel-64";
            for (String rank : Sample.RANKS) {
                double rtt = r.path("rtt_ns").path("p" + rank.replace('.', '_')).asDouble();
                s.put(Sample.percentile(name, rank), rtt);
            }
        }
        return s;
    }

    static Sample sendRate() throws IOException {
        return perf("verbena-", "send-bw", "--size=64");
    }

    static Sample write1m() throws IOException {
        return perf("verbena-", "write-bw", "--size=1m");
    }

    static Sample write1mConsumed() throws IOException {
        Sample s = new Sample();
        s.put("verbena-write-1m-consumed-bw", perf("verbena-", "write-bw", "--size=1m", "--consume").get(
                "verbena-write-1m-bw"));
        return s;
    }

    private static Sample perf(String prefix, String... arguments) throws IOException {
        Sample s = new Sample();
        for (JsonNode r : rows(arguments)) {
            String test = r.path("test").asText().replace("limit-", "").replace("-lat", "").replace("-bw", "");
            long size = r.path("size").asLong();
            String name = prefix + test + (prefix.startsWith("limit") ? "" : "-" + (size == 1 << 20 ? "1m" : size));
            if (r.hasNonNull("rtt_ns")) {
                s.put(name + "-rtt", r.path("rtt_ns").path("p50").asDouble());
            } else if (size < 4096) {
                s.put(name + "-rate", r.path("messages_per_second").asDouble());
            } else {
                s.put(name + "-bw", r.path("bytes_per_second").asDouble());
            }
        }
        return s;
    }

    private static JsonNode rows(String... arguments) throws IOException {
        List<String> a = new ArrayList<>(List.of("perf", "--json", "--duration=1s", "--warm-up=500ms"));
        a.addAll(List.of(arguments));
        try (Child c = new Child(Child.java("org.verbena.cli.Main", a.toArray(String[]::new)))) {
            JsonNode rows = JSON.readTree(c.rest());
            if (rows.isEmpty()) {
                throw new IOException("perf " + String.join(" ", arguments) + " gave nothing");
            }
            return rows;
        }
    }
}
