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

import org.verbena.testkit.Jvm;
import org.verbena.tests.ProgramLane;

/** An unchanged program of asynchronous channels in two processes, with the agent and without. */
@ProgramLane
class AsynchronousTest {
    private static final String OURS = "org.verbena.sockets.VerbenaAsynchronousChannelProvider";
    private static final String JDKS = "sun.nio.ch.LinuxAsynchronousChannelProvider";
    private static final String PROPERTY = "-Djava.nio.channels.spi.AsynchronousChannelProvider=";
    private static final int CONNECTIONS = 4;
    private static final int MESSAGES = 400;
    private static final int BYTES = 10_000;
    private static final long PAYLOAD = (long) CONNECTIONS * MESSAGES * BYTES;
    /** On a busy machine the handshake of the two ends takes long. */
    private static final String PATIENT = "stream.delay=0,stream.patience=60000,";

    @TempDir static Path dir;
    private static TalkProcess.Program program;

    private final List<TalkProcess> started = new ArrayList<>();

    @BeforeAll
    static void prepare() throws Exception {
        program = new TalkProcess.Program(dir, "AsyncTalk");
    }

    @AfterEach
    void endAll() {
        started.forEach(TalkProcess::close);
    }

    private TalkProcess start(String arguments, String... words) throws IOException {
        TalkProcess p = arguments.isEmpty()
                ? program.start(List.of(), words)
                : program.start(arguments, words);
        started.add(p);
        return p;
    }

    private void talk(String server, String client) throws Exception {
        TalkProcess s = start(server, "serve", "" + CONNECTIONS);
        TalkProcess c = start(client, "talk", s.line(), "" + CONNECTIONS, "" + MESSAGES, "" + BYTES);
        assertThat(c.line()).isEqualTo("ok");
        c.end();
        s.end();
    }

    private static JsonNode summary(Path file) throws IOException {
        return new ObjectMapper().readTree(Files.readString(file));
    }

    private static long bytes(JsonNode summary, String which) {
        return summary.get("bytes").get(which).longValue();
    }

    @Test
    void ringsCarryNearlyAllBytesOfTwoPrograms() throws Exception {
        Path server = dir.resolve("server");
        Path client = dir.resolve("client");
        talk(PATIENT + "summary=" + server, PATIENT + "summary=" + client);
        for (Path file : List.of(server, client)) {
            JsonNode l = summary(file);
            JsonNode connections = l.get("connections"); // some of the closed ones may not be released yet
            assertThat(connections.get("opened").intValue()).isEqualTo(CONNECTIONS);
            assertThat(connections.get("stream").intValue()).isEqualTo(CONNECTIONS);
            for (String way : List.of("sent", "received")) {
                assertThat(bytes(l, way + "_by_ring") + bytes(l, way + "_by_tcp")).isEqualTo(PAYLOAD);
                assertThat(bytes(l, way + "_by_ring")).as(way).isGreaterThan(PAYLOAD / 100 * 99);
            }
        }
    }

    @Test
    void peerWithoutVerbenaIsReachedByTcp() throws Exception {
        Path server = dir.resolve("alone-server");
        talk("stream.patience=100,summary=" + server, "");
        Path client = dir.resolve("alone-client");
        talk("", "stream.patience=100,summary=" + client);
        for (Path file : List.of(server, client)) {
            JsonNode l = summary(file);
            assertThat(l.get("fallbacks").toString()).isEqualTo("{\"plain_peer\":4}");
            assertThat(bytes(l, "sent_by_tcp")).isEqualTo(PAYLOAD);
            assertThat(bytes(l, "received_by_tcp")).isEqualTo(PAYLOAD);
        }
    }

    @Test
    void rulesDecide() throws Exception {
        Path server = dir.resolve("rule-server");
        Path client = dir.resolve("rule-client");
        talk(PATIENT + "rules=use os tcp_server *:*,summary=" + server, PATIENT
                + "rules=use os tcp_client *:*,summary=" + client);
        for (Path file : List.of(server, client)) {
            assertThat(summary(file).get("fallbacks").toString()).isEqualTo("{\"rule\":4}");
            assertThat(bytes(summary(file), "sent_by_tcp")).isEqualTo(PAYLOAD);
        }
    }

    @Test
    void offloadCanBeDisabled() throws Exception {
        Path client = dir.resolve("off-client");
        talk(PATIENT + "counters=on", PATIENT + "offload=off,summary=" + client);
        assertThat(summary(client).get("fallbacks").toString()).isEqualTo("{\"rule\":4}");
        assertThat(bytes(summary(client), "sent_by_tcp")).isEqualTo(PAYLOAD);
    }

    private static String provider(String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(Jvm.JAVA));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", program.classes().toString(), "AsyncTalk", "provider"));
        return AgentRun.of(command, dir).out();
    }

    @Test
    void agentInstallsItsProviderUnlessTheProgramHasOne() throws Exception {
        String agent = "-javaagent:" + program.agent() + "=quiet,stream.earn=0";
        assertThat(provider(agent)).isEqualTo(OURS + " true\n");
        assertThat(provider(agent, PROPERTY + JDKS)).isEqualTo(JDKS + " true\n");
        assertThat(provider()).isEqualTo(JDKS + " true\n");
    }

    /** Only the JDK property. */
    @Test
    void propertySufficesWithoutTheAgent() throws Exception {
        List<String> path = new ArrayList<>(List.of(program.classes().toString()));
        for (String module : List.of("linux", "telemetry", "verbs", "shm", "sockets")) {
            path.add(AgentJar.onClassPath(module).toString());
        }
        List<String> command = new ArrayList<>(List.of(Jvm.JAVA));
        command.addAll(Jvm.CHANNELS_ON_CLASS_PATH);
        command.addAll(List.of(PROPERTY + OURS, "-cp", String.join(":", path), "AsyncTalk",
                "provider"));
        AgentRun r = AgentRun.of(command, dir);
        assertThat(r).isEqualTo(new AgentRun(0, OURS + " true\n", ""));
    }
}
