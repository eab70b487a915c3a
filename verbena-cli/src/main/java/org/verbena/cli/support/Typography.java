// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.FilterWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Text for a terminal that may have no arrows: if it supports only ASCII, special characters of the command are
 * replaced by ASCII, too.
 */
public final class Typography extends FilterWriter {
    private static final Map<Character, String> PLAIN = Map.of('→', "->", '…', "...", 'µ', "u", '×', "x", '—', "-");

    private final CharsetEncoder terminal;

    private Typography(Writer out, Charset terminal) {
        super(out);
        this.terminal = terminal.newEncoder();
    }

    /** Everything else is UTF-8, whatever the terminal supports: names of files, and JSON. */
    public static PrintWriter writer(OutputStream to, Charset terminal) {
        return new PrintWriter(new Typography(new OutputStreamWriter(to, StandardCharsets.UTF_8), terminal), true);
    }

    @Override
    public void write(int c) throws IOException {
        String plain = PLAIN.get((char) c);
        if (plain != null && !terminal.canEncode((char) c)) {
            out.write(plain);
        } else {
            out.write(c);
        }
    }

    @Override
    public void write(char[] text, int from, int length) throws IOException {
        write(new String(text, from, length), 0, length);
    }

    @Override
    public void write(String text, int from, int length) throws IOException {
        int done = from;
        for (int i = from; i < from + length; i++) {
            if (text.charAt(i) > 0x7f && PLAIN.containsKey(text.charAt(i))) {
                out.write(text, done, i - done);
                write(text.charAt(i));
                done = i + 1;
            }
        }
        out.write(text, done, from + length - done);
    }
}
