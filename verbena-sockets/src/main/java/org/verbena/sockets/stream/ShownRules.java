// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.HashMap;
import java.util.Map;

import org.verbena.sockets.rules.Role;
import org.verbena.sockets.rules.Rule;
import org.verbena.sockets.rules.Rules;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.CounterEntry;
import org.verbena.verbs.spi.CounterFile;
import org.verbena.verbs.spi.CounterLayout;
import org.verbena.verbs.spi.SocketLayout;

/** The entries of rules and of the counters that they name. Rules are added, and never go. For one thread at a time. */
final class ShownRules {
    private final CounterFile file;
    private final CounterEntry sockets;
    private final Map<Rule, CounterEntry> rules = new HashMap<>();
    private final Map<String, CounterEntry> counters = new HashMap<>();

    ShownRules(CounterFile file, CounterEntry sockets) {
        this.file = file;
        this.sockets = sockets;
    }

    /** Brings all up to date. */
    void look() {
        for (Role role : Role.values()) {
            Rules.check().rules(role).forEach(this::entry);
        }
        rules.forEach((rule, e) -> raise(e, SamplePoint.RULE_SOCKETS, rule.hits()));
        Rules.counters().forEach((name, n) -> raise(
                counters.computeIfAbsent(name, k -> take(ObjectType.RULE_COUNTER, counters.size() + 1, k)),
                SamplePoint.RULE_COUNTER_SOCKETS, n));
    }

    private static void raise(CounterEntry e, int point, long value) {
        e.raise(point & 0xff, value);
    }

    /** The number of a rule's entry. */
    long entry(Rule rule) {
        return rules.computeIfAbsent(rule, r -> {
            CounterEntry e = take(ObjectType.RULE, rules.size() + 1, r.place().text().strip());
            e.setAttribute(SocketLayout.LINE, r.place().line());
            return e;
        }).id();
    }

    private CounterEntry take(int type, int number, String name) {
        return file.take(type, number, name, sockets.id(), CounterLayout.SMALL_CELLS, 1);
    }
}
