// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Jvm;
import org.verbena.tests.CommandLane;
import org.verbena.tests.agent.AgentJar;

/** {@code verbena stat} of a program where another agent removes patches of Verbena's agent. */
@CommandLane
class StatOtherAgentTest {
    /** Before and after. */
    @Test
    void activeAndInactivePatchesAreShown(@TempDir Path dir) throws Exception {
        Path classes = AgentJar.program(dir, "OtherAgent", "25");
        Path otherAgent = AgentJar.agent(classes, "OtherAgent", dir.resolve("other-agent.jar"));
        Process p = new ProcessBuilder(Jvm.JAVA, "-XX:TieredStopAtLevel=1", "-javaagent:"
                + AgentJar.in(dir) + "=quiet,stream.earn=0", "-javaagent:" + otherAgent, "-cp", classes.toString(),
                "OtherAgent",
                "stat", "own=java.net.SocketImpl,sun.nio.ch.FileChannelImpl", "stat").redirectError(
                        ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            awaitLine(out, "ready");
            assertThat(attribute(p.pid(), "active"))
                    .isEqualTo("channels, classic sockets, classic listeners, asynchronous channels, transferTo");
            assertThat(attribute(p.pid(), "inactive")).isEmpty();
            assertThat(queue(p.pid())).doesNotContain("the JDK's, not Verbena's");
            go(p);
            awaitLine(out, "ready");
            assertThat(attribute(p.pid(), "inactive")).isEqualTo("classic sockets, transferTo");
            assertThat(queue(p.pid())).contains("process " + p.pid() + ": the JDK's, not Verbena's: classic sockets, "
                    + "transferTo; active: channels, classic listeners, asynchronous channels");
        } finally {
            p.destroyForcibly();
        }
    }

    /** One of the listeners of an attached program is an earlier one, until it is reopened. */
    @Test
    void earlierListenersAreCounted(@TempDir Path dir) throws Exception {
        Path classes = AgentJar.program(dir, "OtherAgent", "25");
        Process p = new ProcessBuilder(Jvm.JAVA, "-XX:TieredStopAtLevel=1", "-cp", classes.toString(),
                "OtherAgent", "attach", "stat", "reopen", "stat").redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            awaitLine(out, "ready");
            assertThat(CommandProcess.run("attach", "--agent", AgentJar.in(dir).toString(), Long.toString(p.pid()))
                    .out())
                    .isEqualTo("process " + p.pid()
                            + ": active: sockets are those of Verbena; 1 listener is from before, "
                            + "TCP carries what it accepts until it is opened anew");
            String line = "process " + p.pid() + ": listeners from before Verbena, TCP carries what they accept: ";
            assertThat(attribute(p.pid(), "inactive")).isEmpty(); // though it has opened none since
            assertThat(queue(p.pid())).contains(line + 1);
            go(p);
            awaitLine(out, "ready");
            assertThat(queue(p.pid())).contains(line + 1);
            go(p);
            awaitLine(out, "ready");
            assertThat(queue(p.pid())).doesNotContain(line);
        } finally {
            p.destroyForcibly();
        }
    }

    static void go(Process p) throws IOException {
        p.getOutputStream().write('x');
        p.getOutputStream().flush();
    }

    static void awaitLine(BufferedReader out, String wanted) throws IOException {
        String line = out.readLine();
        while (!wanted.equals(line)) {
            assertThat(line).isNotNull();
            line = out.readLine();
        }
    }

    private static String queue(long pid) throws IOException {
        return CommandProcess.run("stat", Long.toString(pid), "--once", "--view", "queue").out();
    }

    /** Counters of the object for all sockets of a process; the file appears soon after the first socket. */
    static String attribute(long pid, String name) throws Exception {
        for (;;) {
            String json = CommandProcess.run("stat", Long.toString(pid), "--once", "--json").out();
            Matcher m = Pattern.compile("\"" + name + "\" *: *\"([^\"]*)\"").matcher(json);
            if (m.find()) {
                return m.group(1);
            }
            Thread.sleep(100);
        }
    }
}
