// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HumanText;

/**
 * What is sent when: a file with a line {@code seconds, bytes} for each message, in the order of time; {@code #} begins a comment.
 */
final class Playback {
    private static final double LONGEST_SECONDS = 36_000_000;

    private final long[] nanos;
    private final int[] bytes;

    private record Line(long nanos, int bytes) {}

    private Playback(List<Line> lines) {
        nanos = lines.stream().mapToLong(Line::nanos).toArray();
        bytes = lines.stream().mapToInt(Line::bytes).toArray();
    }

    static Playback read(Path file) throws IOException {
        List<Line> all = new ArrayList<>();
        try (BufferedReader in = Files.newBufferedReader(file)) {
            int number = 0;
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                number++;
                String text = line.replaceFirst("#.*", "").strip();
                if (!text.isEmpty()) {
                    String where = "line " + number + " of " + file + ", '" + HumanText.printable(text) + "', ";
                    Line l = parse(where, text);
                    if (!all.isEmpty() && l.nanos < all.getLast().nanos) {
                        throw new CommandException(where + "is earlier than the line before it");
                    }
                    all.add(l);
                }
            }
        } catch (CharacterCodingException e) {
            throw new CommandException(file + " is no text", e);
        }
        if (all.isEmpty()) {
            throw new CommandException(file + " has no message: a line is SECONDS, BYTES");
        }
        return new Playback(all);
    }

    private static Line parse(String where, String text) throws CommandException {
        String[] two = text.split("\\s*,\\s*", -1);
        try {
            if (two.length == 2) {
                double seconds = Double.parseDouble(two[0]);
                int bytes = Integer.parseInt(two[1]);
                if (!(seconds >= 0 && seconds <= LONGEST_SECONDS)) {
                    throw new CommandException(where + "has a time that is not 0 to 36000000 seconds");
                }
                if (bytes < Message.HEADER_BYTES || bytes > Message.MAX_BYTES) {
                    throw new CommandException(where + "has a size that is not " + Message.HEADER_BYTES + " to "
                            + Message.MAX_BYTES + " bytes");
                }
                return new Line((long) (seconds * 1e9), bytes);
            }
        } catch (NumberFormatException e) {
            // falls through
        }
        throw new CommandException(where + "is not SECONDS, BYTES");
    }

    int count() {
        return nanos.length;
    }

    /** When a message is to be sent, since the begin. */
    long nanos(int i) {
        return nanos[i];
    }

    /** Its length. */
    int bytes(int i) {
        return bytes[i];
    }
}
