// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.verbena.cli.perf.PerfCommandLine.options;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.Help.Ansi;

import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfRate;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.perf.session.PerfOptions;
import org.verbena.cli.perf.session.PerfResult;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.Terminal;

/** An earlier run: what is read of it, what is compared, and what people are told. */
class PerfBaselineTest {
    private static final PerfMachine HERE = new PerfMachine("CPU", 4, 0.5, List.of(0, 1), "Linux 6", "Java 25");

    @TempDir Path dir;

    private static PerfResult latency(PerfTest test, long size, double p50, PerfRate rate) {
        return new PerfResult(test, size, "shm0", PerfEnds.NONE, 1, 100_000, List.of(p50, p50, 2 * p50, p50, p50, p50),
                0, 0, 0, null, rate);
    }

    private static PerfResult bandwidth(long size, double bytesPerSecond) {
        return new PerfResult(PerfTest.WRITE_BW, size, "shm0", PerfEnds.NONE, 1, 1000, List.of(), bytesPerSecond,
                bytesPerSecond / size, 0);
    }

    private Path file(PerfMachine machine, PerfOptions options, PerfResult... rows) throws Exception {
        StringBuilder all = new StringBuilder();
        for (PerfResult r : rows) {
            ObjectNode row = r.toJson();
            row.set("machine", machine.toJson());
            row.set("options", options.toJson(1));
            all.append(all.isEmpty() ? "[" : ",").append(row);
        }
        return Files.writeString(dir.resolve("old.json"), all + "]");
    }

    @Test
    void rowsAreComparedWithTheirPartners() throws Exception {
        PerfOptions same = options("send-lat --device=shm0");
        PerfRate rate = new PerfRate(1000, 1000);
        PerfBaseline old = PerfBaseline.read(file(HERE, same, latency(PerfTest.SEND_LAT, 8, 300, null), latency(
                PerfTest.SEND_LAT, 8, 900, rate), bandwidth(64, 2e9), bandwidth(128, 3e9)));
        List<PerfResult> now = List.of(latency(PerfTest.SEND_LAT, 8, 150, null), latency(PerfTest.SEND_LAT, 8, 1800,
                rate), bandwidth(64, 3e9), latency(PerfTest.SEND_LAT, 64, 150, null));
        assertThat(now.stream().map(r -> old.faster(r).orElse(0))).containsExactly(2.0, 0.5, 1.5, 0.0);
        List<String> notes = old.notes(now, HERE, same.toJson(1));
        assertThat(notes).containsExactly("The baseline has no row of send-lat 64 by shm0.",
                "Only the baseline has write-bw 128 by shm0.");
        StringWriter out = new StringWriter();
        PerfTable.print(now, new PerfTable.Frame(List.of(), old, _ -> notes), 80, 1, new PrintWriter(out), Ansi.OFF);
        assertThat(out.toString()).contains("vs baseline").containsPattern("send-lat +8 .* 2\\.00x\n")
                .containsPattern("send-lat +8 +1000 +1000 .* 0\\.50x\n").containsPattern("send-lat +64 .* no row\n")
                .contains("Only the baseline has");
        // wrapped where the name of the folder is long
        assertThat(out.toString().replaceAll("\\s+", " ")).contains("old.json, below 1 slower");
        ObjectNode row = now.getFirst().toJson();
        old.put(now.getFirst(), row);
        assertThat(row.path("vs_baseline").asDouble()).isEqualTo(2);
        assertThat(row.path("vs_baseline_p99").asDouble()).isEqualTo(2);
        old.put(now.getLast(), row);
        assertThat(row.path("vs_baseline").isNull() && row.path("vs_baseline_p99").isNull()).isTrue();
    }

    @Test
    void differencesAreToldInOneLine() throws Exception {
        PerfResult r = latency(PerfTest.SEND_LAT, 8, 300, null);
        PerfMachine other = new PerfMachine("CPU", 4, 7, List.of(), "Linux 6", "Java 26");
        PerfBaseline old = PerfBaseline.read(file(other, options("send-lat --device=shm0 --events -D 2s"), r));
        assertThat(old.notes(List.of(r), HERE, options("send-lat --device=shm0").toJson(3))).containsExactly(
                "The baseline was measured differently: pinned none, now [0,1]; jdk 'Java 26', now 'Java 25';"
                        + " duration 2000 ms, now 200 ms; events true, now false; runs 1, now 3.");
        PerfBaseline ancient = PerfBaseline.read(Files.writeString(dir.resolve("a"), "[" + r.toJson().set("machine",
                HERE.toJson()) + "]"));
        assertThat(ancient.notes(List.of(r), HERE, options("send-lat --device=shm0").toJson(1))).containsExactly(
                "The baseline was measured differently: its options are unknown.");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "[{]                                          | it is not JSON (line 1: ",
        "test,device                                  | it is not JSON (line 1: ",
        "{}                                           | it is not a list of rows",
        "3                                            | it is not a list of rows",
        "[]                                           | it has no rows",
        "[3]                                          | its row 1 has no 'test'",
        "[{'test':'send-lat'}]                        | its row 1 has no 'size'",
        "[{'test':'send-late','size':8}]              | its row 1 has an unknown test 'send-late'",
        "[{'test':'send-lat','size':8}]               | its row 1, of send-lat, has no round trips ('rtt_ns')",
        "[{'test':'send-lat','size':8,'rtt_ns':{}}]   | its row 1, of send-lat, has no round trips ('rtt_ns')",
        "[{'test':'send-bw','size':8}]                | its row 1, of send-bw, has no 'bytes_per_second'",
        "[{'test':'send-bw','size':8,'counting_ns':3}] | it is of --counters",
    })
    void wrongFileIsNamed(String text, String sentence) throws Exception {
        Path file = Files.writeString(dir.resolve("wrong"), text.replace('\'', '"'));
        assertThatThrownBy(() -> PerfBaseline.read(file)).isInstanceOf(CommandException.class).hasMessageStartingWith(
                "--baseline " + file + ": " + sentence).hasMessageEndingWith(
                        "give it a file that 'verbena perf --json' has written");
    }

    @Test
    void missingAndDoubleFilesAreNamed() throws Exception {
        assertThatThrownBy(() -> PerfBaseline.read(dir.resolve("none"))).hasMessageContaining(
                "there is no such file");
        assertThatThrownBy(() -> PerfBaseline.read(dir)).hasMessageContaining("it cannot be read");
        Path empty = Files.writeString(dir.resolve("empty"), "");
        assertThatThrownBy(() -> PerfBaseline.read(empty)).hasMessageContaining("it is not a list of rows");
        PerfResult r = bandwidth(8, 1e9);
        Path twice = file(HERE, options("write-bw --device=shm0"), r, r);
        assertThatThrownBy(() -> PerfBaseline.read(twice)).hasMessageContaining(
                "its row 2 is a second one of write-bw 8 by shm0");
    }

    @Test
    void tableWithRatesFits() {
        PerfOptions sweep = options("nio-lat-selectnow send-lat --device=shm0 --rates=1k,20m,20m --size=1g"
                + " --connections=1");
        for (int room : new int[] {80, 100, 160, Terminal.UNLIMITED}) {
            StringWriter out = new StringWriter();
            PerfTable table = new PerfTable(PerfShape.of(sweep), new PerfTable.Frame(List.of()), room, new PrintWriter(
                    out), Ansi.OFF);
            table.add(latency(PerfTest.SEND_LAT, 1 << 30, 1e9, new PerfRate(1000, 999.99)));
            table.add(latency(PerfTest.SEND_LAT, 1 << 30, 9.9e10, new PerfRate(20_000_000, 12_345_678.9)));
            table.add(latency(PerfTest.SEND_LAT, 1 << 30, 1e9, new PerfRate(2, 1.5)));
            table.end(1);
            assertThat(out.toString().lines()).allSatisfy(l -> assertThat(l.length()).isLessThanOrEqualTo(room));
            assertThat(out.toString()).containsPattern("messages / second").containsPattern("asked +reached")
                    .containsPattern("1000 +1000 ").containsPattern("20000000 +!12345679 ").containsPattern(
                            "2 +!1\\.50 ").contains("!: the rate was not reached").contains(
                                    "Round trips count from when").doesNotContain("vs limit");
        }
    }
}
