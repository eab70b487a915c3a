// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.telemetry.CounterFolder;
import org.verbena.tests.CommandLane;
import org.verbena.tests.faults.Child;

/**
 * The view of {@code verbena stat} on remote memory, down to the byte, against a process that copies as much as it is
 * told.
 */
@CommandLane
class StatMemoryTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);

    @TempDir private Path folder;
    private Child peer;
    private String pid;
    private String client;
    private String server;

    private void start(String... options) throws Exception {
        peer = Child.of(StatMemoryPeer.class).option(property()).option(options).start();
        client = peer.await("CLIENT").substring(1);
        server = peer.await("SERVER").substring(1);
        pid = String.valueOf(peer.pid());
    }

    @BeforeEach
    void none() {
        peer = null;
    }

    @AfterEach
    void end() throws Exception {
        if (peer != null) {
            peer.close();
        }
    }

    private String property() {
        return "-D" + CounterFolder.PROPERTY + "=" + folder;
    }

    private String text(String... arguments) throws IOException {
        try (CommandProcess p = CommandProcess.statistics(folder, arguments)) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(r.err()).isEmpty();
            return r.out();
        }
    }

    private void tell(String line) throws Exception {
        peer.tell(line).await("DONE");
    }

    /** The remote memory of each end: first that of the connecting one. */
    private List<JsonNode> look(String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("stat", pid, "--once", "--json"));
        arguments.addAll(List.of(more));
        List<JsonNode> found = new ArrayList<>();
        for (JsonNode o : JSON.readTree(text(arguments.toArray(String[]::new))).get("objects")) {
            if (o.get("type").asText().equals("REMOTE_MEMORY")) {
                found.add(attribute(o, "role").equals("client") ? 0 : found.size(), o);
            }
        }
        return found;
    }

    private static String attribute(JsonNode object, String name) {
        return object.get("attributes").path(name).asText();
    }

    private static long total(JsonNode object, String point) {
        return object.get("totals").get("REMOTE_MEMORY_" + point).asLong();
    }

    private static void regions(JsonNode object, int local, int remote) {
        assertThat(attribute(object, "localRegions") + " " + attribute(object, "localBytes")).isEqualTo(local + " "
                + local * StatMemoryPeer.BYTES);
        assertThat(attribute(object, "remoteRegions") + " " + attribute(object, "remoteBytes")).isEqualTo(remote + " "
                + remote * StatMemoryPeer.BYTES);
    }

    @Test
    void bothEndsShowRegionsCopiesAndBytes() throws Exception {
        start();
        tell("offer");
        tell("write 7 1000");
        tell("read 3 5000");
        List<JsonNode> both = look();
        assertThat(both).hasSize(2);
        JsonNode from = both.getFirst();
        JsonNode to = both.getLast();
        for (JsonNode o : both) {
            assertThat(o.get("state").asText()).isEqualTo("OPEN");
            assertThat(o.get("device").asText()).isEqualTo("shm0");
        }
        assertThat(List.of(attribute(from, "local"), attribute(from, "remote"), attribute(from, "role"))).isEqualTo(
                List.of(client, server, "client"));
        assertThat(List.of(attribute(to, "local"), attribute(to, "remote"), attribute(to, "role"))).isEqualTo(List.of(
                server, client, "server"));
        regions(from, 1, 2);
        regions(to, 2, 0);
        assertThat(total(from, "COPIES")).isEqualTo(10);
        assertThat(total(from, "WRITE_BYTES")).isEqualTo(7000);
        assertThat(total(from, "READ_BYTES")).isEqualTo(15000);
        assertThat(total(from, "REMOTE_COMPLETIONS")).isEqualTo(7);
        assertThat(total(from, "EVENTS")).isEqualTo(2); // the regions
        assertThat(total(to, "COPIES")).isZero();
        assertThat(total(to, "EVENTS")).isEqualTo(7);
        for (JsonNode o : both) {
            assertThat(total(o, "FAILED") + total(o, "STALLS") + total(o, "LATE_EVENTS")).isZero();
        }

        tell("take");
        both = look("--type=remote_memory");
        regions(both.getFirst(), 1, 1);
        regions(both.getLast(), 1, 0);
        assertThat(total(both.getFirst(), "EVENTS")).isEqualTo(3);
    }

    @Test
    void connectionNumberIsShown() throws Exception {
        start();
        long end = System.nanoTime() + LONGEST_NANOS;
        List<String> connections = new ArrayList<>();
        while (connections.size() < 2) { // a process begins to show its sockets a while after the first
            assertThat(System.nanoTime()).isLessThan(end);
            connections.clear();
            for (JsonNode o : JSON.readTree(text("stat", pid, "--once", "--json", "--type=connection")).get(
                    "objects")) {
                connections.add(o.get("number").asText() + " " + attribute(o, "local"));
            }
        }
        assertThat(look()).hasSize(2).allSatisfy(o -> assertThat(connections).contains(o.get("number").asText() + " "
                + attribute(o, "local")));
    }

    @Test
    void tableAndSingleCounterAreShown() throws Exception {
        start();
        tell("write 3 2000");
        String name = look().getFirst().get("object").asText();
        assertThat(name).matches("remote_memory:0x[0-9a-f]+");
        assertThat(text("stat", pid, "--once", "--type=remote_memory")).containsPattern("(?m)^" + name
                + " +OPEN +3 +6000 +1 +0 +0 +0 +1 region of 1\\.0 MiB here, 1 region of 1\\.0 MiB there, " + client
                + " > " + server + " client$").contains("0 regions there");
        assertThat(JSON.readTree(text("monitor", pid, name, "tx-bytes", "-n", "1", "-i", "10ms", "--json")).get("total")
                .asLong()).isEqualTo(6000);
        assertThat(JSON.readTree(text("monitor", pid, name, "copies", "-n", "1", "-i", "10ms", "--json")).get("total")
                .asLong()).isEqualTo(3);
    }

    /** An end whose program has closed neither the channel nor its regions still has them. */
    @Test
    void endedConnectionIsShownUntilReleased() throws Exception {
        start();
        tell("close client");
        JsonNode left = until(1).getFirst();
        assertThat(attribute(left, "role") + " " + left.get("state").asText()).isEqualTo("server CLOSING");
        regions(left, 1, 0);
        tell("close server");
        until(0);
    }

    /** Samples until there are this many: an end is released asynchronously. */
    private List<JsonNode> until(int ends) throws IOException {
        long end = System.nanoTime() + LONGEST_NANOS;
        List<JsonNode> found = look();
        while (found.size() != ends) {
            assertThat(System.nanoTime()).as(found.toString()).isLessThan(end);
            found = look();
        }
        return found;
    }

    @Test
    void nothingIsShownWithCountersOff() throws Exception {
        start("-Dverbena.counters=off");
        tell("write 3 2000");
        assertThat(look()).isEmpty();
    }
}
