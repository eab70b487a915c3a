// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** The examples of CONTRIBUTING.md name tests that there are. */
class ContributingTest {
    private static final Pattern EXAMPLE = Pattern.compile("\\./dev (?:test (\\w+) '?([\\w*]+)'?|repeat \\d+ (\\w+))");

    @Test
    void examplesOfDevNameTests() throws IOException {
        Matcher m = EXAMPLE.matcher(Files.readString(Markdown.root().resolve("CONTRIBUTING.md")));
        int examples = 0;
        for (; m.find(); examples++) {
            String wanted = (m.group(3) == null ? m.group(2) : m.group(3)).replace("*", ".*");
            String module = m.group(1) == null ? "verbena-.*" : "verbena-(" + m.group(1) + "|conformance)";
            try (Stream<Path> modules = Files.list(Markdown.root())) {
                assertThat(modules.filter(p -> p.getFileName().toString().matches(module))).as(m.group()).anyMatch(
                        p -> hasTest(p, wanted));
            }
        }
        assertThat(examples).isEqualTo(3);
    }

    /** A class of tests, or a group of the conformance suite. */
    private static boolean hasTest(Path module, String wanted) {
        Path tests = module.resolve("src/test/java");
        if (!Files.isDirectory(tests)) {
            return false;
        }
        try (Stream<Path> files = Files.walk(tests)) {
            return files.map(f -> f.getFileName().toString()).anyMatch(f -> f.matches(wanted
                    + "((?<!Test)Test|Conformance)?\\.java") && f.matches(".*(Test|Conformance)\\.java"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
