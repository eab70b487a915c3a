// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/** Reads a file of rules, which is UTF-8; in its comments there may be anything. */
public final class RulesFile {
    private static final char REPLACEMENT = '\ufffd';

    private RulesFile() {}

    /**
     * Reads it whole.
     *
     * @return the blocks in the order in which they are tried
     * @throws IOException if it cannot be read
     * @throws RuleSyntaxException if it is malformed, or no UTF-8 outside comments
     */
    public static List<Block> read(Path file) throws IOException {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(file);
        } catch (IOException e) {
            throw new IOException("the file of rules " + file + " cannot be read (" + reason(e) + ")", e);
        }
        return RuleParser.parse(file.toString(), text(file.toString(), bytes));
    }

    private static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "this user may not read it";
            default -> String.valueOf(e.getMessage());
        };
    }

    /** Decodes it; what is malformed in a comment becomes a replacement character. */
    static String text(String source, byte[] bytes) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer in = ByteBuffer.wrap(bytes);
        CharBuffer out = CharBuffer.allocate(bytes.length); // a byte is a character at most
        CoderResult r = decoder.decode(in, out, true);
        while (r.isError()) {
            requireComment(source, out, bytes[in.position()]);
            in.position(in.position() + r.length());
            out.put(REPLACEMENT);
            r = decoder.decode(in, out, true);
        }
        return out.flip().toString();
    }

    /** The grammar quotes nothing: a {@code #} begins a comment wherever it stands. */
    private static void requireComment(String source, CharBuffer before, byte malformed) {
        int lineStart = before.position();
        while (lineStart > 0 && before.get(lineStart - 1) != '\n') {
            lineStart--;
            if (before.get(lineStart) == '#') {
                return;
            }
        }
        int line = 1;
        for (int i = 0; i < lineStart; i++) {
            line += before.get(i) == '\n' ? 1 : 0;
        }
        throw new RuleSyntaxException(source, line, before.position() - lineStart + 1, "the byte 0x"
                + Integer.toHexString(malformed & 0xff) + " is not UTF-8 here: write the file in that encoding");
    }
}
