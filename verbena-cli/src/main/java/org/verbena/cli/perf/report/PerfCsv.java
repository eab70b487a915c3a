// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.perf.session.PerfSpread;

/** Results as comma-separated values: the fields of JSON but the machine, one column each. */
final class PerfCsv {
    private static final String ROUND_TRIPS = "rtt_ns";

    private PerfCsv() {}

    /** A line of names, and one for each row. */
    static List<String> lines(List<PerfResult> results) {
        return lines(results, PerfResult::toJson);
    }

    /** The same of results with more fields. */
    static List<String> lines(List<PerfResult> results, Function<PerfResult, ObjectNode> fields) {
        List<String> ofRoundTrips = new ArrayList<>(PerfResult.PERCENTILES);
        ofRoundTrips.addAll(PerfSpread.NAMES);
        List<String> lines = new ArrayList<>();
        for (PerfResult r : results) {
            ObjectNode row = fields.apply(r);
            List<String> names = new ArrayList<>();
            List<String> cells = new ArrayList<>();
            row.properties().forEach(p -> {
                if (p.getKey().equals(ROUND_TRIPS)) {
                    ofRoundTrips.forEach(n -> names.add(n + "_ns"));
                    ofRoundTrips.forEach(n -> cells.add(cell(p.getValue().path(n))));
                } else {
                    names.add(p.getKey());
                    cells.add(cell(p.getValue()));
                }
            });
            if (lines.isEmpty()) {
                lines.add(String.join(",", names));
            }
            lines.add(String.join(",", cells));
        }
        return lines;
    }

    private static String cell(JsonNode value) {
        return value.isNull() || value.isMissingNode() ? "" : value.asText();
    }
}
