// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The tables of the documents are complete and name only existing methods and tests. */
class VerbsTableTest {
    private static final Pattern ROW = Pattern.compile("\\| (.+?) \\| (.+?) \\| (.+?) \\|");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern REFERENCE = Pattern.compile("`([A-Z]\\w+)\\.(\\w+)`");

    private static final String SUITE = "verbena-conformance/src/test/java/org/verbena/tests/conformance";

    private record Row(String first, String second, String third) {}

    private static List<Row> rows(String document, String beginning) throws IOException {
        return Files.readAllLines(Markdown.root().resolve(document)).stream().map(ROW::matcher)
                .filter(m -> m.matches() && m.group(1).startsWith(beginning))
                .map(m -> new Row(m.group(1), m.group(2), m.group(3))).toList();
    }

    private static List<String> codes(String cell) {
        return CODE.matcher(cell).results().map(m -> m.group(1)).toList();
    }

    private static List<String> functions() throws IOException {
        return lines("verbs-functions.txt");
    }

    private static List<String> lines(String resource) throws IOException {
        try (InputStream in = Objects.requireNonNull(VerbsTableTest.class.getResourceAsStream(resource))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    private static boolean has(String className, String method) {
        try {
            return Arrays.stream(Class.forName(className).getMethods()).map(Method::getName).anyMatch(method::equals);
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static List<Row> verbs() throws IOException {
        return Stream.concat(rows("docs/verbs.md", "`ibv_").stream(),
                Stream.concat(rows("docs/verbs.md", "`mult_").stream(), rows("docs/verbs.md", "`mbps_").stream()))
                .toList();
    }

    @Test
    void everyFunctionOfTheHeaderIsInTheTableOnce() throws IOException {
        assertThat(verbs().stream().flatMap(r -> codes(r.first).stream()))
                .containsExactlyInAnyOrderElementsOf(functions());
    }

    @TestFactory
    Stream<DynamicTest> everyMethodOfTheTableExists() throws IOException {
        return verbs().stream().map(r -> DynamicTest.dynamicTest(r.first, () -> {
            List<MatchResult> references = REFERENCE.matcher(r.second).results().toList();
            assertThat(references).hasSameSizeAs(codes(r.second));
            assertThat(references).as(r.second)
                    .allMatch(m -> has("org.verbena.verbs." + m.group(1), m.group(2)));
            if (references.isEmpty()) {
                assertThat(r.third).containsAnyOf("absent", "not there yet");
            } else {
                assertThat(r.third).containsAnyOf("`shm0`", "every provider", "`EOPNOTSUPP`");
            }
        }));
    }

    @TestFactory
    Stream<DynamicTest> everyTestOfTheConformanceTableExists() throws IOException {
        return rows("docs/conformance.md", "`test_").stream()
                .map(r -> DynamicTest.dynamicTest(r.first + r.second, () -> {
                    List<String> tests = codes(r.third);
                    if (tests.isEmpty()) {
                        assertThat(r.third).contains("absent");
                    }
                    for (String test : tests) {
                        String[] parts = test.split("\\.", -1);
                        assertThat(parts).as(test).hasSize(2);
                        assertThat(isTest(parts[0], parts[1])).as(test).isTrue();
                    }
                }));
    }

    /** What rdma-core tests, "module test" in each line; in the table a name may end in … for all that begin so. */
    @Test
    void everyTestOfRdmaCoreIsInTheTableOnce() throws IOException {
        List<Row> table = rows("docs/conformance.md", "`test_");
        assertThat(lines("rdma-core-tests.txt")).hasSizeGreaterThan(200).allSatisfy(line -> {
            String[] moduleAndTest = line.split(" ", -1);
            assertThat(table.stream().filter(r -> r.first.equals("`" + moduleAndTest[0] + "`"))
                    .flatMap(r -> Stream.of(r.second.split(", ", -1)))
                    .filter(name -> name.endsWith("…")
                            ? moduleAndTest[1].startsWith(name.substring(0, name.length() - 1))
                            : moduleAndTest[1].equals(name)))
                    .as(line).hasSize(1);
        });
    }

    /** Checked in its source: the module of the suite is built beside this one, not before. */
    private static boolean isTest(String className, String method) throws IOException {
        Path source = Markdown.root().resolve(SUITE).resolve(className + ".java");
        return Files.exists(source) && Pattern
                .compile("^    (@.*|.*\\))\n    (?!private )[\\w<>]+ " + Pattern.quote(method) + "\\(",
                        Pattern.MULTILINE)
                .matcher(Files.readString(source)).find();
    }
}
