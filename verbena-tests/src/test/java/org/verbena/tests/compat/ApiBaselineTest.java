// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
    private static final Pattern RELEASE = Pattern.compile("<version\\.api>(.*)</version\\.api>");

    @TempDir static Path folder;

    /** The file of the release that {@code pom.xml} names. */
    private static Path baseline(String file) throws IOException {
        Matcher release = RELEASE.matcher(Files.readString(Repository.root().resolve("pom.xml")));
        assertThat(release.find()).isTrue();
        return BASELINES.resolve(file.replace(".", "-" + release.group(1) + "."));
    }

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
        List<String> promised = Files.readAllLines(baseline(module + ".txt"));
        Path jar = Jars.pack(Jars.onClassPath(module), folder.resolve(module + ".jar"));
        assertThat(lines(jar, "now-" + module, packages))
                .containsAll(promised.stream().filter(l -> l.contains(" = ") && !l.contains(".API_LEVEL")).toList());
    }

    @ParameterizedTest
    @CsvSource({"verbena-verbs, org.verbena.verbs org.verbena.verbs.spi", "verbena-linux, org.verbena.linux"})
    void baselineTextMatchesTheClasses(String module, String packages) throws Exception {
        assertThat(Files.readAllLines(baseline(module + ".txt"))).hasSizeGreaterThan(100)
                .isEqualTo(lines(baseline(module + ".jar"), "again-" + module, packages));
    }

    @Test
    void baselineTextHasConstantsWithValues() throws Exception {
        assertThat(Files.readAllLines(baseline("verbena-verbs.txt")))
                .contains("org.verbena.verbs.WcOpcode.RECV: public static final int = 128");
    }
}
