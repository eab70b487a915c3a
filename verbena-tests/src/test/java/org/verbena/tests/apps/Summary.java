// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * The traffic of the sockets of a process, from its summary.
 *
 * @param connections their number, by result
 * @param ring bytes in and out by rings
 * @param tcp bytes in and out by TCP
 * @param fallbacks connections that stayed with TCP, by reason
 */
record Summary(String who, Connections connections, long ring, long tcp, Map<String, Long> fallbacks) {
    /** Fraction of the payload that rings have to carry if both ends have Verbena. */
    private static final double WANTED = 0.99;

    /** Connected TCP channels. */
    record Connections(long opened, long stream, long kernel, long undecided) {}

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
        JsonNode c = json.required("connections");
        return new Summary(who, new Connections(number(c, "opened"), number(c, "stream"), number(c, "kernel"), number(c,
                "undecided")), bytes(json, "ring"), bytes(json, "tcp"), fallbacks);
    }

    private static long number(JsonNode json, String name) {
        JsonNode n = json.required(name);
        if (!n.isIntegralNumber()) {
            throw new AssertionError(name + " is no number: " + json);
        }
        return n.longValue();
    }

    private static long bytes(JsonNode json, String by) {
        JsonNode bytes = json.required("bytes");
        return number(bytes, "sent_by_" + by) + number(bytes, "received_by_" + by);
    }

    /** Rings carried at least 99 percent, and the connections that stayed with TCP have the given reasons. */
    Summary byRing(Reason... reasons) {
        if (ring <= 0 || ring < WANTED * (ring + tcp) || connections.stream == 0) {
            throw new AssertionError("TCP carried more than a hundredth: " + this);
        }
        return explained(reasons);
    }

    /** TCP carried everything, and at least this many connections stayed with it because their other end is plain. */
    Summary byTcp(int plainPeers, int closedEarly) {
        if (ring != 0 || tcp <= 0 || connections.stream != 0) {
            throw new AssertionError("TCP did not carry all: " + this);
        }
        if (plainPeers <= 0) {
            throw new IllegalArgumentException("one that stays until it is told from a short one there must be");
        }
        return explained(Reason.plainPeers(plainPeers), Reason.closedEarly(closedEarly));
    }

    /** For a process with peers of both kinds: TCP carried at least this many bytes. */
    Summary byTcpAndRing(long leastByTcp, long leastByRing, Reason... reasons) {
        if (tcp < leastByTcp || ring < leastByRing) {
            throw new AssertionError("less than " + leastByTcp + " bytes by TCP or " + leastByRing + " by rings: "
                    + this);
        }
        return explained(reasons);
    }

    /** Each connection is decided, and the number of TCP connections with each reason is as expected. */
    private Summary explained(Reason... reasons) {
        if (connections.undecided != 0) {
            throw new AssertionError("connections ended undecided: " + this);
        }
        long sum = fallbacks.values().stream().mapToLong(n -> n).sum();
        if (sum != connections.kernel || connections.stream + connections.kernel != connections.opened) {
            throw new AssertionError("the numbers of connections do not add up: " + this);
        }
        for (Reason r : reasons) {
            long n = fallbacks.getOrDefault(r.name(), 0L);
            if (n < r.least() || n > r.most()) {
                throw new AssertionError("as many connections by TCP were expected as " + Arrays.toString(reasons)
                        + ": " + this);
            }
        }
        if (!Arrays.stream(reasons).map(Reason::name).toList().containsAll(fallbacks.keySet())) {
            throw new AssertionError("connections stayed with TCP for a reason other than " + Arrays.toString(reasons)
                    + ": " + this);
        }
        return this;
    }
}
