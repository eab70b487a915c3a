// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.cli.example.Examples;
import org.verbena.cli.example.Examples.Example;

/** Command lines in the documents that start examples: their options are those that {@code verbena example} gives. */
class ExampleLinesTest {
    private static final Pattern BY_JAVA = Pattern.compile("java (.*)docs/examples/(\\w+)\\.java( .*)?");
    private static final Pattern BY_COMMAND = Pattern.compile("(?:\\./)?verbena example (?:-D\\S+ )*(\\w+)( .*)?");
    private static final Map<String, String> PLACES = Map.of("lib", "lib", "agent", "agent/verbena-agent.jar");

    private static List<MatchResult> lines(Pattern wanted) throws IOException {
        return Markdown.all().stream().flatMap(m -> m.commands().stream()).map(wanted::matcher)
                .filter(m -> m.matches()).map(m -> m.toMatchResult()).toList();
    }

    /** The program as it is without Verbena has none. */
    @Test
    void optionsAreThoseOfAWay() throws IOException {
        Examples examples = Examples.in(ExampleProcess.FOLDER);
        List<List<String>> ways = Stream.concat(Stream.of(List.<String>of()), examples.ways().stream().map(
                w -> examples.options(w, PLACES))).toList();
        assertThat(lines(BY_JAVA)).hasSizeGreaterThan(5).allSatisfy(line -> {
            assertThat(Arrays.stream(line.group(1).replace("'", "").split(" +", -1)).filter(w -> !w.isEmpty() && !w
                    .startsWith("-Dport=")).toList()).as(line.group()).isIn(ways);
            assertArguments(examples, line.group(2), line.group(3));
        });
    }

    @Test
    void examplesExistAndTakeTheArguments() throws IOException {
        Examples examples = Examples.in(ExampleProcess.FOLDER);
        assertThat(lines(BY_COMMAND)).hasSizeGreaterThan(5)
                .allSatisfy(line -> assertArguments(examples, line.group(1), line.group(2)));
    }

    /** The first is compared. Behind them there may be a remark. */
    private static void assertArguments(Examples examples, String name, String behind) {
        assertThat(examples.all()).containsKey(name);
        Example example = examples.all().get(name);
        String word = behind == null || behind.startsWith("  ") ? "" : behind.strip().split(" ", -1)[0];
        if (!word.startsWith("-") && !word.equals("|")) {
            assertThat(Arrays.stream(example.arguments().split("\\|", -1)).map(a -> a.split(" ", -1)[0])).as(name)
                    .contains(word);
        }
    }
}
