// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bytes of a file of rules. */
class RulesFileTest {
    @TempDir private Path dir;

    private Path file(byte[] bytes) throws IOException {
        return Files.write(dir.resolve("rules.conf"), bytes);
    }

    private static byte[] latin1(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void namesAreUtf8() throws IOException {
        Path f = file("# été 🌞\napplication-id été *\nuse os tcp_client *:*\n".getBytes(StandardCharsets.UTF_8));
        RuleSet r = RuleSet.of(RulesFile.read(f), Application.named("été", null));
        assertThat(r.rules(Role.TCP_CLIENT)).hasSize(1);
        assertThat(RuleSet.of(RulesFile.read(f), Application.named("ete", null)).block()).isNull();
    }

    @Test
    void commentsMayHaveAnyBytes() throws IOException {
        Path f = file(latin1("# \u00e9t\u00e9 \u00ff\nuse os tcp_client *:* #\u00e9\nuse os tcp_server *:1 # \u00c3"));
        assertThat(RulesFile.read(f)).singleElement().satisfies(b -> assertThat(b.rules()).hasSize(2).element(1)
                .satisfies(r -> assertThat(r.place().line()).isEqualTo(3)));
        assertThat(RulesFile.text("f", latin1("#\u00e9\u00ff#"))).isEqualTo("#\ufffd\ufffd#");
        assertThat(RulesFile.text("f", new byte[0])).isEmpty();
    }

    @Test
    void invalidByteOutsideCommentsIsNamed() throws IOException {
        Path f = file(latin1("# \u00e9\n\nuse os tcp_client *:1\napplication-id \u00e9t\u00e9 * # x\n"));
        assertThatExceptionOfType(RuleSyntaxException.class).isThrownBy(() -> RulesFile.read(f)).satisfies(e -> {
            assertThat(e.line()).isEqualTo(4);
            assertThat(e.column()).isEqualTo(16);
        }).withMessage(f + ", line 4, column 16: the byte 0xe9 is not UTF-8 here: write the file in that encoding");
        Path cut = file(latin1("use os tcp_client *:1 counter \u00c3"));
        assertThatExceptionOfType(RuleSyntaxException.class).isThrownBy(() -> RulesFile.read(cut))
                .satisfies(e -> assertThat(e.column()).isEqualTo(31));
    }

    @Test
    void unreadableFileIsNamed() {
        assertThatThrownBy(() -> RulesFile.read(dir.resolve("none"))).isInstanceOf(IOException.class)
                .hasMessage("the file of rules " + dir.resolve("none") + " cannot be read (there is no such file)");
        assertThatThrownBy(() -> RulesFile.read(dir)).isInstanceOf(IOException.class)
                .hasMessage("the file of rules " + dir + " cannot be read (Is a directory)");
    }
}
