// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.verbena.verbs.ObjectType;

/** All attributes and counters of one object. */
final class StatDetail {
    /** Attributes that are ids of other objects. */
    private static final Set<String> IDS = Set.of("sendCq", "receiveCq", "srq", "pd", "rule");
    private static final Set<String> HEXADECIMAL = Set.of("address", "rkey", "peerQp");
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    private StatDetail() {}

    /** The part that does not change with every sample, in lines of at most this width. */
    static List<String> head(StatProcess process, StatObject o, int width) {
        List<String> words = new ArrayList<>();
        words.add("type " + ObjectType.toString(o.type()));
        if (!o.state().isEmpty()) {
            words.add("state " + o.state());
        }
        words.add("device " + o.device());
        if (o.context() != o.id()) {
            words.add("context " + name(process, o.context()));
        }
        words.add("created " + TIME.format(o.created().atZone(ZoneId.systemDefault())));
        for (Map.Entry<String, Object> a : o.attributes().entrySet()) {
            String label = a.getKey().equals("type") ? "service" : words(a.getKey());
            words.add(label + " " + value(process, a.getKey(), a.getValue()));
        }
        StatResponses.of(o).ifPresent(r -> words.add(r.text()));
        return wrap(words, width);
    }

    /** {@code sendCq} becomes {@code send cq}. */
    private static String words(String name) {
        return name.replaceAll("([A-Z])", " $1").toLowerCase(Locale.ROOT);
    }

    private static String value(StatProcess process, String name, Object v) {
        if (!(v instanceof Long n)) {
            return String.valueOf(v);
        }
        if (IDS.contains(name)) {
            return name(process, n);
        }
        return HEXADECIMAL.contains(name) ? "0x" + Long.toHexString(n) : Long.toUnsignedString(n);
    }

    private static String name(StatProcess process, long id) {
        return process.objects().stream().filter(o -> o.id() == id).map(StatObject::name).findFirst()
                .orElse("0x" + Long.toHexString(id));
    }

    private static List<String> wrap(List<String> words, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String w : words) {
            if (!line.isEmpty() && line.length() + 2 + w.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : "  ").append(StatText.fit(w, Math.min(width, w.length()), true));
        }
        lines.add(line.toString());
        return lines;
    }

    /** Every sample point with its total and its rate. */
    static StatTable points(StatDelta d, StatObject o) {
        List<StatTable.Column> columns = new ArrayList<>(List.of(new StatTable.Column("point", "SAMPLE POINT", 36,
                true),
                new StatTable.Column("total", "TOTAL", 21, false), new StatTable.Column("rate", "RATE/s", 10, false)));
        Optional<StatResponses> responses = StatResponses.of(o);
        if (responses.isPresent()) {
            columns.add(new StatTable.Column("share", "", 0, true));
        }
        List<StatRow> rows = new ArrayList<>();
        for (int i = 0; i < o.points().length; i++) {
            int point = o.points()[i];
            double rate = d.rate(o, point);
            List<StatRow.Cell> cells = new ArrayList<>(List.of(StatRow.Cell.of(StatNames.shortName(o.type(), point)),
                    StatRow.Cell.of(Long.toUnsignedString(o.values()[i]), StatText.unsigned(o.values()[i])),
                    StatRow.Cell.of(StatText.rate(rate), Double.isNaN(rate) ? 0 : rate)));
            responses.ifPresent(r -> cells.add(StatRow.Cell.bars(() -> StatResponses.isPoint(point)
                    ? r.bar(point)
                    : "")));
            rows.add(new StatRow(point, cells));
        }
        return new StatTable(columns, rows);
    }

    /** The same object in a later sample; empty if it is gone. */
    static Optional<StatObject> find(StatProcess process, StatObject.Key key) {
        return process.objects().stream().filter(o -> o.key().equals(key)).findFirst();
    }
}
