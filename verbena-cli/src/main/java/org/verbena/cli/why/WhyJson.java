// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.doctor.SocketConditions;

/** An answer as JSON: every object has every key, with null for what is not known. */
final class WhyJson {
    private WhyJson() {}

    static String of(WhyAnswer a) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("time", a.time().toString());
        m.put("port", a.port() == 0 ? null : a.port());
        m.put("processes", a.processes().stream().map(WhyJson::process).toList());
        m.put("notes", a.notes());
        m.put("host", a.host().stream().map(WhyJson::condition).toList());
        try {
            return new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(m);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e); // maps, lists, texts and numbers
        }
    }

    private static Map<String, @Nullable Object> process(WhyProcess p) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("pid", p.pid());
        m.put("command", p.command());
        m.put("verbena", p.verbena().key());
        m.put("state", p.state());
        m.put("remedy", p.remedy());
        Map<String, Object> counts = new LinkedHashMap<>();
        for (WhyConnection.Carrier c : WhyConnection.Carrier.values()) {
            counts.put(key(c), p.count(c));
        }
        m.put("counts", counts);
        m.put("connections", p.connections().stream().map(WhyJson::connection).toList());
        m.put("listeners", p.listeners());
        m.put("plain_listeners", p.plain());
        m.put("notes", p.notes());
        return m;
    }

    private static String key(WhyConnection.Carrier c) {
        return c.name().toLowerCase(Locale.ROOT);
    }

    private static Map<String, @Nullable Object> connection(WhyConnection c) {
        WhyAdvice advice = WhyAdvice.of(c);
        WhyRule rule = c.rule();
        WhyPeer peer = c.peer();
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("local", c.local());
        m.put("remote", c.remote());
        m.put("role", orNull(c.role()));
        m.put("state", orNull(c.state()));
        m.put("carrier", key(c.carrier()));
        m.put("reason", orNull(c.reason()));
        m.put("why", advice.meaning());
        m.put("remedy", advice.remedy());
        m.put("since", c.since() == null ? null : c.since().toString());
        m.put("device", orNull(c.device()));
        m.put("bytes", c.bytes() < 0 ? null : c.bytes());
        m.put("rule", rule == null ? null : rule(rule));
        m.put("peer", peer == null ? null : peer(peer));
        return m;
    }

    private static Map<String, @Nullable Object> rule(WhyRule r) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("text", r.text());
        m.put("source", orNull(r.source()));
        m.put("line", r.line());
        m.put("why", orNull(r.explanation()));
        return m;
    }

    private static Map<String, @Nullable Object> peer(WhyPeer p) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("pid", p.pid() == 0 ? null : p.pid());
        m.put("uid", Integer.toUnsignedLong(p.uid()));
        m.put("command", orNull(p.command()));
        m.put("java", p.pid() == 0 ? null : p.java());
        m.put("verbena", p.pid() == 0 ? null : p.verbena());
        return m;
    }

    private static Map<String, @Nullable Object> condition(SocketConditions.Condition c) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("check", c.check());
        m.put("verdict", c.verdict());
        m.put("evidence", c.evidence());
        m.put("remedy", c.remedy());
        return m;
    }

    private static @Nullable String orNull(String text) {
        return text.isEmpty() ? null : text;
    }
}
