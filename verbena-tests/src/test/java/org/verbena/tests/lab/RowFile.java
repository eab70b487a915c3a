// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.tests.lab.Row.Command;
import org.verbena.tests.lab.Row.Expectation;

/** A file of rows, in the grammar of {@code docs/lab.md}. */
final class RowFile {
    private static final String NETEM_IN = "netem-in";
    private static final String VARY = "vary";
    private static final String LET = "let";
    private static final String IP = "ip";
    /** Behind it a key, and what stands for all the lines of that key in brief; or {@link #NO}. */
    private static final String BRIEF = "brief";
    private static final String NO = "no";
    private static final Set<String> PLACES = Set.of("host", "a", "b");
    private static final Set<String> KEYS = Set.of(LET, VARY, IP, Row.SERVER, "ready", Row.CLIENT, "netem", NETEM_IN,
            "expect", "limit", "wire");
    /** What a command may name besides places. */
    private static final Set<String> VARIABLES = Set.of("java", "tests", "verbena");

    private final Path file;
    private final boolean brief;
    private final List<Row> rows = new ArrayList<>();
    /** How many commands there were that vary. */
    private int varied;
    /** How many commands there were for both families. */
    private int paired;

    private RowFile(Path file, boolean brief) {
        this.file = file;
        this.brief = brief;
    }

    /** All rows: of what varies each combination, in each family of addresses. */
    static List<Row> whole(Path file) throws IOException {
        return new RowFile(file, false).read();
    }

    /** Each command in one family of addresses, and of what varies each value once. */
    static List<Row> brief(Path file) throws IOException {
        return new RowFile(file, true).read();
    }

    private List<Row> read() throws IOException {
        String name = null;
        Map<String, List<String>> values = new LinkedHashMap<>();
        int number = 0;
        try {
            for (String line : Files.readAllLines(file)) {
                number++;
                String text = line.strip();
                if (text.startsWith("[") && text.endsWith("]")) {
                    add(name, values);
                    name = text.substring(1, text.length() - 1);
                    values = new LinkedHashMap<>();
                } else if (!text.isEmpty() && !text.startsWith("#")) {
                    String[] words = text.split("\\s+", 2);
                    if (name == null || words.length < 2 || !(KEYS.contains(words[0]) || words[0].equals(BRIEF))) {
                        throw new IllegalArgumentException("'" + text + "' is neither [NAME] nor one of "
                                + KEYS.stream().sorted().toList()
                                + " and what it is, nor brief and either no or such a "
                                + "line");
                    }
                    values.computeIfAbsent(words[0], k -> new ArrayList<>()).add(words[1]);
                }
            }
            add(name, values);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ", line " + number + ": " + e.getMessage(), e);
        }
        return rows;
    }

    private void add(@Nullable String name, Map<String, List<String>> values) {
        if (name == null) {
            return;
        }
        Map<String, List<String>> other = new LinkedHashMap<>();
        for (String line : values.getOrDefault(BRIEF, List.of())) {
            String[] words = line.split("\\s+", 2);
            if (!line.equals(NO) && (!KEYS.contains(words[0]) || words.length < 2)) {
                throw new IllegalArgumentException("brief " + line + ": it is no, or one of " + KEYS.stream().sorted()
                        .toList() + " and what it is");
            }
            other.computeIfAbsent(words[0], k -> new ArrayList<>()).add(words[words.length - 1]);
        }
        values.remove(BRIEF);
        if (brief) {
            if (other.containsKey(NO)) {
                return;
            }
            values.putAll(other);
        }
        Map<String, List<String>> each = new LinkedHashMap<>();
        for (String line : lines(values, VARY)) {
            List<String> words = words(name, VARY, line, values);
            each.put(words.getFirst(), words.subList(1, words.size()));
        }
        Map<String, List<String>> plain = values;
        for (String line : lines(values, LET)) {
            String[] words = line.split("\\s+", 2);
            plain = with(words(name, LET, line, values).getFirst(), words[1], plain);
        }
        for (List<String> c : brief ? onceEach(each) : combinations(each)) {
            Map<String, List<String>> one = plain;
            StringBuilder title = new StringBuilder(name);
            int i = 0;
            for (String variable : each.keySet()) {
                title.append('-').append(c.get(i));
                one = with(variable, c.get(i++), one);
            }
            addFamilies(title.toString(), one);
        }
    }

    /** The name of a variable and its values, as a line has them. */
    private List<String> words(String name, String key, String line, Map<String, List<String>> values) {
        List<String> words = List.of(line.split("\\s+", -1));
        String at = key + " " + line;
        int least = key.equals(VARY) && !brief ? 2 : 1; // in brief one may be enough
        if (words.size() <= least || !words.getFirst().matches("[a-z]+")) {
            throw new IllegalArgumentException(at + ": has a name and " + (key.equals(VARY)
                    ? "at least two values"
                    : "a value"));
        }
        String variable = words.getFirst();
        if (PLACES.contains(variable) || VARIABLES.contains(variable) || Stream.concat(lines(values, VARY).stream(),
                lines(values, LET).stream()).filter(l -> l.startsWith(variable + " ")).count() > 1) {
            throw new IllegalArgumentException(at + ": {" + variable + "} is a variable already: take another name");
        }
        List<String> each = words.subList(1, words.size());
        for (String value : each) {
            if (key.equals(VARY) && each.indexOf(value) != each.lastIndexOf(value)) {
                throw new IllegalArgumentException(at + ": the value " + value + " is there twice");
            }
        }
        if (values.entrySet().stream().filter(e -> !Set.of(VARY, LET).contains(e.getKey())).flatMap(e -> e.getValue()
                .stream()).noneMatch(t -> t.contains("{" + variable + "}"))) {
            throw new IllegalArgumentException(at + ": no line of [" + name + "] has {" + variable + "}");
        }
        return words;
    }

    /** A value of each. */
    private static List<List<String>> combinations(Map<String, List<String>> each) {
        List<List<String>> all = List.of(List.of());
        for (List<String> values : each.values()) {
            all = all.stream().flatMap(c -> values.stream().map(v -> Stream.concat(c.stream(), Stream.of(v)).toList()))
                    .toList();
        }
        return all;
    }

    /**
     * As many as there are values of what has most of them, so that each value is there. What goes together differs from one
     * command of a file to the next.
     */
    private List<List<String>> onceEach(Map<String, List<String>> each) {
        int shift = each.isEmpty() ? 0 : varied++;
        int most = each.values().stream().mapToInt(List::size).max().orElse(1);
        List<List<String>> some = new ArrayList<>();
        for (int i = 0; i < most; i++) {
            List<String> one = new ArrayList<>();
            int k = 0;
            for (List<String> values : each.values()) {
                one.add(values.get((i + shift * k++) % values.size()));
            }
            some.add(one);
        }
        return some;
    }

    private static Map<String, List<String>> with(String variable, String value, Map<String, List<String>> lines) {
        Map<String, List<String>> with = new LinkedHashMap<>();
        lines.forEach((k, v) -> with.put(k, v.stream().map(t -> t.replace("{" + variable + "}", value)).toList()));
        return with;
    }

    private static List<String> lines(Map<String, List<String>> values, String key) {
        return values.getOrDefault(key, List.of());
    }

    /**
     * One for each family of addresses; in brief one for both, the first or the second in an order that has no period, so that
     * what alternates in a file, as directions do, meets both families.
     */
    private void addFamilies(String name, Map<String, List<String>> values) {
        List<Row> families = families(name, values);
        for (Row row : families) {
            if (rows.stream().anyMatch(r -> r.title().equals(row.title()))
                    || families.stream().filter(r -> r.title().equals(row.title())).count() > 1) {
                throw new IllegalArgumentException(row.title() + " is there twice");
            }
        }
        if (brief && families.size() > 1) {
            rows.add(families.get(Integer.bitCount(paired++) & 1)); // of Thue and Morse
        } else {
            rows.addAll(families);
        }
    }

    private static List<Row> families(String name, Map<String, List<String>> values) {
        if (!values.containsKey(Row.CLIENT)) {
            throw new IllegalArgumentException("[" + name + "] has no client");
        }
        List<Expectation> expected = new ArrayList<>();
        for (String e : lines(values, "expect")) {
            String[] words = two(e, Set.of(Row.SERVER, Row.CLIENT));
            try {
                expected.add(new Expectation(words[0], Pattern.compile(words[1])));
            } catch (PatternSyntaxException x) {
                throw new IllegalArgumentException("expect " + e + ": " + x.getDescription(), x);
            }
        }
        List<Netem> netem = new ArrayList<>();
        for (String key : List.of("netem", NETEM_IN)) {
            for (String n : lines(values, key)) {
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
                ? List.of(two(one(values, "ready", ""), Set.of("tcp", "rdma", "text")))
                : List.of();
        Command server = values.containsKey(Row.SERVER) ? command(one(values, Row.SERVER, "")) : null;
        Command client = command(one(values, Row.CLIENT, ""));
        List<Row> families = new ArrayList<>();
        for (String family : one(values, IP, "4").split("\\s+", -1)) {
            if (!Set.of("4", "6").contains(family)) {
                throw new IllegalArgumentException("ip is 4, 6 or both, not " + family);
            }
            families.add(new Row(name, Integer.parseInt(family), server, ready, client, List.copyOf(netem), List.copyOf(
                    expected), limit, wire));
        }
        return families;
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
