// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.testkit.Seeds;
import org.verbena.testkit.TcpTable;
import org.verbena.testkit.Thorough;
import org.verbena.tests.BesideOthers;
import org.verbena.tests.faults.MomentRule.End;
import org.verbena.tests.faults.MomentRule.Note;

/**
 * Two unchanged programs with traffic of all kinds between them, one of which is killed or exits at a random moment, or the
 * kernel destroys the connections. What the other sees is what TCP says; the rule that tells what that is holds on the stock
 * JDK, where the same is done first. {@code -Dverbena.test.moments} is how often, {@code -Dverbena.test.seed} how; with
 * {@code -Dthorough} it is 1,000 times each.
 */
@BesideOthers
@Timeout(value = 2, unit = TimeUnit.HOURS)
class EndMomentsTest {
    private static final int MOMENTS = Integer.getInteger("verbena.test.moments",
            Thorough.ON ? 1000 : 1);
    private static final long SEED = Seeds.FIRST;
    private static final int CONNECTIONS = 2 * MomentFlow.KINDS;
    private static final long LATEST_NANOS = 40_000_000;
    private static final String QUIET = "quiet,stream.patience=60000";
    private static final String TCP = QUIET + ",rules=use os tcp_server *:*; use os tcp_client *:*";
    /** Rings are agreed upon at once, soon, or in the middle of the traffic. */
    private static final int[] DELAYS = {0, 2000, 30_000};

    @TempDir Path dir;
    private SocketPrograms programs;
    private final Map<String, Integer> seen = new TreeMap<>();
    private final List<String> wrong = new ArrayList<>();
    private long slowest;

    @BeforeEach
    void prepare() throws Exception {
        programs = new SocketPrograms(dir, MomentPeer.class, MomentFlow.class, MomentNotes.class);
    }

    @AfterEach
    void sum() {
        System.out.println("EndMomentsTest: " + MOMENTS + " moments, seed " + SEED + ", told after " + slowest
                + " ms at most, the other end sees " + seen);
    }

    private Child start(String transport, Path notes, int delay) throws Exception {
        return switch (transport) {
            case "none" -> programs.plain().start(notes);
            case "kernel" -> programs.with(TCP).start(notes);
            default -> programs.with(QUIET + ",stream.delay=" + delay).start(notes);
        };
    }

    @ParameterizedTest
    @CsvSource({"none, kill", "none, exit", "kernel, kill", "kernel, exit", "stream, kill", "stream, exit"})
    void processesEnd(String transport, String how) throws Exception {
        SplittableRandom random = new SplittableRandom(SEED);
        Path file = dir.resolve("notes");
        try (Child survivor = start(transport, dir.resolve("survivor"), 0)) {
            String ports = survivor.await("PORTS");
            for (int round = 0; round < MOMENTS; round++) {
                Files.deleteIfExists(file);
                try (Child leaver = start(transport, file, DELAYS[random.nextInt(DELAYS.length)])) {
                    leaver.await("PORTS");
                    String[] clients = flow(survivor, leaver, ports, random);
                    long before = System.nanoTime();
                    long[] underWay = underWay(ports, clients);
                    if (how.equals("kill")) {
                        leaver.kill();
                    } else {
                        leaver.tell(random.nextBoolean() ? "exit" : "return");
                    }
                    leaver.awaitExit();
                    List<End> ends = ends(survivor, before, System.nanoTime());
                    MomentNotes notes = new MomentNotes(file);
                    for (int i = 0; i < CONNECTIONS; i++) {
                        Note note = Note.of(notes, i);
                        check(round + "." + i, MomentRule.afterDeath(MomentFlow.kind(i), note, ends.get(i),
                                underWay[i]), note + " " + ends.get(i) + ", under way " + underWay[i], ends.get(i));
                    }
                    survivor.tell("forget").await("FORGOTTEN");
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"none", "kernel", "stream"})
    void connectionsAreDestroyed(String transport) throws Exception {
        if (!EndingsTest.canDestroy()) {
            System.out.println("EndMomentsTest: no connection is destroyed by the kernel: that takes root and "
                    + "CONFIG_INET_DIAG_DESTROY");
            return;
        }
        SplittableRandom random = new SplittableRandom(SEED);
        try (Child server = start(transport, dir.resolve("server"), 0);
                Child client = start(transport, dir.resolve("client"), DELAYS[random.nextInt(DELAYS.length)])) {
            String ports = server.await("PORTS");
            client.await("PORTS");
            for (int round = 0; round < MOMENTS; round++) {
                flow(server, client, ports, random);
                boolean servers = random.nextBoolean();
                String port = servers ? "sport" : "dport";
                String[] p = ports.split(" ", -1);
                long before = System.nanoTime();
                EndingsTest.ss("(", port, "=", ":" + p[0], "or", port, "=", ":" + p[1], ")");
                long after = System.nanoTime();
                List<End> ofServer = ends(server, before, after);
                List<End> ofClient = ends(client, before, after);
                for (int i = 0; i < CONNECTIONS; i++) {
                    End s = ofServer.get(i);
                    End c = ofClient.get(i);
                    String what = "server " + s + ", client " + c + ", destroyed: " + (servers ? "server" : "client");
                    check(round + "." + i + " server", MomentRule.afterDestruction(MomentFlow.kind(i), s, c, servers),
                            what, s);
                    check(round + "." + i + " client", MomentRule.afterDestruction(MomentFlow.kind(i), c, s, !servers),
                            what, c);
                }
                server.tell("forget").await("FORGOTTEN");
                client.tell("forget").await("FORGOTTEN");
            }
        }
        assertThat(wrong).isEmpty();
    }

    /** Of the server's end of each connection: what it has sent and the client's kernel has not acknowledged. */
    private static long[] underWay(String ports, String... clients) throws IOException {
        String[] servers = ports.split(" ", -1);
        long[] underWay = new long[clients.length];
        for (int i = 0; i < clients.length; i++) {
            underWay[i] = TcpTable.end(Integer.parseInt(servers[i % 2]), Integer.parseInt(clients[i]))
                    .map(TcpTable.End::unacknowledged).orElse(0L);
        }
        return underWay;
    }

    /** Traffic, before the ends agree upon rings or after it, for a random time; answers the client's ports. */
    private static String[] flow(Child server, Child client, String ports, SplittableRandom random) throws Exception {
        server.tell("accept " + CONNECTIONS);
        String connected = client.tell("connect " + CONNECTIONS + " " + ports).await("CONNECTED");
        server.await("ACCEPTED");
        if (random.nextInt(3) > 0) {
            client.tell("decide");
            server.tell("decide").await("DECIDED");
            client.await("DECIDED");
        }
        long seed = random.nextInt();
        server.tell("flow " + seed);
        client.tell("flow " + seed).await("FLOWING");
        server.await("FLOWING");
        LockSupport.parkNanos(random.nextLong(LATEST_NANOS));
        return connected.split(" ", -1);
    }

    private static List<End> ends(Child peer, long before, long after) throws IOException, InterruptedException {
        String said = peer.tell("seen " + before + " " + after).awaitEither("SEEN", "HANGS");
        assertThat(said).as("seed " + SEED + ", " + peer).startsWith("SEEN");
        return Arrays.stream(said.substring("SEEN ".length()).split(" ", -1)).map(End::parse).toList();
    }

    private void check(String where, List<String> found, String what, End end) {
        slowest = Math.max(slowest, end.millis());
        seen.merge((end.transport() + " " + end.input() + " " + end.output()).toLowerCase(Locale.ROOT), 1,
                Integer::sum);
        if (!found.isEmpty()) {
            wrong.add("\nseed " + SEED + " round " + where + ": " + found + " " + what);
        }
    }
}
