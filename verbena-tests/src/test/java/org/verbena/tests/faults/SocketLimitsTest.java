// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.tests.BesideOthers;

/**
 * Unchanged programs under the agent that run out of descriptors or memory: they behave as without Verbena, rings stay
 * in use, other connections use TCP and are counted, and when there is enough again everything works as before.
 */
@BesideOthers
class SocketLimitsTest {
    private static final String DESCRIPTORS = "200";
    private static final String PATIENT = "quiet,stream.patience=60000,summary=";
    private static final int MUCH = 300_000;
    private static final int FLOOD = 20_000_000;
    /** A number of connections with enough descriptors for them, but not for twice as many. */
    private static final int PLAIN = 100;
    /** Enough for a session. */
    private static final int LAST = 30;
    private static final String NOTHING_BEFORE = "-DfirstConnection=false";

    @TempDir static Path dir;
    private static SocketPrograms programs;

    private final List<Child> started = new ArrayList<>();
    private Path serversEnd;
    private Path clientsEnd;

    @BeforeAll
    static void prepare() throws Exception {
        programs = new SocketPrograms(dir);
    }

    @BeforeEach
    void summaries() throws IOException {
        serversEnd = programs.summary();
        clientsEnd = programs.summary();
    }

    @AfterEach
    void endAll() throws Exception {
        for (Child c : started) {
            c.close();
        }
    }

    private Child start(Child.Builder b) throws IOException {
        Child c = b.start();
        started.add(c);
        return c;
    }

    private static String ask(Child c, String command) throws Exception {
        return c.tell(command).awaitEither(answer(command), "FAILED");
    }

    private static String answer(String command) {
        return switch (command.substring(0, command.contains(" ") ? command.indexOf(' ') : command.length())) {
            case "connect" -> "CONNECTED";
            case "accept" -> "ACCEPTED";
            case "talk" -> "TALKED";
            case "flood" -> "FLOODED";
            case "agree" -> "AGREED";
            case "decide" -> "DECIDED";
            case "close" -> "CLOSED";
            case "exhaust" -> "EXHAUSTED";
            case "free" -> "FREED";
            case "churn" -> "CHURNING";
            case "calm" -> "CALM";
            case "serve" -> "SERVING";
            default -> throw new IllegalArgumentException(command);
        };
    }

    /** The errors of a program without descriptors, when it connects and when it accepts. */
    private List<String> withoutDescriptors(Child poor, String poorsPorts, Child rich, String richsPorts)
            throws Exception {
        ask(poor, "exhaust");
        List<String> said = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            String kind = i == 0 ? "nio" : "classic";
            said.add(ask(poor, "connect none " + kind + " " + richsPorts.split(" ", -1)[i]));
            ask(rich, "connect waits" + kind + " " + kind + " " + poorsPorts.split(" ", -1)[i]);
            said.add(ask(poor, "accept " + kind));
        }
        return said;
    }

    @Test
    void descriptorExhaustionActsLikeTheJdkAndKeepsRings() throws Exception {
        Child rich = start(programs.with(PATIENT + serversEnd));
        Child poor = start(programs.with(PATIENT + clientsEnd).under("prlimit", "--nofile=" + DESCRIPTORS));
        Child oracle = start(programs.plain().under("prlimit", "--nofile=" + DESCRIPTORS));
        String richsPorts = rich.await("PORTS");
        String poorsPorts = poor.await("PORTS");
        String oraclesPorts = oracle.await("PORTS");
        ask(rich, "serve");
        String[] to = richsPorts.split(" ", -1);
        ask(poor, "connect old nio " + to[0]);
        ask(poor, "connect older classic " + to[1]);
        assertThat(ask(poor, "agree old") + ask(poor, "agree older")).isEqualTo("AGREED streamAGREED stream");

        List<String> jdks = withoutDescriptors(oracle, oraclesPorts, rich, richsPorts);
        assertThat(jdks).allMatch(s -> s.endsWith("Too many open files"));
        List<String> ours = withoutDescriptors(poor, poorsPorts, rich, richsPorts);
        assertThat(ours).isEqualTo(jdks);
        assertThat(ask(poor, "talk old " + MUCH) + ask(poor, "talk older " + MUCH))
                .isEqualTo("TALKED streamTALKED stream");
        // rings grow: their memory comes as descriptors, of which other threads use the last one, too
        ask(poor, "churn");
        String flooded = ask(poor, "flood old " + FLOOD) + ask(poor, "flood older " + FLOOD);
        assertThat(flooded).as(() -> howItEnds(poor)).isEqualTo("FLOODED streamFLOODED stream");
        ask(poor, "calm");

        // one for the connection, none for the handshake, at either end
        for (int i = 0; i < 2; i++) {
            String kind = i == 0 ? "nio" : "classic";
            ask(poor, "free 1");
            assertThat(ask(poor, "connect last" + i + " " + kind + " " + to[i])).isEqualTo("CONNECTED");
            assertThat(ask(poor, "agree last" + i)).isEqualTo("AGREED kernel");
            assertThat(ask(poor, "talk last" + i + " " + MUCH)).isEqualTo("TALKED kernel");
            ask(poor, "free 1");
            assertThat(ask(poor, "accept " + kind)).isEqualTo("ACCEPTED");
            assertThat(ask(poor, "decide accepted")).isEqualTo("DECIDED kernel"); // not when there are descriptors again
            assertThat(ask(rich, "talk waits" + kind + " " + MUCH)).startsWith("TALKED "); // it may wait for longer
            ask(poor, "exhaust");
        }

        ask(poor, "free 1000");
        for (int i = 0; i < 2; i++) {
            ask(poor, "connect new" + i + " " + (i == 0 ? "nio" : "classic") + " " + to[i]);
            assertThat(ask(poor, "agree new" + i)).isEqualTo("AGREED stream");
        }
        assertThat(ask(poor, "talk old " + MUCH)).isEqualTo("TALKED stream");
        JsonNode end = SocketPrograms.end(poor, clientsEnd);
        assertThat(SocketPrograms.count(end, "fallbacks", "no_descriptors")).isEqualTo(4);
        assertThat(poor.errors().lines().filter(l -> l.contains("no descriptors left"))).hasSize(1);
    }

    /** Servers without Verbena never reach the rendezvous of a waiting connection. */
    @Test
    void handshakesWithPlainServersLeaveDescriptorsToTheProgram() throws Exception {
        Child plain = start(programs.plain());
        Child rich = start(programs.with(PATIENT + serversEnd));
        Child poor = start(programs.with(PATIENT + clientsEnd).under("prlimit", "--nofile=" + DESCRIPTORS));
        String[] toPlain = plain.await("PORTS").split(" ", -1);
        String[] toRich = rich.await("PORTS").split(" ", -1);
        poor.await("PORTS");
        ask(rich, "serve");
        for (int i = 0; i < PLAIN; i++) {
            assertThat(ask(poor, "connect plain" + i + " nio " + toPlain[0])).as("connection " + i)
                    .isEqualTo("CONNECTED");
        }
        assertThat(ask(poor, "connect waits classic " + toRich[1])).isEqualTo("CONNECTED");
        for (int i = 0; i < PLAIN; i++) {
            ask(poor, "close plain" + i);
        }
        assertThat(ask(poor, "agree waits")).isEqualTo("AGREED stream"); // it has its turn
        JsonNode end = SocketPrograms.end(poor, clientsEnd);
        assertThat(SocketPrograms.count(end, "fallbacks", "no_descriptors")).isZero();
    }

    /**
     * The engine and everything that sessions need are created with the first connection, and by the next one if that
     * failed.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 9})
    void firstConnectionWithoutDescriptorsDoesNotAffectLaterOnes(int free) throws Exception {
        firstConnectionWithout(free);
    }

    @Thorough
    @ParameterizedTest
    @ValueSource(ints = {3, 6, 14, 22})
    void firstConnectionWithFewDescriptorsDoesNotAffectLaterOnes(int free) throws Exception {
        firstConnectionWithout(free);
    }

    private void firstConnectionWithout(int free) throws Exception {
        Child rich = start(programs.with(PATIENT + serversEnd));
        Child poor = start(programs.with(PATIENT + clientsEnd).under("prlimit", "--nofile=" + DESCRIPTORS).option(
                NOTHING_BEFORE));
        String[] to = rich.await("PORTS").split(" ", -1);
        poor.await("PORTS");
        ask(rich, "serve");
        ask(poor, "exhaust");
        ask(poor, "free " + free);
        assertThat(ask(poor, "connect first nio " + to[0])).isEqualTo("CONNECTED");
        ask(poor, "talk first " + MUCH);
        ask(poor, "free 1000");
        awaitStream(poor, to[0]);
        assertThat(SocketPrograms.count(SocketPrograms.end(poor, clientsEnd), "connections", "stream")).isPositive();
    }

    /** The engine, a device and a session would take them all. */
    @Test
    void lastDescriptorsAreReservedForTheProgram() throws Exception {
        Child rich = start(programs.with(PATIENT + serversEnd));
        String[] under = {"prlimit", "--nofile=" + DESCRIPTORS};
        Child poor = start(programs.with(PATIENT + clientsEnd).under(under).option(NOTHING_BEFORE));
        Child oracle = start(programs.plain().under(under).option(NOTHING_BEFORE));
        String[] to = rich.await("PORTS").split(" ", -1);
        ask(rich, "serve");
        List<Long> left = new ArrayList<>();
        for (Child c : List.of(oracle, poor)) {
            c.await("PORTS");
            long before = filled(c);
            ask(c, "free " + LAST);
            assertThat(ask(c, "connect one nio " + to[0]) + ask(c, "connect two classic " + to[1]))
                    .isEqualTo("CONNECTEDCONNECTED");
            String by = c == poor ? "AGREED kernel" : "AGREED none";
            assertThat(ask(c, "agree one") + ask(c, "agree two")).isEqualTo(by + by);
            left.add(before - filled(c));
        }
        assertThat(left.get(1)).as("descriptors that two connections take").isLessThanOrEqualTo(left.get(0));
        ask(poor, "free 1000");
        awaitStream(poor, to[0]);
        JsonNode end = SocketPrograms.end(poor, clientsEnd);
        assertThat(SocketPrograms.count(end, "fallbacks", "no_descriptors")).isGreaterThanOrEqualTo(2);
    }

    /** An exhausted resource is requested again after half a second. */
    private void awaitStream(Child c, String port) throws Exception {
        Await.until(Child.LIMIT, () -> {
            ask(c, "connect next nio " + port);
            String by = ask(c, "agree next");
            ask(c, "close next");
            return by.equals("AGREED stream");
        }, () -> "no stream: " + howItEnds(c));
    }

    /** Lets a program open files until it has no descriptor left; returns how many. */
    private static long filled(Child c) throws Exception {
        return Long.parseLong(ask(c, "exhaust").replace("EXHAUSTED ", ""));
    }

    private String howItEnds(Child c) {
        try {
            return SocketPrograms.end(c, clientsEnd) + " " + c.errors();
        } catch (IOException | InterruptedException e) {
            return e.toString();
        }
    }

    // ---- memory

    private static void assertAllTalk(Child client, Child server, int connections, List<String> carriers)
            throws Exception {
        String[] to = server.await("PORTS").split(" ", -1);
        client.await("PORTS");
        ask(server, "serve");
        List<String> by = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            ask(client, "connect " + i + (i % 2 == 0 ? " nio " + to[0] : " classic " + to[1]));
            by.add(ask(client, "agree " + i));
        }
        for (int i = 0; i < connections; i++) {
            by.set(i, ask(client, "talk " + i + " 50000").replace("TALKED ", ""));
        }
        assertThat(by.stream().distinct().sorted().collect(Collectors.toList())).isEqualTo(carriers);
    }

    /** Room for some rings and not for all. */
    @Test
    void connectionWithoutRingMemoryIsTcp() throws Exception {
        Child server = start(programs.with(PATIENT + serversEnd + ",stream.memory=65536").option(NOTHING_BEFORE));
        Child client = start(programs.with(PATIENT + clientsEnd));
        assertAllTalk(client, server, 24, List.of("kernel", "stream"));
        JsonNode c = SocketPrograms.end(client, clientsEnd);
        JsonNode s = SocketPrograms.end(server, serversEnd);
        long without = SocketPrograms.count(s, "fallbacks", "no_memory");
        assertThat(without).isBetween(4L, 20L);
        assertThat(SocketPrograms.count(c, "fallbacks", "no_session")).as(c + "\n" + s).isEqualTo(without);
        assertThat(server.errors().lines().filter(l -> l.contains("no memory for rings"))).hasSize(1);
    }

    /** Not even room for the session itself. */
    @Test
    void missingSessionMemoryMeansTcp() throws Exception {
        Child server = start(programs.with(PATIENT + serversEnd + ",stream.memory=1000").option(NOTHING_BEFORE));
        Child client = start(programs.with(PATIENT + clientsEnd));
        assertAllTalk(client, server, 6, List.of("kernel"));
        SocketPrograms.end(client, clientsEnd);
        JsonNode s = SocketPrograms.end(server, serversEnd);
        assertThat(SocketPrograms.count(s, "fallbacks", "no_memory")).as(s.toString()).isEqualTo(6);
        assertThat(server.errors().lines().filter(l -> l.contains("no memory for rings"))).hasSize(1);
    }

    /** A limit of the process that allows the smallest file or none. It is reported once, by the agent. */
    @ParameterizedTest
    @ValueSource(ints = {0, 65_536})
    void fileSizeLimitMeansTcp(int bytes) throws Exception {
        Child server = start(programs.with("stream.patience=60000,summary=stderr").under("prlimit", "--fsize=" + bytes)
                .option("-XX:-UsePerfData", NOTHING_BEFORE));
        Child client = start(programs.with(PATIENT + clientsEnd));
        assertAllTalk(client, server, 6, List.of("kernel"));
        SocketPrograms.end(client, clientsEnd);
        server.tell("exit");
        String[] said = server.errors().split("\n", -1);
        assertThat(said).hasSize(3);
        assertThat(said[0]).isEqualTo("exit code 0");
        assertThat(said[1]).startsWith("verbena: all connections are the kernel's: there is no shared memory (");
        assertThat(said[2]).contains("\"fallbacks\":{\"no_memory\":");
    }

    /** Rings are in memory files without a name: a full /dev/shm only hides the counter file from others. */
    @Test
    void fullSharedMemoryFileSystemMeansTcp() throws Exception {
        Users.needsRoot("mount a file system");
        String mount = "mount -t tmpfs -o size=8k tmpfs /dev/shm && head -c 8192 /dev/zero > /dev/shm/full; exec \"$@\"";
        Child server = start(programs.with(PATIENT + serversEnd).under("unshare", "-m", "sh", "-c", mount, "sh").option(
                "-XX:-UsePerfData", NOTHING_BEFORE));
        Child client = start(programs.with(PATIENT + clientsEnd));
        assertAllTalk(client, server, 6, List.of("stream"));
        SocketPrograms.end(client, clientsEnd);
        JsonNode s = SocketPrograms.end(server, serversEnd);
        assertThat(SocketPrograms.count(s, "connections", "stream")).isEqualTo(6);
        assertThat(server.errors().lines().filter(l -> l.contains("other processes cannot see"))).hasSize(1);
    }
}
