// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * The traffic of the connections of programs, from the lines of {@code verbena.summary}.
 *
 * @param programs that had connections, or ends of some
 * @param byStream those of them in which ends have agreed upon rings
 * @param ends of connections that have agreed; a connection of a program with itself has two
 * @param bytes that programs have written into rings
 * @param fallbacks ends that TCP carried to their end, by the reason for it
 */
record RingTraffic(int programs, int byStream, long ends, long bytes, Map<String, Long> fallbacks) {
    static final RingTraffic NOTHING = new RingTraffic(0, 0, 0, 0, Map.of());
    /** What {@link SessionFirst} adds to that of a program. */
    static final RingTraffic SESSION_FIRST = new RingTraffic(0, 0, 2, 1, Map.of());
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** What a file of such lines says; nothing if there is none, as of a program that was killed or halted. */
    static RingTraffic in(Path summary) throws IOException {
        RingTraffic sum = NOTHING;
        if (Files.exists(summary)) {
            for (String line : Files.readAllLines(summary)) {
                sum = sum.plus(of(MAPPER.readTree(line)));
            }
        }
        return sum;
    }

    private static RingTraffic of(JsonNode line) {
        long agreed = line.at("/connections/stream").longValue();
        Map<String, Long> fallbacks = new TreeMap<>();
        line.at("/fallbacks").properties().forEach(f -> fallbacks.put(f.getKey(), f.getValue().longValue()));
        return new RingTraffic(line.at("/connections/opened").longValue() > 0 ? 1 : 0, agreed > 0 ? 1 : 0, agreed,
                line.at("/bytes/sent_by_ring").longValue(), fallbacks);
    }

    /** Without what a part of the program has added, which has no fallbacks. */
    RingTraffic minus(RingTraffic part) {
        return new RingTraffic(programs - part.programs, byStream - part.byStream, ends - part.ends, bytes - part.bytes,
                fallbacks);
    }

    /** The one of two runs that has used rings less. */
    RingTraffic lesser(RingTraffic other) {
        return bytes <= other.bytes ? this : other;
    }

    RingTraffic plus(RingTraffic other) {
        Map<String, Long> all = new TreeMap<>(fallbacks);
        other.fallbacks.forEach((reason, ends) -> all.merge(reason, ends, Long::sum));
        return new RingTraffic(programs + other.programs, byStream + other.byStream, ends + other.ends,
                bytes + other.bytes, all);
    }
}
