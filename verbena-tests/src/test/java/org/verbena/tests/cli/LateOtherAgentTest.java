// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import com.sun.tools.attach.VirtualMachine;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.testkit.Jvm;
import org.verbena.testkit.Thorough;
import org.verbena.tests.CommandLane;
import org.verbena.tests.agent.AgentJar;

/**
 * An agent that is attached when Verbena is already active with open sockets, by {@code -javaagent} or by {@code
 * verbena attach}, and retransforms the classes of the JDK: it transforms last, and may remove patches. With {@code
 * -Dthorough} in all ways, else in one.
 */
@CommandLane
class LateOtherAgentTest {
    private static final String SERVER = "java.net.ServerSocket";
    private static final String IMPL = "java.net.SocketImpl";
    private static final String ALL = String.join(",", SERVER, IMPL, "java.net.Socket",
            "java.nio.channels.spi.SelectorProvider",
            "java.nio.channels.spi.AsynchronousChannelProvider", "sun.nio.ch.FileChannelImpl");

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

    /**
     * A way.
     *
     * @param attached whether Verbena's agent comes to the program that runs
     * @param word the program's
     * @param inactive what {@code verbena stat} says of that
     */
    record Way(boolean attached, String word, String inactive) {
        /** Whether new sockets are those of the JDK then. */
        boolean isWithoutSockets() {
            return inactive.contains("classic sockets");
        }

        boolean isWithoutListeners() {
            return inactive.contains("classic listeners");
        }
    }

    static Stream<Way> ways() {
        List<Way> all = new ArrayList<>(List.of(
                new Way(true, "own=" + SERVER + "," + IMPL, "classic sockets, classic listeners")));
        if (Thorough.ON) {
            for (boolean attached : new boolean[] {true, false}) {
                all.add(new Way(attached, "same=" + ALL, ""));
                all.add(new Way(attached, "timed=" + ALL, ""));
                all.add(new Way(attached, "own=" + SERVER, "classic listeners"));
                all.add(new Way(attached, "own=" + IMPL, "classic sockets"));
            }
            all.add(new Way(false, "own=" + SERVER + "," + IMPL, "classic sockets, classic listeners"));
        }
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("ways")
    void openChannelsKeepWorking(Way way) throws Exception {
        List<String> c = Jvm.command("-Xlog:disable", "-XX:+EnableDynamicAgentLoading");
        if (!way.attached) {
            c.add("-javaagent:" + jar + "=quiet,stream.earn=0");
        }
        c.addAll(List.of("-cp", classes.toString(), "OtherAgent", "attach", "stat", way.word, "stat"));
        Process p = new ProcessBuilder(c).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            StatOtherAgentTest.awaitLine(out, "ready");
            if (way.attached) {
                assertThat(CommandProcess.run("attach", "--agent", jar.toString(), "--quiet", Long.toString(p.pid()))
                        .code()).isZero();
            }
            StatOtherAgentTest.go(p);
            String early = way.attached ? "jdk" : "verbena";
            assertThat(until(out)).isEqualTo(said("verbena", early, "verbena", "verbena"));
            attach(p.pid());
            assertThat(StatOtherAgentTest.attribute(p.pid(), "inactive")).isEmpty();
            StatOtherAgentTest.go(p);
            assertThat(until(out)).isEqualTo(after(way, early));
            assertThat(StatOtherAgentTest.attribute(p.pid(), "inactive")).isEqualTo(way.inactive);
            StatOtherAgentTest.go(p);
            assertThat(out.readLine()).isEqualTo("closed: Socket closed");
            assertThat(p.waitFor()).isZero();
        } finally {
            p.destroyForcibly();
        }
    }

    /** The agent on the class path of the program, which therefore knows it. */
    private static void attach(long pid) throws Exception {
        VirtualMachine vm = VirtualMachine.attach(Long.toString(pid));
        try {
            vm.loadAgent(otherAgent.toString());
        } finally {
            vm.detach();
        }
    }

    private static List<String> after(Way way, String early) {
        String client = way.isWithoutSockets() ? "jdk" : "verbena";
        // with a listener from before, accept asks in the same way as the constructor of a socket: the JDK's socket is right for both
        String later = way.isWithoutListeners() && (way.attached || way.isWithoutSockets()) ? "jdk" : "verbena";
        String listens = way.isWithoutSockets() ? "jdk" : later;
        List<String> all = new ArrayList<>(said(client, early.equals("jdk") || later.equals("jdk") ? "jdk" : early,
                later, listens));
        all.add("lasting 9");
        all.addAll(way.word.startsWith("timed") ? List.of("calls true") : List.of());
        return all;
    }

    private static List<String> said(String client, String early, String later, String listens) {
        return List.of("early 7 " + client + " " + early, "later 7 " + client + " " + later,
                "new 7 " + client + " " + listens, "timed java.net.SocketTimeoutException: Accept timed out",
                "channel 1 verbena verbena", "file 20000");
    }

    private static List<String> until(BufferedReader out) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line = out.readLine(); !line.equals("ready"); line = out.readLine()) {
            lines.add(line);
        }
        return lines;
    }
}
