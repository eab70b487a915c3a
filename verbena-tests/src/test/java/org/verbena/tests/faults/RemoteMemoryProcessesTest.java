// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Await;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;
import org.verbena.tests.BesideOthers;
import org.verbena.tests.agent.AgentJar;
import org.verbena.tests.cli.RoceNamespaces;

/** Remote memory between two processes: copies, revocation under load, killed and stopped ends, leftovers. */
@BesideOthers
@Timeout(300)
class RemoteMemoryProcessesTest {
    private static final int MEBIBYTE = 1 << 20;
    private static final int CONNECTIONS = Thorough.ON ? 100 : 30;
    private static final int ROUNDS = Integer.getInteger("verbena.test.kills", Thorough.ON ? 4 : 2);

    /** For the tests that leave both processes as they were: each has a connection of its own. */
    private static @Nullable ErmEnds shared;
    private static int sharedPort;

    @TempDir Path dir;

    @AfterAll
    static void endShared() throws Exception {
        if (shared != null) {
            shared.close();
            shared = null;
        }
    }

    /** A test of two ends. */
    @FunctionalInterface
    private interface EndsTest {
        void run(ErmEnds ends) throws Exception;
    }

    /** Runs it with the shared processes, which end if it fails. */
    private static void withShared(EndsTest test) throws Exception {
        ErmEnds ends = shared;
        if (ends == null) {
            ends = new ErmEnds(ErmEnds.process().start(), ErmEnds.process().start());
            shared = ends;
            sharedPort = ends.listen();
        }
        boolean passed = false;
        try {
            ends.connect(sharedPort);
            test.run(ends);
            ends.client().tell("close").await("CLOSED");
            ends.server().tell("close").await("CLOSED");
            passed = true;
        } finally {
            if (!passed) {
                endShared();
            }
        }
    }

    private static void copiesWorkInBothDirections(ErmEnds ends, String how) throws Exception {
        Child client = ends.client();
        Child server = ends.server();
        int here = ErmEnds.region(client, server, how, MEBIBYTE, 1);
        int there = ErmEnds.region(server, client, how, MEBIBYTE, 2);
        assertThat(client.tell("copy " + here + " " + there + " " + MEBIBYTE).awaitInt("STATUS")).isZero();
        assertThat(server.tell("copied").awaitInt("COPIED")).isEqualTo(there);
        server.tell("check " + there + " 1").await("SAME");
        server.tell("fill " + there + " 3").await("FILLED");
        assertThat(client.tell("copy " + there + " " + here + " " + MEBIBYTE).awaitInt("STATUS")).isZero();
        assertThat(server.tell("copied from").awaitInt("COPIED")).isEqualTo(there);
        client.tell("check " + here + " 3").await("SAME");
        client.tell("fill " + here + " 4").await("FILLED");
        assertThat(server.tell("copy " + here + " " + there + " " + MEBIBYTE).awaitInt("STATUS")).isZero();
        assertThat(client.tell("copied from").awaitInt("COPIED")).isEqualTo(here);
        server.tell("check " + there + " 4").await("SAME");
        assertThat(server.tell("deregister " + there).await("GONE")).endsWith("open");
        assertThat(client.tell("copy " + here + " " + there + " 1").await("REFUSED")).isEqualTo("ENOENT");
        assertThat(client.tell("removed").awaitInt("REMOVED")).isEqualTo(there);
    }

    @ParameterizedTest
    @ValueSource(strings = {"allocate", "register"})
    void copiesWorkInBothDirections(String how) throws Exception {
        try (ErmEnds ends = ErmEnds.open()) {
            copiesWorkInBothDirections(ends, how);
            ends.client().end();
            assertThat(ends.server().tell("closed").await("CLOSED")).isNotEmpty();
            ends.server().end();
        }
    }

    /** Neither its program nor Verbena in it takes part in a copy: one end alone moves the bytes in both directions. */
    @ParameterizedTest
    @ValueSource(strings = {"allocate", "register"})
    void copyNeedsNoWorkOfTheRemoteEnd(String how) throws Exception {
        withShared(ends -> {
            Child client = ends.client();
            Child server = ends.server();
            int here = ErmEnds.region(client, server, how, MEBIBYTE, 1);
            int there = ErmEnds.region(server, client, how, MEBIBYTE, 2);
            int back = client.tell("allocate " + MEBIBYTE).awaitInt("REGION");
            server.tell("remote").await("REMOTE");
            server.stop();
            assertThat(client.tell("copy " + there + " " + back + " " + MEBIBYTE).awaitInt("STATUS")).isZero();
            client.tell("check " + back + " 2").await("SAME");
            assertThat(client.tell("copy " + here + " " + there + " " + MEBIBYTE).awaitInt("STATUS")).isZero();
            server.proceed();
            assertThat(server.tell("copied from").awaitInt("COPIED")).isEqualTo(there);
            assertThat(server.tell("copied").awaitInt("COPIED")).isEqualTo(there);
            server.tell("check " + there + " 1").await("SAME");
        });
    }

    /** Bytes of the channel after copies, copies after a fence, and complete copies when their last byte arrives. */
    private static void copiesKeepTheirOrder(ErmEnds ends, String how, boolean lastByteIsLast) throws Exception {
        Child client = ends.client();
        Child server = ends.server();
        int here = ErmEnds.region(client, server, how, 2 * MEBIBYTE, 1);
        int there = ErmEnds.region(server, client, how, 2 * MEBIBYTE, 2);
        server.tell("reads " + there + " 300");
        assertThat(client.tell("writes " + here + " " + there + " 300").await("WRITTEN")).isEqualTo("ok");
        assertThat(server.await("READ")).isEqualTo("ok");
        assertThat(client.tell("fence " + here + " " + there + " 300").await("FENCED")).isEqualTo("ok");
        if (lastByteIsLast) {
            client.tell("clear " + here).await("CLEARED");
            server.tell("clear " + there).await("CLEARED");
            server.tell("polls " + there + " " + here + " second");
            assertThat(client.tell("polls " + here + " " + there + " first").await("POLLED")).isEqualTo("ok");
            assertThat(server.await("POLLED")).isEqualTo("ok");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"allocate", "register"})
    void copiesKeepTheirOrder(String how) throws Exception {
        withShared(ends -> copiesKeepTheirOrder(ends, how, how.equals("allocate")));
    }

    @Test
    void channelsOfAnUnchangedProgramHaveRemoteMemory() throws Exception {
        String[] options = {"-javaagent:" + AgentJar.in(dir) + "=quiet,stream.earn=0", "-D" + ErmPeer.UNCHANGED
                + "=true"};
        try (ErmEnds ends = ErmEnds.open(ErmEnds.process().option(options), ErmEnds.process().option(options))) {
            copiesWorkInBothDirections(ends, "allocate");
        }
    }

    @Test
    void hostsHaveRemoteMemoryByRoce() throws Exception {
        String[] common = {"-D" + ErmPeer.UNCHANGED + "=true", "-Dverbena.stream.delay=0"};
        String agent = "-javaagent:" + AgentJar.in(dir)
                + "=quiet,stream.earn=0,stream.patience=60000,rules=use stream tcp_";
        RoceNamespaces.with(() -> ErmEnds.process().option(common).option(agent + "server *:* device "
                + RoceNamespaces.DEVICE_B).start(), server -> {
                    try (Child client = ErmEnds.process().option(common).option(agent + "client *:* device "
                            + RoceNamespaces.DEVICE_A).start()) {
                        int port = server.tell("listen " + RoceNamespaces.ADDRESS_B).awaitInt("PORT");
                        server.tell("accept");
                        client.tell("connect " + RoceNamespaces.ADDRESS_B + " " + port);
                        assertThat(client.await("CONNECTED")).isEqualTo("ok");
                        assertThat(server.await("ACCEPTED")).isEqualTo("ok");
                        copiesWorkInBothDirections(new ErmEnds(client, server), "allocate");
                        copiesKeepTheirOrder(new ErmEnds(client, server), "allocate", false);
                        memoryBecomesReadOnlyUnderLoad(new ErmEnds(client, server), "allocate", 2);
                        memoryBecomesReadOnlyUnderLoad(new ErmEnds(client, server), "register", 2);
                        int more = ErmEnds.region(server, client, "register", MEBIBYTE, 5);
                        int own = client.tell("register " + MEBIBYTE).awaitInt("REGION");
                        assertThat(client.tell("copy " + more + " " + own + " " + MEBIBYTE).awaitInt("STATUS"))
                                .isZero();
                        client.tell("check " + own + " 5").await("SAME");
                        client.kill(); // which is noticed when something is sent to it
                        server.tell("flood " + more + " " + own + " 64").await("FLOODING");
                        assertThat(server.tell("closed").await("CLOSED")).isNotEmpty();
                    }
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"allocate", "register"})
    void memoryRevokedUnderLoadIsNotWritten(String how) throws Exception {
        withShared(ends -> {
            int source = ErmEnds.region(ends.client(), ends.server(), "allocate", MEBIBYTE, 1);
            for (int i = 0; i < 3 * ROUNDS; i++) {
                int target = ErmEnds.region(ends.server(), ends.client(), how, MEBIBYTE, 2);
                ends.client().tell("flood " + source + " " + target + " " + (i % 2 == 0 ? MEBIBYTE : 64)).await(
                        "FLOODING");
                Thread.sleep(20);
                assertThat(ends.server().tell("deregister " + target).await("GONE")).endsWith("open");
                ends.server().tell("fill " + target + " " + i).await("FILLED");
                Thread.sleep(20);
                ends.server().tell("check " + target + " " + i).await("SAME");
                assertThat(ends.client().tell("flooded").await("FLOODED")).startsWith("0 ENOENT");
                ends.client().tell("removed").await("REMOVED");
            }
        });
    }

    /** The other end may read it then, and does not write it any more; the same memory is writable again later. */
    private static void memoryBecomesReadOnlyUnderLoad(ErmEnds ends, String how, int rounds) throws Exception {
        Child client = ends.client();
        Child server = ends.server();
        int source = ErmEnds.region(client, server, "allocate", MEBIBYTE, 1);
        int target = ErmEnds.region(server, client, how, MEBIBYTE, 2);
        for (int i = 0; i < rounds; i++) {
            client.tell("flood " + source + " " + target + " " + (i % 2 == 0 ? MEBIBYTE : 64)).await("FLOODING");
            Thread.sleep(20);
            assertThat(server.tell("update " + target + " r " + i).await("CHANGED")).doesNotContain("REMOTE_WRITE");
            server.tell("fill " + target + " " + i).await("FILLED");
            Thread.sleep(20);
            server.tell("check " + target + " " + i).await("SAME");
            assertThat(client.tell("flooded").await("FLOODED")).startsWith("0 EACCES");
            assertThat(client.tell("updated").await("UPDATED")).isEqualTo(target + " " + i);
            assertThat(client.tell("copy " + source + " " + target + " 1").await("REFUSED")).isEqualTo("EACCES");
            assertThat(client.tell("copy " + target + " " + source + " " + MEBIBYTE).awaitInt("STATUS")).isZero();
            client.tell("check " + source + " " + i).await("SAME");
            assertThat(server.tell("copied from").awaitInt("COPIED")).isEqualTo(target);
            assertThat(server.tell("update " + target + " rw " + i).await("CHANGED")).contains("REMOTE_WRITE");
            assertThat(client.tell("updated").await("UPDATED")).isEqualTo(target + " " + i);
        }
        assertThat(server.tell("deregister " + target).await("GONE")).endsWith("open");
        assertThat(client.tell("removed").awaitInt("REMOVED")).isEqualTo(target);
        assertThat(server.tell("update " + target + " rw 0").await("FAILED")).contains("ENOENT");
    }

    @ParameterizedTest
    @ValueSource(strings = {"allocate", "register"})
    void memoryMadeReadOnlyUnderLoadIsNotWritten(String how) throws Exception {
        withShared(ends -> memoryBecomesReadOnlyUnderLoad(ends, how, 2 * ROUNDS));
    }

    /**
     * Whether it has left the memory is unknown, so the remote memory of the connection ends; then the memory can be
     * deregistered.
     */
    @Test
    void rightsOfAStoppedPeerAreRevoked() throws Exception {
        try (ErmEnds ends = ErmEnds.openWithUsualPatience()) {
            int source = ErmEnds.region(ends.client(), ends.server(), "allocate", MEBIBYTE, 1);
            int target = ErmEnds.region(ends.server(), ends.client(), "allocate", MEBIBYTE, 2);
            ends.client().tell("flood " + source + " " + target + " " + MEBIBYTE).await("FLOODING");
            Thread.sleep(20);
            ends.client().stop();
            assertThat(ends.server().tell("update " + target + " r 0").await("FAILED")).contains("ENOTCONN",
                    "is it stopped?");
            ends.server().tell("deregister " + target).await("GONE");
            ends.server().tell("fill " + target + " 3").await("FILLED");
            ends.client().proceed();
            assertThat(ends.client().tell("flooded").await("FLOODED")).isNotEmpty();
            ends.server().tell("check " + target + " 3").await("SAME");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void peerKilledDuringACopyLeavesNothing(boolean killsInitiator) throws Exception {
        Random random = new Random(Seeds.FIRST);
        try (Child survivor = ErmEnds.process().start()) {
            int port = survivor.tell("listen 127.0.0.1").awaitInt("PORT");
            Map<String, Integer> before = Map.of();
            for (int round = 0; round <= ROUNDS; round++) {
                try (Child victim = ErmEnds.process().start()) {
                    ErmEnds ends = new ErmEnds(victim, survivor);
                    ends.connect(port);
                    int ofVictim = ErmEnds.region(victim, survivor, "allocate", MEBIBYTE, 1);
                    int ofSurvivor = ErmEnds.region(survivor, victim, round % 2 == 0 ? "allocate" : "register",
                            MEBIBYTE, 2);
                    Child floods = killsInitiator ? victim : survivor;
                    floods.tell("flood " + (killsInitiator
                            ? ofVictim + " " + ofSurvivor
                            : ofSurvivor + " "
                                    + ofVictim) + " " + MEBIBYTE).await("FLOODING");
                    Thread.sleep(random.nextInt(30));
                    victim.kill();
                    assertThat(survivor.tell("closed").await("CLOSED")).isNotEmpty();
                    if (!killsInitiator) {
                        assertThat(survivor.tell("flooded").await("FLOODED")).matches("0 ENOTCONN.*|[1-9].*");
                    }
                    survivor.tell("deregister " + ofSurvivor).await("GONE");
                    survivor.tell("close").await("CLOSED");
                }
                if (round == 0) {
                    before = settled(survivor);
                }
            }
            nothingMore(survivor, before);
            survivor.end();
        }
    }

    /** At any step: connect, request, token exchange, registration, copy, update, deregistration, close. */
    @Test
    void peerKilledAtAnyStepLeavesNothing() throws Exception {
        Random random = new Random(Seeds.FIRST);
        try (Child survivor = ErmEnds.process().start()) {
            int port = survivor.tell("listen 127.0.0.1").awaitInt("PORT");
            survivor.tell("answer").await("ANSWERING");
            Map<String, Integer> before = Map.of();
            for (int round = 0; round <= (Thorough.ON ? 2 : 1) * ROUNDS; round++) {
                try (Child victim = ErmEnds.process().start()) {
                    victim.tell("churn 127.0.0.1 " + port).await("CHURNING");
                    if (round == 0) {
                        Await.until(Child.LIMIT, () -> survivor.tell("updates").awaitInt("UPDATES") > 20,
                                () -> "nothing is done that could be cut off");
                    } else {
                        Thread.sleep(random.nextInt(800));
                    }
                    victim.kill();
                    assertThat(survivor.tell("ended").await("ENDED")).matches("ok, [0-9]+");
                }
                if (round == 0) {
                    before = settled(survivor);
                }
            }
            nothingMore(survivor, before);
            survivor.end();
        }
    }

    private static Map<String, Integer> settled(Child process) throws Exception {
        String pid = String.valueOf(process.pid());
        Await.until(Child.LIMIT, () -> Proc.descriptors(pid).getOrDefault("/memfd:verbena-lanes (deleted)", 0) == 0,
                () -> "the session is kept");
        return Proc.descriptors(pid);
    }

    private static void nothingMore(Child process, Map<String, Integer> before) throws IOException {
        Map<?, ?>[] now = new Map<?, ?>[1];
        Await.until(Child.LIMIT, () -> {
            Map<String, Integer> all = Proc.descriptors(String.valueOf(process.pid()));
            now[0] = all;
            return all.entrySet().stream().allMatch(e -> e.getValue() <= before.getOrDefault(e.getKey(), 0));
        }, () -> "descriptors were " + before + ", are " + now[0]);
    }

    /** It may not take much longer than the timeout of two seconds, and the half second that shm waits. */
    @Test
    void memoryIsRevokedFromAStoppedPeer() throws Exception {
        for (int i = 0; i < Math.max(1, ROUNDS / 2); i++) {
            try (ErmEnds ends = ErmEnds.openWithUsualPatience()) {
                int source = ErmEnds.region(ends.client(), ends.server(), "allocate", MEBIBYTE, 1);
                int target = ErmEnds.region(ends.server(), ends.client(), "allocate", MEBIBYTE, 2);
                ends.client().tell("flood " + source + " " + target + " " + MEBIBYTE).await("FLOODING");
                Thread.sleep(20);
                ends.client().stop();
                String[] gone = ends.server().tell("deregister " + target).await("GONE").split(" ", 2);
                assertThat(Integer.parseInt(gone[0])).isBetween(1000, 30_000);
                assertThat(gone[1]).contains("is it stopped?");
                ends.server().tell("fill " + target + " 3").await("FILLED");
                ends.client().proceed();
                assertThat(ends.client().tell("flooded").await("FLOODED")).isNotEmpty();
                ends.server().tell("check " + target + " 3").await("SAME");
                assertThat(ends.client().tell("closed").await("CLOSED")).isNotEmpty();
                ends.client().end();
                ends.server().end();
            }
        }
    }

    /**
     * Registered memory cannot be revoked from a process that may be accessing it: this is reported, and succeeds when
     * the process has continued.
     */
    @Test
    void registeredMemoryIsRevokedOnceAStoppedPeerContinues() throws Exception {
        try (ErmEnds ends = ErmEnds.openWithUsualPatience()) {
            int source = ErmEnds.region(ends.client(), ends.server(), "allocate", MEBIBYTE, 1);
            int target = ErmEnds.region(ends.server(), ends.client(), "register", MEBIBYTE, 2);
            ends.client().tell("flood " + source + " " + target + " " + MEBIBYTE).await("FLOODING");
            Thread.sleep(20);
            ends.client().stop();
            String said = ends.server().tell("deregister " + target).awaitEither("GONE", "FAILED");
            assertThat(said).matches("GONE .*is it stopped\\?.*|FAILED .*EBUSY.*");
            ends.client().proceed();
            assertThat(ends.client().tell("flooded").await("FLOODED")).isNotEmpty();
            ends.server().tell("deregister " + target).await("GONE");
            ends.server().tell("fill " + target + " 3").await("FILLED");
            Thread.sleep(50);
            ends.server().tell("check " + target + " 3").await("SAME");
        }
    }

    @Test
    void peerWithoutTheRequestIsNamed() throws Exception {
        try (Child client = ErmEnds.process().option("-Dverbena.offload=off").start();
                Child server = ErmEnds.process()
                        .start()) {
            int port = server.tell("listen 127.0.0.1").awaitInt("PORT");
            server.tell("accept");
            client.tell("connect 127.0.0.1 " + port);
            assertThat(client.await("CONNECTED")).isEqualTo("TCP carries the connection: by rule");
            assertThat(server.await("ACCEPTED")).isEqualTo(
                    "TCP carries the connection: the other end does not use Verbena");
        }
    }

    @Test
    void manyConnectionsAreOpenedAndClosed() throws Exception {
        Set<String> files = Proc.sharedMemoryFiles();
        try (Child client = ErmEnds.process().start(); Child server = ErmEnds.process().start()) {
            int port = server.tell("listen 127.0.0.1").awaitInt("PORT");
            Map<String, Integer> before = Map.of();
            for (int round = 0; round < 3; round++) {
                server.tell("take " + CONNECTIONS);
                client.tell("open " + CONNECTIONS + " 127.0.0.1 " + port);
                assertThat(client.await("OPEN")).isEqualTo("ok");
                assertThat(server.await("OPEN")).isEqualTo("ok");
                client.tell("drop").await("DROPPED");
                server.tell("drop").await("DROPPED");
                if (round == 0) {
                    Thread.sleep(2000); // until the threads of the first round have ended
                    before = Proc.descriptors(String.valueOf(server.pid()));
                }
            }
            nothingMore(server, before);
            client.end();
            server.end();
        }
        assertThat(Proc.sharedMemoryFiles()).isSubsetOf(files);
    }
}
