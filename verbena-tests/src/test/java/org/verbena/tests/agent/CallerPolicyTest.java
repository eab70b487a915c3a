// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Jvm;
import org.verbena.tests.ProgramLane;

/**
 * A policy of another agent that judges the immediate caller of the JDK's methods, and knows the modules of the JVM's
 * start alone, like Elasticsearch's entitlements: calls of the program that it allows work, and those that it refuses
 * are refused, as without Verbena.
 */
@ProgramLane
class CallerPolicyTest {
    @TempDir static Path dir;
    private static Path jar;
    private static Path gate;
    private static Path classes;
    private static Path judge;

    @BeforeAll
    static void prepare() throws Exception {
        jar = AgentJar.in(dir);
        gate = AgentJar.program(Files.createDirectories(dir.resolve("gate")), "Gate", "25");
        classes = AgentJar.program(dir, "Judged", "25");
        judge = AgentJar.agent(classes, "Judged", dir.resolve("judge.jar"));
    }

    private static AgentRun run(boolean allows, List<String> agents, String... words) throws Exception {
        List<String> c = Jvm.command("--patch-module=java.base=" + gate, "-Djudge.allows=" + allows);
        c.addAll(agents);
        c.addAll(List.of("-cp", classes.toString(), "Judged"));
        c.addAll(List.of(words));
        AgentRun r = AgentRun.of(c, dir);
        assertThat(r.code()).as(r.err()).isZero();
        return r;
    }

    private static List<String> said(boolean allows, List<String> agents, String... words) throws Exception {
        return run(allows, agents, words).out().lines().toList();
    }

    private static List<String> verbenaFirst() {
        return List.of("-javaagent:" + jar + "=quiet,stream.earn=0", "-javaagent:" + judge);
    }

    private static List<String> all(String kind) {
        return List.of("channel 7 " + kind + " " + kind, "selector accepts " + kind + " " + kind,
                "socket 7 " + kind + " " + kind, "asynchronous 7 " + kind + " " + kind);
    }

    private static List<String> refused() {
        return List.of("channel refused to Judged", "selector refused to Judged", "socket refused to Judged",
                "asynchronous refused to Judged");
    }

    @Test
    void policySeesTheProgramWithoutVerbena() throws Exception {
        assertThat(said(true, List.of("-javaagent:" + judge), "judge", "talk")).isEqualTo(all("jdk"));
        assertThat(said(false, List.of("-javaagent:" + judge), "judge", "talk")).isEqualTo(refused());
    }

    /**
     * It reads the selector provider of the process before it decides, like Elasticsearch: Verbena is active by then.
     */
    @Test
    void policySetBeforeTheFirstChannelSeesTheProgram() throws Exception {
        assertThat(said(true, verbenaFirst(), "judge", "talk")).isEqualTo(all("jdk"));
        assertThat(said(false, verbenaFirst(), "judge", "talk")).isEqualTo(refused());
    }

    @Test
    void policySetAfterTheFirstChannelSeesTheProgram() throws Exception {
        List<String> both = new ArrayList<>(all("verbena"));
        both.addAll(all("jdk"));
        assertThat(said(true, verbenaFirst(), "talk", "judge", "talk")).isEqualTo(both);
        both = new ArrayList<>(all("verbena"));
        both.addAll(refused());
        assertThat(said(false, verbenaFirst(), "talk", "judge", "talk")).isEqualTo(both);
    }

    /** A program that starts under a policy does not fail because of calls of the agent that the policy refuses. */
    @Test
    void policySetBeforeTheAgentSeesTheProgram() throws Exception {
        for (boolean allows : new boolean[] {true, false}) {
            AgentRun r = run(allows, List.of("-javaagent:" + judge + "=now", "-javaagent:" + jar), "talk");
            assertThat(r.out().lines().toList()).isEqualTo(allows ? all("jdk") : refused());
            assertThat(r.err().lines().toList()).isNotEmpty().allMatch(l -> l.startsWith("verbena: "));
        }
    }
}
