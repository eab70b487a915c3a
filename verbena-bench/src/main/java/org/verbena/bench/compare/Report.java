// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.util.List;
import java.util.Locale;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** The result of a comparison, as a table for people or as JSON. */
final class Report {
    /** Above this something else was running, and the figures are not worth quoting. */
    private static final double QUIET = 1.0;
    private static final String BANDWIDTH = "-bw";
    private static final String RATE = "-rate";

    private final Sample median;
    private final Sample best;
    private final List<Target> targets;
    private final int starts;
    private final double load;

    Report(Sample median, Sample best, List<Target> targets, int starts, double load) {
        this.median = median;
        this.best = best;
        this.targets = targets;
        this.starts = starts;
        this.load = load;
    }

    String table() {
        StringBuilder b = new StringBuilder(String.format(Locale.ROOT,
                "%n%d starts; load before: %.2f%s%n%n", starts, load,
                isQuiet() ? "" : "  (the machine was busy: do not quote these figures)"));
        b.append(String.format(Locale.ROOT, "  %-30s %14s %14s%n", "", "median", "best"));
        for (String n : median.names()) {
            b.append(String.format(Locale.ROOT, "  %-30s %14s %14s%n", n, figure(n, median), figure(n, best)));
        }
        b.append(String.format(Locale.ROOT, "%n  %-58s %8s %8s %10s%n", "ratio", "medians", "bests", "target"));
        for (Target t : targets) {
            String verdict = !t.hasBound()
                    ? ""
                    : String.format(Locale.ROOT, "%s %.2f  %s", t.atMost() ? "<=" : ">=", t.bound(), t.isMet(median)
                            ? "met"
                            : "MISSED");
            b.append(String.format(Locale.ROOT, "  %-58s %8.2f %8.2f    %s", t.figure() + " / " + t.base(),
                    t.ratio(median), t.ratio(best), verdict)
                    .stripTrailing()).append(System.lineSeparator());
        }
        return b.toString();
    }

    String json() {
        ObjectNode o = new ObjectMapper().createObjectNode();
        o.put("starts", starts);
        o.put("load", load);
        o.put("quiet", isQuiet());
        ObjectNode figures = o.putObject("figures");
        median.names().forEach(n -> figures.put(n, Math.round(median.get(n) * 10) / 10.0));
        ObjectNode bests = o.putObject("best");
        best.names().forEach(n -> bests.put(n, Math.round(best.get(n) * 10) / 10.0));
        ArrayNode ratios = o.putArray("ratios");
        for (Target t : targets) {
            ObjectNode r = ratios.addObject().put("figure", t.figure()).put("base", t.base()).put("ratio",
                    Math.round(t.ratio(median) * 1000) / 1000.0).put("ratio_of_bests", Math.round(t.ratio(best) * 1000)
                            / 1000.0);
            if (t.hasBound()) {
                r.put(t.atMost() ? "at_most" : "at_least", t.bound()).put("met", t.isMet(median));
            }
        }
        return o.toPrettyString() + System.lineSeparator();
    }

    private boolean isQuiet() {
        return load >= 0 && load <= QUIET;
    }

    private static String figure(String name, Sample sample) {
        double v = sample.get(name);
        if (name.endsWith(BANDWIDTH)) {
            return String.format(Locale.ROOT, "%.2f GB/s", v / 1e9);
        }
        return name.endsWith(RATE)
                ? String.format(Locale.ROOT, "%.2f M/s", v / 1e6)
                : String.format(Locale.ROOT, "%.0f ns", v);
    }
}
