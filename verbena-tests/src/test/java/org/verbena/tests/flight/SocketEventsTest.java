// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.flight;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;
import org.verbena.tests.ProgramLane;
import org.verbena.tests.Repository;
import org.verbena.tests.agent.TalkProcess;

/** Socket events in recordings of programs that know nothing of Verbena. */
@ProgramLane
class SocketEventsTest {
    private static final long MESSAGE = 1000;
    private static final int MESSAGES = 600;
    private static final long RING = 4096;
    private static final String EACH_CHUNK = ",+org.verbena.SocketRings#period=endChunk";

    @TempDir private Path dir;

    private TalkProcess start(TalkProcess.Program talk, Object recording, String arguments, String... words)
            throws Exception {
        return talk.start(List.of("-XX:StartFlightRecording:filename=" + recording, "-Xlog:disable",
                "-javaagent:" + talk.agent() + "=quiet,stream.earn=0," + arguments), words);
    }

    private static List<RecordedEvent> events(Path recording, String name) throws Exception {
        return Recorded.of(recording).stream().filter(e -> e.getEventType().getName().equals("org.verbena." + name))
                .toList();
    }

    @Test
    void ringsAndEndsAreRecorded() throws Exception {
        TalkProcess.Program talk = new TalkProcess.Program(dir);
        Path file = dir.resolve("ring.jfr");
        try (TalkProcess server = talk.start("stream.patience=60000", "serve", "1")) {
            String port = server.line();
            try (TalkProcess client = start(talk, file, "stream.patience=60000", "talk", port, "" + MESSAGES, "5")) {
                client.end();
            }
            List<RecordedEvent> rings = events(file, "SocketByRing");
            assertThat(rings.stream().map(e -> e.getString("direction"))).containsExactlyInAnyOrder("in", "out");
            List<RecordedEvent> ends = events(file, "SocketClosed");
            assertThat(ends).hasSize(1);
            RecordedEvent end = ends.getFirst();
            for (RecordedEvent e : rings) {
                assertThat(e.getString("remote")).endsWith(":" + port);
                assertThat(e.getString("local")).isEqualTo(end.getString("local"));
                assertThat(e.getLong("bytesByTcp")).isEqualTo(end.getLong(e.getString("direction").equals("in")
                        ? "receivedByTcp"
                        : "sentByTcp"));
            }
            assertThat(end.getLong("sentByRing")).isPositive();
            assertThat(end.getLong("sentByRing") + end.getLong("sentByTcp")).isEqualTo(MESSAGES * MESSAGE);
            assertThat(end.getLong("receivedByRing") + end.getLong("receivedByTcp")).isEqualTo(MESSAGES * MESSAGE);
            assertThat(end.getDuration("lifetime").toMillis()).isGreaterThanOrEqualTo(5 * MESSAGES);
            assertThat(events(file, "SocketByTcp")).isEmpty();
        }
    }

    /** A server that stops reading, and a client that has filled its ring; the recordings of both are read. */
    @Test
    void bytesWaitingInRingsAreRecorded() throws Exception {
        TalkProcess.Program talk = new TalkProcess.Program(dir);
        String arguments = "stream.patience=60000,stream.ring=" + RING;
        try (TalkProcess server = start(talk, dir.resolve("server.jfr") + EACH_CHUNK, arguments, "sink", "100")) {
            String port = server.line();
            try (TalkProcess client = start(talk, dir.resolve("client.jfr") + EACH_CHUNK, arguments, "fill", port,
                    "100",
                    "5")) {
                long filled = Long.parseLong(client.line());
                RecordedEvent out = rings(client.pid(), "client-now.jfr");
                assertThat(out.getString("remote")).endsWith(":" + port);
                assertThat(out.getLong("outRing")).isEqualTo(RING);
                assertThat(out.getLong("outOccupied")).isEqualTo(RING);
                assertThat(out.getLong("inRing")).isEqualTo(RING);
                assertThat(out.getLong("inOccupied")).isZero();
                RecordedEvent in = rings(server.pid(), "server-now.jfr");
                assertThat(in.getString("local")).endsWith(":" + port);
                assertThat(in.getLong("inRing")).isEqualTo(RING);
                assertThat(in.getLong("inOccupied")).isEqualTo(filled); // bytes that were read of the last quarter are not reported
            }
        }
    }

    /** The last of the events that a process has recorded until now. */
    private RecordedEvent rings(long pid, String name) throws Exception {
        Path file = dir.resolve(name);
        Finished jcmd = Finished.run(Jvm.tool("jcmd"), Long.toString(pid),
                "JFR.dump", "filename=" + file);
        assertThat(jcmd.code()).as(jcmd.output()).isZero();
        List<RecordedEvent> all = events(file, "SocketRings");
        assertThat(all).as(jcmd.output()).isNotEmpty();
        String document = Files.readString(Repository.root().resolve("docs/jfr.md"));
        assertThat(document).contains("`" + all.getLast().getEventType().getName() + "`");
        for (ValueDescriptor field : all.getLast().getFields()) {
            assertThat(field.getLabel()).isNotBlank();
            assertThat(field.getName()).satisfiesAnyOf(n -> assertThat(document).contains("`" + n + "`"),
                    n -> assertThat(n).isIn("startTime", "duration", "eventThread", "stackTrace"));
        }
        return all.getLast();
    }

    @Test
    void fallbackIsRecordedWithItsReason() throws Exception {
        TalkProcess.Program talk = new TalkProcess.Program(dir);
        Path file = dir.resolve("tcp.jfr");
        try (TalkProcess server = talk.start(List.of(), "serve", "1");
                TalkProcess client = start(talk, file, "stream.patience=50", "talk", server.line(), "40", "5")) {
            client.end();
        }
        List<RecordedEvent> falls = events(file, "SocketByTcp");
        assertThat(falls.stream().map(e -> e.getString("reason"))).containsExactly("plain_peer");
        assertThat(falls.getFirst().getString("local")).matches("/127\\.0\\.0\\.1:\\d+");
        assertThat(events(file, "SocketByRing")).isEmpty();
        assertThat(events(file, "SocketClosed").stream().map(e -> e.getLong("sentByTcp"))).containsExactly(40_000L);
    }
}
