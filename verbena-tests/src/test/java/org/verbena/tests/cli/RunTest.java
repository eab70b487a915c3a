// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Jvm;
import org.verbena.tests.CommandLane;
import org.verbena.tests.agent.AgentJar;
import org.verbena.tests.agent.AgentRun;
import org.verbena.tests.cli.LauncherTree.Started;

/** {@code ./verbena run}: the launcher becomes the command, and Java programs below it have the agent. */
@CommandLane
class RunTest {
    private static final String OURS = "org.verbena.sockets.VerbenaSelectorProvider";
    private static final String SH = "/bin/sh";

    @TempDir private Path dir;
    private LauncherTree tree;

    @BeforeEach
    void makeTree() throws Exception {
        tree = new LauncherTree(dir);
        Path _ = tree.jdk("jdk-25", "25.0.1");
        tree.agent(AgentJar.in(dir));
        assertThat(tree.start("x").code()).isZero(); // builds
    }

    private String agentJar() throws Exception {
        return tree.root.resolve("target/verbena/dist").toRealPath() + "/agent/verbena-agent.jar";
    }

    private Started run(String... words) throws Exception {
        List<String> all = new ArrayList<>(List.of("run"));
        all.addAll(List.of(words));
        return tree.start(all.toArray(String[]::new));
    }

    // ---- what the command sees

    @Test
    void commandReplacesTheLauncherProcessWithItsArguments() throws Exception {
        Started s = run(SH, "-c", "printf '%s|' \"$0\" \"$@\"; exit 7", "a b", "", "--quiet", "*");
        assertThat(s).isEqualTo(new Started(7, List.of("a b||--quiet|*|"), ""));
    }

    @Test
    void oneVariableIsExtended() throws Exception {
        tree.variable("JDK_JAVA_OPTIONS", "-Da=1  -Db='x y'");
        tree.variable("JAVA_TOOL_OPTIONS", "-Dc=3");
        String show = "echo \"$JDK_JAVA_OPTIONS\"; echo \"$JAVA_TOOL_OPTIONS\"";
        String ours = "\"-javaagent:" + agentJar();
        assertThat(run("--", SH, "-c", show).out()).containsExactly("-Da=1  -Db='x y' " + ours + "\"", "-Dc=3");
        assertThat(run("--every-jvm", "--quiet", "--set", "counters=off", "--set=shm.trusted-uids=1,2", SH, "-c", show)
                .out()).containsExactly("-Da=1  -Db='x y'",
                        "-Dc=3 " + ours + "=quiet,counters=off,shm.trusted-uids=1\\,2\"");
        assertThat(run("--summary", SH, "-c", "echo \"$JDK_JAVA_OPTIONS\"").out()).containsExactly(
                "-Da=1  -Db='x y' " + ours + "=summary=stderr\"");
        assertThat(run("--summary=/tmp/a,b", "--summary=c", SH, "-c", "cd /; echo \"$JDK_JAVA_OPTIONS\"").out())
                .containsExactly("-Da=1  -Db='x y' " + ours + "=summary=/tmp/a\\,b,summary=" + System.getProperty(
                        "user.dir") + "/c\"");
    }

    @Test
    void wrongOptionsAndCommandsAreRefused() throws Exception {
        String more = "\nTry 'verbena run --help'.\n";
        assertThat(run()).isEqualTo(new Started(2, List.of(), "verbena: a command is missing" + more));
        assertThat(run("--quite", "ls")).isEqualTo(new Started(2, List.of(), "verbena: unknown option '--quite'"
                + more));
        assertThat(run("--summary=", "ls")).isEqualTo(new Started(2, List.of(), "verbena: --summary= needs a file"
                + more));
        assertThat(run("--set")).isEqualTo(new Started(2, List.of(), "verbena: --set needs KEY=VALUE" + more));
        assertThat(run("no-such")).isEqualTo(new Started(127, List.of(), "verbena: no command no-such on PATH\n"));
    }

    @Test
    void helpOptionReachesTheCommand() throws Exception {
        assertThat(run("--help").arguments()).endsWith("run", "--help");
    }

    // ---- signals

    @Test
    void signalsReachTheCommand() throws Exception {
        Process p = tree.begin(List.of(), "run", SH, "-c", "trap 'echo term; exit 9' TERM; echo ready; "
                + "while :; do sleep 0.05; done");
        byte[] ready = p.getInputStream().readNBytes("ready\n".length());
        assertThat(new String(ready, StandardCharsets.US_ASCII)).isEqualTo("ready\n");
        assertThat(p.toHandle().destroy()).isTrue(); // SIGTERM; the process's own method would close its output
        assertThat(tree.end(p)).isEqualTo(new Started(9, List.of("term"), ""));
    }

    @Test
    void killedCommandEndsTheLauncherBySignal() throws Exception {
        Process p = tree.begin(List.of(), "run", SH, "-c", "echo $$; kill -KILL $$");
        long pid = p.pid();
        assertThat(p.waitFor(180, TimeUnit.SECONDS)).isTrue();
        assertThat(tree.end(p)).isEqualTo(new Started(128 + 9, List.of(Long.toString(pid)), ""));
    }

    // ---- Java below it

    private Started java(Path java, String... words) throws Exception {
        List<String> all = new ArrayList<>(List.of("--", SH, "-c", "\"$@\"", "sh", java.toString(),
                "-XX:TieredStopAtLevel=1", "-cp", AgentJar.program(dir).toString(), "Report"));
        all.addAll(List.of(words));
        return run(all.toArray(String[]::new));
    }

    @Test
    void javaUsesVerbenaSockets() throws Exception {
        Started s = java(AgentRun.java(), "provider", "echo", "wait", "exit5");
        assertThat(s.code()).isEqualTo(5);
        assertThat(s.out()).containsExactly("provider " + OURS, "echo hello");
        assertThat(s.err().lines()).hasSize(2).first().asString().startsWith("NOTE: Picked up JDK_JAVA_OPTIONS: ");
        assertThat(s.err()).endsWith("\nverbena: active: sockets are those of Verbena\n");
    }

    @Test
    void olderJavaRunsUnchanged() throws Exception {
        Optional<Path> old = AgentRun.oldJava();
        if (old.isEmpty()) {
            System.out.println("RunTest.olderJavaRunsUnchanged: skipped, /usr/lib/jvm has no Java older than 25");
        }
        assumeTrue(old.isPresent());
        Started s = java(old.get(), "echo", "exit5");
        assertThat(s.code()).isEqualTo(5);
        assertThat(s.out()).containsExactly("echo hello");
        assertThat(s.err()).contains("verbena: not active: this is Java ");
    }

    @Test
    void invalidSettingEndsTheProgram() throws Exception {
        Started s = run("--set", "spim=3", Jvm.JAVA, "-cp", AgentJar.program(dir).toString(),
                "Report", "echo");
        assertThat(s.code()).isEqualTo(1);
        assertThat(s.out()).isEmpty();
        assertThat(s.err()).contains("verbena: agent arguments, line 1, column 1: 'spim' is not known");
    }

    /** A property on the command line of the program, which the launcher does not know. */
    @Test
    void invalidPropertyEndsTheProgram() throws Exception {
        Started s = run("--", Jvm.JAVA, "-Dverbena.spin=abc", "-cp", AgentJar.program(dir).toString(),
                "Report", "echo");
        assertThat(s.code()).isEqualTo(1);
        assertThat(s.out()).isEmpty();
        assertThat(s.err()).contains(
                "verbena: the system property verbena.spin takes microseconds, 0 to 1000000, not 'abc'");
    }
}
