// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;

/** {@code #ifdef}, {@code #ifndef}, {@code #else} and {@code #endif}: what is left out becomes empty lines. */
final class Preprocessor {
    /** Whether one branch was on, and whether the one here is. */
    private record Branch(boolean outer, boolean on) {}

    private Preprocessor() {}

    static String run(String file, String text, Set<String> defined) throws ParseException {
        StringBuilder out = new StringBuilder(text.length());
        Deque<Branch> open = new ArrayDeque<>();
        int line = 0;
        for (String l : text.split("\n", -1)) {
            line++;
            String[] words = l.strip().split("\\s+", -1);
            boolean on = open.isEmpty() || open.peek().on();
            switch (words[0]) {
                case "#ifdef", "#ifndef" -> {
                    if (words.length < 2) {
                        throw new ParseException(file, line, "a name", "the end of the line");
                    }
                    open.push(new Branch(on, on && defined.contains(words[1]) == words[0].equals("#ifdef")));
                }
                case "#else", "#endif" -> {
                    if (open.isEmpty()) {
                        throw new ParseException(file, line, "#ifdef before", "'" + words[0] + "'");
                    }
                    Branch b = open.pop();
                    if (words[0].equals("#else")) {
                        open.push(new Branch(b.outer(), b.outer() && !b.on()));
                    }
                }
                default -> out.append(on ? l : "");
            }
            out.append('\n');
        }
        if (!open.isEmpty()) {
            throw new ParseException(file, line, "#endif", "the end");
        }
        return out.toString();
    }
}
