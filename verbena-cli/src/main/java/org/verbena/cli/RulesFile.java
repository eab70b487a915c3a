package org.verbena.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.verbena.sockets.rules.Block;
import org.verbena.sockets.rules.RuleParser;

/** Reads a file of rules. */
final class RulesFile {
    private RulesFile() {}

    /** @throws IOException if it cannot be read; {@link IllegalArgumentException} with line and column if it is malformed */
    static List<Block> read(Path file) throws IOException {
        String text;
        try {
            text = Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new IOException("the file of rules " + file + " cannot be read: " + e, e);
        }
        return RuleParser.parse(file.toString(), text);
    }
}
