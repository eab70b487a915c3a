// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Jvm;
import org.verbena.tests.CommandLane;
import org.verbena.tests.agent.AgentJar;

/**
 * {@code verbena attach} to a program that already has another agent, which retransforms classes of the JDK afterwards,
 * and the method timing of the Flight Recorder: open sockets continue, and new ones use Verbena.
 */
@CommandLane
class AttachOtherAgentTest {
    private static final String ALL = String.join(",", "java.net.ServerSocket", "java.net.SocketImpl",
            "java.net.Socket", "java.nio.channels.spi.SelectorProvider",
            "java.nio.channels.spi.AsynchronousChannelProvider", "sun.nio.ch.FileChannelImpl");

    @TempDir static Path dir;
    private static Path classes;
    private static Path otherAgent;

    @BeforeAll
    static void prepare() throws Exception {
        classes = AgentJar.program(dir, "OtherAgent", "25");
        otherAgent = AgentJar.agent(classes, "OtherAgent", dir.resolve("other-agent.jar"));
    }

    private static List<String> attached(String... words) throws Exception {
        List<String> c = Jvm.command("-Xlog:disable", "-XX:+EnableDynamicAgentLoading", "-javaagent:" + otherAgent
                + "=early",
                "-cp",
                classes.toString(), "OtherAgent", "attach");
        c.addAll(List.of(words));
        Process p = new ProcessBuilder(c).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            assertThat(CommandProcess.run("attach", "--agent", AgentJar.in(dir).toString(), "--quiet", Long.toString(p
                    .pid())).code()).isZero();
            p.getOutputStream().write('x');
            p.getOutputStream().flush();
            List<String> lines = out.lines().toList();
            assertThat(p.waitFor()).isZero();
            return lines;
        } finally {
            p.destroyForcibly();
        }
    }

    /** The output of the program; the early listener is that of the JDK. */
    private static List<String> said() {
        return List.of("early 7 verbena jdk", "later 7 verbena verbena", "new 7 verbena verbena",
                "timed java.net.SocketTimeoutException: Accept timed out", "channel 1 verbena verbena", "file 20000");
    }

    /**
     * Also {@code own}: an agent that was loaded earlier transforms before that of Verbena, whenever its transformer
     * was added.
     */
    @ParameterizedTest
    @ValueSource(strings = {"same", "own", "timed"})
    void retransformationKeepsThePatches(String how) throws Exception {
        List<String> expected = new ArrayList<>(said());
        expected.addAll(said());
        expected.add("lasting 9");
        expected.addAll(how.equals("timed") ? List.of("calls true") : List.of());
        expected.add("closed: Socket closed");
        assertThat(attached(how + "=" + ALL)).isEqualTo(expected);
    }
}
