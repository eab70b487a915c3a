// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.tests.Repository;

/** {@code docs/properties.md} has every system property and variable that the code and the launcher read, and no others. */
class PropertiesTest {
    private static final Pattern ROW = Pattern.compile("^\\| `([A-Za-z_.-]+)` \\|(.*)\\|$", Pattern.MULTILINE);
    private static final Pattern PROPERTY = Pattern.compile("\"(verbena\\.[a-z][a-z.-]*[a-z])\"");
    private static final Pattern VARIABLE = Pattern.compile(
            "getenv\\(\"(\\w+)\"|VARIABLE = \"(\\w+)\"|number\\(\"([A-Z]+)\"");
    private static final Pattern OF_THE_LAUNCHER = Pattern.compile("\\$\\{([A-Z][A-Z_]+)|variable=([A-Z_]+)");
    private static final Pattern NUMBER = Pattern.compile("number\\(\"([a-z.]+)\", ([^,]+), ([^,]+), \"([a-z ]+)\"\\)");
    private static final Pattern CHOICE = Pattern.compile("^ +of\\(\"([a-z.-]+)\", \"([^\"]+)\", ",
            Pattern.MULTILINE);

    /** Modules of the product. */
    private static final Pattern PRODUCT = Pattern.compile(
            "verbena-(linux|telemetry|verbs|shm|roce|rdmacore|xdp|sockets|erm|agent|micrometer|cli)/src/main/java/.*");

    private static Map<String, String> rows(String heading) {
        String text = Markdown.read(Repository.root().resolve("docs/properties.md")).text();
        String part = text.substring(text.indexOf("\n## " + heading));
        int end = part.indexOf("\n## ", 1);
        return ROW.matcher(end < 0 ? part : part.substring(0, end)).results().collect(Collectors.toMap(m -> m.group(1),
                m -> m.group(2), (a, _) -> a, TreeMap::new));
    }

    private static List<String> sources() throws IOException {
        Path root = Repository.root();
        List<String> texts = new ArrayList<>();
        for (Path file : Repository.files()) {
            if (PRODUCT.matcher(root.relativize(file).toString()).matches()) {
                texts.add(Files.readString(file));
            }
        }
        return texts;
    }

    private static Stream<String> group(MatchResult m) {
        return Stream.iterate(1, i -> i <= m.groupCount(), i -> i + 1).map(m::group).filter(g -> g != null);
    }

    @Test
    void everyPropertyHasARow() throws IOException {
        Set<String> read = new TreeSet<>();
        for (String text : sources()) {
            PROPERTY.matcher(text).results().forEach(m -> read.add(m.group(1)));
        }
        read.addAll(dropIn(CHOICE).keySet());
        read.addAll(dropIn(NUMBER).keySet());
        read.remove("verbena.rules.no-stack"); // a counter
        assertThat(rows("System properties").keySet()).isEqualTo(read);
    }

    @Test
    void everyVariableHasARow() throws IOException {
        Set<String> read = new TreeSet<>();
        for (String text : sources()) {
            VARIABLE.matcher(text).results().flatMap(PropertiesTest::group).forEach(read::add);
        }
        for (String script : List.of("verbena", "verbena-cli/src/main/dist/bin/verbena",
                "verbena-cli/src/main/dist/libexec/java.sh")) {
            OF_THE_LAUNCHER.matcher(Files.readString(Repository.root().resolve(script))).results()
                    .flatMap(PropertiesTest::group).forEach(read::add);
        }
        read.removeAll(Set.of("BASH_SOURCE", "BASH_REMATCH")); // of bash itself
        read.addAll(Set.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
        assertThat(rows("Environment variables").keySet()).isEqualTo(read);
    }

    /** Those that the agent checks. */
    @Test
    void rangesAndChoicesAreThoseThatAreChecked() throws IOException {
        Map<String, String> rows = rows("System properties");
        assertThat(dropIn(NUMBER)).hasSizeGreaterThan(5).allSatisfy((name, m) -> {
            String least = number(m.group(2));
            String most = number(m.group(3));
            assertThat(rows.get(name)).as(name).contains(most.equals(Long.toString(Long.MAX_VALUE))
                    ? least + " or more"
                    : least + " to " + most);
        });
        assertThat(dropIn(CHOICE)).allSatisfy((name, m) -> {
            if (m.group(2).contains("|")) {
                assertThat(rows.get(name)).as(name).startsWith(" `" + m.group(2).replace("|", "`, `") + "` |");
            }
        });
    }

    private static Map<String, MatchResult> dropIn(Pattern wanted) throws IOException {
        String source = Files.readString(Repository.root().resolve(
                "verbena-sockets/src/main/java/org/verbena/sockets/DropInProperty.java"));
        return wanted.matcher(source).results().collect(Collectors.toMap(m -> "verbena." + m.group(1), m -> m));
    }

    /** Of a constant expression of Java. */
    private static String number(String expression) {
        if (expression.equals("Long.MAX_VALUE")) {
            return Long.toString(Long.MAX_VALUE);
        }
        String plain = expression.replace("_", "");
        String[] shift = plain.split(" << ", -1);
        return Long.toString(Long.parseLong(shift[0]) << (shift.length == 1 ? 0 : Integer.parseInt(shift[1])));
    }
}
