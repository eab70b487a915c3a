// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Jvm;
import org.verbena.tests.BesideOthers;

/** Other agents, and the Flight Recorder, transform the classes of the JDK that Verbena's agent has changed. */
@BesideOthers
class OtherAgentTest {
    private static final String SERVER = "java.net.ServerSocket";
    private static final String IMPL = "java.net.SocketImpl";
    private static final String ALL = String.join(",", SERVER, IMPL, "java.net.Socket",
            "java.nio.channels.spi.SelectorProvider", "java.nio.channels.spi.AsynchronousChannelProvider",
            "sun.nio.ch.FileChannelImpl");

    @TempDir static Path dir;
    private static Path jar;
    private static Path classes;
    private static Path otherAgent;

    @BeforeAll
    static void prepare() throws Exception {
        jar = AgentJar.in(dir);
        classes = AgentJar.program(dir, "OtherAgent", "25");
        otherAgent = AgentJar.agent(classes, "OtherAgent", dir.resolve("other-agent.jar"));
    }

    private static List<String> command(List<String> agents, String... words) {
        List<String> c = Jvm.command("-Xshare:auto");
        c.addAll(agents);
        c.addAll(List.of("-cp", classes.toString(), "OtherAgent"));
        c.addAll(List.of(words));
        return c;
    }

    private static List<String> run(List<String> agents, String... words) throws Exception {
        AgentRun r = AgentRun.of(command(agents, words), dir);
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.err()).isEmpty();
        return r.out().lines().toList();
    }

    private static List<String> verbenaFirst() {
        return List.of("-javaagent:" + jar + "=quiet,stream.earn=0", "-javaagent:" + otherAgent);
    }

    private static List<String> otherAgentFirst() {
        return List.of("-javaagent:" + otherAgent + "=early", "-javaagent:" + jar + "=quiet,stream.earn=0");
    }

    /**
     * The expected output of the program, by the implementation of new sockets and of sockets that listeners accept
     * into.
     */
    private static List<String> said(String client, String early, String later, String listens) {
        return List.of("early 7 " + client + " " + early, "later 7 " + client + " " + later,
                "new 7 " + client + " " + listens, "timed java.net.SocketTimeoutException: Accept timed out",
                "channel 1 verbena verbena", "file 20000");
    }

    private static List<String> twice(List<String> before, List<String> after) {
        List<String> all = new ArrayList<>(before);
        all.addAll(after);
        all.addAll(List.of("lasting 9", "closed: Socket closed"));
        return all;
    }

    @Test
    void retransformationKeepsThePatches() throws Exception {
        List<String> verbena = said("verbena", "verbena", "verbena", "verbena");
        assertThat(run(verbenaFirst(), "same=" + ALL)).isEqualTo(twice(verbena, verbena));
        List<String> early = said("verbena", "jdk", "verbena", "verbena");
        assertThat(run(otherAgentFirst(), "same=" + ALL)).isEqualTo(twice(early, early));
    }

    /** The recorder's method timing transforms classes, too: back again as well, when it stops. */
    @Test
    void methodTimingKeepsThePatches() throws Exception {
        List<String> verbena = said("verbena", "verbena", "verbena", "verbena");
        String timed = "timed=" + ALL;
        assertThat(run(List.of("-javaagent:" + jar + "=quiet,stream.earn=0", "-Xlog:disable"), timed, timed))
                .isEqualTo(timed(verbena, verbena, verbena));
        List<String> early = said("verbena", "jdk", "verbena", "verbena");
        List<String> agents = new ArrayList<>(otherAgentFirst());
        agents.add("-Xlog:disable");
        assertThat(run(agents, timed, timed)).isEqualTo(timed(early, early, early));
    }

    private static List<String> timed(List<String> before, List<String> first, List<String> second) {
        List<String> all = new ArrayList<>(before);
        all.addAll(first);
        all.addAll(List.of("lasting 9", "calls true"));
        all.addAll(second);
        all.addAll(List.of("lasting 9", "calls true", "closed: Socket closed"));
        return all;
    }

    /** Open listeners of either kind, and connections, keep working whichever of the patches is removed. */
    @ParameterizedTest
    @ValueSource(strings = {SERVER, IMPL, SERVER + "," + IMPL, IMPL + "," + SERVER})
    void removedPatchesLeaveOpenChannelsWorking(String types) throws Exception {
        String client = types.contains(IMPL) ? "jdk" : "verbena";
        boolean accepts = !types.contains(SERVER);
        List<String> before = said("verbena", "verbena", "verbena", "verbena");
        String later = accepts || client.equals("verbena") ? "verbena" : "jdk";
        assertThat(run(verbenaFirst(), "own=" + types))
                .isEqualTo(twice(before, said(client, later, later, client)));
    }

    /** With an earlier listener of the JDK; an agent that is loaded later removes the patches. */
    @ParameterizedTest
    @ValueSource(strings = {SERVER, IMPL, SERVER + "," + IMPL})
    void earlierListenersKeepWorking(String types) throws Exception {
        String client = types.contains(IMPL) ? "jdk" : "verbena";
        String accepted = types.contains(SERVER) ? "jdk" : "verbena";
        List<String> agents = new ArrayList<>(otherAgentFirst());
        agents.add("-javaagent:" + otherAgent); // the last one is asked last
        assertThat(run(agents, "own=" + types)).isEqualTo(twice(said("verbena", "jdk", "verbena", "verbena"),
                said(client, "jdk", accepted, client.equals("jdk") ? "jdk" : accepted)));
    }

    /** Patches that have been removed by then are named in the line that the agent prints. */
    @Test
    void logLineNamesWhatTheJdkHandlesAgain() throws Exception {
        AgentRun r = AgentRun.of(command(List.of("-javaagent:" + jar, "-javaagent:" + otherAgent + "=" + SERVER + ";"
                + IMPL), "said"), dir);
        assertThat(r.err()).isEqualTo(
                "verbena: active: sockets are those of Verbena; the JDK's again, by another agent: "
                        + "classic sockets, classic listeners\n");
    }
}
