// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.tests.cli.StatOtherAgentTest.awaitLine;
import static org.verbena.tests.cli.StatOtherAgentTest.go;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.telemetry.CounterFolder;
import org.verbena.testkit.Await;
import org.verbena.testkit.Jvm;
import org.verbena.tests.CommandLane;
import org.verbena.tests.agent.AgentJar;
import org.verbena.tests.agent.TalkProcess;

/** {@code verbena why} about programs that know nothing of Verbena, with the agent and without. */
@CommandLane
class WhyCommandTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WIDTH = 80;

    @TempDir static Path dir;
    private static TalkProcess.Program talk;

    private final List<Process> others = new ArrayList<>();
    private ObservedTalk talks;

    @BeforeAll
    static void prepare() throws Exception {
        talk = new TalkProcess.Program(dir);
    }

    @BeforeEach
    void open() throws Exception {
        talks = new ObservedTalk(talk, dir);
    }

    @AfterEach
    void endAll() {
        talks.close();
        others.forEach(Process::destroyForcibly);
    }

    private Process other(String... command) throws IOException {
        Process p = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        others.add(p);
        return p;
    }

    private CommandProcess.Result why(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("why"));
        all.addAll(List.of(arguments));
        try (CommandProcess p = CommandProcess.statistics(talks.folder(), all.toArray(String[]::new))) {
            return p.end();
        }
    }

    private static CommandProcess.Result well(CommandProcess.Result r) {
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.err()).isEmpty();
        return r;
    }

    /** For people: no line is too long for a terminal. */
    private String text(String... arguments) throws IOException {
        String out = well(why(arguments)).out();
        assertThat(out.lines()).allSatisfy(l -> assertThat(l.length()).as(l).isLessThanOrEqualTo(WIDTH));
        return out.replaceAll("\\s+", " ");
    }

    private JsonNode json(String about) throws IOException {
        return JSON.readTree(well(why("--json", about)).out());
    }

    /** Asks until the answer about the first process is that. */
    private JsonNode until(String about, Predicate<JsonNode> wanted) throws IOException {
        return ObservedTalk.until(() -> json(about), answer -> wanted.test(answer.get("processes").get(0)));
    }

    /** Its one connection; before it is published the kernel alone knows of it, and nobody why. */
    private static boolean isPublishedAsTcp(JsonNode process) {
        return process.get("counts").get("tcp").asInt() == 1 && process.at("/connections/0/reason").isTextual();
    }

    private static void refused(CommandProcess.Result r, int code, String... sentences) {
        assertThat(r.code()).as(r.out()).isEqualTo(code);
        assertThat(r.out()).isEmpty();
        assertThat(r.err().lines().findFirst().orElse("")).startsWith("verbena: ").contains(sentences).doesNotContain(
                "Exception");
    }

    @Test
    void ringsAndPlainPeersAreToldApart() throws Exception {
        Path rules = Files.writeString(dir.resolve("rules.conf"), """
                # of this test
                application-id * *
                use os     tcp_server *:1-2
                use stream tcp_server *:*  counter a_rather_long_name_of_a_counter_so_that_it_is_cut
                """);
        TalkProcess server = talks.start("stream.patience=60000,rules.file=" + rules, "crowded", "2");
        String port = server.line();
        TalkProcess client = talks.start("stream.patience=60000", "hold", port, "0", "0");
        talks.plain("hold", port, "0", "0");
        assertThat(client.line()).isEqualTo("0");
        JsonNode p = until(Long.toString(server.pid()), a -> a.get("connections").size() == 2 && a.get("counts").get(
                "undecided").asInt() <= 1 && a.get("counts").get("tcp").asInt() + a.get("counts").get("undecided")
                        .asInt() == 1).get("processes").get(0);
        assertThat(p.get("verbena").asText()).isEqualTo("active");
        assertThat(p.get("listeners").get(0).asText()).isEqualTo("127.0.0.1:" + port);
        assertThat(p.get("plain_listeners")).isEmpty();
        for (JsonNode c : p.get("connections")) {
            assertThat(c.get("role").asText()).isEqualTo("server");
            assertThat(c.get("since").asText()).startsWith("20");
            assertThat(c.get("rule").get("source").asText() + ":" + c.get("rule").get("line").asText()).isEqualTo(rules
                    + ":4");
            assertThat(c.get("rule").get("text").asText()).endsWith("so_that_it_is_cut"); // from the file
            assertThat(c.get("rule").get("why").asText()).contains("number 2 is the first that matches");
            assertThat(c.get("peer").get("java").asBoolean()).isTrue();
        }
    }

    @Test
    void plainPeerIsNamedWithItsRemedy() throws Exception {
        TalkProcess server = talks.start("stream.patience=100", "crowded", "1");
        String port = server.line();
        TalkProcess client = talks.plain("hold", port, "0", "0");
        JsonNode answer = until(Long.toString(server.pid()), WhyCommandTest::isPublishedAsTcp);
        JsonNode c = answer.get("processes").get(0).get("connections").get(0);
        assertThat(c.get("reason").asText()).isEqualTo("plain_peer");
        assertThat(c.get("peer").get("pid").asLong()).isEqualTo(client.pid());
        assertThat(c.get("peer").get("verbena").asBoolean()).isFalse();
        assertThat(answer.get("host")).isNotEmpty();
        String about = text(Long.toString(server.pid()));
        assertThat(about).contains("By TCP (plain_peer): 1 connection", "The other end runs Java without Verbena.",
                "verbena attach " + client.pid(), "since ", "This machine");
        String ofPort = text(":" + port);
        assertThat(ofPort).contains("port " + port + ": 2 processes here", "process " + server.pid(), "process "
                + client.pid() + " Talk hold", "none: this Java program runs without Verbena's agent",
                "verbena attach " + client.pid(), "verbena run -- COMMAND");
        assertThat(text(port)).contains("port " + port + ": 2 processes here");
        assertThat(text(Long.toString(client.pid()))).contains("none: this Java program runs without Verbena's agent",
                "1 by TCP, not Verbena's");
        client.end();
    }

    @Test
    void ruleForTheKernelIsNamed() throws Exception {
        TalkProcess server = talks.start("rules=use os tcp_server *:*", "crowded", "1");
        String port = server.line();
        talks.start("", "hold", port, "0", "0");
        JsonNode c = until(Long.toString(server.pid()), WhyCommandTest::isPublishedAsTcp).get("processes")
                .get(0).get("connections").get(0);
        assertThat(c.get("reason").asText()).isEqualTo("rule");
        assertThat(c.get("rule").get("source").asText()).isEqualTo("verbena.rules");
        assertThat(text(Long.toString(server.pid()))).contains("rule verbena.rules:1: use os tcp_server *:*",
                "Change the rule");
    }

    @Test
    void littleTrafficHasNotEarnedRings() throws Exception {
        TalkProcess server = talks.start(List.of("-javaagent:" + talk.agent() + "=quiet,counters.directory="
                + talks.folder()), "serve", "1");
        String port = server.line();
        TalkProcess client = talks.start(List.of("-javaagent:" + talk.agent() + "=quiet,counters.directory="
                + talks.folder()), "hold", port, "3", "0");
        assertThat(client.line()).isEqualTo("0");
        JsonNode c = until(Long.toString(client.pid()), a -> isPublishedAsTcp(a) && a.at("/connections/0/bytes")
                .asInt() == 6000)
                .get("processes")
                .get(0).get("connections").get(0);
        assertThat(c.get("reason").asText()).isEqualTo("not_earned");
        assertThat(c.get("bytes").asInt()).isEqualTo(6000);
        assertThat(text(Long.toString(client.pid()))).contains("(5.9 KiB)", "it changes by itself");
    }

    @Test
    void listenersFromBeforeAttachAreNamed() throws Exception {
        Path classes = AgentJar.program(dir, "OtherAgent", "25");
        Process p = other(Jvm.JAVA, "-XX:TieredStopAtLevel=1", "-cp", classes.toString(), "OtherAgent", "attach",
                "stat", "reopen", "stat");
        String pid = Long.toString(p.pid());
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            awaitLine(out, "ready");
            JsonNode before = json(pid).get("processes").get(0);
            assertThat(before.get("verbena").asText()).isEqualTo("none");
            String early = before.get("plain_listeners").get(0).asText();
            assertThat(CommandProcess.run("attach", "--agent", AgentJar.in(dir).toString(), "--set",
                    "counters.directory=" + talks.folder(), pid).code()).isZero();
            until(pid, a -> a.get("verbena").asText().equals("active") && a.get("plain_listeners").size() == 1);
            go(p);
            awaitLine(out, "ready");
            JsonNode after = until(pid, a -> a.get("verbena").asText().equals("active") && !a.get("listeners")
                    .isEmpty()).get("processes").get(0);
            assertThat(after.get("plain_listeners")).hasSize(1);
            assertThat(after.get("plain_listeners").get(0).asText()).isEqualTo(early);
            assertThat(text(pid)).contains("Listeners that stay plain: 1 " + early, "Let the program open them anew");
            go(p);
            awaitLine(out, "ready");
            until(pid, a -> a.get("plain_listeners").isEmpty());
        }
    }

    @Test
    void agentWithoutSocketsIsPending() throws Exception {
        Path classes = AgentJar.program(dir);
        Process p = other(Jvm.JAVA, "-XX:TieredStopAtLevel=1", "-javaagent:" + talk.agent()
                + "=quiet,counters.directory=" + talks.folder(), "-cp", classes.toString(), "Report", "attach");
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            awaitLine(out, "ready");
            assertThat(json(Long.toString(p.pid())).get("processes").get(0).get("verbena").asText()).isEqualTo(
                    "pending");
        }
    }

    @Test
    void whatHasNoAnswerIsAnErrorWithARemedy() throws Exception {
        Process gone = other("/bin/true");
        gone.waitFor();
        refused(why(Long.toString(gone.pid())), 1, "there is no process " + gone.pid(), "verbena stat");
        Process sleep = other("/bin/sleep", "60");
        refused(why(Long.toString(sleep.pid())), 1, "process " + sleep.pid() + " (/bin/sleep) does not run Java",
                "jps");
        int free;
        try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = s.getLocalPort();
        }
        refused(why(":" + free), 1, "no TCP socket here has port " + free, "start the program");
    }

    @ParameterizedTest
    @ValueSource(strings = {"abc", "0", "-1", ":0", ":65536", ":", "99999999999", "1:2", "\u001b[31m", ""})
    void garbageIsRefused(String argument) {
        CommandProcess.Result r = CommandProcess.refuse("why", argument);
        assertThat(r.code()).isEqualTo(2);
        assertThat(r.err()).startsWith("verbena: ").contains("Try 'verbena why --help'.").doesNotContain("\u001b",
                "Exception");
    }

    @Test
    void onlyOneArgumentIsTaken() {
        assertThat(CommandProcess.refuse("why").code()).isEqualTo(2);
        assertThat(CommandProcess.refuse("why", "1", "2").code()).isEqualTo(2);
    }

    /** The process ends while it is asked about: one sentence, or an answer from before. */
    @Test
    void processThatEndsMeanwhileIsNoTrouble() throws Exception {
        for (int i = 0; i < 6; i++) {
            TalkProcess server = talks.start("", "crowded", "1");
            server.line();
            try (CommandProcess asking = CommandProcess.startWith(List.of("-D" + CounterFolder.PROPERTY + "="
                    + talks.folder()), List.of(), "why", Long.toString(server.pid()))) {
                int threads = 4 * i; // the further it is, the more it has
                ProcessHandle command = asking.process().toHandle();
                Await.until(Duration.ofSeconds(60), () -> !command.isAlive() || threads(command.pid()) >= threads,
                        () -> "the command does not begin");
                server.kill();
                CommandProcess.Result r = asking.end();
                assertThat(r.code()).isIn(0, 1);
                assertThat(r.err()).doesNotContain("Exception");
                assertThat(r.err().lines().count()).isLessThanOrEqualTo(1);
            }
        }
    }

    private static int threads(long pid) {
        String[] found = Path.of("/proc", Long.toString(pid), "task").toFile().list();
        return found == null ? 0 : found.length;
    }

    @Test
    void stoppedProcessIsToldWithoutWaitingForever() throws Exception {
        TalkProcess plain = talks.plain("crowded", "1");
        plain.line();
        TestUser.run("kill", "-STOP", Long.toString(plain.pid()));
        assertThat(text(Long.toString(plain.pid()))).contains("it is stopped", "kill -CONT " + plain.pid());
    }

    @Test
    void thousandConnectionsAreSummarised() throws Exception {
        TalkProcess server = talks.start("", "crowded", "1000");
        TalkProcess client = talks.start("", "crowd", server.line(), "1000");
        assertThat(client.line()).isEqualTo("1000");
        String pid = Long.toString(server.pid());
        JsonNode p = until(pid, a -> a.get("connections").size() == 1000 && a.get("counts").get("not_verbena")
                .asInt() == 0)
                .get("processes").get(0); // they are published one after the other
        assertThat(p.get("counts").get("not_verbena").asInt()).isZero();
        CommandProcess.Result r = well(why(pid));
        assertThat(r.out()).contains("1000 connections").contains("... and ");
        assertThat(r.out().lines().count()).isLessThan(60);
    }

    /** An ordinary user sees his own processes, and is told whose the others are. */
    @Test
    void otherUsersAreNamed() throws Exception {
        TestUser.needed("ask about processes of others");
        TestUser user = TestUser.number(6);
        String modules = CopyProcess.copyModules(user.directory(dir, "modules"));
        TalkProcess roots = talks.start("", "crowded", "1");
        String port = roots.line();
        try (CommandProcess p = CommandProcess.startFrom(modules, user.command(), "why", Long.toString(roots.pid()))) {
            refused(p.end(), 1, "process " + roots.pid() + " is of user 0", "ask as that user, or as root");
        }
        try (CommandProcess p = CommandProcess.startFrom(modules, user.command(), "why", ":" + port)) {
            refused(p.end(), 1, "port " + port + " is of user 0", "ask as that user, or as root");
        }
        List<String> command = new ArrayList<>(user.command());
        command.addAll(List.of(Jvm.JAVA, "-XX:TieredStopAtLevel=1", "-cp", talk.classes().toString(), "Talk",
                "crowded", "1"));
        Process own = other(command.toArray(String[]::new));
        try (BufferedReader out = own.inputReader(StandardCharsets.UTF_8)) {
            String theirs = out.readLine();
            try (CommandProcess p = CommandProcess.startFrom(modules, user.command(), "why", ":" + theirs)) {
                assertThat(well(p.end()).out()).contains("process " + own.pid(), "verbena attach");
            }
        }
    }
}
