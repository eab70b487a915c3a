// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

import org.verbena.cli.perf.PerfCommandLine;
import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfRate;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfResult;

/** Sweeps of several runs that end at different rates. */
class PerfSweepsTest {
    private static final List<Long> RATES = List.of(100L, 200L, 300L, 400L);

    private static PerfResult row(long rate, double reached) {
        return new PerfResult(PerfTest.TCP_LAT_SPIN, 64, "tcp", PerfEnds.NONE, 1, 1000, List.of(1d, 2d, 3d, 4d, 5d, 6d),
                0, 0, 0, null, PerfRate.of(rate, reached));
    }

    private static PerfOptions options() {
        return PerfCommandLine.options("tcp-lat-spin --rates=100-400+100");
    }

    /** What the runs print, each of which ends with the first rate that it does not reach. */
    private static String[] report(PerfReport.Style style, long... ends) throws Exception {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        PerfOptions options = options();
        PrintWriter errors = new PrintWriter(err);
        PerfReport.Form form = new PerfReport.Form(PerfMachine.here(options, true), style, false, 200,
                CommandLine.Help.Ansi.OFF, false, new PerfFiles(null, null), null);
        try (PerfReport report = new PerfReport(options, form, ends.length, new PerfProgress(errors, options),
                new PrintWriter(out), errors)) {
            for (int run = 0; run < ends.length; run++) {
                report.run(run + 1);
                for (long rate : RATES) {
                    report.ended(row(rate, rate == ends[run] ? rate / 2.0 : rate));
                    if (rate == ends[run]) {
                        break;
                    }
                }
            }
            report.print();
        }
        return new String[] {out.toString(), err.toString()};
    }

    private static Map<Long, Boolean> kept(String json) throws Exception {
        Map<Long, Boolean> kept = new TreeMap<>();
        for (JsonNode row : new ObjectMapper().readTree(json)) {
            kept.put(row.get("rate").asLong(), row.get("rate_kept").asBoolean());
        }
        return kept;
    }

    /** In every order of the runs the rows are those that all of them have. */
    @Test
    void sweepEndsWhereTheFirstRunEnds() throws Exception {
        for (long[] ends : new long[][] {{200, 400, 300}, {400, 200, 300}, {300, 400, 200}}) {
            String[] printed = report(PerfReport.Style.JSON, ends);
            assertThat(kept(printed[0])).containsExactly(Map.entry(100L, true), Map.entry(200L, true));
            assertThat(printed[1]).isEqualToIgnoringNewLines(
                    "verbena: The sweep of tcp-lat-spin 64 at 200/s ends there:"
                            + " no more than 100/s were reached in 1 of 3 runs.");
        }
    }

    @Test
    void medianOfMostRunsDecidesTheMark() throws Exception {
        String[] printed = report(PerfReport.Style.JSON, 200, 200, 0);
        assertThat(kept(printed[0])).containsExactly(Map.entry(100L, true), Map.entry(200L, false));
        assertThat(printed[1]).contains("in 2 of 3 runs.");
        String table = report(PerfReport.Style.TABLE, 200, 200, 0)[0];
        assertThat(table).contains("!100", "in 2 of 3 runs.", "the median of 3 runs").doesNotContain(" 300 ");
    }

    @Test
    void oneRunEndsAsItDoes() throws Exception {
        String[] printed = report(PerfReport.Style.JSON, 300);
        assertThat(kept(printed[0])).containsExactly(Map.entry(100L, true), Map.entry(200L, true), Map.entry(300L,
                false));
        assertThat(printed[1]).contains("300/s ends there: no more than 150/s were reached.");
        printed = report(PerfReport.Style.JSON, 400, 0);
        assertThat(kept(printed[0])).hasSize(4);
        assertThat(printed[1]).as("it ends anyway").isEmpty();
    }
}
