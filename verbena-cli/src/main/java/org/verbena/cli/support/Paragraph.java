// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.util.ArrayList;
import java.util.List;

/** Sentences in lines of a certain width. */
public final class Paragraph {
    private Paragraph() {}

    /** Breaks a text at blanks; a word that is longer than a line is broken where the line ends. */
    public static List<String> wrap(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String whole : text.replaceAll("\\p{Cntrl}", "?").strip().split(" +", -1)) {
            String word = whole;
            while (!word.isEmpty()) {
                int room = line.isEmpty() ? width : width - line.length() - 1;
                if (word.length() <= room) {
                    line.append(line.isEmpty() ? "" : " ").append(word);
                    word = "";
                } else if (line.isEmpty()) {
                    lines.add(word.substring(0, width));
                    word = word.substring(width);
                } else {
                    lines.add(line.toString());
                    line.setLength(0);
                }
            }
        }
        if (!line.isEmpty() || lines.isEmpty()) {
            lines.add(line.toString());
        }
        return lines;
    }
}
