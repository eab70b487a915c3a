package org.verbena.sockets;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A system property that may be set by the agent's arguments.
 *
 * @param name after {@code verbena.}
 * @param values as a regular expression
 * @param takes what values it takes, for a person
 */
record DropInProperty(String name, Pattern values, String takes) {
    private static final String PREFIX = "verbena.";

    private static final List<DropInProperty> ALL = List.of(
            of("classic", "on|off", "on or off"),
            of("counters", "on|off", "on or off"),
            of("counters.directory", ".+", "a folder"),
            of("counters.sockets", "\\d{1,6}", "a number of sockets"),
            of("application", ".+", "a name"),
            of("application.id", ".+", "an id"),
            of("offload", "on|off", "on or off"),
            of("rules", ".+", "rules, with semicolons between them"),
            of("rules.file", ".+", "a file"),
            of("spin", "\\d{1,9}", "microseconds"),
            of("stream.device", ".+", "a device"),
            of("stream.memory", "\\d{1,18}", "bytes"),
            of("stream.patience", "\\d{1,6}", "milliseconds"),
            of("stream.ring", "\\d{1,9}", "bytes"),
            of("summary", ".+", "stderr or a file"),
            of("shm.trusted-uids", "\\d{1,10}(,\\d{1,10})*", "user numbers, with commas between them"));

    private static DropInProperty of(String name, String values, String takes) {
        return new DropInProperty(name, Pattern.compile(values), takes);
    }

    /** What is wrong with the property as it is set, as a sentence; null if nothing is. */
    static @Nullable String mistake(String name) {
        String value = System.getProperty(PREFIX + name);
        String why = value == null ? null : refusal(PREFIX + name, value);
        return why == null ? null : "the system property " + PREFIX + name + " " + why;
    }

    static @Nullable String refusal(String name, String value) {
        for (DropInProperty p : ALL) {
            if (name.equals(PREFIX + p.name)) {
                return p.values.matcher(value).matches() ? null : "takes " + p.takes + ", not '" + value + "'";
            }
        }
        return "is not known; there are " + ALL.stream().map(DropInProperty::name).collect(Collectors.joining(", "));
    }
}
