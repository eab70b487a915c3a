// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcTextTest {
    @TempDir Path folder;
    private final ProcText text = new ProcText();

    private ProcText of(String content) throws IOException {
        return text.read(ProcText.Source.of(Files.writeString(folder.resolve("a file"), content)));
    }

    @Test
    void numberIsTheFirstWord() throws Exception {
        assertThat(of("17\n").number()).isEqualTo(17);
        assertThat(of(" \t0").number()).isZero();
        assertThat(of("9223372036854775807\n").number()).isEqualTo(Long.MAX_VALUE);
        for (String none : new String[] {"", "\n", "max\n", "-1\n", "1x\n", "9223372036854775808\n", "\n5\n"}) {
            assertThat(of(none).number()).as(none).isEqualTo(-1);
        }
    }

    @Test
    void fieldIsAfterItsWholeNameAtTheStartOfALine() throws Exception {
        of("a 1\nab 2\nb:   3 kB\nc max\n d 4\ne 5x\nlast 6");
        assertThat(text.field("a")).isEqualTo(1);
        assertThat(text.field("ab")).isEqualTo(2);
        assertThat(text.field("b:")).isEqualTo(3);
        assertThat(text.field("last")).isEqualTo(6);
        for (String none : new String[] {"b", "c", "d", "e", "las", "last 6", "last 60"}) {
            assertThat(text.field(none)).as(none).isEqualTo(-1);
        }
        assertThat(of("name").field("name")).isEqualTo(-1);
        assertThat(of("name ").field("name")).isEqualTo(-1);
        assertThat(of("name \nx 2").field("name")).isEqualTo(-1);
    }

    @Test
    void wholeFileIsRead() throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 10_000; i++) {
            lines.append("field").append(i).append(' ').append(i).append('\n');
        }
        assertThat(of(lines.toString()).field("field9999")).isEqualTo(9999);
        assertThat(text).hasToString(lines.toString());
        assertThat(of("short")).hasToString("short");
    }

    @Test
    void missingFileIsEmpty() throws Exception {
        assertThat(of("something").isSame(text.copy())).isTrue();
        var before = text.copy();
        text.read(ProcText.Source.of(folder.resolve("none")));
        assertThat(text).hasToString("");
        assertThat(text.number()).isEqualTo(-1);
        assertThat(text.field("something")).isEqualTo(-1);
        assertThat(text.isSame(before)).isFalse();
        assertThat(of("something else").isSame(before)).isFalse();
        assertThat(text.read(ProcText.Source.of(folder))).as("a folder").hasToString("");
    }
}
