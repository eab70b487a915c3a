// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.tests.ProgramLane;
import org.verbena.tests.agent.AgentJar;
import org.verbena.tests.classic.Programs.Outcomes;

/** {@link Behaviours} print the same with the agent as without it, and the stream carries all of them where it may. */
@ProgramLane
class ClassicSocketsTest {
    private static final String KERNEL = "rules=use os tcp_client *:*; use os tcp_server *:*";

    /** Waits for the other end of each connection to appear, on a busy machine. */
    private static final String PATIENT = "stream.patience=60000";

    @TempDir static Path dir;
    private static Programs programs;

    @BeforeAll
    static void prepare() throws Exception {
        programs = new Programs(AgentJar.in(dir), dir);
    }

    @TestFactory
    Stream<DynamicTest> behaviourIsThatWithoutTheAgent() throws Exception {
        List<String> groups = List.of("waits", "states", "applications");
        Map<String, Outcomes> all = programs.behave(groups, Map.of(
                "stream", List.of(programs.agent(PATIENT)), "kernel", List.of(programs.agent(KERNEL))));
        return same(all, "the JDK's", "stream", "kernel");
    }

    /** They can be set once in a process, hence another. */
    @TestFactory
    Stream<DynamicTest> socketFactoriesOfTheProgramStay() throws Exception {
        String open = "--add-opens=java.base/java.net=ALL-UNNAMED";
        return same(programs.behave(List.of("factories"), Map.of("stream", List.of(programs.agent(""), open))),
                "the JDK's", "stream");
    }

    @ParameterizedTest
    @ValueSource(strings = {"hostInfo", "hostInfoExclSocket"})
    void exceptionMessagesNameHostsLikeTheJdk(String included) throws Exception {
        String option = "-Djdk.includeInExceptions=" + included;
        Map<String, Outcomes> all = programs.behave(List.of("messages"), Map.of("ours", List.of(option, programs.agent(
                ""))), List.of(option));
        assertThat(all.get("ours").said()).isEqualTo(all.get("the JDK's").said()).hasSize(2);
    }

    private static Stream<DynamicTest> same(Map<String, Outcomes> all, String oracle, String... others) {
        List<DynamicTest> tests = new ArrayList<>();
        Map<String, String> right = all.get(oracle).said();
        for (String other : others) {
            Outcomes o = all.get(other);
            tests.add(DynamicTest.dynamicTest(other + ": all of them", () -> {
                assertThat(o.said()).hasSameSizeAs(right).isNotEmpty();
                assertThat(o.byStream()).isEqualTo(other.equals("stream") ? o.connections() : 0);
            }));
            right.forEach((name, said) -> tests.add(DynamicTest.dynamicTest(other + ": " + name,
                    () -> assertThat(o.said().get(name)).isEqualTo(said))));
        }
        return tests.stream();
    }

    @Test
    void disabledClassicSocketsAreThoseOfTheJdk() throws Exception {
        for (List<String> off : List.of(List.of(programs.agent("classic=off")),
                List.of("-Dverbena.classic=off", programs.agent("")))) {
            Outcomes o = programs.behave(List.of("one"), Map.of("off", off)).get("off");
            assertThat(o.said()).containsEntry("transport", "none").containsEntry("channel",
                    "VerbenaSelectorProvider");
        }
        Process wrong = programs.start(List.of("-Dverbena.classic=perhaps", programs.agent("")), Behaviours.class,
                "one");
        assertThat(wrong.waitFor(180, TimeUnit.SECONDS)).isTrue();
        assertThat(wrong.exitValue()).isEqualTo(1);
        assertThat(new String(wrong.getErrorStream().readAllBytes(), StandardCharsets.UTF_8)).isEqualTo(
                "verbena: the system property verbena.classic takes on or off, not 'perhaps'\n");
    }

    /** A thread that is excluded from offloading creates kernel sockets. */
    @Test
    void offloadAndRulesApply() throws Exception {
        assertThat(programs.behave(List.of("one"), Map.of("off", List.of(programs.agent("offload=off")))).get("off")
                .said())
                .containsEntry("transport", "kernel");
        assertThat(programs.behave(List.of("one"), Map.of("on", List.of(programs.agent(PATIENT)))).get("on").said())
                .containsEntry("transport", "stream");
    }

    @Test
    void attachedAgentTakesNewSocketsAndKeepsListeners() throws Exception {
        Process p = programs.start(List.of(), Attached.class);
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            ask(p);
            assertThat(out.readLine()).isEqualTo("old connection none, old listener none, new none");
            programs.attach(p, PATIENT);
            ask(p);
            assertThat(out.readLine()).isEqualTo("old connection none, old listener none, new stream");
        } finally {
            p.destroyForcibly();
        }
    }

    private static void ask(Process p) throws IOException {
        p.getOutputStream().write('x');
        p.getOutputStream().flush();
    }
}
