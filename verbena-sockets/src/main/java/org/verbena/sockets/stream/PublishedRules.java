// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.HashMap;
import java.util.Map;

import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;
import org.verbena.sockets.rules.Role;
import org.verbena.sockets.rules.Rule;
import org.verbena.sockets.rules.Rules;
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

    PublishedRules(CounterFile file, CounterEntry sockets) {
        this.file = file;
        this.sockets = sockets;
    }

    /** Brings all up to date. */
    void update() {
        for (Role role : Role.values()) {
            Rules.check().rules(role).forEach(this::entry);
        }
        rules.forEach((rule, e) -> raise(e, SocketSamplePoint.RULE_SOCKETS, rule.hits()));
        Rules.counters().forEach((name, n) -> raise(
                counters.computeIfAbsent(name, k -> take(SocketObjectType.RULE_COUNTER, counters.size() + 1, k)),
                SocketSamplePoint.RULE_COUNTER_SOCKETS, n));
    }

    private static void raise(CounterEntry e, int point, long value) {
        e.raise(point & 0xff, value);
    }

    /** The number of a rule's entry. */
    long entry(Rule rule) {
        return rules.computeIfAbsent(rule, r -> {
            CounterEntry e = take(SocketObjectType.RULE, rules.size() + 1, r.place().text().strip());
            e.setAttribute(SocketLayout.LINE, r.place().line());
            return e;
        }).id();
    }

    private CounterEntry take(int type, int number, String name) {
        return file.take(type, number, name, sockets.id(), CounterLayout.SMALL_CELLS, 1);
    }
}
