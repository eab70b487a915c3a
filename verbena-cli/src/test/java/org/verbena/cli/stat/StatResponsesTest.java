// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;

/** Response times of a connection, on its screen, as text and as JSON. */
class StatResponsesTest {
    private static final int FIRST = SocketSamplePoint.CONNECTION_RESPONSES_256NS;
    private static final int INTERVALS = 24;

    /** One with this many responses in the first intervals. */
    private static StatObject connection(long... responses) {
        long[] points = new long[2 * INTERVALS];
        for (int i = 0; i < INTERVALS; i++) {
            points[2 * i] = (long) FIRST + i;
            points[2 * i + 1] = i < responses.length ? responses[i] : 0;
        }
        return StatSamples.object(1001, SocketObjectType.CONNECTION, 1, points);
    }

    private static StatResponses responses(long... responses) {
        return StatResponses.of(connection(responses)).orElseThrow();
    }

    @Test
    void percentilesAreTheEndsOfIntervals() {
        StatResponses r = responses(0, 49, 1, 48, 1, 0, 1);
        assertThat(r.below(0.49)).isEqualTo(512);
        assertThat(r.below(0.5)).isEqualTo(1024);
        assertThat(r.below(0.98)).isEqualTo(2048);
        assertThat(r.below(0.99)).isEqualTo(4096);
        assertThat(r.below(1)).isEqualTo(16384);
        assertThat(r.text()).isEqualTo("100 responses: p50 < 1.0 us, p99 < 4.1 us, max < 16.4 us");
        long[] all = new long[INTERVALS];
        Arrays.fill(all, 1);
        assertThat(responses(all).text()).endsWith("p50 < 524.3 us, p99 > 1.1 s, max > 1.1 s");
        assertThat(responses(7).text()).isEqualTo("7 responses: p50 < 256 ns, p99 < 256 ns, max < 256 ns");
        assertThat(responses().text()).isEqualTo("no responses yet");
        assertThat(StatResponses.of(StatSamples.connection(1, "a", "b", "", 1))).as("not measured").isEmpty();
    }

    @Test
    void screenOfAConnectionDrawsThem() {
        StatView v = new StatView(4711, Set.of());
        v.begin(false, "", false, "");
        v.show(4711, StatSamples.snapshot(StatSamples.process(4711, 1, connection(0, 60, 30, 1))));
        v.press(StatKey.of(StatKey.Name.ENTER));
        List<String> lines = v.lines(40, 120).stream().map(StatLine::text).toList();
        assertThat(lines).anyMatch(l -> l.contains("91 responses: p50 < 512 ns, p99 < 2.0 us, max < 2.0 us")).anyMatch(
                l -> l.matches("responses_512ns +60 +- +#{30}")).anyMatch(l -> l.matches(
                        "responses_1us +30 +- +#{15}")).anyMatch(l -> l.matches("responses_2us +1 +- +#")).anyMatch(
                                l -> l.matches("responses_longer +0 +-"));
    }

    @Test
    void jsonHasThem() throws Exception {
        StatProcess p = StatSamples.process(1, 1, connection(0, 3), StatSamples.connection(2, "a", "b", "", 1));
        JsonNode objects = new ObjectMapper().readTree(StatJson.objects(StatSamples.snapshot(p), StatDelta.of(p, null),
                p
                        .objects())).get("objects");
        assertThat(objects.get(0).get("response_ns").toString()).isEqualTo(
                "{\"count\":3,\"p50\":512,\"p99\":512,\"max\":512}");
        assertThat(objects.get(1).get("response_ns").isNull()).isTrue();
    }
}
