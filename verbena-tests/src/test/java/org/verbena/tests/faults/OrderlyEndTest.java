// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.testkit.Await;
import org.verbena.tests.NetworkLane;
import org.verbena.tests.flight.Recorded;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SamplePoint;

/**
 * An unchanged program that ends with its connections open causes no error at its peer: not in the counters, which
 * metrics and {@code verbena stat} show, nor in the Flight Recorder. A killed program does.
 */
@NetworkLane
class OrderlyEndTest {
    private static final List<String> KINDS = List.of("channel", "classic");
    private static final int BYTES = 100_000;
    /** Why remote memory has ended: of its queue pair and what carries the connection either may end first. */
    private static final List<String> GONE = List.of("the other end is gone",
            "the other process has ended, or has closed what carried the connection");
    private static final Map<String, Integer> ERRORS = Map.of("peers lost", SamplePoint.DEVICE_PEERS_LOST,
            "asynchronous events", SamplePoint.DEVICE_ASYNC_EVENTS, "queue pairs", SamplePoint.DEVICE_QP_ERRORS);

    @TempDir Path dir;

    @ParameterizedTest
    @CsvSource({"exit, 0", "return, 0", "kill, 1"})
    void orderlyEndIsNoError(String how, long errors) throws Exception {
        SocketPrograms programs = new SocketPrograms(dir, EndPeer.class);
        String rings = "quiet,stream.patience=60000";
        Path file = dir.resolve("recording.jfr");
        try (Child server = programs.with(rings).option("-XX:StartFlightRecording:filename=" + file, "-Xlog:disable")
                .start(); Child leaver = programs.with(rings).start()) {
            String[] ports = server.await("PORTS").split(" ", -1);
            leaver.await("PORTS");
            for (int i = 0; i < KINDS.size(); i++) {
                leaver.tell("connect " + KINDS.get(i) + " " + ports[i]).await("CONNECTED");
                server.tell("accept " + KINDS.get(i)).await("ACCEPTED");
            }
            for (Child end : List.of(server, leaver)) {
                assertThat(end.tell("decide").await("DECIDED")).isEqualTo("stream stream");
            }
            server.tell("pong");
            leaver.tell("ping").await("PINGED");
            server.await("PONGED");
            try (RemoteProcess seen = RemoteProcess.open(server.pid())) {
                assertThat(queuePairs(seen)).isPositive();
                if (how.equals("kill")) {
                    leaver.kill();
                } else {
                    leaver.tell(how);
                }
                for (int i = 0; i < KINDS.size(); i++) {
                    assertThat(server.tell("see " + i + " read").await("SEEN")).startsWith("reads -1");
                }
                server.tell("forget").await("FORGOTTEN");
                assertThat(counted(seen)).containsExactlyInAnyOrderEntriesOf(Map.of("peers lost", errors,
                        "asynchronous events", errors, "queue pairs", errors));
            }
            server.tell("exit");
            server.awaitExit();
        }
        assertThat(Recorded.of(file)).isNotEmpty().filteredOn(e -> e.getEventType().getName().equals(
                "org.verbena.Error")).hasSize((int) errors);
    }

    /** It does not count as an error either if the two have remote memory, which ends with its own reason. */
    @ParameterizedTest
    @CsvSource({"exit, 0, 0", "kill, 1, 3"}) // queue pairs: of the sockets, of copies, of control, which the first may close
    void isNoErrorOfRemoteMemory(String how, long lost, long most) throws Exception {
        try (ErmEnds ends = ErmEnds.open(); RemoteProcess seen = RemoteProcess.open(ends.server().pid())) {
            int here = ErmEnds.region(ends.client(), ends.server(), "allocate", BYTES, 1);
            int there = ErmEnds.region(ends.server(), ends.client(), "allocate", BYTES, 2);
            assertThat(ends.client().tell("copy " + here + " " + there + " " + BYTES).awaitInt("STATUS")).isZero();
            assertThat(ends.server().tell("copied").awaitInt("COPIED")).isEqualTo(there);
            if (how.equals("kill")) {
                ends.client().kill();
            } else {
                ends.client().tell(how);
            }
            assertThat(ends.server().tell("closed").await("CLOSED")).isIn(GONE);
            ends.server().tell("close").await("CLOSED");
            Map<String, Long> counted = counted(seen);
            assertThat(counted).containsEntry("peers lost", lost);
            assertThat(counted.get("queue pairs")).isBetween(lost, most).isEqualTo(counted.get("asynchronous events"));
        }
    }

    /** When the session with the other process is over. */
    private static Map<String, Long> counted(RemoteProcess seen) throws Exception {
        Await.until(Child.LIMIT, () -> queuePairs(seen) == 0, () -> "the session with the other process stays");
        Map<String, Long> counted = new TreeMap<>();
        for (RemoteObject o : seen.objects(0)) {
            if (o.type() == ObjectType.DEVICE) {
                ERRORS.forEach((name, point) -> counted.merge(name, o.value(point), Long::sum));
            }
        }
        return counted;
    }

    private static long queuePairs(RemoteProcess process) throws Exception {
        return process.objects(0).stream().filter(o -> o.type() == ObjectType.QP).count();
    }
}
