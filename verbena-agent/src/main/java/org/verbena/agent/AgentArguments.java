// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

/**
 * The arguments after {@code verbena-agent.jar=}: {@code key=value}, separated by commas, where a key is a system
 * property, with or without {@code verbena.} before it, and {@code \,} is a comma inside a value; the word
 * {@code quiet} alone.
 */
final class AgentArguments {
    private static final String PREFIX = "verbena.";
    private static final String QUIET = "quiet";

    /** A property to set, and its column in the arguments. */
    private record Setting(int column, String name, String value) {}

    private final List<Setting> settings = new ArrayList<>();

    private boolean quiet;

    private AgentArguments() {}

    /** Whether to print nothing. */
    boolean isQuiet() {
        return quiet;
    }

    /** Whether there is nothing to set. */
    boolean isEmpty() {
        return settings.isEmpty();
    }

    /** @throws IllegalArgumentException with the column, if it is malformed */
    static AgentArguments parse(String text) {
        AgentArguments all = new AgentArguments();
        if (text.isEmpty()) {
            return all;
        }
        int start = 0;
        while (start <= text.length()) {
            int end = start;
            StringBuilder part = new StringBuilder();
            while (end < text.length() && text.charAt(end) != ',') {
                if (text.startsWith("\\,", end)) {
                    end++;
                }
                part.append(text.charAt(end++));
            }
            all.add(start + 1, part.toString());
            start = end + 1;
        }
        return all;
    }

    private void add(int column, String part) {
        int equals = part.indexOf('=');
        if (part.equals(QUIET)) {
            quiet = true;
            return;
        }
        if (equals <= 0) {
            throw rejection(column, part.isEmpty()
                    ? "nothing between two commas"
                    : "'" + part + "' is neither 'quiet' nor key=value");
        }
        String key = part.substring(0, equals);
        settings.add(new Setting(column, key.startsWith(PREFIX) ? key : PREFIX + key, part.substring(equals + 1)));
    }

    /**
     * Sets the properties, all or none.
     *
     * @param refusal why a name and a value are refused, null if they are not
     * @throws IllegalArgumentException with the column, for the first that is refused
     */
    void set(BiFunction<String, String, @Nullable String> refusal) {
        for (Setting s : settings) {
            String why = refusal.apply(s.name, s.value);
            if (why != null) {
                throw rejection(s.column, "'" + s.name.substring(PREFIX.length()) + "' " + why);
            }
        }
        settings.forEach(s -> System.setProperty(s.name, s.value));
    }

    private static IllegalArgumentException rejection(int column, String why) {
        return new IllegalArgumentException("agent arguments, line 1, column " + column + ": " + why);
    }
}
