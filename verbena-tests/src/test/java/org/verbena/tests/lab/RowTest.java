// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.tests.Repository;

class RowTest {
    @TempDir private Path folder;

    private List<Row> rows(String text) throws IOException {
        return RowFile.whole(Files.writeString(folder.resolve("x.rows"), text));
    }

    private List<Row> brief(String text) throws IOException {
        return RowFile.brief(Files.writeString(folder.resolve("x.rows"), text));
    }

    @Test
    void rowsOfTheLabAreParsed() throws IOException {
        Path lab = Repository.root().resolve("lab");
        try (Stream<Path> files = Files.list(lab.resolve("rows"))) {
            for (Path f : (Iterable<Path>) Stream.concat(files, Stream.of(lab.resolve("slow.rows")))::iterator) {
                List<Row> whole = RowFile.whole(f);
                assertThat(whole).as(f.toString()).isNotEmpty();
                assertThat(whole).as("in brief, of %s", f).extracting(Row::title).containsAll(RowFile.brief(f).stream()
                        .map(Row::title).toList());
            }
        }
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '"', textBlock = """
            /usr/bin/rping -s -v,                                              rping
            ibv_devinfo,                                                       ibv_devinfo
            {verbena} perf --listen,                                           verbena perf
            JAVA_OPTIONS='-XX:+UseSerialGC -Da=b' N=1 /share/verbena rping -c,  verbena rping
            TOPOLOGIES=ONE /share/conformance 'Sizes|Order',                   conformance
            {java} -cp {tests} org.verbena.tests.lab.UdPingpong 4,             UdPingpong
            """)
    void commandIsShownByItsProgram(String text, String program) {
        assertThat(new Row.Command("a", text).program()).isEqualTo(program);
    }

    @Test
    void rowExpandsToOneForEachFamily() throws IOException {
        List<Row> rows = rows("""
                # a comment
                [one]
                ip 4 6
                server a serve {a}
                ready tcp 18515
                client host ask {a}
                netem a loss 1% delay 2ms
                netem-in b duplicate 1%
                expect client all is well
                expect client so it ends
                expect server served
                limit 7
                """);
        assertThat(rows).extracting(Row::title).containsExactly("one/4", "one/6");
        Row row = rows.getFirst();
        assertThat(row.server()).isEqualTo(new Row.Command("a", "serve {a}"));
        assertThat(row.client()).isEqualTo(new Row.Command("host", "ask {a}"));
        assertThat(row.netem()).containsExactly(new Netem("a", false, "loss 1% delay 2ms"), new Netem("b", true,
                "duplicate 1%"));
        assertThat(row.expected()).extracting(e -> e.role() + ": " + e.text()).containsExactly("client: all is well",
                "client: so it ends", "server: served");
        assertThat(row.ready()).containsExactly("tcp", "18515");
        assertThat(row.limit()).hasSeconds(7);
        assertThat(row.places()).containsExactly("a", "host", "b");
        assertThat(row.mentions("serve")).isTrue();
        assertThat(row.mentions("/share/")).isFalse();
    }

    @Test
    void rowExpandsToEachCombinationOfItsVariables() throws IOException {
        List<Row> rows = rows("""
                [p]
                ip 4 6
                vary type rc uc
                vary size 1 4096
                client a {type} -s {size} {a}
                expect client {size} bytes
                """);
        assertThat(rows).extracting(r -> r.title() + ": " + r.client().text() + ": " + r.expected().getFirst().text())
                .containsExactly("p-rc-1/4: rc -s 1 {a}: 1 bytes", "p-rc-1/6: rc -s 1 {a}: 1 bytes",
                        "p-rc-4096/4: rc -s 4096 {a}: 4096 bytes", "p-rc-4096/6: rc -s 4096 {a}: 4096 bytes",
                        "p-uc-1/4: uc -s 1 {a}: 1 bytes", "p-uc-1/6: uc -s 1 {a}: 1 bytes",
                        "p-uc-4096/4: uc -s 4096 {a}: 4096 bytes", "p-uc-4096/6: uc -s 4096 {a}: 4096 bytes");
    }

    @Test
    void briefRunHasEachCommandInOneFamily() throws IOException {
        List<Row> rows = brief("""
                [p]
                ip 4 6
                vary size 1 2 3 4
                client a {size}
                [one]
                ip 6
                client a y
                [q]
                ip 4 6
                client a z
                """);
        assertThat(rows).extracting(Row::title).containsExactly("p-1/4", "p-2/6", "p-3/6", "p-4/4", "one/6", "q/6");
    }

    @Test
    void briefRunHasEachValueButNotEachCombination() throws IOException {
        String text = """
                [p]
                vary type rc uc
                vary size 1 2 3
                client a {type} {size}
                [q]
                vary type rc uc
                vary size 1 2 3
                client a {type} {size}
                """;
        assertThat(rows(text)).hasSize(12);
        assertThat(brief(text)).extracting(r -> r.title() + ": " + r.client().text()).containsExactly(
                "p-rc-1/4: rc 1", "p-uc-2/4: uc 2", "p-rc-3/4: rc 3", "q-rc-2/4: rc 2", "q-uc-3/4: uc 3",
                "q-rc-1/4: rc 1");
    }

    @Test
    void briefRunSubstitutesLinesOfTheSameKey() throws IOException {
        String text = """
                [p]
                let n 500
                brief let n 60
                client a -n {n} {size}
                expect client all of {n}
                netem a loss 1%
                netem b loss 1%
                brief netem a loss 5%
                vary size 1 2
                brief vary size 2
                [q]
                brief no
                client a x
                """;
        assertThat(rows(text)).extracting(r -> r.title() + ": " + r.client().text() + ": " + r.expected() + ": " + r
                .netem()
                .size()).containsExactly("p-1/4: -n 500 1: [Expectation[role=client, text=all of 500]]: 2",
                        "p-2/4: -n 500 2: [Expectation[role=client, text=all of 500]]: 2",
                        "q/4: x: []: 0");
        Row brief = brief(text).getFirst();
        assertThat(brief(text)).hasSize(1);
        assertThat(brief.client().text()).isEqualTo("-n 60 2");
        assertThat(brief.expected().getFirst().text()).hasToString("all of 60");
        assertThat(brief.netem()).containsExactly(new Netem("a", false, "loss 5%"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"client a x|is neither [NAME]", "[x]\\nip 4|[x] has no client",
        "[x]\\nclient c y|does not begin with one of [a, b, host]", "[x]\\nclient a y\\nip 5|ip is 4, 6 or both",
        "[x]\\nclient a y\\nip 4 4|x/4 is there twice", "[x]\\nclient a y\\n[x]\\nclient a z|x/4 is there twice",
        "[x]\\nclient a y\\nclient b y|client is there 2 times", "[x]\\nclient a y\\nexpect client (|Unclosed group",
        "[x]\\nclient a y\\nwire none|wire is roce or any", "[x]\\nclient a y\\ncolour red|is neither [NAME]",
        "[x]\\nclient a y\\nnetem host loss 1%|does not begin with one of [a, b]",
        "[x]\\nclient a y\\nnetem-in a loss 1%\\nnetem-in a loss 1%|one machine and direction twice",
        "[x]\\nclient a y\\nvary size 1|has a name and at least two values",
        "[x]\\nclient a y {host}\\nvary host 1 2|{host} is a variable already",
        "[x]\\nclient a y {verbena}\\nvary verbena 1 2|{verbena} is a variable already",
        "[x]\\nclient a y {size}\\nvary size 1 2 1|the value 1 is there twice",
        "[x]\\nclient a y\\nvary size 1 2|no line of [x] has {size}",
        "[x]\\nclient a y\\nlet n 1|no line of [x] has {n}",
        "[x]\\nclient a {n}\\nlet n 1\\nvary n 1 2|{n} is a variable already",
        "[x]\\nclient a {n}\\nlet n|let n: has a name and a value",
        "[x]\\nclient a y\\nbrief yes|brief yes: it is no, or",
        "[x]\\nclient a y\\nbrief no rows|brief no rows: it is no, or",
        "[x]\\nclient a y\\nbrief limit|brief limit: it is no, or"})
    void mistakesAreNamed(String text, String message) {
        assertThatThrownBy(() -> rows(text.replace("\\n", "\n"))).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("x.rows, line ").hasMessageContaining(message);
    }
}
