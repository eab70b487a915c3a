// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;
import org.verbena.tests.ProgramLane;

/** Colours and live lines: on a terminal, which {@code script} creates, and nowhere else; each stream separately. */
@ProgramLane
class TerminalTest {
    private static final int LONGEST_SECONDS = 120;
    private static final String ESCAPE = "\033";
    private static final String BAR = "[#";
    private static final String BOLD = "\033[1m";
    private static final PerfListener LISTENER = new PerfListener();

    @TempDir private Path dir;
    private Path to;
    private Path file;

    @BeforeEach
    void makeFiles() throws Exception {
        to = Files.createDirectory(dir.resolve("to"));
        file = CopyFiles.write(dir.resolve("file"), 20 << 20, 1);
    }

    /** Half a command line: the rest determines where the streams go. */
    private static String table() throws IOException {
        return verbena() + "perf limit-memcpy --size=8 --duration=1ms --warm-up=1ms " + String.join(" ", LISTENER
                .option());
    }

    /** The command as a word of a shell's command line. */
    static String verbena() {
        return verbena(List.of());
    }

    /** With more options for the JVM. */
    static String verbena(List<String> options) {
        String modules = CopyProcess.modulePath();
        return Stream.of(CommandProcess.java(modules), CommandArchive.options(modules), options, CommandProcess
                .module()).flatMap(List::stream).map(w -> "'" + w + "'").collect(Collectors.joining(" ")) + " ";
    }

    /** Runs a shell command on its own terminal; returns the output on the terminal. */
    private String onTerminal(Map<String, String> environment, int code, String command) throws Exception {
        ProcessBuilder b = new ProcessBuilder("script", "-qec", command, "/dev/null");
        b.environment().keySet().removeAll(List.of("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"));
        b.environment().put("TERM", "xterm");
        b.environment().put("SHELL", "/bin/sh");
        b.environment().putAll(environment);
        b.redirectInput(new File("/dev/null"));
        Finished shown = Finished.run(b);
        assertThat(shown.code()).as(shown.output()).isEqualTo(code);
        return shown.output();
    }

    private String onTerminal(int code, String command) throws Exception {
        return onTerminal(Map.of(), code, command);
    }

    private String read(String name) throws Exception {
        return Files.readString(dir.resolve(name));
    }

    @Test
    void progressBarIsDrawnOnATerminalOnly() throws Exception {
        try (CopyProcess listener = CopyProcess.listener(to)) {
            String copy = verbena() + "copy " + file + " " + listener.address();
            String shown = onTerminal(0, copy);
            assertThat(shown).contains("\r\033[K").contains(BAR).contains("% [").contains("SHA-256 verified");
            assertThat(shown).as("the bar is taken away").contains("\r\033[Kcopied 1 file");
            assertThat(onTerminal(0, copy + " 2>" + dir + "/err")).doesNotContain(ESCAPE).contains("verified");
            assertThat(read("err")).doesNotContain(ESCAPE).doesNotContain(BAR).contains("file  20.0 MiB");
            assertThat(onTerminal(0, copy + " >" + dir + "/out")).contains(BAR);
            assertThat(read("out")).doesNotContain(ESCAPE).contains("SHA-256 verified");
            assertThat(onTerminal(0, verbena() + "copy --quiet " + file + " " + listener.address())).isEmpty();
            CopyProcess piped = CopyProcess.copy(file, listener.address()).expect(0);
            assertThat(piped.err() + piped.out()).doesNotContain(ESCAPE).doesNotContain(BAR);
        }
    }

    @Test
    void errorsAreColouredWhereStandardErrorIsATerminal() throws Exception {
        String wrong = verbena() + "perf nonsense";
        assertThat(onTerminal(2, wrong)).contains(ESCAPE).contains("unknown test");
        assertThat(onTerminal(2, wrong + " >" + dir + "/out")).contains(ESCAPE);
        assertThat(onTerminal(2, wrong + " </dev/null")).contains(ESCAPE);
        assertThat(onTerminal(2, wrong + " 2>" + dir + "/err")).doesNotContain(ESCAPE);
        assertThat(read("err")).contains("unknown test").doesNotContain(ESCAPE);
        assertThat(onTerminal(2, verbena() + "2>" + dir + "/err")).isEmpty();
        assertThat(read("err")).contains("Usage:").doesNotContain(ESCAPE);
        assertThat(onTerminal(1, verbena() + "copy --device nix0 --listen " + to + " 2>" + dir + "/err")).isEmpty();
        assertThat(read("err")).contains("nix0").doesNotContain(ESCAPE);
    }

    @Test
    void tablesAreColouredWhereStandardOutputIsATerminal() throws Exception {
        String table = table();
        assertThat(onTerminal(0, table)).contains(BOLD).contains("limit-memcpy");
        assertThat(onTerminal(0, table + " </dev/null 2>" + dir + "/err")).contains(BOLD);
        assertThat(read("err")).isEmpty();
        String progress = onTerminal(0, table + " >" + dir + "/out");
        assertThat(progress).contains("\r\033[K1 of 1: limit-memcpy 8 bytes").doesNotContain(BOLD);
        assertThat(read("out")).contains("limit-memcpy").doesNotContain(ESCAPE);
        assertThat(onTerminal(0, verbena() + "--help")).contains(BOLD);
        assertThat(onTerminal(0, verbena() + "--help >" + dir + "/out")).isEmpty();
        assertThat(read("out")).doesNotContain(ESCAPE);
    }

    @Test
    void noColorSettingDisablesColour() throws Exception {
        List<String> commands = List.of(table() + " 2>/dev/null", verbena() + "--help");
        for (String c : commands) {
            assertThat(onTerminal(Map.of("NO_COLOR", "1"), 0, c)).isNotEmpty().doesNotContain(ESCAPE);
            assertThat(onTerminal(Map.of("TERM", "dumb"), 0, c)).isNotEmpty().doesNotContain(ESCAPE);
            assertThat(onTerminal(Map.of("NO_COLOR", ""), 0, c)).as("empty is as if it were not set").contains(BOLD);
        }
        assertThat(onTerminal(Map.of("NO_COLOR", "1"), 2, verbena() + "perf nonsense")).contains("unknown test")
                .doesNotContain(ESCAPE);
    }

    /** Runs a command until the terminal has shown a text, and presses Ctrl-C then; returns all that it showed. */
    private static String interrupted(String command, String when) throws Exception {
        // a job in the background has the signal ignored, and so have its children
        ProcessBuilder b = new ProcessBuilder("script", "-qec", "exec env --default-signal=INT " + command, "/dev/null")
                .redirectErrorStream(true);
        b.environment().putAll(Map.of("TERM", "xterm", "SHELL", "/bin/sh", "COLUMNS", "80"));
        Process p = b.start();
        CompletableFuture.delayedExecutor(LONGEST_SECONDS, TimeUnit.SECONDS).execute(p::destroyForcibly);
        StringBuilder shown = new StringBuilder();
        try (Reader r = p.inputReader(StandardCharsets.UTF_8)) {
            boolean pressed = false;
            for (int c = r.read(); c >= 0; c = r.read()) {
                shown.append((char) c);
                if (!pressed && shown.indexOf(when) >= 0) {
                    pressed = true;
                    p.getOutputStream().write(3);
                    p.getOutputStream().flush();
                }
            }
            assertThat(p.waitFor()).as(shown.toString()).isEqualTo(130);
        } finally {
            p.destroyForcibly();
        }
        return shown.toString();
    }

    /** The second size takes a quarter of an hour. */
    @Test
    void rowsAppearAndStayWhenItIsInterrupted() throws Exception {
        String perf = verbena() + "perf limit-memcpy --size=8,32m -n 100000 --warm-up=1ms";
        String shown = interrupted(perf, "2 of 2: limit-memcpy 33554432 bytes");
        assertThat(shown).containsPattern(
                "\n[^\n]*limit-memcpy +8 [^\n]*\n[^\n]*2 of 2: limit-memcpy 33554432 bytes \\[#+-+\\] "
                        + "[0-9-:]+ left").containsPattern("interrupted, 1 test of this run was complete")
                .doesNotContain("killed by signal").doesNotContain("the peer");
        String progress = interrupted(perf + " --json >" + dir + "/json", "2 of 2: limit-memcpy 33554432 bytes");
        assertThat(progress).contains("interrupted, 1 test").endsWith("was complete\r\n");
        assertThat(new ObjectMapper().readTree(read("json"))).singleElement().satisfies(row -> assertThat(row.get(
                "iterations").asLong()).isEqualTo(100_000));
    }
}
