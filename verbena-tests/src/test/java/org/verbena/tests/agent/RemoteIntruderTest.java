// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.NetworkLane;
import org.verbena.tests.cli.RoceNamespaces;
import org.verbena.tests.faults.Child;

/**
 * An intruder on another host with access to the device, see {@link RemoteIntruder}: its messages are refused or end
 * its own session, TCP carries the connections that it claims, and a valid one over rings continues.
 */
@NetworkLane
@Timeout(300)
class RemoteIntruderTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int PIECE = 1 << 20;

    /** The requests and answers, in order; a refusal is 28, of the application, and its reason. */
    private static final List<String> RESULTS = List.of("again=refused 28 1", "answer=ended", "cut=refused 28 3",
            "elsewhere=refused 28 1", "honest=whole", "noise=refused 28 3", "noise-message=ended",
            "nothing=refused 28 3", "old=refused 28 2", "other-name=declined 1", "other-session=declined 4",
            "silent=ended closed", "stranger=refused 28", "taken=refused 28 1",
            "unknown=refused 28 1");

    @TempDir static Path dir;
    private static TalkProcess.Program talk;

    private record Beside(TalkProcess talk, String port, Child intruder) implements AutoCloseable {
        @Override
        public void close() throws Exception {
            try (intruder) {
                talk.close();
            }
        }
    }

    @BeforeAll
    static void prepare() throws Exception {
        talk = new TalkProcess.Program(dir, "RemoteTalk");
    }

    private static JsonNode summary(String file) throws IOException {
        return MAPPER.readTree(Files.readString(dir.resolve(file)));
    }

    private static Child.Builder intruder() {
        return Child.of(RemoteIntruder.class);
    }

    @Test
    void lyingClientIsRefused() throws Exception {
        RoceNamespaces.with(() -> talk.start("rules=use stream tcp_server *:* device " + RoceNamespaces.DEVICE_B
                + ",stream.delay=0,stream.patience=3000,summary=" + dir.resolve("server"), "echo"), server -> {
                    String rule = "rules=use stream tcp_client 10.47.92.0/24:* device " + RoceNamespaces.DEVICE_A;
                    try (Child child = intruder().option("-javaagent:" + talk.agent() + "=quiet,stream.earn=0," + rule
                            + ",stream.delay=0,stream.patience=60000,stream.wait=60000").start("ask",
                                    RoceNamespaces.ADDRESS_B, RoceNamespaces.ADDRESS6_B, server.line())) {
                        assertThat(child.await("RESULTS")).isEqualTo("{" + String.join(", ", RESULTS) + "}");
                    }
                    server.end();
                });
        JsonNode summary = summary("server");
        assertThat(summary.get("connections").get("stream").intValue()).as("the honest one, and the silent").isEqualTo(
                2);
        assertThat(summary.get("bytes").get("received_by_ring").intValue()).isEqualTo(RemoteIntruder.ROUNDS
                * RemoteIntruder.BYTES);
    }

    @Test
    void wrongOrSilentServerIsHandled() throws Exception {
        RoceNamespaces.with(() -> {
            TalkProcess server = talk.start(List.of(), "serve", "2");
            try {
                return new Beside(server, server.line(), intruder().start("answer"));
            } catch (Exception e) {
                server.close();
                throw e;
            }
        }, both -> {
            both.intruder().await("ready");
            TalkProcess client = talk.start("rules=use stream tcp_client *:* device " + RoceNamespaces.DEVICE_A
                    + ",stream.delay=0,stream.patience=60000,stream.wait=60000,summary=" + dir.resolve("client"),
                    "send", RoceNamespaces.ADDRESS_B + "," + RoceNamespaces.ADDRESS6_B, both.port(), "2", "2");
            both.intruder().await("wrong");
            both.intruder().await("silent");
            for (int i = 0; i < 2; i++) {
                assertThat(client.line()).isEqualTo("begun");
                assertThat(both.talk().line()).isEqualTo("begun");
                assertThat(client.line()).isEqualTo("same");
                assertThat(both.talk().line()).isEqualTo("whole " + 2 * PIECE);
            }
            client.end();
            both.talk().end();
        });
        JsonNode summary = summary("client");
        assertThat(summary.get("fallbacks").toString()).isEqualTo("{\"bad_peer\":1,\"no_session\":1}");
        assertThat(summary.get("bytes").get("sent_by_tcp").intValue()).isEqualTo(4 * PIECE);
    }
}
