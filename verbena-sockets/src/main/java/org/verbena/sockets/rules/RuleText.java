// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.util.Collection;

/** A text that is read from left to right, and where the reader is. */
final class RuleText {
    private final String source;
    private final String text;
    private int at;
    private int line = 1;
    private int lineStart;

    RuleText(String source, String text) {
        this.source = source;
        this.text = text;
    }

    String source() {
        return source;
    }

    int position() {
        return at;
    }

    int line() {
        return line;
    }

    int column(int position) {
        return position - lineStart + 1;
    }

    /** The line that the reader is in, without blanks around it and a comment after it. */
    String lineText() {
        int end = text.indexOf('\n', lineStart);
        String all = text.substring(lineStart, end < 0 ? text.length() : end);
        int comment = all.indexOf('#');
        return (comment < 0 ? all : all.substring(0, comment)).strip();
    }

    /** Passes over blanks and a comment, in this line. */
    void skipBlanks() {
        while (at < text.length() && isBlank(text.charAt(at))) {
            at++;
        }
        if (at < text.length() && text.charAt(at) == '#') {
            int end = text.indexOf('\n', at);
            at = end < 0 ? text.length() : end;
        }
    }

    /** Passes over whole lines with nothing in them; false at the end of the text. */
    boolean skipLines() {
        skipBlanks();
        while (at < text.length() && text.charAt(at) == '\n') {
            at++;
            line++;
            lineStart = at;
            skipBlanks();
        }
        return at < text.length();
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t' || c == '\r' || c == '\f';
    }

    boolean isLineEnd() {
        skipBlanks();
        return at == text.length() || text.charAt(at) == '\n';
    }

    /** The next character of this line, blanks passed over; a line feed at its end. */
    char peek() {
        return isLineEnd() ? '\n' : text.charAt(at);
    }

    boolean take(char c) {
        if (peek() != c) {
            return false;
        }
        at++;
        return true;
    }

    /** Up to the next blank, comment or end of line. */
    String word() {
        skipBlanks();
        int start = at;
        while (at < text.length() && !isBlank(text.charAt(at)) && text.charAt(at) != '\n' && text.charAt(at) != '#') {
            at++;
        }
        return text.substring(start, at);
    }

    /** As long as the characters are among these; without passing over blanks. */
    String run(String among) {
        int start = at;
        while (at < text.length() && among.indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return text.substring(start, at);
    }

    /** That the word at {@code start} is not one of those that may stand there. */
    RuleSyntaxException unknown(int start, String word, Collection<?> allowed) {
        String may = String.join(", ", allowed.stream().map(String::valueOf).toList());
        return error(start, word.isEmpty()
                ? "the line ends, here must be one of " + may
                : "unknown word '" + word + "', here must be one of " + may);
    }

    RuleSyntaxException error(int start, String what) {
        return new RuleSyntaxException(source, line, column(start), what);
    }

    /** What is next, for a message. */
    String next() {
        return isLineEnd() ? "the end of the line" : "'" + text.charAt(at) + "'";
    }
}
