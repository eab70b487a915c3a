// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.cli.Main;

class TypographyTest {
    private static String written(String text, Charset terminal) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintWriter out = Typography.writer(bytes, terminal);
        out.print(text);
        out.print(text.charAt(0));
        out.write(text.toCharArray(), 1, text.length() - 1);
        out.flush();
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void asciiTerminalGetsAsciiOnly() {
        String text = "→ wait… 3 µs: ä";
        assertThat(written(text, StandardCharsets.UTF_8)).isEqualTo(text + text);
        assertThat(written(text, StandardCharsets.US_ASCII)).isEqualTo("-> wait... 3 us: ä".repeat(2));
        assertThat(written(text, StandardCharsets.ISO_8859_1)).isEqualTo("-> wait... 3 µs: ä".repeat(2));
    }

    /** Its own description: the first special characters that a user without UTF-8 sees. */
    @Test
    void everySpecialCharacterOfTheHelpHasAReplacement() {
        for (String command : List.of("perf", "run", "perftest", "copy")) {
            String help = Main.commandLine(command).getSubcommands().get(command)
                    .getUsageMessage();
            assertThat(written(help, StandardCharsets.US_ASCII)).as(command).matches("\\p{ASCII}*");
        }
    }
}
