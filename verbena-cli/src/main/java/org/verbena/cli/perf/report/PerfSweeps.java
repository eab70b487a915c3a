// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.run.PerfRate;
import org.verbena.cli.perf.session.PerfResult;

/**
 * Where sweeps of rates end: at the lowest rate that one of several runs did not reach. What other runs measured beyond is
 * no row, since a median of some runs would stand beside medians of all. Not safe for use by several threads.
 */
final class PerfSweeps {
    /** The rates that were not reached, of one sweep, by run. */
    private final Map<String, List<PerfRate>> missed = new HashMap<>();

    /** A result of a run; each sweep of a run has one at most that was not reached. */
    void add(PerfResult result) {
        PerfRate rate = result.rate();
        if (rate != null && !rate.isKept()) {
            missed.computeIfAbsent(result.series(), k -> new ArrayList<>()).add(rate);
        }
    }

    /** Whether the sweep has ended at a lower rate, in this run or in another. */
    boolean isBeyondEnd(PerfResult result) {
        PerfRate rate = result.rate();
        PerfRate end = end(result);
        return rate != null && end != null && rate.asked() > end.asked();
    }

    private @Nullable PerfRate end(PerfResult result) {
        return missed.getOrDefault(result.series(), List.of()).stream().reduce((a, b) -> b.asked() < a.asked() ? b : a)
                .orElse(null);
    }

    /**
     * Says of the last row of a sweep that it ends there; empty for other rows.
     *
     * @param last the highest rate that was asked for
     * @param runs how many have measured the row
     */
    Optional<String> note(PerfResult row, long last, int runs) {
        PerfRate rate = row.rate();
        PerfRate end = end(row);
        if (rate == null || end == null || rate.asked() != end.asked() || end.asked() >= last) {
            return Optional.empty();
        }
        double[] reached = Objects.requireNonNull(missed.get(row.series())).stream().filter(m -> m.asked() == end
                .asked()).mapToDouble(PerfRate::reached).sorted().toArray();
        return Optional.of("The sweep of " + PerfBaseline.name(row) + " ends there: no more than " + Math.round(
                reached.length == runs ? rate.reached() : reached[reached.length - 1]) + "/s were reached" + (runs == 1
                        ? ""
                        : " in " + reached.length + " of " + runs + " runs") + ".");
    }
}
