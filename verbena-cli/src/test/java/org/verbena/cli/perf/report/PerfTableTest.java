// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.cli.perf.PerfCommandLine.options;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Help.Ansi;

import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.support.Terminal;

/** Rows that appear as they finish, in the columns that a terminal has; and the line of progress. */
class PerfTableTest {
    private static final List<Double> LARGE = List.of(99_999_999.0, 123_456_789.0, 1.5e9, 2e9, 2.1e9, 2_147_483_647.0);

    private static final PerfMachine MACHINE = new PerfMachine("Some Corporation Processor(R) Number 1234 @ 2.00GHz",
            2, 0.5, List.of(0, 1), "Linux 6.8.0", "Eclipse Adoptium 25+36-LTS");
    /** Two lines about the machine, which are folded at 80 columns, and an empty one. */
    private static final int ABOVE_80 = 4;
    private static final int ABOVE = 3;

    private static PerfResult latency(PerfTest test, long size, long iterations, List<Double> rtt) {
        return new PerfResult(test, size, "", PerfEnds.NONE, 1, iterations, rtt, 0, 0, 12_345);
    }

    private static PerfResult bandwidth(PerfTest test, long size, double bytesPerSecond) {
        return new PerfResult(test, size, "", test.isNio() ? PerfEnds.VERBENA : PerfEnds.NONE, 1, 1000, List.of(),
                bytesPerSecond, bytesPerSecond / size, 0.5);
    }

    /** Rows of all tests in the order in which they run, with figures that fill their columns. */
    private static List<PerfResult> rows() {
        List<PerfResult> all = new ArrayList<>();
        for (PerfTest t : PerfTest.values()) {
            for (long size : t.fixedSize != 0 ? List.of(t.fixedSize) : List.of(8L, 1L << 30)) {
                all.add(t.isBandwidth()
                        ? bandwidth(t, size, Math.min(987.654e9, 987e6 * size))
                        : latency(t, size, 99_999_999_999L, LARGE));
            }
        }
        return all;
    }

    private static List<String> live(PerfOptions options, List<PerfResult> rows, int room) {
        StringWriter out = new StringWriter();
        PerfTable table = new PerfTable(PerfShape.of(options), new PerfTable.Frame(MACHINE.lines()), room,
                new PrintWriter(out), Ansi.OFF);
        rows.forEach(table::add);
        table.end(5);
        return out.toString().lines().toList();
    }

    private static PerfOptions everything() {
        StringBuilder all = new StringBuilder("--device=shm0 --size=8,1g");
        for (PerfTest t : PerfTest.values()) {
            if (!t.isRaw()) { // which are measured apart from verbs
                all.append(' ').append(t.title());
            }
        }
        return options(all.toString());
    }

    @ParameterizedTest
    @ValueSource(ints = {80, 100, 132, 160})
    void linesFitTheTerminal(int room) {
        List<String> lines = live(everything(), rows(), room);
        assertThat(lines).allSatisfy(l -> assertThat(l.length()).as(l).isLessThanOrEqualTo(room));
        StringWriter sorted = new StringWriter();
        PerfTable.print(rows(), new PerfTable.Frame(MACHINE.lines()), room, 5, new PrintWriter(sorted), Ansi.OFF);
        assertThat(sorted.toString().lines()).allSatisfy(l -> assertThat(l.length()).as(l).isLessThanOrEqualTo(room));
    }

    /** Each column is as wide in each row: a figure is never glued to the one before. */
    @Test
    void columnsAreRanked() {
        String compared = "limit-memcpy tcp-bw write-lat write-bw --device=shm0";
        String narrow = live(options(compared), List.of(), 80).toString();
        assertThat(narrow).isEqualTo("[]");
        List<PerfResult> two = List.of(latency(PerfTest.WRITE_LAT, 8, 1000, LARGE), bandwidth(PerfTest.WRITE_BW, 8,
                1e9));
        List<String> at80 = live(options(compared), two, 80);
        assertThat(at80.get(ABOVE_80 + 1).split(" +")).containsExactly("test", "#bytes", "t_typical", "p99", "t_max",
                "GB/s",
                "vs", "limit", "vs", "tcp");
        assertThat(at80).anyMatch(l -> l.startsWith("More columns: in a wider terminal"));
        List<String> wide = live(options(compared), two, 180);
        assertThat(wide.get(ABOVE + 1).split(" +")).containsExactly("test", "#bytes", "#iterations", "t_min",
                "t_typical",
                "p90", "p99",
                "p99.9", "p99.99", "p99.999", "t_max", "t_avg", "t_stdev", "GB/s",
                "Gbit/s", "M/s", "B/op", "vs", "limit", "vs", "tcp");
        assertThat(wide).noneMatch(l -> l.startsWith("More columns"));
        assertThat(wide).isEqualTo(live(options(compared), two, Terminal.UNLIMITED));
        assertThat(at80.get(ABOVE_80 + 2).split(" +")).hasSize(5);
        assertThat(wide.get(ABOVE + 2).split(" +")).hasSize(10);
    }

    /** Neither as a column nor below the table. */
    @Test
    void ratiosToNothingAreLeftOut() {
        assertThat(live(options("write-lat --device=shm0 --size=8"), List.of(latency(PerfTest.WRITE_LAT, 8, 1000,
                LARGE)), 180)).noneMatch(l -> l.contains("vs "));
    }

    @Test
    void rowAppearsWhenItIsMeasured() {
        StringWriter out = new StringWriter();
        PerfTable table = new PerfTable(PerfShape.of(options("write-lat tcp-lat-spin --device=shm0 --size=8")),
                new PerfTable.Frame(List.of()), 80,
                new PrintWriter(out), Ansi.OFF);
        assertThat(out.toString()).isEmpty();
        table.add(latency(PerfTest.WRITE_LAT, 8, 100_000, List.of(300.0, 1.0, 1.0, 1.0, 1.0, 1.0)));
        assertThat(out.toString().lines()).hasSize(3).last().asString().startsWith("write-lat").contains("0.300");
        table.add(latency(PerfTest.TCP_LAT_SPIN, 8, 100_000, List.of(6000.0, 1.0, 1.0, 1.0, 1.0, 1.0)));
        assertThat(out.toString().lines()).hasSize(4).last().asString().startsWith("tcp-lat-spin");
        assertThat(out.toString()).doesNotContain("20.0x");
        table.end(1);
        assertThat(out.toString()).containsPattern("Compared with what was measured later:\n.*\n.*\n"
                + "write-lat .* 20\\.0x\n");
    }

    /** The limit is measured first, so nothing is to be compared later. */
    @Test
    void ratiosToEarlierRowsAppearAtOnce() {
        String all = String.join("\n", live(options("limit-memcpy write-bw --device=shm0 --size=8"), List.of(
                bandwidth(PerfTest.LIMIT_MEMCPY, 8, 2e9), bandwidth(PerfTest.WRITE_BW, 8, 1e9)), 80));
        assertThat(all).containsPattern("write-bw .* 0\\.50x").doesNotContain("Compared");
    }

    @Test
    void machineIsAboveTheTable() {
        List<PerfResult> one = List.of(bandwidth(PerfTest.WRITE_BW, 8, 1e9));
        assertThat(live(options("write-bw --device=shm0"), one, 160)).startsWith(
                "Some Corporation Processor(R) Number 1234 @ 2.00GHz, 2 CPUs, load 0.50; the measuring threads are"
                        + " bound to CPU 0 and 1.", "Linux 6.8.0, Eclipse Adoptium 25+36-LTS.", "");
        PerfMachine unknown = new PerfMachine("", 1, -1, List.of(), "Linux 6", "Java");
        assertThat(unknown.lines().getFirst()).isEqualTo("1 CPU; the measuring threads are not bound.");
        assertThat(unknown.toJson()).hasToString("{\"cpu\":null,\"cpus\":1,\"load\":null,\"pinned\":null,"
                + "\"kernel\":\"Linux 6\",\"jdk\":\"Java\"}");
    }

    /** A percentile beyond which there are few samples is marked; the longest one is what it is. */
    @Test
    void smallSamplesAreMarked() {
        List<Double> rtt = List.of(999_999.0, 999_999.0, 999_999.0, 999_999.0, 99_999.0, 999_999.0);
        String row = live(options("write-lat --device=shm0"), List.of(latency(PerfTest.WRITE_LAT, 8, 1000, rtt)), 160)
                .get(ABOVE + 2);
        assertThat(row).containsPattern("1000 +999\\.999 +999\\.999 +999\\.999 +~1000\\.0 +~99\\.999 +999\\.999");
        PerfResult few = latency(PerfTest.WRITE_LAT, 8, 999, rtt);
        assertThat(few.isUnsure(2)).isTrue();
        assertThat(few.isUnsure(5)).isFalse();
        assertThat(IntStream.range(0, rtt.size())).noneMatch(latency(PerfTest.WRITE_LAT, 8, 100_000, rtt)::isUnsure);
    }

    /** Marked figures of any length stand apart, and the mark is explained where there is one. */
    @Test
    void marksStandApart() {
        for (double nanos = 12; nanos < Integer.MAX_VALUE; nanos *= 10.37) {
            double n = nanos;
            List<Double> rtt = List.of(n, n, n, n, n, n);
            List<String> all = live(options("write-lat --device=shm0"), List.of(latency(PerfTest.WRITE_LAT, 8, 10,
                    rtt)), Terminal.UNLIMITED);
            assertThat(all.get(ABOVE + 2).split(" +")).as(all.get(ABOVE + 2)).hasSize(10);
            assertThat(all).anyMatch(l -> l.startsWith("~: fewer than 10"));
        }
        List<Double> rtt = List.of(9.0, 9.0, 9.0, 9.0, 9.0, 9.0);
        assertThat(live(options("limit-cacheline tcp-lat-spin write-lat write-bw --device=shm0"), List.of(latency(
                PerfTest.WRITE_LAT, 8, 1000, rtt)), 80)).as("p99.9 is not shown").noneMatch(l -> l.startsWith("~"));
    }

    @Test
    void progressFitsOneLine() {
        String text = "3 of 9: nio-lat-spin stream 64 bytes";
        assertThat(PerfProgress.line(text, 0.25, 75, 80)).isEqualTo(text + " [#####---------------] 1:15 left");
        assertThat(PerfProgress.line(text, 0.25, 75, 60)).isEqualTo(text + " 1:15 left");
        assertThat(PerfProgress.line(text, 0.25, 75, 20)).hasSize(19);
        assertThat(PerfProgress.line(text, 1, 0, Terminal.UNLIMITED)).endsWith("[####################] 0:00 left");
    }

    @Test
    void progressIsErasedAndOnATerminalOnly() {
        StringWriter err = new StringWriter();
        try (PerfProgress p = new PerfProgress(new PrintWriter(err), options("write-lat --device=shm0"), true, 80)) {
            p.begins(0, 2, "write-lat 8");
            assertThat(err.toString()).startsWith("\r\033[K1 of 2: write-lat 8 bytes [").contains(" left");
        }
        assertThat(err.toString()).endsWith("\r\033[K");
        StringWriter file = new StringWriter();
        try (PerfProgress p = new PerfProgress(new PrintWriter(file), options("write-lat --device=shm0"), false, 80)) {
            p.begins(0, 2, "write-lat 8");
        }
        assertThat(file.toString()).isEmpty();
    }
}
