// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfResult;

class PerfCountingTest {
    private static List<PerfResult> roundTrips(double... p50) {
        return Arrays.stream(p50).mapToObj(t -> new PerfResult(PerfTest.SEND_LAT, 8, "shm0", PerfEnds.NONE, 1, 1,
                List.of(t, t, t, t, t, t), 0, 0, 0)).toList();
    }

    private static List<PerfResult> rates(double... perSecond) {
        return Arrays.stream(perSecond).mapToObj(m -> new PerfResult(PerfTest.SEND_LAT, 64, "shm0", PerfEnds.NONE, 1, 1,
                List.of(), 64
                        * m,
                m, 0)).toList();
    }

    @Test
    void differenceWithinNoiseIsNotReported() {
        PerfCounting.Row r = PerfCounting.row(roundTrips(210, 190, 205), roundTrips(180, 200, 220));
        assertThat(r.ratio()).isEqualTo(205.0 / 200);
        assertThat(r.noise()).isEqualTo(0.2);
        assertThat(PerfCounting.verdict(List.of(r))).isEqualTo("Counting makes no difference beyond the noise.");
    }

    @Test
    void differenceBeyondNoiseIsReported() {
        PerfCounting.Row r = PerfCounting.row(roundTrips(300, 300), roundTrips(200, 202));
        assertThat(PerfCounting.verdict(List.of(r))).isEqualTo(
                "send-lat at 8 bytes takes 49 % longer when it is counted.");
    }

    @Test
    void singleRunHasNoNoise() {
        StringWriter out = new StringWriter();
        PerfCounting.print(List.of(PerfCounting.row(roundTrips(100), roundTrips(200))), 1, false, new PrintWriter(out,
                true));
        assertThat(out.toString()).contains("take --runs 5").doesNotContain("beyond the noise", "%", "medians");
    }

    @Test
    void ratesAreComparedAsTimePerMessage() {
        PerfCounting.Row r = PerfCounting.row(rates(10e6), rates(20e6));
        assertThat(r.with()).isEqualTo(100);
        assertThat(r.without()).isEqualTo(50);
        assertThat(r.isNoise()).isFalse();
    }

    @Test
    void speedupIsNotReportedAsCost() {
        assertThat(PerfCounting.row(roundTrips(100), roundTrips(200)).isNoise()).isTrue();
    }
}
