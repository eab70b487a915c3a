// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.cli.perf.PerfCommandLine;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.support.CommandException;

/** The arithmetic that keeps the main job below a minute, however long its jobs take. */
class PerfBudgetTest {
    private static final long SECOND = 1_000_000_000;
    /** The part of a minute that is left for two JVMs to start and to end. */
    private static final long FOR_JVMS = 10 * SECOND;

    private static PerfOptions options(String arguments) {
        String device = arguments.contains("--device") ? "" : "--device=shm0 ";
        return PerfCommandLine.options((device + arguments).strip());
    }

    private static List<PerfJob> mainJob() throws CommandException {
        return options("").jobs();
    }

    /** Runs jobs that take the result of {@code takes} for their share; returns the shares. */
    private static List<Long> run(List<PerfJob> jobs, LongUnaryOperator takes, long[] spent) {
        PerfBudget budget = new PerfBudget(PerfBudget.MINUTE_NANOS, jobs);
        List<Long> may = new ArrayList<>();
        for (PerfJob _ : jobs) {
            long m = budget.next(spent[0]);
            may.add(m);
            spent[0] += takes.applyAsLong(m);
        }
        return may;
    }

    @Test
    void jobsUsingTheirWholeShareEndInTime() throws Exception {
        long[] spent = {0};
        List<Long> may = run(mainJob(), m -> m, spent);
        assertThat(may).hasSize(83).allMatch(m -> m > PerfBudget.LEAST_NANOS);
        assertThat(spent[0]).isBetween(PerfBudget.MINUTE_NANOS - SECOND, PerfBudget.MINUTE_NANOS);
    }

    @Test
    void jobsOverrunningByHalfEndInTime() throws Exception {
        long[] spent = {0};
        List<Long> may = run(mainJob(), m -> m + m / 2, spent);
        assertThat(may).allMatch(m -> m >= PerfBudget.LEAST_NANOS);
        assertThat(spent[0]).isLessThan(60 * SECOND - FOR_JVMS);
    }

    /** A stall, wherever it is, costs the others their time, not the minute. */
    @ParameterizedTest
    @ValueSource(ints = {0, 30, 61})
    void laterJobsCompensateForAStall(int where) throws Exception {
        long[] spent = {0};
        int[] job = {0};
        List<Long> may = run(mainJob(), m -> job[0]++ == where ? 20 * SECOND : Math.min(m, SECOND / 2), spent);
        assertThat(may).allMatch(m -> m >= PerfBudget.LEAST_NANOS);
        assertThat(spent[0]).isLessThan(60 * SECOND - FOR_JVMS + (where > 60 ? SECOND : 0));
    }

    @Test
    void firstSizeOfATestGetsWarmUpTime() throws Exception {
        List<PerfJob> jobs = mainJob();
        List<Long> may = run(jobs, m -> m, new long[1]);
        for (int i = 1; i < jobs.size(); i++) {
            boolean first = jobs.get(i).test() != jobs.get(i - 1).test();
            assertThat(may.get(i)).as(jobs.get(i).toString()).isCloseTo(may.get(0) / (first ? 1 : 3),
                    within(1000L));
        }
    }

    /** On a machine where jobs are quick the budget has no effect: warm-up and duration fit into each share. */
    @Test
    void quickJobsAreNotLimited() throws Exception {
        PerfOptions o = options("");
        long needed = o.warmUpNanos() + o.nanos();
        assertThat(run(o.jobs(), m -> Math.min(m, needed + SECOND / 20), new long[1])).allMatch(m -> m > needed + SECOND
                / 20);
    }

    @Test
    void noBudgetMeansNoLimit() throws Exception {
        PerfBudget none = new PerfBudget(PerfBudget.NONE, mainJob());
        assertThat(none.next(0)).isEqualTo(Long.MAX_VALUE);
        assertThat(none.next(3600 * SECOND)).isEqualTo(Long.MAX_VALUE);
    }

    /** A run with given tests or a given time has no budget. */
    @Test
    void onlyTheDefaultRunHasABudget() {
        for (String main : List.of("", "--json", "--consume", "--connect=nix:1", "--runs=5")) {
            assertThat(options(main).budgetNanos()).as(main).isEqualTo(PerfBudget.MINUTE_NANOS);
        }
        for (String told : List.of("write-lat", "--size=8", "--iterations=5", "--duration=1s", "--warm-up=1ms",
                "--worker")) {
            assertThat(options(told).budgetNanos()).as(told).isEqualTo(PerfBudget.NONE);
        }
        assertThat(options("").arguments()).contains("--budget=" + PerfBudget.MINUTE_NANOS + "ns");
        assertThat(options("write-lat").arguments()).noneMatch(a -> a.startsWith("--budget"));
        String worker = String.join(" ", options("").arguments()) + " --worker";
        assertThat(options(worker).budgetNanos()).isEqualTo(PerfBudget.MINUTE_NANOS);
    }
}
