// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

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
        List<String> a = new ArrayList<>(List.of("perf", "--json", "--duration=1s", "--warm-up=500ms"));
        a.addAll(List.of(arguments));
        Sample s = new Sample();
        try (Child c = new Child(Child.java("org.verbena.cli.Main", a.toArray(String[]::new)))) {
            for (JsonNode r : JSON.readTree(c.rest())) {
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
        }
        if (s.names().isEmpty()) {
            throw new IOException(String.format(Locale.ROOT, "perf %s gave nothing", String.join(" ", arguments)));
        }
        return s;
    }
}
