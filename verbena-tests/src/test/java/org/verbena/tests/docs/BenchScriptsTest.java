// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.tests.BesideOthers;
import org.verbena.tests.Repository;

/** The help of the scripts in {@code bench}: printed at once, before they build anything. */
@BesideOthers
class BenchScriptsTest {
    static List<Path> scripts() throws IOException {
        try (Stream<Path> all = Files.list(Repository.root().resolve("bench"))) {
            return all.filter(p -> Files.isExecutable(p) && Files.isRegularFile(p)).sorted().toList();
        }
    }

    private record Ended(int code, String out, String err) {}

    private static Ended run(Path script, String argument) throws Exception {
        ProcessBuilder b = new ProcessBuilder("bash", script.toString(), argument);
        b.environment().put("PATH", "/usr/bin:/bin");
        b.environment().put("JAVA_HOME", "/nonexistent");
        Process p = b.start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(p.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(p.waitFor(), out, err);
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void helpIsPrinted(Path script) throws Exception {
        Ended e = run(script, "--help");
        assertThat(e.err()).isEmpty();
        assertThat(e.code()).isZero();
        assertThat(e.out()).contains("bench/" + script.getFileName()).doesNotContain("set -euo", "#");
        assertThat(run(script, "-h")).isEqualTo(e);
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void unknownArgumentIsRefused(Path script) throws Exception {
        assertRefused(script, "--nonsense");
    }

    private static void assertRefused(Path script, String argument) throws Exception {
        assertThat(run(script, argument)).isEqualTo(new Ended(2, "", "bench/" + script.getFileName() + ": what is '"
                + argument + "'? Try 'bench/" + script.getFileName() + " --help'.\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--seconds=0", "--seconds=", "--seconds=1234567890", "--warm-up=01", "--busy=0",
        "--records=-1", "--load=half", "--load=", "--processors=three", "--only=RMI"})
    void unknownValueIsRefused(String argument) throws Exception {
        assertRefused(Repository.root().resolve("bench/apps"), argument);
    }
}
