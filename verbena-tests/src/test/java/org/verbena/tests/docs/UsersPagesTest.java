// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Pages for users, which the README lists before those about the inside: they speak of what is there, and not of our tests. */
class UsersPagesTest {
    private static final Pattern TESTS = Pattern.compile("\\b[A-Z]\\w+Test\\b|verbena-tests|org\\.verbena\\.tests");

    private static Markdown readme() {
        return Markdown.read(Markdown.root().resolve("README.md"));
    }

    private static List<Path> pages() {
        String text = readme().text();
        String index = text.substring(text.indexOf("\n## Documents"), text.indexOf("\n| inside |"));
        return Stream.concat(Stream.of(readme().file()), new Markdown(readme().file(), index).links().stream()
                .map(l -> Markdown.root().resolve(l))).toList();
    }

    @TestFactory
    Stream<DynamicTest> nameNoTests() {
        return pages().stream().map(p -> DynamicTest.dynamicTest(p.getFileName().toString(), () -> assertThat(Markdown
                .read(p).text()).doesNotContainPattern(TESTS)));
    }

    @Test
    void allPagesAreInTheIndex() throws Exception {
        List<String> links = readme().links();
        Path root = Markdown.root();
        assertThat(Markdown.all().stream().map(m -> root.relativize(m.file()).toString())
                .filter(f -> f.startsWith("docs/") && !f.startsWith("docs/decisions/"))).isSubsetOf(links);
    }
}
