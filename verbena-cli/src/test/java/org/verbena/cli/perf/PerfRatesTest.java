// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.cli.perf.PerfCommandLine.options;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rates and sweeps of {@code verbena perf}, and the jobs that they make. */
class PerfRatesTest {
    private static final int DEFAULT_RATED = 10;

    @ParameterizedTest
    @CsvSource({"1,1", "5000,5000", "50k,50000", "1.5m,1500000", "20M,20000000", "1.9999,1", "0.001k,1"})
    void rateIsParsed(String text, long perSecond) {
        assertThat(PerfRates.one(text)).isEqualTo(perSecond);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "10k-40k+10k     | 10000 20000 30000 40000",
        "10k-39k+10k     | 10000 20000 30000",
        "1k-10k*2        | 1000 2000 4000 8000",
        "1-4*1.1         | 1 2 3 4",
        "7-7+1           | 7",
        "50k,10k,50k     | 10000 50000",
        "1k-2k+1k,5k     | 1000 2000 5000",
        "3k              | 3000",
    })
    void sweepIsParsed(String text, String rates) {
        assertThat(PerfRates.several(text)).isEqualTo(Arrays.stream(rates.split(" ")).map(Long::valueOf).toList());
    }

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
                                + " read-bw erm-bw raw-rate raw-bw udp-rate tcp-bw nio-bw nio-transfer nio-transfer-from nio-connect");
    }

    /** A stamp of one byte tells a message from the one before in its place. */
    @ParameterizedTest
    @CsvSource({"1,64", "64,64", "4096,64", "8192,32", "65536,4", "1073741824,4"})
    void messagesRotateOverPlaces(long size, int places) {
        PerfJob job = new PerfJob(PerfTest.WRITE_LAT, size, "shm0", 0, 1, false, false, false, 1, PerfEnds.NONE);
        assertThat(job.places()).isOne();
        assertThat(job.at(1000).places()).isEqualTo(places).isLessThanOrEqualTo(job.at(1000).slots());
    }
}
