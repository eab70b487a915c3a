// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.HashMap;
import java.util.Map;
import java.util.function.ObjLongConsumer;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;
import org.verbena.sockets.rules.Role;
import org.verbena.sockets.rules.Rule;
import org.verbena.sockets.rules.RuleSet;
import org.verbena.sockets.rules.Rules;
import org.verbena.sockets.telemetry.RuleSource;
import org.verbena.sockets.telemetry.SocketLayout;
import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.CounterLayout;

/** The entries of rules and of the counters that they name. Rules are added, and never go. For one thread at a time. */
final class PublishedRules {
    private final CounterFile file;
    private final CounterEntry sockets;
    private final Map<Rule, CounterEntry> rules = new HashMap<>();
    private final Map<String, CounterEntry> counters = new HashMap<>();
    private final ObjLongConsumer<String> counter = this::update;
    /** Those that all have their entries; null before any have. */
    private @Nullable RuleSet seen;

    PublishedRules(CounterFile file, CounterEntry sockets) {
        this.file = file;
        this.sockets = sockets;
    }

    /** Brings all up to date. */
    void update() {
        RuleSet now = Rules.check();
        if (now != seen) {
            for (Role role : Role.values()) {
                now.rules(role).forEach(this::entry);
            }
            seen = now;
        }
        rules.forEach((rule, e) -> raise(e, SocketSamplePoint.RULE_SOCKETS, rule.hits()));
        Rules.forEachCounter(counter);
    }

    private void update(String name, long n) {
        CounterEntry e = counters.get(name);
        if (e == null) {
            e = take(SocketObjectType.RULE_COUNTER, counters.size() + 1, name);
            counters.put(name, e);
        }
        raise(e, SocketSamplePoint.RULE_COUNTER_SOCKETS, n);
    }

    private static void raise(CounterEntry e, int point, long value) {
        e.raise(point & 0xff, value);
    }

    /** The number of a rule's entry. */
    long entry(Rule rule) {
        CounterEntry e = rules.get(rule);
        if (e == null) {
            e = take(SocketObjectType.RULE, rules.size() + 1, rule.place().text().strip());
            e.setAttribute(SocketLayout.LINE, rule.place().line());
            RuleSource.put(e, rule.place().source());
            rules.put(rule, e);
        }
        return e.id();
    }

    private CounterEntry take(int type, int number, String name) {
        return file.take(type, number, name, sockets.id(), CounterLayout.SMALL_CELLS, 1);
    }
}
