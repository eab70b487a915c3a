// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import jdk.jfr.consumer.RecordedEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;
import org.verbena.testkit.Thorough;
import org.verbena.tests.CommandLane;
import org.verbena.tests.flight.Recorded;

/** {@code verbena perf} under the Java Flight Recorder. */
@CommandLane
class PerfRecordingTest {
    @TempDir private Path folder;

    /**
     * Both processes are recorded, and {@code jfr print} shows the events. The process that starts the two, with {@code -Dthorough},
     * records nothing of its own.
     */
    @Test
    void recordingShowsConnectionsAndCounters() throws Exception {
        String options = "-XX:StartFlightRecording:filename=" + folder + "/%p.jfr,+org.verbena.Counter#period=20ms,"
                + "+org.verbena.WakeUp#threshold=0ms -Xlog:disable";
        List<String> recorded = List.of("env", "JAVA_TOOL_OPTIONS=" + options);
        if (Thorough.ON) {
            assertMeasures(recorded);
        } else {
            try (CommandProcess listener = CommandProcess.startWithout(recorded, "", "perf", "--listen=0", "--once")) {
                assertMeasures(recorded, "--connect=127.0.0.1:" + PerfListener.port(listener));
                assertThat(listener.end().code()).isZero();
            }
        }
        int connected = 0;
        int disconnected = 0;
        int counters = 0;
        for (Path file : files()) {
            List<RecordedEvent> events = Recorded.of(file);
            connected += count(events, "Connection", "connected");
            disconnected += count(events, "Connection", "disconnected");
            counters += count(events, "Counter", "QP_TX_SENDS");
            assertThat(count(events, "Error", "")).isZero();
            assertPrinted(file, events);
        }
        assertThat(connected).isEqualTo(2);
        assertThat(disconnected).isEqualTo(2);
        assertThat(counters).isPositive();
    }

    private static void assertMeasures(List<String> before, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("perf", "send-lat", "--size=8", "--duration=300ms",
                "--warm-up=100ms"));
        arguments.addAll(List.of(more));
        try (CommandProcess p = CommandProcess.startWithout(before, "", arguments.toArray(String[]::new))) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(f -> f.toString().endsWith(".jfr")).toList();
        }
    }

    /** How many events of a name have a word in one of their fields. */
    private static int count(List<RecordedEvent> events, String name, String word) {
        return (int) events.stream().filter(e -> e.getEventType().getName().equals("org.verbena." + name))
                .filter(e -> word.isEmpty() || e.getFields().stream().anyMatch(f -> word.equals(e.getValue(f
                        .getName()))))
                .count();
    }

    private static void assertPrinted(Path file, List<RecordedEvent> events) throws Exception {
        Finished print = Finished.run(Jvm.tool("jfr"), "print",
                "--categories", "Verbena", file.toString());
        assertThat(print.code()).as(print.output()).isZero();
        assertThat(print.output().lines().filter(l -> l.startsWith("org.verbena.")).count()).isEqualTo(events.size());
    }
}
