// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rates and sweeps of {@code verbena perf}, and the memory of jobs that have one. */
class PerfRatesTest {
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

    /** A stamp of one byte tells a message from the one before in its place. */
    @ParameterizedTest
    @CsvSource({"1,64", "64,64", "4096,64", "8192,32", "65536,4", "1073741824,4"})
    void messagesRotateOverPlaces(long size, int places) {
        PerfJob job = new PerfJob(PerfTest.WRITE_LAT, size, "shm0", 0, 1, false, false, false, 1, PerfEnds.NONE);
        assertThat(job.places()).isOne();
        assertThat(job.at(1000).places()).isEqualTo(places).isLessThanOrEqualTo(job.at(1000).slots());
    }
}
