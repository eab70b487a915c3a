package org.verbena.tests.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.jspecify.annotations.Nullable;

/**
 * A row of the table: two commands, or one, and what has to come of them.
 *
 * @param family of addresses: 4 or 6
 * @param server started first; may be absent
 * @param ready when the server can be asked; empty for at once
 * @param netem what {@code tc netem} does to what virtual machines send and receive
 * @param expected what has to be found in the output, all of it
 * @param wire what has to be found in the capture: {@code roce}, {@code any}
 */
record Row(String name, int family, @Nullable Command server, List<String> ready, Command client,
        List<Netem> netem, List<Expectation> expected, Duration limit, String wire) {
    static final String SERVER = "server";
    static final String CLIENT = "client";
    private static final String NETEM_IN = "netem-in";
    private static final Set<String> PLACES = Set.of("host", "a", "b");
    private static final Set<String> KEYS = Set.of("vary", "ip", SERVER, "ready", CLIENT, "netem", NETEM_IN,
            "expect", "limit", "wire");
    /** What a command may name besides places. */
    private static final Set<String> VARIABLES = Set.of("java", "tests", "verbena");

    /** A command and the place where it runs. */
    record Command(String place, String text) {
        private static final Pattern ASSIGNMENTS = Pattern.compile("^(?:\\w+=(?:'[^']*'|\\S*) +)+");
        private static final Pattern MAIN_CLASS = Pattern.compile(" org\\.verbena\\.\\S*\\.(\\w+)");
        private static final Pattern OURS = Pattern.compile("^(?:\\{verbena}|/share/verbena) (\\w+)");

        /** The name of the program, or of the class that a JVM starts with; of Verbena, which command. */
        String program() {
            String command = ASSIGNMENTS.matcher(text).replaceFirst("");
            Matcher main = MAIN_CLASS.matcher(command);
            if (main.find()) {
                return main.group(1);
            }
            Matcher ours = OURS.matcher(command);
            return ours.find()
                    ? "verbena " + ours.group(1)
                    : command.replaceFirst(" .*", "").replaceFirst(".*/", "");
        }
    }

    /** What has to be found in the output of a command, by its role: {@code server} or {@code client}. */
    record Expectation(String role, Pattern text) {}

    /** Of a place in the lab: addresses that are for documents, RFC 5737 and RFC 3849. */
    static String address(int family, int number) {
        return family == 4 ? "192.0.2." + number : "2001:db8::" + number;
    }

    /** Its name and, behind a slash, the family of addresses. */
    String title() {
        return name + "/" + family;
    }

    /** The places it needs. */
    Set<String> places() {
        Set<String> places = new LinkedHashSet<>();
        if (server != null) {
            places.add(server.place);
        }
        places.add(client.place);
        netem.forEach(n -> places.add(n.machine()));
        return places;
    }

    /** Whether one of its commands has this text. */
    boolean mentions(String text) {
        return client.text.contains(text) || (server != null && server.text.contains(text));
    }

    /** The rows of a file, in the grammar of {@code docs/lab.md}. */
    static List<Row> in(Path file) throws IOException {
        List<Row> rows = new ArrayList<>();
        String name = null;
        Map<String, List<String>> values = new LinkedHashMap<>();
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            String text = line.strip();
            if (text.isEmpty() || text.startsWith("#")) {
                continue;
            }
            try {
                if (text.startsWith("[") && text.endsWith("]")) {
                    addEach(name, values, rows);
                    name = text.substring(1, text.length() - 1);
                    values.clear();
                } else {
                    String[] words = text.split("\\s+", 2);
                    if (name == null || !KEYS.contains(words[0]) || words.length < 2) {
                        throw new IllegalArgumentException("'" + text + "' is neither [NAME] nor one of "
                                + KEYS.stream().sorted().toList() + " and what it is");
                    }
                    values.computeIfAbsent(words[0], k -> new ArrayList<>()).add(words[1]);
                }
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(file + ", line " + number + ": " + e.getMessage(), e);
            }
        }
        try {
            addEach(name, values, rows);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ", line " + number + ": " + e.getMessage(), e);
        }
        return rows;
    }

    /**
     * Each command in one family of addresses. Of two rows of a name the first or the second, in an order that has no
     * period, so that what alternates in a file, as directions do, meets both families.
     */
    static List<Row> brief(List<Row> rows) {
        Map<String, List<Row>> commands = new LinkedHashMap<>();
        rows.forEach(r -> commands.computeIfAbsent(r.name, n -> new ArrayList<>()).add(r));
        List<Row> brief = new ArrayList<>();
        int turn = 0; // of Thue and Morse
        for (List<Row> families : commands.values()) {
            brief.add(families.size() == 1 ? families.getFirst() : families.get(Integer.bitCount(turn++) & 1));
        }
        return brief;
    }

    /** One for each combination of what varies, and named by it. */
    private static void addEach(@Nullable String name, Map<String, List<String>> values, List<Row> rows) {
        if (name == null) {
            return;
        }
        List<String> vary = values.getOrDefault("vary", List.of());
        if (vary.isEmpty()) {
            add(name, values, rows);
            return;
        }
        String[] words = vary.getFirst().split("\\s+", -1);
        if (words.length < 3 || !words[0].matches("[a-z]+")) {
            throw new IllegalArgumentException("vary " + vary.getFirst() + ": has a name and at least two values");
        }
        List<String> each = List.of(words).subList(1, words.length);
        if (PLACES.contains(words[0]) || VARIABLES.contains(words[0])) {
            throw new IllegalArgumentException("vary " + vary.getFirst() + ": {" + words[0]
                    + "} is a variable already: take another name");
        }
        for (String value : each) {
            if (each.indexOf(value) != each.lastIndexOf(value)) {
                throw new IllegalArgumentException("vary " + vary.getFirst() + ": the value " + value
                        + " is there twice");
            }
        }
        if (values.entrySet().stream().filter(e -> !e.getKey().equals("vary")).flatMap(e -> e.getValue().stream())
                .noneMatch(t -> t.contains("{" + words[0] + "}"))) {
            throw new IllegalArgumentException("vary " + vary.getFirst() + ": no line of [" + name + "] has {"
                    + words[0] + "}");
        }
        for (String value : each) {
            Map<String, List<String>> one = new LinkedHashMap<>();
            values.forEach((k, v) -> one.put(k, v.stream().map(t -> t.replace("{" + words[0] + "}", value)).toList()));
            one.put("vary", vary.subList(1, vary.size()));
            addEach(name + "-" + value, one, rows);
        }
    }

    private static void add(String name, Map<String, List<String>> values, List<Row> rows) {
        if (!values.containsKey(CLIENT)) {
            throw new IllegalArgumentException("[" + name + "] has no client");
        }
        List<Expectation> expected = new ArrayList<>();
        for (String e : values.getOrDefault("expect", List.of())) {
            String[] words = two(e, Set.of(SERVER, CLIENT));
            try {
                expected.add(new Expectation(words[0], Pattern.compile(words[1])));
            } catch (PatternSyntaxException x) {
                throw new IllegalArgumentException("expect " + e + ": " + x.getDescription(), x);
            }
        }
        List<Netem> netem = new ArrayList<>();
        for (String key : List.of("netem", NETEM_IN)) {
            for (String n : values.getOrDefault(key, List.of())) {
                String[] words = two(n, Set.of("a", "b"));
                netem.add(new Netem(words[0], key.equals(NETEM_IN), words[1]));
            }
        }
        if (netem.stream().map(n -> n.machine() + n.incoming()).distinct().count() < netem.size()) {
            throw new IllegalArgumentException("[" + name + "] has netem for one machine and direction twice");
        }
        String wire = one(values, "wire", "roce");
        if (!Set.of("roce", "any").contains(wire)) {
            throw new IllegalArgumentException("wire is roce or any, not " + wire);
        }
        Duration limit = Duration.ofSeconds(Long.parseLong(one(values, "limit", "60")));
        List<String> ready = values.containsKey("ready")
                ? List.of(two(one(values, "ready", ""), Set.of("tcp", "rdma",
                        "text")))
                : List.of();
        for (String family : one(values, "ip", "4").split("\\s+", -1)) {
            if (!Set.of("4", "6").contains(family)) {
                throw new IllegalArgumentException("ip is 4, 6 or both, not " + family);
            }
            Row row = new Row(name, Integer.parseInt(family), values.containsKey(SERVER)
                    ? command(one(values, SERVER, ""))
                    : null, ready, command(one(values, CLIENT, "")), List.copyOf(netem), List.copyOf(expected),
                    limit, wire);
            if (rows.stream().anyMatch(r -> r.title().equals(row.title()))) {
                throw new IllegalArgumentException(row.title() + " is there twice");
            }
            rows.add(row);
        }
    }

    private static Command command(String text) {
        String[] words = two(text, PLACES);
        return new Command(words[0], words[1]);
    }

    private static String[] two(String text, Set<String> first) {
        String[] words = text.split("\\s+", 2);
        if (words.length < 2 || !first.contains(words[0])) {
            throw new IllegalArgumentException("'" + text + "' does not begin with one of " + first.stream().sorted()
                    .toList());
        }
        return words;
    }

    private static String one(Map<String, List<String>> values, String key, String otherwise) {
        List<String> all = values.getOrDefault(key, List.of(otherwise));
        if (all.size() > 1) {
            throw new IllegalArgumentException(key + " is there " + all.size() + " times");
        }
        return all.getFirst();
    }
}
