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

import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;
import org.verbena.tests.ProgramLane;

/** The summary that the agent writes when a program ends, with known byte counts. */
@ProgramLane
class SummaryTest {
    private static final int MESSAGE = 1000;
    /** On a busy machine the handshake of the two ends takes long. */
    private static final String PATIENT = "stream.patience=60000,summary=";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir static Path dir;
    private static TalkProcess.Program talk;

    private final List<TalkProcess> started = new ArrayList<>();

    @BeforeAll
    static void prepare() throws Exception {
        talk = new TalkProcess.Program(dir);
    }

    @AfterEach
    void endAll() {
        started.forEach(TalkProcess::close);
    }

    private TalkProcess start(String arguments, String... words) throws IOException {
        TalkProcess p = arguments.isEmpty() ? talk.start(List.of(), words) : talk.start(arguments, words);
        started.add(p);
        return p;
    }

    /** The line of the process in a file that many may share. */
    private static JsonNode line(Path file, TalkProcess p) throws IOException {
        List<JsonNode> all = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            JsonNode n = MAPPER.readTree(line);
            if (n.get("pid").longValue() == p.pid()) {
                all.add(n);
            }
        }
        assertThat(all).hasSize(1);
        return all.getFirst();
    }

    private static String connections(int opened, int stream, int kernel, int undecided) {
        return "{\"opened\":" + opened + ",\"open\":0,\"stream\":" + stream + ",\"kernel\":" + kernel
                + ",\"undecided\":" + undecided + "}";
    }

    private static long bytes(JsonNode line, String which) {
        return line.get("bytes").get(which).longValue();
    }

    /** Scripts read the output of java -version. */
    @Test
    void jvmWithoutProgramHasNone() throws Exception {
        Finished f = Finished.run(Jvm.JAVA, "-javaagent:" + AgentJar.in(Files
                .createDirectory(dir.resolve("version"))) + "=summary=stderr", "-version");
        assertThat(f.code()).isZero();
        assertThat(f.output()).contains("Runtime").doesNotContain("{");
    }

    @Test
    void bothEndsCountTheSameBytes() throws Exception {
        Path file = dir.resolve("both");
        TalkProcess server = start(PATIENT + file, "serve", "2");
        String port = server.line();
        List<TalkProcess> clients = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            clients.add(start(PATIENT + file, "talk", port, "600", "5"));
            clients.get(i).end();
        }
        server.end();
        long ring = 0;
        long tcp = 0;
        for (TalkProcess client : clients) {
            JsonNode l = line(file, client);
            assertThat(l.get("main").textValue()).isEqualTo("Talk");
            assertThat(l.get("command").textValue()).isEqualTo("Talk talk " + port + " 600 5");
            assertThat(l.get("connections").toString()).isEqualTo(connections(1, 1, 0, 0));
            assertThat(l.get("fallbacks").toString()).isEqualTo("{}");
            assertThat(bytes(l, "sent_by_ring") + bytes(l, "sent_by_tcp")).isEqualTo(600L * MESSAGE);
            assertThat(bytes(l, "received_by_ring") + bytes(l, "received_by_tcp")).isEqualTo(600L * MESSAGE);
            assertThat(l.get("doorbells").longValue()).isBetween(1L, 602L);
            assertThat(l.get("wake_ups").longValue()).isBetween(1L, 602L);
            assertThat(l.get("stalls").longValue()).isZero();
            ring += bytes(l, "sent_by_ring");
            tcp += bytes(l, "sent_by_tcp");
        }
        JsonNode s = line(file, server);
        assertThat(s.get("connections").toString()).isEqualTo(connections(2, 2, 0, 0));
        assertThat(bytes(s, "received_by_ring")).isEqualTo(ring).isPositive();
        assertThat(bytes(s, "received_by_tcp")).isEqualTo(tcp);
    }

    @Test
    void awaitedConnectionsCarryTheFirstByteByRing() throws Exception {
        Path file = dir.resolve("wait");
        String waits = "stream.delay=0,stream.wait=60000," + PATIENT + file;
        TalkProcess server = start(waits, "serve", "1");
        TalkProcess client = start(waits, "talk", server.line(), "50", "0");
        client.end();
        server.end();
        for (TalkProcess p : List.of(client, server)) {
            JsonNode l = line(file, p);
            assertThat(l.get("connections").toString()).isEqualTo(connections(1, 1, 0, 0));
            assertThat(l.get("bytes").toString()).isEqualTo("{\"sent_by_ring\":50000,\"sent_by_tcp\":0,"
                    + "\"received_by_ring\":50000,\"received_by_tcp\":0}");
        }
    }

    @Test
    void connectionYoungerThanTheDelayIsTcp() throws Exception {
        Path file = dir.resolve("delay");
        String late = "stream.delay=60000000,summary=" + file;
        TalkProcess server = start(late, "serve", "1");
        TalkProcess client = start(late, "talk", server.line(), "5", "0"); // from ten on they wait for the decision
        client.end();
        server.end();
        for (TalkProcess p : List.of(client, server)) {
            JsonNode l = line(file, p);
            assertThat(l.get("connections").toString()).isEqualTo(connections(1, 0, 0, 1));
            assertThat(bytes(l, "sent_by_tcp")).isEqualTo(5L * MESSAGE);
        }
    }

    @Test
    void plainPeerIsCountedAsTcpWithItsReason() throws Exception {
        Path file = dir.resolve("plain");
        TalkProcess server = start("", "serve", "1");
        TalkProcess client = start("stream.patience=100,summary=" + file, "talk", server.line(), "50", "5");
        client.end();
        JsonNode l = line(file, client);
        assertThat(l.get("connections").toString()).isEqualTo(connections(1, 0, 1, 0));
        assertThat(l.get("fallbacks").toString()).isEqualTo("{\"plain_peer\":1}");
        assertThat(l.get("bytes").toString()).isEqualTo("{\"sent_by_ring\":0,\"sent_by_tcp\":50000,"
                + "\"received_by_ring\":0,\"received_by_tcp\":50000}");
        assertThat(l.get("doorbells").longValue()).isZero();
    }

    @Test
    void bytesThatARuleGivesToTheKernelAreCounted() throws Exception {
        Path file = dir.resolve("rule");
        TalkProcess server = start("rules=use os tcp_server *:*,summary=" + file, "serve", "1");
        start("stream.patience=100", "talk", server.line(), "20", "0").end();
        server.end();
        JsonNode l = line(file, server);
        assertThat(l.get("fallbacks").toString()).isEqualTo("{\"rule\":1}");
        assertThat(bytes(l, "received_by_tcp")).isEqualTo(20L * MESSAGE);
        assertThat(bytes(l, "sent_by_tcp")).isEqualTo(20L * MESSAGE);
    }

    @Test
    void bytesOfShutdownHooksAreIncluded() throws Exception {
        Path file = dir.resolve("hook");
        TalkProcess server = start("", "serve", "1");
        TalkProcess client = start("summary=" + file, "hook", server.line());
        client.end();
        JsonNode l = line(file, client);
        assertThat(bytes(l, "sent_by_tcp")).isEqualTo(MESSAGE);
        assertThat(bytes(l, "received_by_tcp")).isEqualTo(MESSAGE);
        assertThat(l.get("connections").get("open").longValue()).isZero();
    }

    @Test
    void programWithoutSocketsPrintsALineOnStandardError() throws Exception {
        List<String> command = List.of(Jvm.JAVA, "-Dverbena.summary=stderr", "-javaagent:" + talk
                .agent(),
                "-cp", AgentJar.program(dir).toString(), "Report", "exit3");
        AgentRun r = AgentRun.of(command, dir);
        assertThat(r.code()).isEqualTo(3);
        assertThat(MAPPER.readTree(r.err()).get("connections").toString()).isEqualTo(connections(0, 0, 0, 0));
        assertThat(r.err().lines()).hasSize(1);
    }

    @Test
    void unwritableFileIsRefused() throws Exception {
        List<String> command = List.of(Jvm.JAVA, "-javaagent:" + talk.agent()
                + "=summary=/no/such/file",
                "-cp", talk.classes().toString(), "Talk", "serve", "1");
        AgentRun r = AgentRun.of(command, dir);
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.err()).startsWith("verbena: the summary cannot be written (/no/such/file");
        assertThat(r.err().lines()).hasSize(1);
    }
}
