// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * The traffic of the connections of programs, from the lines of {@code verbena.summary}.
 *
 * @param programs that had connections, or ends of some
 * @param byStream those of them in which ends have agreed upon rings
 * @param ends of connections that have agreed; a connection of a program with itself has two
 * @param bytes that programs have written into rings
 */
record RingTraffic(int programs, int byStream, long ends, long bytes) {
    static final RingTraffic NOTHING = new RingTraffic(0, 0, 0, 0);
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
        return new RingTraffic(line.at("/connections/opened").longValue() > 0 ? 1 : 0, agreed > 0 ? 1 : 0, agreed,
                line.at("/bytes/sent_by_ring").longValue());
    }

    RingTraffic plus(RingTraffic other) {
        return new RingTraffic(programs + other.programs, byStream + other.byStream, ends + other.ends,
                bytes + other.bytes);
    }
}
