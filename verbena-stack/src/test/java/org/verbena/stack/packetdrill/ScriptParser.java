// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** Reads scripts. */
public final class ScriptParser {
    private static final BigDecimal NANOS = BigDecimal.valueOf(1_000_000_000);
    private static final BigDecimal LATEST = BigDecimal.valueOf(Integer.MAX_VALUE);
    private static final int MOST_DIGITS = 30;

    private final Cursor in;
    private final String name;

    private ScriptParser(String name, String text) {
        this.name = name;
        in = new Cursor(name, text);
    }

    /** Reads a file. */
    public static Script read(Path file, Set<String> defined) throws IOException, ParseException {
        return parse(file.getFileName().toString(), Files.readString(file), defined);
    }

    /**
     * Reads a text.
     *
     * @param name of the file, for messages
     * @param defined names that {@code #ifdef} finds
     */
    public static Script parse(String name, String text, Set<String> defined) throws ParseException {
        return new ScriptParser(name, Preprocessor.run(name, text, defined)).script();
    }

    private Script script() throws ParseException {
        Map<String, String> options = new LinkedHashMap<>();
        while (in.take("--")) {
            String[] option = in.untilSpace().split("=", 2);
            if (option[0].isEmpty()) {
                throw in.wrong("the name of an option");
            }
            options.put(option[0], option.length > 1 ? option[1] : "");
        }
        List<String> before = commands();
        List<Event> events = new ArrayList<>();
        while (!in.atEnd() && in.peek() != '`') {
            events.add(event());
        }
        List<String> after = commands();
        if (!in.atEnd()) {
            throw in.wrong("the end behind commands without a time");
        }
        return new Script(name, options, before, List.copyOf(events), after);
    }

    private List<String> commands() throws ParseException {
        List<String> commands = new ArrayList<>();
        while (in.take("`")) {
            commands.add(in.until("`").strip());
        }
        return List.copyOf(commands);
    }

    private Event event() throws ParseException {
        int line = in.line();
        When when = when();
        return new Event(line, when, action());
    }

    private When when() throws ParseException {
        When.Kind kind = in.take("+") ? When.Kind.RELATIVE : When.Kind.ABSOLUTE;
        if (in.take("*")) {
            return When.any();
        }
        long nanos = time();
        long latest = When.NONE;
        long until = When.NONE;
        if (in.take("~")) {
            in.take("+");
            latest = time();
        } else if (in.take("...")) {
            in.take("+");
            until = time();
        }
        if (latest != When.NONE && latest < nanos || until != When.NONE && until < nanos) {
            throw in.wrong("a range that does not go back");
        }
        return new When(kind, nanos, latest, until);
    }

    private long time() throws ParseException {
        int start = in.place();
        String whole = in.run("0123456789");
        String part = in.touches('.') && !in.looksAt("...") ? fraction() : "";
        if (whole.isEmpty() && part.isEmpty() || whole.length() + part.length() > MOST_DIGITS) {
            in.back(start);
            throw in.wrong("the time of an event");
        }
        BigDecimal seconds = new BigDecimal((whole.isEmpty() ? "0" : whole) + "." + part + "0");
        if (seconds.compareTo(LATEST) > 0) {
            in.back(start);
            throw in.wrong("a time of at most " + LATEST + " s");
        }
        return seconds.multiply(NANOS).longValue();
    }

    private String fraction() throws ParseException {
        in.expect(".");
        return in.run("0123456789");
    }

    private Action action() throws ParseException {
        if (in.take("`")) {
            return new Action.Command(in.until("`").strip());
        }
        if (in.take("%{")) {
            return new Action.Code(in.until("}%").strip());
        }
        if (in.take("<")) {
            return new PacketParser(in).read(false);
        }
        if (in.take(">")) {
            return new PacketParser(in).read(true);
        }
        return call();
    }

    private Action call() throws ParseException {
        String call = in.word("a packet, a call, a command or code");
        in.expect("(");
        List<Expression> arguments = new ExpressionParser(in).list(")");
        in.expect("=");
        Expression result = new ExpressionParser(in).read();
        String errno = errno();
        if (in.take("(")) { // what the number means
            in.until(")");
        }
        return new Action.Call(call, arguments, result, errno);
    }

    @Nullable
    private String errno() throws ParseException {
        return in.peekWord().startsWith("E") ? in.word("") : null;
    }
}
