package org.verbena.tests.apps;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * What the sockets of a process have carried, as it has said at its end.
 *
 * @param ring bytes in and out by rings
 * @param tcp bytes in and out by TCP
 * @param fallbacks connections that stayed with TCP, by reason
 */
record Summary(String who, long ring, long tcp, Map<String, Long> fallbacks) {
    /** Part of the payload that rings have to carry where both ends are Verbena's. */
    private static final double WANTED = 0.99;

    static Summary read(String who, Path file) throws IOException {
        if (!Files.exists(file)) {
            throw new AssertionError(who + " has left no summary");
        }
        List<String> lines = Files.readAllLines(file);
        if (lines.size() != 1) {
            throw new AssertionError(who + " has left " + lines.size() + " lines of summary: " + lines);
        }
        JsonNode json = new ObjectMapper().readTree(lines.getFirst());
        Map<String, Long> fallbacks = new TreeMap<>();
        json.required("fallbacks").properties().forEach(e -> fallbacks.put(e.getKey(), e.getValue().asLong()));
        fallbacks.values().removeIf(n -> n == 0);
        return new Summary(who, bytes(json, "sent_by_ring") + bytes(json, "received_by_ring"),
                bytes(json, "sent_by_tcp") + bytes(json, "received_by_tcp"), fallbacks);
    }

    private static long bytes(JsonNode json, String name) {
        return json.required("bytes").required(name).asLong();
    }

    /** Rings carried all but a hundredth, and each connection that stayed with TCP did so for a reason that is named here. */
    Summary byRing(String... reasons) {
        if (ring <= 0 || ring < WANTED * (ring + tcp)) {
            throw new AssertionError("TCP carried more than a hundredth: " + this);
        }
        return reasons(reasons);
    }

    /** TCP carried all. */
    Summary byTcp(String... reasons) {
        if (ring != 0 || tcp <= 0) {
            throw new AssertionError("TCP did not carry all: " + this);
        }
        return reasons(reasons);
    }

    private Summary reasons(String... explained) {
        if (!Set.of(explained).containsAll(fallbacks.keySet())) {
            throw new AssertionError("connections stayed with TCP for a reason other than " + List.of(explained) + ": "
                    + this);
        }
        return this;
    }
}
