// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Options of {@code bench/apps}; nothing is run. */
class AppsBenchTest {
    private static Setting setting(String... options) throws Exception {
        CommandLine command = AppsBench.command();
        command.parseArgs(options);
        return ((AppsBench) command.getCommand()).setting();
    }

    @Test
    void defaultsAreFullLoadAnywhere() throws Exception {
        assertThat(setting()).isEqualTo(new Setting(new Run.Length(Duration.ofSeconds(10), Duration.ofSeconds(4),
                1_000_000), Load.FULL, Placement.ANYWHERE));
    }

    @Test
    void littleLoadIsMeasuredForLonger() throws Exception {
        Run.Length little = new Run.Length(Duration.ofSeconds(40), Duration.ofSeconds(20), 1_000_000);
        assertThat(setting("--load=none").length()).isEqualTo(little);
        assertThat(setting("--load=light").length()).isEqualTo(little);
        assertThat(setting("--load=light", "--seconds=7", "--warm-up=3").length()).isEqualTo(new Run.Length(Duration
                .ofSeconds(3), Duration.ofSeconds(7), 1_000_000));
    }

    @Test
    void lengthsMayBeHours() throws Exception {
        assertThat(setting("--seconds=10000000", "--warm-up=0", "--records=2000000000").length()).isEqualTo(
                new Run.Length(Duration.ZERO, Duration.ofSeconds(10_000_000), 2_000_000_000));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --load=none --records=5 | --records has no meaning with --load=none, which sends none
            --seconds=0             | a number is too small
            --busy=-1               | a number is too small
            --only=rmi,nonsense     | there is no benchmark nonsense, but
            --load=half             | Invalid value for option '--load'
            --load=full --load=none | option '--load' (<load>) should be specified only once
            """)
    void badOptionsAreOneSentence(String options, String sentence) {
        CommandLine command = AppsBench.command();
        StringWriter said = new StringWriter();
        command.setErr(new PrintWriter(said, true));
        assertThat(command.execute(options.split(" ", -1))).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(said.toString().lines()).singleElement().asString().startsWith("bench/apps: " + sentence);
    }

    @Test
    void littleLoadIsJudgedByProcessorTime() {
        Metric time = Metric.processorTime("some");
        assertThat(Ratio.of(time, List.of(100.0), List.of(104.9)).isBelowFloor()).isFalse();
        assertThat(Ratio.of(time, List.of(100.0), List.of(105.1)).isBelowFloor()).isTrue();
        assertThat(Ratio.of(Metric.processor("some", "units"), List.of(2.0), List.of(1.0)).isBelowFloor()).isFalse();
        assertThat(Ratio.of(Metric.rate("some", "units"), List.of(2.0), List.of(1.0)).isBelowFloor()).isTrue();
    }

    @Test
    void variantsThatAreNotPossibleSayWhy() {
        List<String> without = Benchmarks.all().stream().filter(b -> b.without(Load.NONE).isPresent()).map(
                Benchmark::name).toList();
        assertThat(without).containsExactly("kafka-acks-1", "kafka-lz4", "kafka-latency");
        assertThat(Benchmarks.all()).noneMatch(b -> b.without(Load.FULL).isPresent());
    }
}
