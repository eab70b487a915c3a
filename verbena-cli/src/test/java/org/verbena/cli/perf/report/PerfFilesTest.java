// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.perf.session.PerfSpread;
import org.verbena.cli.support.CommandException;

/** Round trips in files that other tools read, in CSV and as a drawing. */
class PerfFilesTest {
    private static final int COUNT = 2000;

    private static PerfResult latency(PerfTest test, long size) {
        Histogram h = new Histogram(3);
        for (int i = 1; i <= COUNT; i++) {
            h.recordValue(1000L + i);
        }
        PerfJob job = new PerfJob(test, size, PerfJob.NO_DEVICE, 0, 1, false, false, false, 1, PerfEnds.NONE);
        return PerfResult.latency(job, COUNT, h, 0);
    }

    private static PerfResult bandwidth() {
        return new PerfResult(PerfTest.TCP_BW, 8, "tcp", PerfEnds.NONE, 1, 1000, List.of(), 8e9, 1e9, 0);
    }

    private static PerfSpread spread(PerfResult r) {
        return Objects.requireNonNull(r.spread());
    }

    @Test
    void spreadPassesBetweenProcesses() throws Exception {
        PerfResult r = latency(PerfTest.TCP_LAT_SPIN, 8);
        assertThat(spread(r).min()).isEqualTo(1001);
        assertThat(spread(r).mean()).isBetween(1998.0, 2003.0);
        assertThat(spread(r).deviation()).isBetween(575.0, 580.0);
        assertThat(spread(r).fiveNines()).isEqualTo(r.rtt().getLast());
        PerfResult other = PerfResult.fromJson(r.toLine());
        assertThat(other).isEqualTo(r);
        assertThat(r.toJson().has("histogram")).as("of no use to a person").isFalse();
        assertThat(spread(PerfResult.median(List.of(r, other, r))).histogram().getTotalCount()).isEqualTo(3L * COUNT);
    }

    @Test
    void logIsReadByHdrHistogram(@TempDir Path dir) throws Exception {
        Path log = dir.resolve("a.hlog");
        PerfFiles files = new PerfFiles(log, null);
        files.require();
        files.write(List.of(latency(PerfTest.TCP_LAT_SPIN, 8), bandwidth(), latency(PerfTest.TCP_LAT_BLOCK, 64)), 5000);
        try (HistogramLogReader reader = new HistogramLogReader(log.toFile())) {
            for (String tag : List.of("tcp-lat-spin-8", "tcp-lat-block-64")) {
                Histogram h = (Histogram) reader.nextIntervalHistogram();
                assertThat(h.getTag()).isEqualTo(tag);
                assertThat(h.getTotalCount()).isEqualTo(COUNT);
                assertThat(h.getMinValue()).isEqualTo(1001);
            }
            assertThat(reader.nextIntervalHistogram()).isNull();
        }
    }

    @Test
    void percentilesAreOneFileForEachRow(@TempDir Path dir) throws Exception {
        Path file = dir.resolve("a.hgrm");
        PerfFiles files = new PerfFiles(null, file);
        files.require();
        assertThat(file).doesNotExist();
        files.write(List.of(latency(PerfTest.TCP_LAT_SPIN, 8)), 5000);
        assertThat(Files.readString(file)).contains("Value", "Percentile", "TotalCount").containsPattern(
                "#\\[Max +=  +3\\.0").contains("Total count");
        files.write(List.of(latency(PerfTest.TCP_LAT_SPIN, 8), latency(PerfTest.TCP_LAT_SPIN, 64)), 5000);
        assertThat(dir.resolve("a-tcp-lat-spin-8.hgrm")).exists();
        assertThat(dir.resolve("a-tcp-lat-spin-64.hgrm")).exists();
        assertThat(PerfFiles.named(Path.of("a"), "t")).isEqualTo(Path.of("a-t"));
    }

    @Test
    void filesThatCannotBeWrittenAreNamedBeforeTheRun(@TempDir Path dir) {
        Path nowhere = dir.resolve("none/a");
        assertThatThrownBy(() -> new PerfFiles(nowhere, null).require()).isInstanceOf(CommandException.class)
                .hasMessage("--hlog " + nowhere + " cannot be written: there is no folder " + nowhere.getParent());
        assertThatThrownBy(() -> new PerfFiles(null, nowhere).require()).isInstanceOf(CommandException.class)
                .hasMessageStartingWith("--hgrm " + nowhere + " cannot be written");
    }

    @Test
    void csvHasAColumnForEachField() {
        List<String> lines = PerfCsv.lines(List.of(latency(PerfTest.TCP_LAT_SPIN, 8), bandwidth()));
        assertThat(lines).hasSize(3).allSatisfy(l -> assertThat(l.split(",", -1)).hasSameSizeAs(lines.getFirst().split(
                ",", -1)));
        assertThat(lines.getFirst()).isEqualTo("test,device,transport,peer,size,connections,iterations,rate,"
                + "rate_reached,rate_kept,p50_ns,p90_ns,"
                + "p99_ns,p99_9_ns,p99_99_ns,max_ns,p99_999_ns,min_ns,mean_ns,stdev_ns,bytes_per_second,"
                + "messages_per_second,allocated_bytes_per_op");
        assertThat(lines.get(2)).isEqualTo("tcp-bw,tcp,,,8,,1000,,,,,,,,,,,,,,8000000000,1000000000,0");
        assertThat(PerfCsv.lines(List.of())).isEmpty();
    }

    /** Every round trip is in one bar, and every line fits. */
    @Test
    void drawingHasAllRoundTrips() {
        StringWriter out = new StringWriter();
        PerfFiles.draw(latency(PerfTest.TCP_LAT_SPIN, 8), 80, new PrintWriter(out));
        List<String> lines = out.toString().lines().toList();
        assertThat(lines.subList(0, 2)).containsExactly("", "tcp-lat-spin-8: round trips, microseconds");
        assertThat(lines).hasSizeGreaterThan(4).allSatisfy(l -> assertThat(l.length()).isLessThanOrEqualTo(80));
        assertThat(lines.stream().skip(2).mapToLong(l -> Long.parseLong(l.strip().split(" +", -1)[3])).sum()).isEqualTo(
                COUNT);
        assertThat(lines.stream().skip(2).mapToInt(l -> (int) l.chars().filter(c -> c == '#').count()).max())
                .hasValue(80 - 34);
        assertThat(Arrays.asList(lines.get(2).strip().split(" +"))).startsWith("1.001", "-");
    }
}
