// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

import org.verbena.sockets.SocketObjectType;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;

/** Samples as JSON, one object per line; every object has every key, with null for unknown values. */
final class StatJson {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final MathContext DIGITS = new MathContext(6);

    private StatJson() {}

    /**
     * All processes.
     *
     * @param counted what sums count of them
     */
    static String processes(StatSnapshot snapshot, List<StatDelta> processes, List<StatDelta> counted) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("time", snapshot.time().toString());
        List<Object> all = new ArrayList<>();
        for (StatDelta d : processes) {
            Map<String, @Nullable Object> p = process(d);
            Map<String, Object> kinds = new LinkedHashMap<>();
            d.process().kinds().forEach((type, n) -> kinds.put(key(ObjectType.toString(type)), n));
            p.put("objects", kinds);
            figures(p, new StatTotals(List.of(d)));
            all.add(p);
        }
        figures(m, new StatTotals(counted));
        m.put("processes", all);
        m.put("problems", snapshot.problems());
        return write(m);
    }

    /** One process, and these of its objects. */
    static String objects(StatSnapshot snapshot, StatDelta d, List<StatObject> objects) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("time", snapshot.time().toString());
        m.putAll(process(d));
        StatTotals t = new StatTotals(List.of(d));
        figures(m, t);
        m.put("connections", d.process().count(SocketObjectType.SOCKETS) == 0 ? null : t.carriers());
        m.put("objects", objects.stream().map(o -> object(d, o)).toList());
        return write(m);
    }

    private static void figures(Map<String, @Nullable Object> m, StatTotals t) {
        Map<String, Object> totals = new LinkedHashMap<>();
        Map<String, @Nullable Object> rates = new LinkedHashMap<>();
        for (StatFigure f : StatFigure.values()) {
            totals.put(key(f.name()), unsigned(t.figure(f)));
            rates.put(key(f.name()), rounded(t.rate(f)));
        }
        m.put("totals", totals);
        m.put("rates", t.isKnown() ? rates : null);
    }

    private static Map<String, @Nullable Object> process(StatDelta d) {
        StatProcess p = d.process();
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("pid", p.pid());
        m.put("command", p.command());
        m.put("created", p.created().toString());
        m.put("cached", p.cached());
        m.put("answers", p.cached() ? p.silent() ? Boolean.FALSE : null : Boolean.TRUE);
        m.put("seconds", rounded(d.seconds()));
        return m;
    }

    private static Map<String, @Nullable Object> object(StatDelta d, StatObject o) {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("object", o.name());
        m.put("type", ObjectType.toString(o.type()));
        m.put("id", o.id());
        m.put("number", Integer.toUnsignedLong(o.number()));
        m.put("device", o.device());
        m.put("context", o.context());
        m.put("state", o.state().isEmpty() ? null : o.state());
        m.put("created", o.created().toString());
        Map<String, Object> attributes = new LinkedHashMap<>();
        o.attributes().forEach((name, v) -> attributes.put(name, v instanceof Long n ? unsigned(n) : v));
        m.put("attributes", attributes);
        Map<String, Object> totals = new LinkedHashMap<>();
        Map<String, @Nullable Object> rates = new LinkedHashMap<>();
        for (int i = 0; i < o.points().length; i++) {
            String name = SamplePoint.toString(o.points()[i]);
            totals.put(name, unsigned(o.values()[i]));
            rates.put(name, rounded(d.rate(o, o.points()[i])));
        }
        m.put("totals", totals);
        m.put("rates", d.isKnown() ? rates : null);
        m.put("response_ns", StatResponses.of(o).map(StatResponses::json).orElse(null));
        return m;
    }

    /** A line of JSON. */
    static String write(Map<String, @Nullable Object> m) {
        try {
            return MAPPER.writeValueAsString(m);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e); // maps, lists, texts and numbers
        }
    }

    /** A counter's value. */
    static Number unsigned(long n) {
        return n >= 0 ? n : new BigInteger(Long.toUnsignedString(n));
    }

    /** A rate with as many digits as are meaningful; null if it is unknown. */
    static @Nullable Number rounded(double v) {
        return Double.isNaN(v) || Double.isInfinite(v) ? null : new BigDecimal(v).round(DIGITS).doubleValue();
    }

    private static String key(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
