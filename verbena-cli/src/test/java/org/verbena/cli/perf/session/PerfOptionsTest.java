// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.cli.perf.PerfCommandLine.options;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfTest;

/** The jobs that options with rates make. */
class PerfOptionsTest {
    private static final int DEFAULT_RATED = 10;

    /** Rates of one series follow each other, so that a sweep can end. */
    @Test
    void eachRateIsAJob() throws Exception {
        List<PerfJob> jobs = options("--device=shm0 nio-lat-spin send-lat --rates=2k,1k --size=8,64").jobs();
        assertThat(jobs.stream().map(PerfJob::toString)).containsExactly("send-lat at 1000/s 8",
                "send-lat at 2000/s 8", "send-lat at 1000/s 64", "send-lat at 2000/s 64",
                "nio-lat-spin stream at 1000/s 8", "nio-lat-spin stream at 2000/s 8",
                "nio-lat-spin kernel at 1000/s 8", "nio-lat-spin kernel at 2000/s 8",
                "nio-lat-spin stream at 1000/s 64", "nio-lat-spin stream at 2000/s 64",
                "nio-lat-spin kernel at 1000/s 64", "nio-lat-spin kernel at 2000/s 64");
        assertThat(jobs.stream().map(PerfJob::series).distinct()).hasSize(6);
        for (PerfJob job : jobs) {
            assertThat(PerfJob.of(new PerfFields(job.line()))).isEqualTo(job);
        }
    }

    /** Another process gets the same jobs. */
    @Test
    void ratesPassBetweenProcesses() throws Exception {
        PerfOptions said = options("--device=shm0 send-lat --rates=1k-20m*3");
        PerfOptions passed = options(String.join(" ", said.arguments()));
        assertThat(passed.jobs()).isEqualTo(said.jobs());
        assertThat(passed.nanos()).isEqualTo(1_000_000_000);
    }

    @Test
    void withoutNamesThoseThatTakeARateRun() {
        PerfOptions all = options("--device=shm0 --rate=10k");
        assertThat(all.tests()).hasSize(DEFAULT_RATED + 1).allMatch(PerfTest::takesRate);
        assertThat(all.sizes()).containsExactly(64L);
        assertThat(all.nanos()).isEqualTo(1_000_000_000);
        assertThat(all.budgetNanos()).isEqualTo(PerfBudget.NONE);
        assertThat(Arrays.stream(PerfTest.values()).filter(t -> !t.takesRate()).map(PerfTest::title).collect(Collectors
                .joining(" "))).isEqualTo(
                        "limit-cacheline limit-twoline limit-memcpy erm-reg erm-dereg write-bw send-bw"
                                + " read-bw erm-bw raw-rate raw-bw stack-bw stack-connect udp-rate tcp-bw nio-bw nio-transfer"
                                + " nio-transfer-from nio-connect");
    }
}
