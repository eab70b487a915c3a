// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.SendFlags;

/** Waiting processes use no processor time, and wake when they should. */
class IdleTest {
    private static final Duration MEASURED = Duration.ofSeconds(3);
    private static final long MOST_MILLIS = 30; // in that time

    @Test
    void sleepingThreadsUseNoCpuTime() throws Exception {
        try (Node node = Node.open();
                ConnectionListener l = node.listen();
                Child waiter = Child.start(ToolPeer.class);
                Child sender = Child.start(ToolPeer.class)) {
            MemoryRegion m = node.allocate(4096);
            QueuePair first = connect(node, l, waiter);
            QueuePair second = connect(node, l, sender);
            waiter.tell("receives 2").await("POSTED");
            waiter.tell("event").await("WAITING"); // in its completion channel
            sender.tell("post").await("POSTED"); // for a receive that we have not posted; it may retry forever
            long[] used = new long[2];
            Await.until(Child.LIMIT, () -> { // the start-up work of a JVM ends at some time
                long waiterBefore = Proc.cpuMillis(waiter.pid());
                long senderBefore = Proc.cpuMillis(sender.pid());
                Await.during(MEASURED);
                used[0] = Proc.cpuMillis(waiter.pid()) - waiterBefore;
                used[1] = Proc.cpuMillis(sender.pid()) - senderBefore;
                return Math.max(used[0], used[1]) <= MOST_MILLIS;
            }, () -> used[0] + " ms of processor time, waiting for an event; " + used[1] + ", waiting for a receive");
            assertThat(first.sendQueue().start().send(1, SendFlags.SIGNALED).sge(m, 0, 8).complete()).isZero();
            assertThat(waiter.await("EVENT")).isEqualTo("true");
            assertThat(second.receiveQueue().post(1, m, 0, 4096)).isZero();
            Await.until(Child.LIMIT, () -> node.cq.startPoll() == 0 && node.cq.queuePairNumber() == second.number()
                    && node.cq.status() == 0, () -> Node.describe(second)
                            + "; its peer is in " + state(sender));
        }
    }

    private static String state(Child child) {
        try {
            return child.tell("state").await("STATE");
        } catch (Exception e) {
            return e.toString();
        }
    }

    private static QueuePair connect(Node node, ConnectionListener l, Child child) throws Exception {
        child.tell("connect " + l.localAddress().getPort());
        QueuePair qp = node.queuePair();
        Connection c = Node.await(l).accept(qp, ConnectionParameters.builder().privateData(new byte[12]).build());
        child.await("CONNECTED");
        assertThat(c.isConnected()).isTrue();
        return qp;
    }
}
