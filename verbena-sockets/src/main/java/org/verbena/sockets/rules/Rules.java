// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ObjLongConsumer;

import org.jspecify.annotations.Nullable;

/**
 * The rules of this process: those of the file that {@value #FILE} names, before them those of {@value #LINES}, before
 * them what {@link #add} was given. Thread-safe.
 */
public final class Rules {
    /** The system property with the path of a file of rules. */
    public static final String FILE = "verbena.rules.file";

    /** The system property with {@code use} lines, separated by semicolons. */
    public static final String LINES = "verbena.rules";

    /** How many decisions asked for what is not there. */
    static final String NO_STACK = "verbena.rules.no-stack";

    private static final Map<String, LongAdder> COUNTERS = new ConcurrentHashMap<>();
    private static final Object CHANGE = new Object();

    private static volatile @Nullable RuleSet rules;

    private Rules() {}

    /**
     * Whether sockets that the calling thread creates now may use anything but the kernel: asked when a channel is
     * opened, since another thread may connect it.
     */
    public static boolean isOffloaded() {
        return Offload.isOn();
    }

    /** Sets the default of the process; sockets that exist stay as they are. */
    public static void offload(boolean on) {
        Offload.set(on);
    }

    /** As {@link #offload(boolean)} for what one thread creates, be it virtual or not. */
    public static void offload(Thread thread, boolean on) {
        Offload.set(thread, on);
    }

    /**
     * What a socket of the calling thread is to use, and counts it.
     *
     * @param local null if it is not bound
     * @param remote null if the role has none
     * @throws IllegalArgumentException as {@link #check()}
     */
    public static Decision decide(Role role, @Nullable InetSocketAddress local, @Nullable InetSocketAddress remote) {
        return decide(role, local, remote, Offload.isOn());
    }

    /** As the other, with the value of {@link #isOffloaded()} when the socket was created. */
    public static Decision decide(Role role, @Nullable InetSocketAddress local, @Nullable InetSocketAddress remote,
            boolean offloaded) {
        if (!offloaded) {
            return Decision.NOT_OFFLOADED;
        }
        Decision d = check().decide(role, local, remote);
        Rule rule = d.rule();
        if (rule != null) {
            count(rule);
        }
        return d;
    }

    private static void count(Rule rule) {
        rule.hit();
        String counter = rule.counter();
        if (counter != null) {
            adder(counter).increment();
        }
        if (rule.transport() == Transport.STACK) {
            adder(NO_STACK).increment();
        }
    }

    private static LongAdder adder(String name) {
        LongAdder a = COUNTERS.get(name);
        return a == null ? COUNTERS.computeIfAbsent(name, n -> new LongAdder()) : a;
    }

    /** What the counters that rules name have come to, by name. */
    public static Map<String, Long> counters() {
        Map<String, Long> all = new TreeMap<>();
        COUNTERS.forEach((name, a) -> all.put(name, a.sum()));
        return all;
    }

    /** Passes on the counters with their values, in any order. */
    public static void forEachCounter(ObjLongConsumer<String> action) {
        COUNTERS.forEach((name, a) -> action.accept(name, a.sum()));
    }

    /**
     * Puts one {@code use} line before all other rules. Sockets that are decided already stay as they are.
     *
     * @throws RuleSyntaxException with line and column
     * @throws IllegalArgumentException for none, as an empty text or a comment alone, for more than one, and for a
     *        device that is not there
     */
    public static void add(String line) {
        List<Rule> more = RuleParser.parseRules("rule", line);
        if (more.size() != 1) {
            throw new IllegalArgumentException("exactly one 'use' line can be added at a time, and '" + line + "' has "
                    + (more.isEmpty() ? "none" : more.size()));
        }
        RuleDevices.check(more);
        synchronized (CHANGE) {
            rules = check().with(more);
        }
    }

    /**
     * The rules, read at the first use.
     *
     * @throws IllegalArgumentException if they are malformed, with line and column, name a device that is not there, or
     *        the file cannot be read; each time
     */
    public static RuleSet check() {
        RuleSet r = rules;
        return r == null ? read() : r;
    }

    /** Whether one of the rules names a device. */
    public static boolean nameDevices() {
        RuleSet all = check();
        for (Role role : Role.values()) {
            for (Rule rule : all.rules(role)) {
                if (rule.device() != null) {
                    return true;
                }
            }
        }
        return false;
    }

    private static RuleSet read() {
        synchronized (CHANGE) {
            RuleSet r = rules;
            if (r == null) {
                String file = System.getProperty(FILE, "");
                // the name of the program takes time to find out, and is needed with a file only
                RuleSet own = file.isEmpty() ? RuleSet.EMPTY : RuleSet.of(file(file), Application.own());
                String lines = System.getProperty(LINES, "");
                // few programs need the parser
                r = lines.isEmpty() ? own : own.with(RuleParser.parseLines(LINES, lines));
                for (Role role : Role.values()) {
                    RuleDevices.check(r.rules(role));
                }
                rules = r;
            }
            return r;
        }
    }

    private static List<Block> file(String file) {
        try {
            return RulesFile.read(Path.of(file));
        } catch (IOException e) {
            throw new IllegalArgumentException(e.getMessage() + ": see -D" + FILE, e);
        }
    }
}
