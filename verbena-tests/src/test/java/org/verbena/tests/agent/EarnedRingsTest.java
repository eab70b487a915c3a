// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.ProgramLane;

/** Unchanged programs: which of their connections take rings, and what the others cost. */
@ProgramLane
class EarnedRingsTest {
    /** On a busy machine the handshake of two ends takes long. */
    private static final String PATIENCE = "stream.patience=";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir static Path dir;
    private static TalkProcess.Program chat;

    private final List<TalkProcess> started = new ArrayList<>();

    @BeforeAll
    static void prepare() throws Exception {
        chat = new TalkProcess.Program(dir, "Chat");
    }

    @AfterEach
    void endAll() {
        started.forEach(TalkProcess::close);
    }

    private TalkProcess start(List<String> options, String... words) throws IOException {
        TalkProcess p = chat.start(options, words);
        started.add(p);
        return p;
    }

    private static List<String> agent(String arguments) {
        return List.of("-javaagent:" + chat.agent() + "=quiet" + (arguments.contains(PATIENCE)
                ? ""
                : "," + PATIENCE + "60000") + arguments);
    }

    /** What a client of a few messages says of itself: transport, Verbena's threads, and, at its end, the summary. */
    private List<String> client(List<String> server, String arguments, String... words) throws Exception {
        Path summary = Files.createTempFile(dir, "summary", "");
        TalkProcess serves = start(server, "serve");
        List<String> all = new ArrayList<>(List.of("talk", serves.line()));
        all.addAll(List.of(words));
        TalkProcess talks = start(agent(",summary=" + summary + arguments), all.toArray(String[]::new));
        List<String> said = new ArrayList<>(List.of(talks.line(), talks.line()));
        talks.end();
        serves.end();
        JsonNode line = MAPPER.readTree(Files.readString(summary));
        said.add(line.get("fallbacks").toString());
        said.add(line.get("bytes").get("sent_by_ring").longValue() > 0 ? "rings" : "no rings");
        return said;
    }

    /** No thread of the streams, and none of a device. */
    @Test
    void connectionOfFewMessagesStartsNothing() throws Exception {
        List<String> said = client(agent(""), "", "100");
        assertThat(said.removeLast()).isEqualTo("no rings");
        assertThat(said.removeLast()).isEqualTo("{\"not_earned\":1}");
        assertThat(said.getFirst()).isEqualTo("undecided");
        assertThat(said.getLast()).doesNotContain("verbena-stream", "verbena-shm", "verbena-counters");
    }

    @Test
    void connectionOfManyMessagesTakesRings() throws Exception {
        List<String> said = client(agent(""), "", "100", "stream");
        assertThat(said.getFirst()).isEqualTo("stream");
        assertThat(said.get(1)).contains("verbena-stream-engine");
        assertThat(said.subList(2, 4)).containsExactly("{}", "rings");
    }

    @Test
    void ruleGivesRingsAtOnce() throws Exception {
        String rules = ",rules=use stream tcp_server *:* at-once; use stream tcp_client *:* at-once";
        assertThat(client(agent(rules), rules, "1", "stream")).startsWith("stream").endsWith("{}", "rings");
    }

    /** Each end has its own rule, and the peer of one that does not wait may. */
    @Test
    void endThatBeginsAtOnceMeetsOneThatHasToEarn() throws Exception {
        assertThat(client(agent(",stream.earn=0"), "", "1", "stream"))
                .startsWith("stream")
                .endsWith("{}", "rings");
    }

    @Test
    void plainPeerIsFoundWhenTheConnectionHasCarriedEnough() throws Exception {
        assertThat(client(List.of(), "," + PATIENCE + "200", "100", "kernel")).startsWith("kernel")
                .endsWith("{\"plain_peer\":1}", "no rings");
    }
}
