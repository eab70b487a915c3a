// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.verbena.testkit.Jvm;

/**
 * A program, mostly {@code Talk}, which knows nothing of Verbena, in separate processes, with the agent and without.
 */
public final class TalkProcess implements AutoCloseable {
    private static final int LONGEST_SECONDS = 180;

    private final Process process;
    private final Path errors;
    private final BufferedReader out;

    private TalkProcess(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
        out = process.inputReader(StandardCharsets.US_ASCII);
    }

    /** The class path of the processes of a test. */
    public static final class Program {
        private final Path folder;
        private final Path jar;
        private final Path classes;
        private final String name;

        /** Compiles {@code Talk} into a folder of the test. */
        public Program(Path folder) throws IOException {
            this(folder, "Talk");
        }

        /** Compiles one of the programs of the tests into a folder of the test. */
        Program(Path folder, String name) throws IOException {
            this.folder = folder;
            this.name = name;
            jar = AgentJar.in(folder);
            classes = AgentJar.program(folder, name);
        }

        /** Starts it with the agent. */
        public TalkProcess start(String arguments, String... words) throws IOException {
            return start(List.of("-javaagent:" + jar + "=quiet,stream.earn=0," + arguments), words);
        }

        /** Starts it with options of the JVM's. */
        public TalkProcess start(List<String> options, String... words) throws IOException {
            List<String> c = Jvm.command();
            c.addAll(AgentArchive.options());
            c.addAll(options);
            c.addAll(List.of("-cp", classes.toString(), name));
            c.addAll(List.of(words));
            Path errors = Files.createTempFile(folder, "err", "");
            return new TalkProcess(new ProcessBuilder(c).redirectError(errors.toFile()).start(), errors);
        }

        /** The agent's jar. */
        public Path agent() {
            return jar;
        }

        /** The folder of the class of the program. */
        public Path classes() {
            return classes;
        }
    }

    public long pid() {
        return process.pid();
    }

    /** All that it has written to its standard error so far. */
    public String errors() throws IOException {
        return Files.readString(errors);
    }

    /** The next line that it prints. */
    public String line() throws IOException {
        String line = out.readLine();
        assertThat(line).as("a line of process " + pid()).isNotNull();
        return line;
    }

    /** Tells it to end, and waits for that. */
    public void end() throws IOException, InterruptedException {
        process.getOutputStream().close();
        assertThat(process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
    }

    /** By SIGKILL; returns when it is gone. */
    public void kill() throws InterruptedException {
        assertThat(process.destroyForcibly().waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
