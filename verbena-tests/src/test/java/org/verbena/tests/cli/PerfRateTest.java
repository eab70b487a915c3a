// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.tests.PerfLane;

/** {@code verbena perf} with messages at fixed times, and beside an earlier run. Figures are checked for their form. */
@PerfLane
class PerfRateTest {
    private static final PerfListener LISTENER = new PerfListener();
    private static final List<String> PERCENTILES = List.of("min", "p50", "p90", "p99", "p99_9", "p99_99", "p99_999",
            "max");
    private static final int MESSAGES = 300;

    private static CommandProcess.Result run(String arguments, String... more) throws IOException {
        List<String> all = new ArrayList<>(List.of("perf", "--warm-up=1ms"));
        all.addAll(List.of(arguments.split(" +")));
        all.addAll(List.of(more));
        all.addAll(LISTENER.option());
        return CommandProcess.runHosted(all.toArray(String[]::new));
    }

    private static List<JsonNode> rows(CommandProcess.Result r) throws IOException {
        assertThat(r.code()).as(r.err()).isZero();
        return StreamSupport.stream(new ObjectMapper().readTree(r.out()).spliterator(), false).toList();
    }

    private static void isRated(JsonNode row, long rate) {
        String all = row.toString();
        assertThat(row.get("rate").asLong()).as(all).isEqualTo(rate);
        assertThat(row.get("rate_reached").asDouble()).as(all).isBetween(Double.MIN_VALUE, (double) rate);
        assertThat(row.get("rate_kept").asBoolean()).as(all).isEqualTo(row.get("rate_reached").asDouble() >= 0.99
                * rate);
        assertThat(PERCENTILES.stream().map(p -> row.get("rtt_ns").get(p).asLong())).as(all).isSorted().allMatch(
                t -> t > 0);
        assertThat(row.get("messages_per_second").isNull()).as(all).isTrue();
    }

    /** Every test that takes a rate, with contents compared where that is possible, below and above a cache line. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "write-lat write-imm-lat send-lat read-lat erm-lat --verify --size=8,13,5000 | 5 3",
        "atomic-lat --verify                                                         | 1 1",
        "write-imm-lat send-lat read-lat atomic-lat --events --verify --size=8       | 4 1",
        "write-lat send-lat --inline=64 --verify --size=13                           | 2 1",
        "tcp-lat-spin tcp-lat-block udp-lat-spin --size=13,5000                      | 3 2",
        "nio-lat-spin nio-lat-selectnow nio-lat-select --connections=1,3 --size=5000 | 6 2",
        "nio-lat-block nio-lat-sleep --size=64                                       | 4 1",
    })
    void messagesAreSentAtARate(String arguments, String testsAndSizes) throws IOException {
        String[] numbers = testsAndSizes.split(" ", -1);
        List<JsonNode> rows = rows(run(arguments, "--json", "--rate=20k", "--iterations=" + MESSAGES));
        assertThat(rows).hasSize(Integer.parseInt(numbers[0]) * Integer.parseInt(numbers[1]));
        for (JsonNode row : rows) {
            isRated(row, 20_000);
            assertThat(row.get("iterations").asLong()).isEqualTo(MESSAGES);
        }
    }

    /** As fast as the transport takes them: several are under way all the time, of messages of all sizes. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "write-lat write-imm-lat send-lat read-lat erm-lat --verify --size=1,64,100k | 15",
        "atomic-lat --verify                                                         | 1",
        "tcp-lat-spin udp-lat-spin --size=1,60000                                    | 4",
        "nio-lat-spin nio-lat-selectnow --connections=1,3 --size=8,200k              | 16",
    })
    void transportMayBeFull(String arguments, int count) throws IOException {
        List<JsonNode> rows = rows(run(arguments, "--json", "--rate=20m", "--iterations=" + MESSAGES));
        assertThat(rows).hasSize(count).allSatisfy(r -> isRated(r, 20_000_000));
    }

    /** Ten million round trips of TCP in a second are not to be had. */
    @Test
    void sweepEndsWhereTheRateIsNotReached() throws IOException {
        CommandProcess.Result r = run("tcp-lat-block --size=8 --rates=10m-20m+5m --duration=20ms --json");
        List<JsonNode> rows = rows(r);
        assertThat(rows).hasSize(1).allSatisfy(row -> isRated(row, 10_000_000));
        assertThat(rows.getFirst().get("rate_kept").asBoolean()).isFalse();
        assertThat(r.err()).containsPattern("^verbena: The sweep of tcp-lat-block 8 at 10000000/s ends there: no more"
                + " than [0-9]+/s were reached\\.$");
        CommandProcess.Result table = run("tcp-lat-block --size=8 --rates=10m,20m --duration=20ms");
        assertThat(table.code()).as(table.err()).isZero();
        assertThat(table.out()).containsPattern("tcp-lat-block +8 +10000000 +![0-9]+(\\.[0-9]+)? ").contains(
                "!: the rate was not reached").contains("The sweep of tcp-lat-block 8 at 10000000/s ends there")
                .contains("Round trips count from when a message was to be sent").doesNotContain("20000000");
        assertThat(table.err()).isEmpty();
    }

    /** In two processes that perf starts itself, for a time that the rate needs; and in all forms. */
    @Test
    void lowRatesTakeTheirTime(@TempDir Path dir) throws IOException {
        Path log = dir.resolve("log");
        CommandProcess.Result r = CommandProcess.runHosted("perf", "tcp-lat-block", "--rates=50,100",
                "--duration=200ms",
                "--warm-up=1ms", "--csv", "--hlog=" + log);
        assertThat(r.code()).as(r.err()).isZero();
        List<String> names = List.of(r.out().lines().findFirst().orElseThrow().split(","));
        List<List<String>> lines = r.out().lines().skip(1).map(l -> List.of(l.split(",", -1))).toList();
        assertThat(lines).isNotEmpty().first().satisfies(l -> assertThat(l.get(names.indexOf("rate"))).isEqualTo("50"),
                l -> assertThat(Integer.parseInt(l.get(names.indexOf("iterations")))).isBetween(2, 10));
        try (HistogramLogReader reader = new HistogramLogReader(log.toFile())) {
            Histogram h = (Histogram) reader.nextIntervalHistogram();
            assertThat(h.getTag()).isEqualTo("tcp-lat-block-64-50-per-second");
            assertThat(h.getTotalCount()).isBetween(2L, 10L);
        }
    }

    @Test
    void runIsComparedWithAnEarlierOne(@TempDir Path dir) throws IOException {
        CommandProcess.Result first = run("tcp-lat-block tcp-bw --json --size=8 --duration=1ms");
        assertThat(rows(first)).hasSize(2).allSatisfy(row -> {
            assertThat(row.get("options").get("duration_ns").asLong()).isEqualTo(1_000_000);
            assertThat(row.get("rate").isNull() && row.get("rate_kept").isNull()).isTrue();
        });
        Path file = Files.writeString(dir.resolve("old.json"), first.out());
        CommandProcess.Result same = run("tcp-lat-block tcp-bw --json --size=8 --duration=1ms", "--baseline=" + file);
        assertThat(rows(same)).hasSize(2).allSatisfy(row -> assertThat(row.get("vs_baseline").asDouble()).isPositive());
        assertThat(rows(same).getFirst().get("vs_baseline_p99").asDouble()).isPositive();
        assertThat(same.err()).isEmpty();
        CommandProcess.Result other = run("tcp-lat-block --csv --size=8,64 --duration=2ms", "--baseline=" + file);
        assertThat(other.code()).as(other.err()).isZero();
        assertThat(other.err()).isEqualTo("""
            verbena: The baseline has no row of tcp-lat-block 64.
            verbena: Only the baseline has tcp-bw 8.
            verbena: The baseline was measured differently: duration 1 ms, now 2 ms.""");
        assertThat(other.out().lines().findFirst()).hasValueSatisfying(l -> assertThat(l).endsWith(
                ",vs_baseline,vs_baseline_p99"));
        CommandProcess.Result table = run("tcp-lat-block tcp-bw --size=8,64 --duration=1ms", "--baseline=" + file);
        assertThat(table.out()).contains("vs baseline: factor by which it is faster").containsPattern(
                "tcp-lat-block +8 .*[0-9]x\n").containsPattern("tcp-bw +64 .* no row\n");
    }

    @Test
    void wrongBaselineIsNamedBeforeTheRun(@TempDir Path dir) throws IOException {
        Path table = Files.writeString(dir.resolve("table"), "test  #bytes\nsend-lat  8\n");
        for (Path file : Stream.of(dir.resolve("none"), table).toList()) {
            CommandProcess.Result r = run("tcp-lat-block --size=8 --duration=100s", "--baseline=" + file);
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("--baseline " + file + ": ").contains(
                    "give it a file that 'verbena perf --json' has written").doesNotContain("\tat ");
            assertThat(r.out()).isEmpty();
        }
    }
}
