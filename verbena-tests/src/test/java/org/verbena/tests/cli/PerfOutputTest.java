// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.PerfLane;

/** What {@code verbena perf} says of the machine, and the forms in which it writes. */
@PerfLane
class PerfOutputTest {
    private static CommandProcess.Result run(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("perf", "--duration=1ms", "--warm-up=1ms"));
        all.addAll(Arrays.asList(arguments));
        return CommandProcess.runHosted(all.toArray(String[]::new));
    }

    private static JsonNode json(String... arguments) throws IOException {
        CommandProcess.Result r = run(arguments);
        assertThat(r.code()).as(r.err()).isZero();
        return new ObjectMapper().readTree(r.out());
    }

    /** By each row, since an array has no other place. */
    @Test
    void rowsSayWhereTheyWereMeasured() throws IOException {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "skipped: there is one processor only");
        for (String cpus : List.of("0,1", "1,0")) {
            JsonNode machine = json("tcp-lat-block", "--json", "--size=8", "--cpus=" + cpus).get(0).get(
                    "machine");
            assertThat(machine.get("pinned").toString()).isEqualTo("[" + cpus + "]");
            assertThat(machine.get("kernel").asText()).isEqualTo("Linux " + System.getProperty("os.version"));
            assertThat(machine.get("jdk").asText()).contains(Runtime.version().toString());
            assertThat(machine.get("cpus").asInt()).isGreaterThan(1);
            assertThat(machine.get("load").asDouble()).isNotNegative();
        }
        assertThat(json("tcp-lat-block", "--json", "--size=8", "--no-pin").get(0).get("machine").get("pinned")
                .isNull()).isTrue();
    }

    @Test
    void roundTripsAreWrittenToFiles(@TempDir Path dir) throws IOException {
        CommandProcess.Result r = run("tcp-lat-block", "tcp-bw", "--csv", "--size=8",
                "--hlog=" + dir.resolve("log"), "--hgrm=" + dir.resolve("a.hgrm"));
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.out().lines().map(l -> l.split(",", 2)[0])).containsExactly("test", "tcp-lat-block", "tcp-bw");
        assertThat(Files.readString(dir.resolve("log"))).contains("\nTag=tcp-lat-block-8,");
        assertThat(Files.readString(dir.resolve("a.hgrm"))).contains("Percentile");
    }
}
