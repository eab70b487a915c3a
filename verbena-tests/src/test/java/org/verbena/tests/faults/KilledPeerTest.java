// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;

/**
 * Peers are killed repeatedly at random moments of dense traffic, while a third process continues on the same
 * completion queue. {@code -Dverbena.test.kills=N} says how many.
 */
class KilledPeerTest {
    private static final int KILLS = Integer.getInteger("verbena.test.kills", Thorough.ON ? 20 : 8);
    /** A second is promised; a machine that runs other tests as well may take longer. */
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int AHEAD = 2;
    private static final int MAX_MILLIS = 50;

    private final List<Traffic> traffic = new ArrayList<>();
    private final Map<Traffic, Connection> connections = new HashMap<>();

    @Test
    void killedPeerFlushesQueuesAndDoesNotDisturbOthers() throws Exception {
        long seed = Seeds.FIRST;
        System.out.println("KilledPeerTest: seed " + seed);
        Random random = new Random(seed);
        Deque<Child> next = new ArrayDeque<>();
        try (Node node = Node.open();
                ConnectionListener listener = node.listen();
                Child healthy = Child.start(TrafficPeer.class, port(listener), seed, "gently")) {
            try {
                Traffic good = connect(node, listener, healthy, seed + 1);
                for (int i = 0; i < KILLS; i++) {
                    while (next.size() < Math.min(AHEAD, KILLS - i)) {
                        next.add(Child.start(TrafficPeer.class, port(listener), seed + 2 + i));
                    }
                    long before = good.done();
                    killOne(node, listener, next.remove(), seed + 1000 + i, random.nextInt(MAX_MILLIS));
                    Await.until(SOON, () -> pump(node) && good.done() > before, () -> "no work of the healthy peer; "
                            + good);
                    assertThat(good.qp().state()).as(good.toString()).isEqualTo(QueuePairState.RTS);
                }
                long before = good.done();
                Await.until(Child.LIMIT, () -> pump(node) && good.done() > before + 100, good::toString);
                assertThat(healthy.isAlive()).isTrue();
            } finally {
                for (Child c : next) {
                    c.close();
                }
            }
        }
    }

    private static int port(ConnectionListener l) {
        return l.localAddress().getPort();
    }

    private Traffic connect(Node node, ConnectionListener listener, Child peer, long seed) throws Exception {
        MemoryRegion memory = node.allocate(Traffic.BYTES);
        QueuePair qp = node.queuePair();
        Traffic t = new Traffic(qp, memory, seed);
        peer.await("READY");
        peer.tell("go");
        ConnectionRequest r = Node.await(listener);
        // accept waits for the peer, and meanwhile others have to be served
        CompletableFuture<Connection> c = CompletableFuture.supplyAsync(() -> accept(r, qp, t));
        Await.until(Child.LIMIT, () -> pump(node) && c.isDone(), () -> "accept of " + peer);
        connections.put(t, c.get());
        t.begin(r.privateData());
        traffic.add(t);
        return t;
    }

    private static Connection accept(ConnectionRequest r, QueuePair qp, Traffic t) {
        try {
            return r.accept(qp, ConnectionParameters.builder().privateData(t.address()).build());
        } catch (org.verbena.verbs.VerbsException e) {
            throw new AssertionError(e);
        }
    }

    /** Serves everybody once; returns true. */
    private boolean pump(Node node) {
        for (Traffic t : traffic) {
            t.step();
        }
        if (node.cq.startPoll() == 0) {
            do {
                int n = node.cq.queuePairNumber();
                traffic.stream().filter(t -> t.qp().number() == n).findFirst()
                        .orElseThrow(() -> new AssertionError("a completion of the unknown QP " + n))
                        .completed(node.cq);
            } while (node.cq.nextPoll() == 0);
            node.cq.endPoll();
        }
        return true;
    }

    private void killOne(Node node, ConnectionListener listener, Child peer, long seed, int millis) throws Exception {
        try (peer) {
            Traffic t = connect(node, listener, peer, seed);
            long end = System.nanoTime() + millis * 1_000_000L;
            Await.until(Child.LIMIT, () -> pump(node) && System.nanoTime() - end > 0, t::toString);
            peer.kill();
            Await.until(SOON, () -> pump(node) && t.qp().state() == QueuePairState.ERR, t::toString);
            assertThat(t.qp().errorReason()).isNotBlank();
            Await.until(SOON, () -> pump(node) && t.outstanding() == 0, t::toString);
            traffic.remove(t);
            connections.remove(t).close();
            t.close();
            assertThat(peer.awaitExit()).isEqualTo(137);
        }
    }
}
