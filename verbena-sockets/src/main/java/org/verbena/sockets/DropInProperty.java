// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A system property of the sockets, which the agent's arguments may set too. No pattern is compiled before there is a
 * value to match, and each once: few programs set any, and all of them come by here when they open their first channel.
 */
final class DropInProperty {
    private static final String PREFIX = "verbena.";
    private static final String DIGITS = "\\d{1,19}";

    private static final List<DropInProperty> ALL = List.of(
            of("classic", "on|off", "on or off"),
            of("counters", "on|off", "on or off"),
            of("counters.directory", ".+", "a folder"),
            number("counters.sockets", 0, 1 << 18, "a number of sockets"),
            of("application", ".+", "a name"),
            of("application.id", ".+", "an id"),
            of("latency", "on|off", "on or off"),
            of("offload", "on|off", "on or off"),
            of("rules", ".+", "rules, with semicolons between them"),
            of("rules.file", ".+", "a file"),
            number("spin", 0, 1_000_000, "microseconds"),
            number("stream.delay", 0, 60_000_000, "microseconds"),
            number("stream.earn", 0, Long.MAX_VALUE, "bytes"),
            of("stream.device", ".+", "a device"),
            number("stream.lap", 64, 1 << 30, "bytes"),
            number("stream.memory", 1, Long.MAX_VALUE, "bytes"),
            number("stream.patience", 1, 600_000, "milliseconds"),
            number("stream.port", 1, 65_535, "a port"),
            number("stream.ring", 4 << 10, 64 << 20, "bytes"),
            number("stream.wait", 0, 600_000, "milliseconds"),
            of("summary", ".+", "stderr or a file"),
            of("shm.trusted-uids", "\\d{1,10}(,\\d{1,10})*", "user numbers, with commas between them"));

    /** Those that do not belong to the sockets: output of the agent, and settings of other parts of Verbena. */
    private static final List<String> OTHERS = List.of("verbena.agent", "verbena.erm.", "verbena.ibverbs",
            "verbena.perf.", "verbena.rdmacm", "verbena.roce.", "verbena.test.");

    private final String name;
    private final String values;
    private final long least;
    private final long most;
    private final String takes;
    /** Of {@link #values}; null until there is one to match. Several threads may compile it. */
    private @Nullable Pattern pattern;

    /**
     * @param name after {@code verbena.}
     * @param values a pattern of what it takes
     * @param least if it is a number, and
     * @param most more than least then
     * @param takes what values it takes, for a person
     */
    private DropInProperty(String name, String values, long least, long most, String takes) {
        this.name = name;
        this.values = values;
        this.least = least;
        this.most = most;
        this.takes = takes;
    }

    private static DropInProperty of(String name, String values, String takes) {
        return new DropInProperty(name, values, 0, 0, takes);
    }

    private static DropInProperty number(String name, long least, long most, String what) {
        return new DropInProperty(name, DIGITS, least, most, most == Long.MAX_VALUE
                ? what + ", " + least + " or more"
                : what + ", " + least + " to " + most);
    }

    private boolean isTaken(String value) {
        Pattern compiled = pattern;
        if (compiled == null) {
            compiled = Pattern.compile(values);
            pattern = compiled;
        }
        if (!compiled.matcher(value).matches()) {
            return false;
        }
        try {
            return least == most || Math.clamp(Long.parseLong(value), least, most) == Long.parseLong(value);
        } catch (NumberFormatException tooLarge) {
            return false;
        }
    }

    /** What is wrong with the properties that are set, as a sentence; null if nothing is. */
    static @Nullable String wrong() {
        for (DropInProperty p : ALL) {
            String value = System.getProperty(PREFIX + p.name);
            if (value != null && !p.isTaken(value)) {
                return problem(PREFIX + p.name, p.refuses(value));
            }
        }
        return null;
    }

    /** The first unknown property that is set, by name, as a sentence; null if there is none. */
    static @Nullable String unknown() {
        String first = null;
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith(PREFIX) && !isKnown(name) && (first == null || name.compareTo(first) < 0)) {
                first = name;
            }
        }
        return first == null ? null : problem(first, unknownName());
    }

    /** Whether something of Verbena reads it. */
    static boolean isKnown(String name) {
        for (String o : OTHERS) {
            if (name.startsWith(o)) {
                return true;
            }
        }
        for (DropInProperty p : ALL) {
            if (name.equals(PREFIX + p.name)) {
                return true;
            }
        }
        return false;
    }

    private static String problem(String name, String why) {
        return "the system property " + name + " " + why;
    }

    static @Nullable String refusal(String name, String value) {
        for (DropInProperty p : ALL) {
            if (name.equals(PREFIX + p.name)) {
                return p.isTaken(value) ? null : p.refuses(value);
            }
        }
        return unknownName();
    }

    private static String unknownName() {
        return "is not known; there are " + ALL.stream().map(p -> p.name).collect(Collectors.joining(", "));
    }

    private String refuses(String value) {
        return "takes " + takes + ", not '" + value + "'";
    }
}
