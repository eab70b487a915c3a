// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.tests.Repository;

/**
 * Each group of the conformance suite runs on {@code rdma_rxe}, or is documented to have nothing to run there, with the
 * reason.
 */
class ConformanceGroupsTest {
    private static final String SUITE = "verbena-conformance/src/test/java/org/verbena/tests/conformance/";
    private static final Pattern NESTED = Pattern.compile(
            "@Nested(?:\\s+@\\w+(?:\\([\\w.]*\\))?)*\\s+class (\\w+) extends");
    private static final Pattern COMMAND = Pattern.compile("/share/conformance '([^']+)'");
    private static final Pattern CODE = Pattern.compile("`(\\w+)`");
    /** Passes if no test of its groups does. */
    private static final String LACKS = "conformance-rxe-lacks";
    private static final String HEADING = "| groups that `rdma_rxe` has nothing for | what it lacks |";

    private static Set<String> groups() throws IOException {
        Set<String> groups = new TreeSet<>();
        for (String file : List.of("VerbsConformance.java", "ConformanceOverXrc.java")) {
            String text = Files.readString(Repository.root().resolve(SUITE + file));
            NESTED.matcher(text).results().forEach(m -> groups.add(m.group(1)));
        }
        return groups;
    }

    private static List<Row> rows() throws IOException {
        Path lab = Repository.root().resolve("lab");
        List<Row> rows = new ArrayList<>();
        try (Stream<Path> files = Files.list(lab.resolve("rows"))) {
            for (Path f : (Iterable<Path>) Stream.concat(files, Stream.of(lab.resolve("slow.rows")))::iterator) {
                rows.addAll(RowFile.whole(f));
            }
        }
        return rows;
    }

    /** Regular expressions of groups, as the commands of a row have them. */
    private static List<String> wanted(Row row) {
        return Stream.of(row.server(), row.client()).filter(c -> c != null).flatMap(c -> COMMAND.matcher(c.text())
                .results()).map(m -> m.group(1)).toList();
    }

    private static Set<String> run(Set<String> groups, boolean lacks) throws IOException {
        Set<String> run = new TreeSet<>();
        for (Row row : rows()) {
            if (row.name().equals(LACKS) == lacks) {
                for (String w : wanted(row)) {
                    groups.stream().filter(g -> g.matches(w)).forEach(run::add);
                }
            }
        }
        return run;
    }

    /** Those of the table's first column. */
    private static Set<String> documented() throws IOException {
        List<String> lines = Files.readAllLines(Repository.root().resolve("docs/rdmacore.md"));
        int start = lines.indexOf(HEADING);
        assertThat(start).as("the table of docs/rdmacore.md").isPositive();
        Set<String> named = new TreeSet<>();
        lines.stream().skip(start + 2L).takeWhile(l -> l.startsWith("|")).forEach(l -> {
            String[] cells = l.split("\\|", -1);
            assertThat(cells).as("a group and its reason: %s", l).hasSize(4);
            CODE.matcher(cells[1]).results().forEach(m -> named.add(m.group(1)));
        });
        return named;
    }

    @Test
    void eachGroupIsInARowOrListedAsMissing() throws IOException {
        Set<String> groups = groups();
        assertThat(groups).contains("Devices", "SizesOnXrc").hasSizeGreaterThan(50);
        Set<String> all = run(groups, false);
        assertThat(all).isNotEmpty().as("in a row and lacking").doesNotContainAnyElementsOf(documented());
        all.addAll(documented());
        assertThat(all).isEqualTo(groups);
    }

    /** A row checks that none of them passes: a kernel with the missing feature fails it. */
    @Test
    void rowOfMissingGroupsMatchesTheDocument() throws IOException {
        assertThat(run(groups(), true)).isEqualTo(documented());
    }

    /** A renamed group would silently drop out of its row. */
    @Test
    void eachNameOfARowIsAGroup() throws IOException {
        Set<String> groups = groups();
        for (Row row : rows()) {
            for (String w : wanted(row)) {
                for (String name : names(w)) {
                    assertThat(groups).as("%s: %s", row.title(), name).anyMatch(g -> g.matches(name));
                }
            }
        }
    }

    /** The alternatives of a regular expression; those in brackets stay together. */
    private static List<String> names(String expression) {
        List<String> names = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i <= expression.length(); i++) {
            char c = i < expression.length() ? expression.charAt(i) : '|';
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == '|' && depth == 0) {
                names.add(expression.substring(start, i));
                start = i + 1;
            }
        }
        return names;
    }
}
