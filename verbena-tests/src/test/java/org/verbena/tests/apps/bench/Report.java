// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

/** The ratios, as a table or as lines of JSON. */
final class Report {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Report() {}

    static void table(List<Ratio> ratios, PrintStream out) {
        out.printf("%-24s %-34s %14s %14s %6s  %s%n", "name", "unit", "plain", "Verbena", "ratio", "least–greatest");
        for (Ratio r : ratios) {
            String digits = r.metric().less() ? "%,14.3f %,14.3f" : "%,14.0f %,14.0f";
            out.printf(Locale.ROOT, "%-24s %-34s " + digits + " %6.2f  %.2f–%.2f%n", r.metric().name(), r.metric()
                    .unit(), r.plain(), r.verbena(), r.ratio(), r.least(), r.greatest());
        }
    }

    /** @param conditions which the lines have in common */
    static void json(List<Ratio> ratios, Map<String, Object> conditions, PrintStream out)
            throws JsonProcessingException {
        for (Ratio r : ratios) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("name", r.metric().name());
            line.put("unit", r.metric().unit());
            line.put("counts", r.metric().counts().toString());
            line.put("plain", r.plain());
            line.put("verbena", r.verbena());
            line.put("ratio", r.ratio());
            line.put("least", r.least());
            line.put("greatest", r.greatest());
            line.putAll(conditions);
            out.println(JSON.writeValueAsString(line));
        }
    }
}
