// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.PatternSyntaxException;

import org.jspecify.annotations.Nullable;

/**
 * Reads rules in libvma.conf's grammar and what goes beyond it: IPv6, {@code stream} and {@code stack} as transports, a
 * counter, a device and {@code at-once} behind a rule, and {@code log} lines as that file's comments describe them. docs/rules.md has the grammar.
 */
public final class RuleParser {
    private static final String USE = "use";
    private static final String APPLICATION = "application-id";
    private static final String LOG = "log";
    private static final String COUNTER = "counter";
    private static final String DEVICE = "device";
    private static final String AT_ONCE = "at-once";
    private static final String DEVICE_NAME = "[A-Za-z0-9_.:@-]+";
    private static final String COUNTER_NAME = "[A-Za-z_][A-Za-z0-9_.-]*";

    private static final Map<String, Transport> TRANSPORTS = new TreeMap<>(Map.of(
            "os", Transport.OS,
            "stream", Transport.STREAM,
            "stack", Transport.STACK,
            "vma", Transport.STACK,
            "sdp", Transport.GONE,
            "sa", Transport.GONE,
            "*", Transport.STREAM));
    private static final Map<String, Role> ROLES = new TreeMap<>();

    static {
        for (Role r : Role.values()) {
            ROLES.put(r.toString(), r);
        }
    }

    private final RuleText text;
    private final List<Block> blocks = new ArrayList<>();
    private @Nullable Block current;

    private RuleParser(RuleText text) {
        this.text = text;
    }

    /**
     * Reads a whole file.
     *
     * @param source what messages call it
     * @return the blocks in the order in which they are tried
     * @throws RuleSyntaxException where something else stands than may stand there
     */
    public static List<Block> parse(String source, String text) {
        RuleParser p = new RuleParser(new RuleText(source, text));
        while (p.text.skipLines()) {
            p.statement();
        }
        return List.copyOf(p.blocks);
    }

    /**
     * Reads {@code use} lines with semicolons between them, as {@value Rules#LINES} has them.
     *
     * @param source what messages call it
     * @throws RuleSyntaxException where something else stands than may stand there
     */
    public static List<Rule> parseLines(String source, String lines) {
        return parseRules(source, lines.replace(';', '\n'));
    }

    /** Reads one {@code use} line or several, for the program that runs: without {@code application-id}. */
    static List<Rule> parseRules(String source, String text) {
        RuleParser p = new RuleParser(new RuleText(source, text));
        List<Rule> rules = new ArrayList<>();
        while (p.text.skipLines()) {
            int start = p.text.position();
            String word = p.text.word();
            if (!word.equals(USE)) {
                throw p.text.unknown(start, word, List.of(USE));
            }
            rules.add(p.use(start));
        }
        return rules;
    }

    private void statement() {
        int start = text.position();
        String word = text.word();
        switch (word) {
            case USE -> {
                Rule rule = use(start);
                Block block = current;
                if (block == null) {
                    block = Block.implicit(text.source());
                    current = block;
                    blocks.add(block);
                }
                block.add(rule);
            }
            case APPLICATION -> application(start);
            case LOG -> log();
            default -> throw text.unknown(start, word, List.of(USE, APPLICATION, LOG));
        }
    }

    private Rule.Place place(int start) {
        return new Rule.Place(text.source(), text.line(), text.column(start), text.lineText());
    }

    private void application(int start) {
        int programStart = textStart();
        String program = required(programStart, "the name of a program, or *");
        int idStart = textStart();
        String id = required(idStart, "an application's id, or *");
        for (Block b : blocks) {
            if (b.is(program, id)) {
                current = b; // the same again goes on where it was
                return;
            }
        }
        try {
            Block b = new Block(program, id, place(start));
            blocks.add(b);
            current = b;
        } catch (PatternSyntaxException e) {
            throw text.error(programStart, "'" + program + "' is no pattern: " + e.getDescription());
        }
    }

    private int textStart() {
        text.skipBlanks();
        return text.position();
    }

    private String required(int start, String what) {
        String word = text.word();
        if (word.isEmpty()) {
            throw text.error(start, "the line ends, here must be " + what);
        }
        return word;
    }

    private Rule use(int start) {
        Transport transport = one(TRANSPORTS);
        Role role = one(ROLES);
        Endpoints first = endpoints();
        Endpoints second = text.take(':') ? endpoints() : Endpoints.ALL;
        String counter = null;
        String device = null;
        boolean atOnce = false;
        while (!text.isLineEnd()) {
            int at = textStart();
            String word = text.word();
            if (word.equals(COUNTER) && counter == null) {
                counter = counter();
            } else if (word.equals(DEVICE) && device == null) {
                device = device(at, transport, role);
            } else if (word.equals(AT_ONCE) && !atOnce) {
                requireStream(at, transport, role, "'at-once' is for");
                atOnce = true;
            } else {
                throw text.unknown(at, word, List.of(AT_ONCE, COUNTER, DEVICE));
            }
        }
        return new Rule(transport, role, first, second, counter, device, atOnce, place(start));
    }

    private String counter() {
        int at = textStart();
        String name = required(at, "the name of a counter");
        if (!name.matches(COUNTER_NAME)) {
            throw text.error(at, "'" + name + "' is no name of a counter: letters, digits and _ . - may be in it");
        }
        return name;
    }

    /** @param start of the word before the name */
    private String device(int start, Transport transport, Role role) {
        int at = textStart();
        String name = required(at, "the name of a device");
        if (!name.matches(DEVICE_NAME)) {
            throw text.error(at, "'" + name + "' is no name of a device, as roce_eth0 is");
        }
        requireStream(start, transport, role, "a device carries");
        return name;
    }

    /** @param start of the word that is for such rules only */
    private void requireStream(int start, Transport transport, Role role, String what) {
        if (transport != Transport.STREAM || role.isDatagram()) {
            throw text.error(start, what + " 'use stream tcp_client' and 'use stream tcp_server' only");
        }
    }

    private <T> T one(Map<String, T> words) {
        int start = textStart();
        String word = text.word();
        T found = words.get(word);
        if (found == null) {
            throw text.unknown(start, word, words.keySet());
        }
        return found;
    }

    private Endpoints endpoints() {
        Endpoints address = RuleAddress.parse(text);
        int colon = textStart();
        if (!text.take(':')) {
            throw text.error(colon, "here must be ':' and a port, not " + text.next());
        }
        int start = textStart();
        if (text.take('*')) {
            return address;
        }
        int first = port();
        int last = first;
        if (text.take('-')) {
            last = port();
        }
        if (last < first) {
            throw text.error(start, "ports " + first + "-" + last + " are none: the first is the larger one");
        }
        return address.withPorts(first, last);
    }

    private int port() {
        return RuleAddress.number(text, Endpoints.LAST_PORT, "a port, or *");
    }

    /** Where libvma's log lines go; there is no such log here, so they are read and mean nothing. */
    private void log() {
        boolean any = false;
        while (!text.isLineEnd()) {
            int start = textStart();
            String word = text.word();
            switch (word) {
                case "destination" -> destination();
                case "min-level" -> {
                    RuleAddress.number(text, Integer.MAX_VALUE, "a level");
                }
                default -> throw text.unknown(start, word, List.of("destination", "min-level"));
            }
            any = true;
        }
        if (!any) {
            throw text.unknown(text.position(), "", List.of("destination", "min-level"));
        }
    }

    private void destination() {
        int start = textStart();
        String word = text.word();
        switch (word) {
            case "stderr", "ystderr", "syslog" -> {}
            case "file", "yfile" -> required(textStart(), "the name of a file");
            default -> throw text.unknown(start, word, List.of("stderr", "syslog", "file"));
        }
    }
}
