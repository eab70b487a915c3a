package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The summary that the agent has programs write at their end, of bytes that are known. */
class SummaryTest {
    private static final int MESSAGE = 1000;
    private static final int LONGEST_SECONDS = 60;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir static Path dir;
    private static Path jar;
    private static Path classes;

    private final List<Process> started = new ArrayList<>();

    @BeforeAll
    static void prepare() throws Exception {
        jar = AgentJar.in(dir);
        classes = AgentJar.program(dir, "Talk");
    }

    @AfterEach
    void endAll() {
        started.forEach(Process::destroyForcibly);
    }

    private Process start(String arguments, String... words) throws IOException {
        List<String> c = new ArrayList<>(List.of(AgentRun.java().toString(), "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC"));
        if (!arguments.isEmpty()) {
            c.add("-javaagent:" + jar + "=quiet," + arguments);
        }
        c.addAll(List.of("-cp", classes.toString(), "Talk"));
        c.addAll(List.of(words));
        Process p = new ProcessBuilder(c).redirectError(Files.createTempFile(dir, "err", "").toFile()).start();
        started.add(p);
        return p;
    }

    private static String port(Process server) throws IOException {
        try (BufferedReader r = server.inputReader(StandardCharsets.US_ASCII)) {
            return r.readLine();
        }
    }

    private static void end(Process p) throws InterruptedException {
        assertThat(p.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(p.exitValue()).isZero();
    }

    /** The line of the process in a file that many may share. */
    private static JsonNode line(Path file, Process p) throws IOException {
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

    @Test
    void bothEndsCountTheSameBytes() throws Exception {
        Path file = dir.resolve("both");
        Process server = start("summary=" + file, "serve", "3");
        String port = port(server);
        List<Process> clients = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            clients.add(start("summary=" + file, "talk", port, "300", "5"));
            end(clients.get(i));
        }
        end(server);
        long ring = 0;
        long tcp = 0;
        for (Process client : clients) {
            JsonNode l = line(file, client);
            assertThat(l.get("main").textValue()).isEqualTo("Talk");
            assertThat(l.get("command").textValue()).isEqualTo("Talk talk " + port + " 300 5");
            assertThat(l.get("connections").toString()).isEqualTo(connections(1, 1, 0, 0));
            assertThat(l.get("fallbacks").toString()).isEqualTo("{}");
            assertThat(bytes(l, "sent_by_ring") + bytes(l, "sent_by_tcp")).isEqualTo(300L * MESSAGE);
            assertThat(bytes(l, "received_by_ring") + bytes(l, "received_by_tcp")).isEqualTo(300L * MESSAGE);
            assertThat(l.get("doorbells").longValue()).isBetween(1L, 302L);
            assertThat(l.get("wake_ups").longValue()).isBetween(1L, 302L);
            assertThat(l.get("stalls").longValue()).isZero();
            ring += bytes(l, "sent_by_ring");
            tcp += bytes(l, "sent_by_tcp");
        }
        JsonNode s = line(file, server);
        assertThat(s.get("connections").toString()).isEqualTo(connections(3, 3, 0, 0));
        assertThat(bytes(s, "received_by_ring")).isEqualTo(ring).isPositive();
        assertThat(bytes(s, "received_by_tcp")).isEqualTo(tcp);
    }

    @Test
    void towardsAPlainPeerAllIsTcpWithItsReason() throws Exception {
        Path file = dir.resolve("plain");
        Process server = start("", "serve", "1");
        Process client = start("stream.patience=100,summary=" + file, "talk", port(server), "50", "5");
        end(client);
        JsonNode l = line(file, client);
        assertThat(l.get("connections").toString()).isEqualTo(connections(1, 0, 1, 0));
        assertThat(l.get("fallbacks").toString()).isEqualTo("{\"plain_peer\":1}");
        assertThat(l.get("bytes").toString()).isEqualTo("{\"sent_by_ring\":0,\"sent_by_tcp\":50000,"
                + "\"received_by_ring\":0,\"received_by_tcp\":50000}");
        assertThat(l.get("doorbells").longValue()).isZero();
    }

    @Test
    void whatARuleGivesToTheKernelIsCountedToo() throws Exception {
        Path file = dir.resolve("rule");
        Process server = start("rules=use os tcp_server *:*,summary=" + file, "serve", "1");
        end(start("stream.patience=100", "talk", port(server), "20", "0"));
        end(server);
        JsonNode l = line(file, server);
        assertThat(l.get("fallbacks").toString()).isEqualTo("{\"rule\":1}");
        assertThat(bytes(l, "received_by_tcp")).isEqualTo(20L * MESSAGE);
        assertThat(bytes(l, "sent_by_tcp")).isEqualTo(20L * MESSAGE);
    }

    @Test
    void whatShutdownHooksSendIsInIt() throws Exception {
        Path file = dir.resolve("hook");
        Process server = start("", "serve", "1");
        Process client = start("summary=" + file, "hook", port(server));
        end(client);
        JsonNode l = line(file, client);
        assertThat(bytes(l, "sent_by_tcp")).isEqualTo(MESSAGE);
        assertThat(bytes(l, "received_by_tcp")).isEqualTo(MESSAGE);
        assertThat(l.get("connections").get("open").longValue()).isZero();
    }

    @Test
    void aProgramWithoutSocketsHasALineOnStandardError() throws Exception {
        List<String> command = List.of(AgentRun.java().toString(), "-Dverbena.summary=stderr", "-javaagent:" + jar,
                "-cp", AgentJar.program(dir).toString(), "Report", "exit3");
        AgentRun r = AgentRun.of(command, dir);
        assertThat(r.code()).isEqualTo(3);
        assertThat(MAPPER.readTree(r.err()).get("connections").toString()).isEqualTo(connections(0, 0, 0, 0));
        assertThat(r.err().lines()).hasSize(1);
    }

    @Test
    void aFileThatCannotBeWrittenIsRefused() throws Exception {
        List<String> command = List.of(AgentRun.java().toString(), "-javaagent:" + jar + "=summary=/no/such/file",
                "-cp", classes.toString(), "Talk", "serve", "1");
        AgentRun r = AgentRun.of(command, dir);
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.err()).startsWith("verbena: the summary cannot be written (/no/such/file");
        assertThat(r.err().lines()).hasSize(1);
    }
}
