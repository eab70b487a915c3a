// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

/** A place in the text of a script. */
final class Cursor {
    private static final int SHOWN = 20;

    private final String file;
    private final String text;
    private int at;

    Cursor(String file, String text) {
        this.file = file;
        this.text = text;
    }

    /** Goes on to what is neither space nor comment, on this line or a later one. */
    void skip() {
        while (at < text.length()) {
            if (Character.isWhitespace(text.charAt(at))) {
                at++;
            } else if (text.startsWith("//", at)) {
                skipTo("\n");
            } else if (text.startsWith("/*", at)) {
                at += 2;
                skipTo("*/");
            } else {
                return;
            }
        }
    }

    private void skipTo(String end) {
        int i = text.indexOf(end, at);
        at = i < 0 ? text.length() : i + end.length();
    }

    boolean atEnd() {
        skip();
        return at >= text.length();
    }

    int line() {
        return 1 + (int) text.substring(0, at).chars().filter(c -> c == '\n').count();
    }

    /** Where the next text is that is neither space nor comment; goes nowhere. */
    private int ahead() {
        int before = at;
        skip();
        int ahead = at;
        at = before;
        return ahead;
    }

    /** The next character that counts; 0 at the end. */
    char peek() {
        int ahead = ahead();
        return ahead < text.length() ? text.charAt(ahead) : 0;
    }

    boolean looksAt(String s) {
        return text.startsWith(s, ahead());
    }

    /** Takes a text, if it is next. */
    boolean take(String s) {
        if (looksAt(s)) {
            at = ahead() + s.length();
            return true;
        }
        return false;
    }

    /** Takes a word, if it is next, and no longer one. */
    boolean takeWord(String s) {
        if (s.equals(peekWord())) {
            at = ahead() + s.length();
            return true;
        }
        return false;
    }

    /** The word that is next, which may be empty; it is not taken. */
    String peekWord() {
        int start = ahead();
        int end = start;
        while (end < text.length() && isWordPart(text.charAt(end))) {
            end++;
        }
        return text.substring(start, end);
    }

    private static boolean isWordPart(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_';
    }

    void expect(String s) throws ParseException {
        if (!take(s)) {
            throw wrong("'" + s + "'");
        }
    }

    /** Takes a word. */
    String word(String what) throws ParseException {
        String w = peekWord();
        if (w.isEmpty()) {
            throw wrong(what);
        }
        at = ahead() + w.length();
        return w;
    }

    /** Takes what is up to the next space. */
    String untilSpace() {
        int start = at;
        while (at < text.length() && !Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.substring(start, at);
    }

    /** Takes what is up to a text, and the text. */
    String until(String end) throws ParseException {
        int i = text.indexOf(end, at);
        if (i < 0) {
            throw wrong("'" + end + "' somewhere behind");
        }
        String s = text.substring(at, i);
        at = i + end.length();
        return s;
    }

    /** Takes a run of these characters, which may be empty. */
    String run(String characters) {
        skip();
        int start = at;
        while (at < text.length() && characters.indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return text.substring(start, at);
    }

    /** Whether a digit is next. */
    boolean atDigit() {
        char c = peek();
        return c >= '0' && c <= '9';
    }

    /** Whether the character right here, space counted, is that. */
    boolean touches(char c) {
        return at < text.length() && text.charAt(at) == c;
    }

    /** Takes a decimal number up to a limit. */
    long number(String what, long max) throws ParseException {
        if (!atDigit()) {
            throw wrong(what);
        }
        int start = ahead();
        String digits = run("0123456789");
        try {
            long n = Long.parseLong(digits);
            if (n <= max) {
                return n;
            }
        } catch (NumberFormatException e) {
            // too long, which is said below
        }
        at = start;
        throw wrong(what + " of at most " + max);
    }

    /** Takes a number that may be in hexadecimal ({@code 0x}). */
    long anyNumber(String what, long max) throws ParseException {
        if (!take("0x")) {
            return number(what, max);
        }
        String digits = run("0123456789abcdefABCDEF");
        if (digits.isEmpty() || digits.length() > 15 || Long.parseLong(digits, 16) > max) {
            throw wrong(what + " of at most " + max);
        }
        return Long.parseLong(digits, 16);
    }

    /** Goes to a place that was {@link #place} before. */
    void back(int place) {
        at = place;
    }

    int place() {
        return at;
    }

    ParseException wrong(String expected) {
        int line = line();
        skip();
        String found = at >= text.length()
                ? "the end"
                : "'" + text.substring(at, Math.min(text.length(), at + SHOWN)).lines().findFirst().orElse("") + "'";
        return new ParseException(file, line, expected, found);
    }
}
