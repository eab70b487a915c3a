// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.tests.Repository;

/**
 * The promise in {@code config/api}, as far as japicmp does not check it: values of constants, and the text for people.
 */
class ApiBaselineTest {
    private static final Path BASELINES = Repository.root().resolve("config/api");

    @TempDir static Path folder;

    /** The output of {@code Baseline} for a jar. */
    private static List<String> lines(Path jar, String name, String packages) throws Exception {
        Path classes = folder.resolve("classes");
        if (!Files.exists(classes)) {
            assertThat(Jars.compile(List.of(BASELINES.resolve("Baseline.java")), List.of(), List.of(), classes))
                    .isEmpty();
        }
        String[] args = (jar + " " + folder.resolve(name) + " " + packages).split(" ", -1);
        try (URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()}, null)) {
            loader.loadClass("Baseline").getMethod("main", String[].class).invoke(null, (Object) args);
        }
        return Files.readAllLines(folder.resolve(name + ".txt"));
    }

    @ParameterizedTest
    @CsvSource({"verbena-verbs, org.verbena.verbs org.verbena.verbs.spi", "verbena-linux, org.verbena.linux"})
    void noConstantChangedOrDisappeared(String module, String packages) throws Exception {
        List<String> promised = Files.readAllLines(BASELINES.resolve(module + "-0.9.txt"));
        Path jar = Jars.pack(Jars.onClassPath(module), folder.resolve(module + ".jar"));
        assertThat(lines(jar, "now-" + module, packages))
                .containsAll(promised.stream().filter(l -> l.contains(" = ") && !l.contains(".API_LEVEL")).toList());
    }

    @ParameterizedTest
    @CsvSource({"verbena-verbs, org.verbena.verbs org.verbena.verbs.spi", "verbena-linux, org.verbena.linux"})
    void baselineTextMatchesTheClasses(String module, String packages) throws Exception {
        assertThat(Files.readAllLines(BASELINES.resolve(module + "-0.9.txt"))).hasSizeGreaterThan(100)
                .isEqualTo(lines(BASELINES.resolve(module + "-0.9.jar"), "again-" + module, packages));
    }

    @Test
    void baselineTextHasConstantsWithValues() throws Exception {
        assertThat(Files.readAllLines(BASELINES.resolve("verbena-verbs-0.9.txt")))
                .contains("org.verbena.verbs.WcOpcode.RECV: public static final int = 128");
    }
}
