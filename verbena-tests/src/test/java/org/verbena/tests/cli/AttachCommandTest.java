// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.spi.ToolProvider;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Jvm;
import org.verbena.tests.CommandLane;
import org.verbena.tests.agent.AgentJar;
import org.verbena.tests.agent.AgentRun;

/** {@code verbena attach}: running programs get sockets of Verbena, or a sentence gives the reason why not. */
@CommandLane
class AttachCommandTest {
    private static final String JDKS = "provider sun.nio.ch.EPollSelectorProvider";
    private static final String OURS = "provider org.verbena.sockets.VerbenaSelectorProvider";
    private static final String HELLO = "echo hello";

    @TempDir static Path dir;
    private static Path jar;
    private static Path classes;

    private final List<Process> started = new ArrayList<>();

    @BeforeAll
    static void prepare() throws Exception {
        jar = AgentJar.in(dir);
        classes = AgentJar.program(dir);
    }

    @AfterEach
    void endAll() {
        started.forEach(Process::destroyForcibly);
    }

    private Process start(String... command) throws IOException {
        Process p = new ProcessBuilder(command).redirectError(Files.createTempFile(dir, "err", "").toFile()).start();
        started.add(p);
        return p;
    }

    private Process program(Path java, String... options) throws IOException {
        List<String> c = new ArrayList<>(List.of(java.toString(), "-XX:TieredStopAtLevel=1"));
        c.addAll(List.of(options));
        c.addAll(List.of("-cp", classes.toString(), "Report", "attach"));
        return start(c.toArray(String[]::new));
    }

    private static CommandProcess.Result attach(long pid, String... options) throws IOException {
        List<String> all = new ArrayList<>(List.of("attach", "--agent", jar.toString()));
        all.addAll(List.of(options));
        all.add(Long.toString(pid));
        return CommandProcess.run(all.toArray(String[]::new));
    }

    private static void ask(Process p) throws IOException {
        tell(p, "x");
    }

    private static void tell(Process p, String letters) throws IOException {
        p.getOutputStream().write(letters.getBytes(StandardCharsets.US_ASCII));
        p.getOutputStream().flush();
    }

    @Test
    void newSocketsUseVerbena() throws Exception {
        Process p = program(AgentRun.java());
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            ask(p);
            assertThat(List.of(out.readLine(), out.readLine())).containsExactly(JDKS, HELLO);
            CommandProcess.Result wrong = attach(p.pid(), "--set", "spim=1");
            assertThat(wrong.code()).isEqualTo(1);
            assertThat(wrong.out()).startsWith("process " + p.pid()
                    + ": not active: agent arguments, line 1, column 1: 'spim' is not known");
            ask(p);
            assertThat(List.of(out.readLine(), out.readLine())).containsExactly(JDKS, HELLO);
            String active = "process " + p.pid() + ": active: sockets are those of Verbena";
            assertThat(attach(p.pid(), "--quiet", "--set", "counters=off"))
                    .isEqualTo(new CommandProcess.Result(0, active, ""));
            ask(p);
            assertThat(List.of(out.readLine(), out.readLine())).containsExactly(OURS, HELLO);
            assertThat(attach(p.pid())).isEqualTo(new CommandProcess.Result(0, active + " (since before)", ""));
            for (String[] late : new String[][] {{"--set", "spin=5"}, {"--quiet", "--set", "spim=1"}}) {
                assertRefused(attach(p.pid(), late), 1, "process " + p.pid()
                        + " has the agent already (active: sockets are"
                        + " those of Verbena), which reads its arguments at its start: leave --set out");
            }
            ask(p);
            assertThat(List.of(out.readLine(), out.readLine())).containsExactly(OURS, HELLO);
            p.getOutputStream().close();
            assertThat(p.waitFor()).isZero();
        }
    }

    /** An earlier HttpClient and selector continue, also with new channels, which use Verbena. */
    @Test
    void existingSocketsKeepWorking() throws Exception {
        Path kept = AgentJar.program(dir, "Kept", "25");
        Process p = start(Jvm.JAVA, "-XX:TieredStopAtLevel=1", "-cp", kept.toString(), "Kept");
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            ask(p);
            assertThat(List.of(out.readLine(), out.readLine(), out.readLine()))
                    .containsExactly("http okokok", "registered first none", "registered late none");
            assertThat(attach(p.pid(), "--quiet", "--set", "stream.earn=0").code()).isZero();
            for (int i = 0; i < 3; i++) {
                ask(p);
                assertThat(List.of(out.readLine(), out.readLine(), out.readLine()))
                        .containsExactly("http okokok", "registered first kernel", "registered late stream");
            }
            p.getOutputStream().close();
            assertThat(p.waitFor()).isZero();
        }
    }

    /** An earlier group stays that of the JDK, and continues. */
    @Test
    void newAsynchronousChannelsUseVerbena() throws Exception {
        Path talk = AgentJar.program(dir, "AsyncTalk");
        Process p = start(Jvm.JAVA, "-XX:TieredStopAtLevel=1", "-cp", talk.toString(), "AsyncTalk",
                "attach");
        String jdks = "1 through LinuxAsynchronousChannelProvider";
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            ask(p);
            assertThat(List.of(out.readLine(), out.readLine())).containsExactly("new " + jdks, "old " + jdks);
            assertThat(attach(p.pid(), "--quiet").code()).isZero();
            for (int i = 0; i < 3; i++) {
                ask(p);
                assertThat(List.of(out.readLine(), out.readLine()))
                        .containsExactly("new 1 through VerbenaAsynchronousChannelProvider", "old " + jdks);
            }
            p.getOutputStream().close();
            assertThat(p.waitFor()).isZero();
        }
    }

    /**
     * With only as many descriptors as the channels of the program take, its selector continues, and gets all back
     * later.
     */
    @Test
    void earlierSelectorNeedsNoDescriptors() throws Exception {
        Path scarce = AgentJar.program(dir, "Scarce", "25");
        Process p = start("prlimit", "--nofile=100", Jvm.JAVA, "-XX:TieredStopAtLevel=1", "-cp",
                scarce
                        .toString(), "Scarce");
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            for (String commands : new String[] {"r", "tggr", "gr", "ar"}) { // 2, then 3 descriptors, then all
                tell(p, commands);
                assertThat(out.readLine()).isEqualTo(commands.equals("tggr")
                        ? "round failed: Too many open files"
                        : "round none");
            }
            assertThat(attach(p.pid(), "--quiet", "--set", "counters=off").code()).isZero();
            for (String commands : new String[] {"tggr", "gr", "r", "ar", "r"}) {
                tell(p, commands);
                assertThat(out.readLine()).isEqualTo(commands.equals("tggr")
                        ? "round failed: Too many open files"
                        : "round kernel");
            }
            p.getOutputStream().close();
            assertThat(p.waitFor()).isZero();
        }
    }

    @Test
    void oldJavaIsLeftUnchanged() throws Exception {
        Optional<Path> old = AgentRun.oldJava();
        if (old.isEmpty()) {
            System.out.println("AttachCommandTest.oldJavaIsLeftUnchanged: skipped, no Java older than 25 here");
            return;
        }
        Process p = program(old.get());
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            CommandProcess.Result r = attach(p.pid());
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.out()).matches("process " + p.pid()
                    + ": not active: it runs Java [0-9.]+, and Verbena needs 25 or newer");
            ask(p);
            assertThat(List.of(out.readLine(), out.readLine())).containsExactly(JDKS, HELLO);
        }
    }

    private static void assertRefused(CommandProcess.Result r, int code, String sentence) {
        assertThat(r.code()).isEqualTo(code);
        assertThat(r.out()).isEmpty();
        assertThat(r.err().lines().findFirst()).hasValueSatisfying(l -> assertThat(l).startsWith("verbena: ")
                .contains(sentence));
    }

    @Test
    void processWithoutAttachSupportIsRefused() throws Exception {
        assertRefused(attach(0), 2, "there is no process 0");
        Process gone = start("/bin/true");
        assertThat(gone.waitFor()).isZero();
        assertRefused(attach(gone.pid()), 1, "there is no process " + gone.pid()); // as stat does
        Process sleep = start("/bin/sleep", "60");
        assertRefused(attach(sleep.pid()), 1, "process " + sleep.pid() + " does not run Java");
        for (String option : List.of("-XX:-EnableDynamicAgentLoading", "-XX:+DisableAttachMechanism")) {
            Process p = program(AgentRun.java(), option);
            try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
                assertThat(out.readLine()).isEqualTo("ready");
                assertRefused(attach(p.pid()), 1, "process " + p.pid() + " does not ");
                ask(p);
                assertThat(List.of(out.readLine(), out.readLine())).containsExactly(JDKS, HELLO);
            }
        }
    }

    @Test
    void runtimeWithoutAgentSupportGetsOneSentence() throws Exception {
        Path image = dir.resolve("image");
        assertThat(ToolProvider.findFirst("jlink").orElseThrow().run(System.out, System.err, "--add-modules",
                "java.base", "--strip-java-debug-attributes", "--output", image.toString())).isZero();
        Process p = program(image.resolve("bin/java"));
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            CommandProcess.Result r = attach(p.pid());
            assertRefused(r, 1, "process " + p.pid() + " runs without the module java.instrument");
            assertThat(r.err().lines()).hasSize(1);
            ask(p);
            assertThat(List.of(out.readLine(), out.readLine())).containsExactly(JDKS, HELLO);
        }
    }

    /** Only its own user and root may load code into a process. */
    @Test
    void processOfAnotherUserIsReportedCorrectly() throws Exception {
        TestUser.needed("attach to processes of others");
        TestUser user = TestUser.number(5);
        String modules = CopyProcess.copyModules(user.directory(dir, "modules"));
        String agent = Files.copy(jar, dir.resolve("readable.jar")).toString();
        Process roots = program(AgentRun.java());
        try (BufferedReader out = roots.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            try (CommandProcess p = CommandProcess.startFrom(modules, user.command(), "attach", "--agent", agent,
                    Long.toString(roots.pid()))) {
                assertRefused(p.end(), 1, "process " + roots.pid() + " is of user 0, not of this one (" + user.uid()
                        + "): attach as that user");
            }
            ask(roots);
            assertThat(List.of(out.readLine(), out.readLine())).containsExactly(JDKS, HELLO);
        }
        List<String> command = new ArrayList<>(user.command());
        command.addAll(List.of(Jvm.JAVA, "-XX:TieredStopAtLevel=1", "-cp", classes.toString(),
                "Report", "attach"));
        Process theirs = start(command.toArray(String[]::new));
        try (BufferedReader out = theirs.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).isEqualTo("ready");
            assertThat(CommandProcess.run("attach", "--agent", agent, "--quiet", Long.toString(theirs.pid())))
                    .isEqualTo(new CommandProcess.Result(0, "process " + theirs.pid()
                            + ": active: sockets are those of Verbena", ""));
            ask(theirs);
            assertThat(List.of(out.readLine(), out.readLine())).containsExactly(OURS, HELLO);
        }
    }

    @Test
    void missingAgentIsNamed() throws Exception {
        assertRefused(CommandProcess.run("attach", "--agent", "/no/such.jar", "1"), 1, "/no/such.jar");
    }
}
