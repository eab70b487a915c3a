// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.cli.example.Examples;
import org.verbena.tests.CommandLane;
import org.verbena.tests.Repository;
import org.verbena.tests.agent.AgentJar;

/** {@code verbena example}, from a distribution that is laid out as {@code ./verbena dist} does it. */
@CommandLane
class ExampleCommandTest {
    private static final String METRICS = ".*verbena-micrometer\\b.*|.*/(micrometer|prometheus|LatencyUtils)[^/]*";

    private static final int LONGEST_SECONDS = 180;

    @TempDir private static Path home;
    private static Path sources;

    @BeforeAll
    static void makeDistribution() throws IOException {
        Path root = Repository.root();
        sources = root.resolve("docs/examples");
        for (String name : List.of("bin/verbena", "libexec/java.sh", "jvm.options")) {
            Path to = home.resolve(name);
            Files.createDirectories(to.getParent());
            Files.copy(root.resolve("verbena-cli/src/main/dist").resolve(name), to, StandardCopyOption.COPY_ATTRIBUTES);
        }
        Path examples = Files.createDirectories(home.resolve("docs/examples"));
        try (DirectoryStream<Path> files = Files.newDirectoryStream(sources, "*.{java,properties}")) {
            for (Path file : files) {
                Files.copy(file, examples.resolve(file.getFileName()));
            }
        }
        Path lib = Files.createDirectory(home.resolve("lib"));
        for (Path module : CommandArchive.modules()) {
            jar(module, lib);
        }
        Path metrics = Files.createDirectory(lib.resolve("metrics"));
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (path.matches(METRICS)) {
                jar(Path.of(path), metrics);
            }
        }
        Path agent = Files.createDirectory(home.resolve("agent"));
        Path made = AgentJar.in(agent);
        if (!made.startsWith(agent)) {
            Files.copy(made, agent.resolve("verbena-agent.jar"));
        }
    }

    private static void jar(Path built, Path folder) throws IOException {
        if (Files.isRegularFile(built)) {
            Files.copy(built, folder.resolve(built.getFileName()));
        } else { // classes of a module of this build, somewhere below its folder
            String module = StreamSupport.stream(built.spliterator(), false).map(Path::toString).filter(n -> n
                    .startsWith("verbena-")).reduce((_, last) -> last).orElseThrow();
            AgentJar.copy(built, folder.resolve(module + ".jar"), _ -> true);
        }
    }

    /** How it ended. */
    private record Result(int code, String out, String err) {}

    private static ProcessBuilder program(List<String> command) {
        ProcessBuilder b = new ProcessBuilder(command).directory(home.toFile());
        b.environment().put("JAVA_HOME", System.getProperty("java.home"));
        return b;
    }

    private static CommandProcess begin(String... words) throws IOException {
        return CommandProcess.of(program(words(words)));
    }

    private static List<String> words(String... words) {
        return Stream.concat(Stream.of(home.resolve("bin/verbena").toString(), "example"), Stream.of(words)).toList();
    }

    private static Result example(String... words) throws IOException, InterruptedException {
        return end(words(words));
    }

    /** Into files: a pipe stays open, and its reader waits, as long as something that the command has started holds it. */
    private static Result end(List<String> command) throws IOException, InterruptedException {
        Path out = Files.createTempFile(home, "out", "");
        Path err = Files.createTempFile(home, "err", "");
        Process p = program(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        try {
            if (!p.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("does not end: " + command + "\n" + Files.readString(out) + Files.readString(
                        err));
            }
            return new Result(p.exitValue(), Files.readString(out), Files.readString(err));
        } finally {
            p.descendants().forEach(ProcessHandle::destroyForcibly);
            p.destroyForcibly();
        }
    }

    private static void assertPrints(String expected, String... words) throws IOException, InterruptedException {
        Result r = example(words);
        assertThat(r.out()).as(r.err()).matches(expected);
        assertThat(r.err()).isEmpty();
        assertThat(r.code()).isZero();
    }

    @Test
    void allAreListedWithWhatTheyShow() throws Exception {
        Result r = example();
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.out().lines().map(l -> l.split(" ", 2)[0])).containsExactlyElementsOf(Examples.in(sources).all()
                .keySet());
        assertThat(r.out().lines()).allMatch(l -> l.endsWith(".") && !l.contains("*") && !l.contains("@"))
                .anyMatch(l -> l.matches("HelloVerbs +A message and its answer[.] Argument: server or client[.]"));
    }

    @Test
    void eachWayToStartWorks() throws Exception {
        assertPrints("(?s).*out by ring: true, some bytes\n", "-Dverbena.stream.patience=60000", "RingChannels");
        assertPrints("hello, carried by stream\n", "-Dverbena.stream.patience=60000", "PlainSockets");
        assertPrints("(?s).*verbena_port_tx_sends_total\\{device=\"shm0\",port=\"1\"} 3.0\n", "metrics");
    }

    @Test
    void twoEndsMeet() throws Exception {
        try (CommandProcess server = begin("-Dport=0", "HelloVerbs", "server")) {
            String listening = server.line();
            assertThat(listening).matches("listening on port [0-9]+");
            assertPrints("received: hello from the server\n", "HelloVerbs", "-Dport=" + listening.substring(
                    listening.lastIndexOf(' ') + 1), "client");
            assertThat(server.line()).startsWith("received: hello, this is process ");
            assertThat(server.end().code()).isZero();
        }
    }

    @Test
    void programEndsWithItsCommand() throws Exception {
        List<ProcessHandle> programs = List.of();
        try (CommandProcess server = begin("-Dport=0", "HelloVerbs", "server")) {
            assertThat(server.line()).startsWith("listening");
            programs = server.process().children().toList();
            assertThat(programs).hasSize(1);
            server.process().toHandle().destroy(); // Process.destroy would close the pipes that are still read
            assertThat(server.end().code()).isEqualTo(128 + 15);
            assertThat(programs).noneMatch(ProcessHandle::isAlive);
        } finally {
            programs.forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** What a test cannot wait for: the limit is its own, and nothing is left of the program. */
    @Test
    void commandThatIsGivenUpLeavesNothing() throws Exception {
        List<ProcessHandle> all;
        try (CommandProcess server = begin("-Dport=0", "HelloVerbs", "server")) {
            assertThat(server.line()).startsWith("listening");
            all = Stream.concat(Stream.of(server.process().toHandle()), server.process().descendants()).toList();
            assertThat(all).hasSizeGreaterThan(1);
        }
        for (ProcessHandle p : all) {
            assertThat(p.onExit().get(LONGEST_SECONDS, TimeUnit.SECONDS).isAlive()).isFalse();
        }
    }

    @Test
    void argumentsAndExitCodeAreThoseOfTheProgram() throws Exception {
        Result r = example("HelloVerbs", "--", "--neither", "of them");
        assertThat(r.err()).isEqualTo("usage: HelloVerbs server|client\n");
        assertThat(r.code()).isEqualTo(2);
    }

    @Test
    void commandLineCanBeCopiedAndSourceRead() throws Exception {
        Result line = example("--command", "ByHand", "a b");
        assertThat(line.code()).as(line.err()).isZero();
        assertThat(line.out()).startsWith(System.getProperty("java.home") + "/bin/java -p lib ").endsWith(" 'a b'\n");
        Result r = end(List.of("sh", "-c", line.out()));
        assertThat(r.out()).as(r.err()).endsWith("old value 1, new value 42\n");
        assertThat(example("ByHand", "--show").out()).isEqualTo(Files.readString(sources.resolve("ByHand.java")));
    }

    @Test
    void unknownNameIsRefusedWithTheNearest() throws Exception {
        Result r = example("HeloVerbs");
        assertThat(r.err()).startsWith("verbena: there is no example 'HeloVerbs': did you mean 'HelloVerbs'?\n");
        assertThat(r.code()).isEqualTo(2);
        assertThat(r.out()).isEmpty();
    }

    @Test
    void wrongUsageIsRefused() {
        assertThat(CommandProcess.refuse("example", "ByHand", "--what").err()).contains("'--what'");
        assertThat(CommandProcess.refuse("example", "ByHand", "--what").code()).isEqualTo(2);
    }
}
