// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;

/**
 * A process that writes garbage into all accessible memory, and sends garbage on all its sockets, against a victim that
 * serves a healthy peer (this process) meanwhile. {@code -Dverbena.faults.hostile-seconds=N} says how long, {@code
 * -Dverbena.test.seed=N} the first seed.
 */
class HostilePeerTest {
    private static final int SECONDS = Integer.getInteger("verbena.faults.hostile-seconds",
            Thorough.ON ? 120 : 6);
    private static final Duration NO_HANG = Duration.ofSeconds(30);

    @Test
    @Timeout(3600)
    void garbageEndsOnlyItsConnection() throws Exception {
        long seed = Long.getLong("verbena.test.seed", System.nanoTime() & 0xffffffL);
        System.out.println("HostilePeerTest: seeds from " + seed);
        Class<?> victimMain = Class.forName("org.verbena.shm.VictimPeer");
        Class<?> hostileMain = Class.forName("org.verbena.shm.HostilePeer");
        try (Child victim = Child.of(victimMain).option("-Xmx128m").start(); Node node = Node.open()) {
            String[] address = victim.await("PORT").split(" ", -1);
            QueuePair qp = node.queuePair();
            MemoryRegion memory = node.allocate(Traffic.BYTES);
            Traffic healthy = new Traffic(qp, memory, 2);
            Connection c = node.connect(qp, Integer.parseInt(address[0]), healthy.address());
            healthy.begin(c.privateData());
            try (Child hostile = Child.start(hostileMain, address[0], address[1])) {
                hostile.await("READY");
                hostile.tell(seed + " " + SECONDS * 1000L);
                long[] last = {System.nanoTime(), 0};
                Await.until(Duration.ofSeconds(SECONDS + 60), () -> {
                    serve(node, healthy, victim, last);
                    return hostile.has("ATTACKED") || !hostile.isAlive();
                }, () -> "attack at " + hostile.lines());
                assertThat(hostile.isAlive()).as("hostile process: %s", hostile.lines()).isTrue();
                String seeds = hostile.await("ATTACKED");
                System.out.println("HostilePeerTest: " + seeds + " seeds");
                assertHealthy(node, healthy, victim, last, Integer.parseInt(seeds),
                        Integer.parseInt(address[0]));
            }
            c.close();
            victim.tell("close").await("CLOSED");
            victim.end();
        }
    }

    /** The healthy peer continues; a victim that does nothing for it for half a minute counts as a hang. */
    private static void serve(Node node, Traffic healthy, Child victim, long[] last) throws Exception {
        healthy.step();
        healthy.poll(node.cq);
        if (healthy.done() != last[1]) {
            last[1] = healthy.done();
            last[0] = System.nanoTime();
        }
        if (System.nanoTime() - last[0] > NO_HANG.toNanos() || healthy.qp().state() != QueuePairState.RTS
                || victim.has("DAMAGE") || victim.crashed()) {
            throw new AssertionError("victim: " + victim.lines() + "; healthy peer: " + healthy);
        }
    }

    private static void assertHealthy(Node node, Traffic healthy, Child victim, long[] last, int seeds, int port)
            throws Exception {
        long before = healthy.done();
        Await.until(NO_HANG, () -> {
            serve(node, healthy, victim, last);
            return healthy.done() > before + 100;
        }, healthy::toString);
        victim.tell("check");
        assertThat(victim.await("SERVED")).as("after %d seeds", seeds).endsWith("intact");
        // and there is room for one more
        QueuePair qp = node.queuePair();
        node.connect(qp, port, ConnectionParameters.builder().privateData(healthy.address()).build())
                .close();
        qp.close();
    }
}
