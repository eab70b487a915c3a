// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.metrics;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

/**
 * The response to a Prometheus server.
 *
 * @param values by name and labels, as in {@code verbena_port_tx_bytes_total{device="shm0",port="1"}}
 * @param help by name
 * @param types by name
 */
record Scrape(Map<String, Double> values, Map<String, String> help, Map<String, String> types) {
    private static final Pattern LINE = Pattern.compile("([a-z0-9_]+(?:\\{[^}]*\\})?) (\\S+)");

    /** Scrapes, and parses every line. */
    static Scrape of(PrometheusMeterRegistry registry) {
        Scrape s = new Scrape(new LinkedHashMap<>(), new TreeMap<>(), new TreeMap<>());
        registry.scrape().lines().forEach(s::read);
        return s;
    }

    private void read(String line) {
        String[] words = line.split(" ", 4);
        if (line.startsWith("# HELP ")) {
            help.put(words[2], words[3]);
        } else if (line.startsWith("# TYPE ")) {
            types.put(words[2], words[3]);
        } else {
            Matcher m = LINE.matcher(line);
            if (!m.matches()) {
                throw new AssertionError("not a line of a scrape: " + line);
            }
            if (values.put(m.group(1), Double.valueOf(m.group(2))) != null) {
                throw new AssertionError("twice: " + line);
            }
        }
    }

    /** A value; fails if there is none. */
    double value(String nameAndLabels) {
        Double v = values.get(nameAndLabels);
        if (v == null) {
            throw new AssertionError("no " + nameAndLabels + " in " + values.keySet());
        }
        return v;
    }
}
