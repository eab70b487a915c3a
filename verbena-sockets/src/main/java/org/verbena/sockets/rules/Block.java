// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** The rules below one {@code application-id}. Built by the parser, not changed after. */
public final class Block {
    private static final String ALL = "*";

    private final String program;
    private final String id;
    private final Pattern pattern;
    private final Rule.Place place;
    private final List<Rule> rules = new ArrayList<>();

    /** @throws PatternSyntaxException if the program's name has a set in it that is none */
    Block(String program, String id, Rule.Place place) {
        this.program = program;
        this.id = id;
        this.place = place;
        pattern = glob(program);
    }

    /** For rules before any {@code application-id}: they are for every program. */
    static Block implicit(String source) {
        return new Block(ALL, ALL, new Rule.Place(source, 1, 1, "(before any application-id)"));
    }

    void add(Rule rule) {
        rules.add(rule);
    }

    boolean is(String otherProgram, String otherId) {
        return program.equals(otherProgram) && id.equals(otherId);
    }

    boolean isForAll() {
        return program.equals(ALL) && id.equals(ALL);
    }

    boolean matches(Application a) {
        String other = a.id();
        if (!id.equals(ALL) && other != null && !id.equals(other)) {
            return false;
        }
        if (a.names().isEmpty()) {
            return true;
        }
        for (String name : a.names()) {
            if (pattern.matcher(name).matches()) {
                return true;
            }
        }
        return false;
    }

    /** Where it begins. */
    public Rule.Place place() {
        return place;
    }

    /** In the order of the text. */
    public List<Rule> rules() {
        return List.copyOf(rules);
    }

    /** As fnmatch(3): {@code *}, {@code ?}, sets in brackets, and a backslash before what is to be itself. */
    private static Pattern glob(String glob) {
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            int end = c == '[' ? glob.indexOf(']', i + 2) : -1;
            if (c == '*') {
                regex.append(".*");
            } else if (c == '?') {
                regex.append('.');
            } else if (end > 0) {
                String set = glob.substring(i + 1, end).replace("\\", "\\\\").replace("[", "\\[").replace("&", "\\&")
                        .replace("^", "\\^");
                regex.append('[').append(set.startsWith("!") ? "^" + set.substring(1) : set).append(']');
                i = end;
            } else {
                if (c == '\\' && i + 1 < glob.length()) {
                    c = glob.charAt(++i);
                }
                regex.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return Pattern.compile(regex.toString(), Pattern.DOTALL);
    }
}
