// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfTest;

/** Results that pass between processes, and medians of them. */
class PerfResultTest {
    /** The report of one process is parsed by the other; runs of the same test are found by their key. */
    @Test
    void jsonDistinguishesEnds() throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        Set<String> keys = new HashSet<>();
        for (PerfEnds ends : PerfEnds.values()) {
            PerfResult r = channel(ends, 1, 9e9);
            PerfResult read = PerfResult.fromJson(mapper.readTree(r.toJson().toString()));
            assertThat(read.ends()).isEqualTo(ends);
            assertThat(read.key()).isEqualTo(r.key());
            keys.add(r.key());
            PerfJob job = new PerfJob(PerfTest.NIO_BW, 1, PerfJob.NO_DEVICE, 0, 1, false, false, false, 1, ends, 0);
            assertThat(PerfJob.of(new PerfFields(job.line()))).isEqualTo(job);
        }
        assertThat(keys).hasSameSizeAs(PerfEnds.values());
        String row = channel(PerfEnds.VERBENA_TO_PLAIN, 1, 9e9).toJson().toString();
        assertThat(row).contains("\"device\":null,\"transport\":\"stream\",\"peer\":\"plain\"");
        assertThat(channel(PerfEnds.NONE, 1, 9e9).toJson().toString()).contains("\"transport\":null,\"peer\":null");
    }

    private static PerfResult channel(PerfEnds ends, int connections, double bytesPerSecond) {
        return new PerfResult(PerfTest.NIO_BW, 4096, "", ends, connections, 1000, List.of(), bytesPerSecond,
                bytesPerSecond / 4096, 0);
    }

    private static PerfResult latency(PerfTest test, long size, double p50) {
        return new PerfResult(test, size, "", PerfEnds.NONE, 1, 1000, List.of(p50, 400.0, 500.0, 600.0, 700.0, 5e6), 0,
                0, 0);
    }

    @Test
    void medianIsTakenOfEachFigure() {
        PerfResult m = PerfResult.median(List.of(latency(PerfTest.WRITE_LAT, 8, 300), latency(PerfTest.WRITE_LAT, 8,
                700),
                latency(PerfTest.WRITE_LAT, 8, 310)));
        assertThat(m.rtt().getFirst()).isEqualTo(310);
        assertThat(m.iterations()).isEqualTo(1000);
    }
}
