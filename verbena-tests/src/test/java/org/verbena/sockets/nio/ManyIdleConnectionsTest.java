// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.testkit.Await;
import org.verbena.tests.faults.Child;
import org.verbena.tests.faults.Proc;

/** Ten thousand connections between two processes, all using rings, of which a few carry data. */
@Timeout(600)
class ManyIdleConnectionsTest {
    private static final int WANTED = 10_000;
    /** Descriptors beside those of the connections, including those of handshakes in progress. */
    private static final int OTHER_DESCRIPTORS = 2000;
    private static final int ROUNDS = 3000;
    /** The connections that were ready a moment ago, the one that is, and again after a wait that was too short. */
    private static final int MAX_POLLS = 4 * (ActiveKeys.MAX_POLLED + 2);
    private static final Duration IDLE = Duration.ofSeconds(3);
    private static final int TRIES = 20;
    /** Processor time of an idle process: the background work of its JVM. */
    private static final int MOST_IDLE_PERCENT = 5;
    private static final int HEAP_MIB = 96;
    /** Control block and ring of a connection, of both ends: a process maps the memory that it writes at the other. */
    private static final long RING_BYTES = 2L * (4096 + 128);
    private static final long MOST_BYTES = 24 << 10;

    /** As many connections as descriptors allow. */
    private static int connections() throws IOException {
        String limit = Files.readAllLines(Path.of("/proc/self/limits")).stream().filter(l -> l.startsWith(
                "Max open files")).findFirst().orElseThrow().split(" +", -1)[4];
        int n = (int) Math.min(WANTED, Long.parseLong(limit) - OTHER_DESCRIPTORS);
        if (n < WANTED) {
            System.out.println("ManyIdleConnectionsTest: only " + n + " connections, for " + limit + " descriptors");
        }
        return n;
    }

    /**
     * Without polling, which examines the same few keys for an undetermined time; and with a long timeout, since on a
     * busy machine many handshakes run at the same time.
     */
    private static Child start(Object... arguments) throws IOException {
        return Child.of(IdleConnections.class).option("-Xmx" + HEAP_MIB + "m", "-Dverbena.spin=0",
                "-Dverbena.stream.patience=60000")
                .start(arguments);
    }

    private static long ask(Child child, String question, String answer) throws Exception {
        return Long.parseLong(child.tell(question).await(answer));
    }

    @Test
    void idleConnectionsCostOnlyMemory() throws Exception {
        int connections = connections();
        assertThat(connections).isGreaterThan(20 * MAX_POLLS);
        try (Child server = start()) {
            String port = server.await("port");
            long before = bytes(server, "VmRSS");
            try (Child client = start(port, connections)) {
                for (int opened = 0; opened < connections;) {
                    opened = Integer.parseInt(client.await("opened"));
                }
                assertThat(ask(client, "rings?", "rings")).as("by rings, at the client").isEqualTo(connections);
                assertThat(ask(server, "rings?", "rings")).as("by rings, at the server").isEqualTo(connections);
                checkMemory(server, before, connections);
                checkIdle(server, client);

                ask(client, "talk 100", "talked"); // what is to be armed again is
                long polls = ask(server, "polls", "polls");
                ask(client, "talk " + ROUNDS, "talked");
                polls = ask(server, "polls", "polls") - polls;
                System.out.println("ManyIdleConnectionsTest: " + polls + " polls at keys in " + ROUNDS
                        + " round trips among " + connections + " connections");
                assertThat(polls).isBetween((long) ROUNDS, (long) MAX_POLLS * ROUNDS);
                client.end();
            }
            server.end();
        }
    }

    private static long bytes(Child child, String field) throws IOException {
        return Proc.status(Long.toString(child.pid()), field) << 10;
    }

    private static void checkMemory(Child server, long before, int connections) throws IOException {
        long shared = bytes(server, "RssShmem");
        long grown = bytes(server, "VmRSS") - before;
        System.out.println("ManyIdleConnectionsTest: " + connections + " connections take " + (grown >> 20)
                + " MiB of a process with a heap of at most " + HEAP_MIB + " MiB, of which " + (shared >> 20)
                + " MiB are shared memory");
        assertThat(shared).as("bytes of shared memory").isLessThan(RING_BYTES * connections + (16 << 20));
        assertThat(grown / connections).as("resident bytes of each connection").isLessThan(MOST_BYTES);
    }

    /** The start-up work of a process ends at some time. */
    private static void checkIdle(Child server, Child client) throws Exception {
        long most = IDLE.toMillis() * MOST_IDLE_PERCENT / 100;
        long ofServer = Long.MAX_VALUE;
        long ofClient = Long.MAX_VALUE;
        long polls = Long.MAX_VALUE;
        for (int i = 0; i < TRIES && (ofServer > most || ofClient > most || polls > MAX_POLLS); i++) {
            polls = -ask(server, "polls", "polls");
            ofServer = -Proc.cpuMillis(server.pid());
            ofClient = -Proc.cpuMillis(client.pid());
            Await.during(IDLE);
            ofServer += Proc.cpuMillis(server.pid());
            ofClient += Proc.cpuMillis(client.pid());
            polls += ask(server, "polls", "polls");
        }
        System.out.println("ManyIdleConnectionsTest: " + ofServer + " and " + ofClient + " ms of processor time in "
                + IDLE.toMillis() + " ms, " + polls + " polls at keys");
        assertThat(ofServer).as("ms of processor time of the server").isLessThanOrEqualTo(most);
        assertThat(ofClient).as("ms of processor time of the client").isLessThanOrEqualTo(most);
        assertThat(polls).as("polls where nothing is ready").isLessThanOrEqualTo(MAX_POLLS);
    }
}
