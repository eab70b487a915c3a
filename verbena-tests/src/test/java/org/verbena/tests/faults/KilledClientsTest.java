// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.tests.BesideOthers;

/**
 * A server whose clients connect and are killed for days keeps its resources constant. The rounds, by default few, are
 * {@code -Dverbena.faults.rounds}; with {@code -Dthorough} they take most of an hour.
 */
@BesideOthers
@Timeout(value = 3, unit = TimeUnit.HOURS)
class KilledClientsTest {
    private static final int ROUNDS = Integer.getInteger("verbena.faults.rounds",
            Thorough.ON ? 500 : 1);
    private static final int CLIENTS = 8;
    private static final int WARM_UP = 2;
    /** Its own. */
    private static final long ADAPTER_BYTES = 1L << 30;
    private static final long MORE_MAPPINGS = 60;
    private static final long MORE_KIBIBYTES = 32 << 10;

    @ParameterizedTest
    @ValueSource(strings = {"shm0", "roce_lo"})
    void killedClientsLeaveNothingInTheServer(String device) throws Exception {
        try (Child server = Child.of(ServerPeer.class).option("-Xmx64m").start(device)) {
            String[] at = server.await("AT").split(" ", -1);
            String pid = String.valueOf(server.pid());
            for (int i = 0; i < WARM_UP; i++) {
                round(server, device, at);
            }
            server.tell("collect").await("COLLECTED");
            Map<String, Integer> descriptors = Proc.descriptors(pid);
            long mappings = Proc.mappings(pid);
            long resident = Proc.status(pid, "VmRSS");
            long shared = Proc.status(pid, "RssShmem");
            for (int i = 0; i < ROUNDS; i++) {
                round(server, device, at);
            }
            // explicitly, since a server that allocates nothing never collects
            Await.until(Child.LIMIT, () -> Proc.mapped(pid, "verbena-memory") < ServerPeer.CLIENT_BYTES && Proc.mapped(
                    pid,
                    "verbena-adapter") <= ADAPTER_BYTES, () -> now(pid));
            Await.until(Child.LIMIT, () -> {
                server.tell("collect").await("COLLECTED");
                return Proc.descriptors(pid).entrySet().stream()
                        .allMatch(e -> e.getValue() <= descriptors.getOrDefault(e.getKey(), 0))
                        && Proc.mappings(pid) < mappings + MORE_MAPPINGS
                        && Proc.status(pid, "VmRSS") < resident + MORE_KIBIBYTES
                        && Proc.status(pid, "RssShmem") < shared + MORE_KIBIBYTES;
            }, () -> descriptors + ", " + mappings + " mappings, " + resident + " KiB resident, " + shared
                    + " KiB of it shared before; now " + now(pid));
            server.end();
        }
    }

    private static void round(Child server, String device, String... at) throws Exception {
        server.tell("serve " + CLIENTS);
        try (Child clients = Child.start(ServerPeer.class, device, at[0], at[1], CLIENTS)) {
            server.await("CONNECTED");
            clients.kill();
            clients.awaitExit();
            server.tell("dead").await("SERVED");
        }
    }

    private static String now(String pid) {
        try {
            return Proc.descriptors(pid) + ", " + Proc.mappings(pid) + " mappings, " + Proc.status(pid, "VmRSS")
                    + " KiB resident, " + Proc.status(pid, "RssShmem") + " KiB of it shared, " + Proc.mapped(pid,
                            "verbena-memory")
                    + " bytes of memory files mapped";
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }
}
