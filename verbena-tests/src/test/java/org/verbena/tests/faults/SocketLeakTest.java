// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;

/**
 * Thousands of connections between two unchanged programs under the agent are opened and closed, and leave nothing
 * behind.
 */
class SocketLeakTest {
    private static final int CYCLES = Thorough.ON ? 10_000 : 4_000;
    private static final int WARM_UP = 1_200;
    /** One of this many lives until both ends have agreed, and continues. */
    private static final int RING_EACH = 10;
    private static final int RINGS = CYCLES / RING_EACH;
    private static final int THREADS = 4;
    /** More than later, so that everything kept for reuse exists. */
    private static final int WARM_UP_THREADS = 8;
    private static final int CONNECTIONS_OF_A_CLIENT = 8;
    private static final int MORE_THREADS = 2; // the JVM's own
    /** Less than half of the memory of the first rings of the connections that had some. */
    private static final long MORE_SHARED_BYTES = RINGS * 4096L / 2;
    /** Less than three hundred bytes for each connection. */
    private static final long MORE_HEAP_BYTES = CYCLES * 300L;

    @TempDir static Path dir;

    private record Footprint(Map<String, Integer> descriptors, long sharedBytes, long threads, long heap) {
        static Footprint of(Child peer) throws Exception {
            String pid = String.valueOf(peer.pid());
            long heap = Long.parseLong(peer.tell("collect").await("HEAP"));
            return new Footprint(Proc.descriptors(pid), Proc.sharedMemory(pid), Proc.status(pid, "Threads"), heap);
        }

        /** Fewer descriptors, if something was being released when they were counted first. */
        boolean isWithin(Footprint before) {
            return descriptors.entrySet().stream().allMatch(e -> e.getValue() <= before.descriptors.getOrDefault(e
                    .getKey(), 0)) && sharedBytes < before.sharedBytes + MORE_SHARED_BYTES
                    && threads <= before.threads + MORE_THREADS && heap < before.heap + MORE_HEAP_BYTES;
        }
    }

    /** Waits until two samples are equal: closed resources are released with a delay. */
    private static Footprint settled(Child peer) throws Exception {
        Footprint[] last = {Footprint.of(peer)};
        Await.until(Child.LIMIT, () -> {
            Await.during(java.time.Duration.ofMillis(50));
            Footprint now = Footprint.of(peer);
            boolean same = now.descriptors.equals(last[0].descriptors) && now.threads == last[0].threads;
            last[0] = now;
            return same;
        }, () -> peer + " does not come to rest: " + last[0]);
        return last[0];
    }

    private static void assertWithin(Child peer, Footprint before) throws Exception {
        Footprint[] now = new Footprint[1];
        Await.until(Child.LIMIT, () -> {
            now[0] = Footprint.of(peer);
            return now[0].isWithin(before);
        }, () -> peer + " had " + before + ", has " + now[0]);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void thousandsOfConnectionsLeaveNothing() throws Exception {
        SocketPrograms programs = new SocketPrograms(dir);
        Path serversEnd = programs.summary();
        Path clientsEnd = programs.summary();
        String patient = "quiet,stream.patience=60000,summary=";
        Set<String> files = Proc.sharedMemoryFiles();
        try (Child server = programs.with(patient + serversEnd).start();
                Child client = programs.with(patient + clientsEnd).start()) {
            String ports = server.await("PORTS");
            client.await("PORTS");
            server.tell("serve").await("SERVING");
            client.tell("cycle " + WARM_UP + " " + RING_EACH + " " + WARM_UP_THREADS + " " + ports).await("CYCLED");
            Footprint servers = settled(server);
            Footprint clients = settled(client);
            for (int i = 0; i < CYCLES; i += CYCLES / 10) { // in parts, for a machine where all take minutes
                client.tell("cycle " + CYCLES / 10 + " " + RING_EACH + " " + THREADS + " " + ports).await("CYCLED");
            }
            assertWithin(server, servers);
            assertWithin(client, clients);
            JsonNode s = SocketPrograms.end(server, serversEnd);
            JsonNode c = SocketPrograms.end(client, clientsEnd);
            for (JsonNode n : new JsonNode[] {s, c}) {
                assertThat(SocketPrograms.count(n, "connections", "open")).isZero();
                assertThat(SocketPrograms.count(n, "connections", "stream")).isGreaterThanOrEqualTo(RINGS);
                assertThat(SocketPrograms.count(n, "connections", "opened")).isGreaterThanOrEqualTo(CYCLES + WARM_UP);
                assertThat(SocketPrograms.count(n, "bytes", "sent_by_ring")).isGreaterThanOrEqualTo(RINGS * 1000L);
                assertThat(SocketPrograms.count(n, "bytes", "received_by_ring")).isGreaterThanOrEqualTo(RINGS * 1000L);
                // one end may leave the handshake just before it closes TCP: then the other cannot know why
                assertThat(n.get("fallbacks").properties()).as(n.toString()).allMatch(e -> e.getKey().equals(
                        "closed_early") || e.getKey().equals("no_session") && e.getValue().asInt() < CYCLES / 50);
            }
        }
        assertThat(Proc.sharedMemoryFiles()).isSubsetOf(files);
    }

    /** A server survives any number of clients killed during transfers. */
    @Test
    void programsThatAreKilledLeaveNothingInTheirPeer() throws Exception {
        SocketPrograms programs = new SocketPrograms(dir);
        Set<String> files = Proc.sharedMemoryFiles();
        try (Child server = programs.with("quiet,stream.patience=60000").start()) {
            String port = server.await("PORTS").split(" ", -1)[0];
            server.tell("serve").await("SERVING");
            for (int i = 0; i < 2; i++) {
                killClient(programs, port);
            }
            Footprint before = settled(server);
            for (int i = 0; i < 3; i++) {
                killClient(programs, port);
            }
            assertWithin(server, before);
        }
        assertThat(Proc.sharedMemoryFiles()).isSubsetOf(files);
    }

    private static void killClient(SocketPrograms programs, String port) throws Exception {
        try (Child client = programs.with("quiet,stream.patience=60000").start()) {
            client.await("PORTS");
            for (int i = 0; i < CONNECTIONS_OF_A_CLIENT; i++) {
                client.tell("connect c" + i + " nio " + port).await("CONNECTED");
                assertThat(client.tell("agree c" + i).await("AGREED")).isEqualTo("stream");
                assertThat(client.tell("talk c" + i + " 300000").await("TALKED")).isEqualTo("stream");
            }
            client.kill();
            client.awaitExit();
        }
    }
}
