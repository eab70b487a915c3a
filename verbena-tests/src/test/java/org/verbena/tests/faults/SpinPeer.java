// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcOpcode;

/** A child with two threads that exchange a message; both spin. The one that answers is called "spinner". */
final class SpinPeer {
    private static final int BYTES = 64;

    private static volatile long rounds;

    private SpinPeer() {}

    public static void main(String[] args) throws Exception {
        Peer.begin();
        SystemCalls.allow();
        Node a = Node.open();
        Node b = Node.openWithChannel(); // it could sleep, and does not
        QueuePair x = a.queuePair();
        QueuePair y = b.queuePair();
        Node.toRtr(x, b.gid(), y.number());
        Node.toRtr(y, a.gid(), x.number());
        Node.toRts(x);
        Node.toRts(y);
        Thread.ofPlatform().daemon().name("spinner").start(() -> pass(b, y, false));
        Thread.ofPlatform().daemon().name("starter").start(() -> pass(a, x, true));
        while (rounds < 100_000) { // both loops are compiled by then
            Thread.sleep(10);
        }
        Peer.say("READY");
        while (true) {
            Peer.hear();
            Peer.say("ROUNDS " + rounds);
        }
    }

    private static void pass(Node node, QueuePair qp, boolean first) {
        try {
            MemoryRegion m = node.allocate(2 * BYTES);
            CompletionQueue cq = node.cq;
            require(qp.receiveQueue().post(1, m, BYTES, BYTES));
            if (first) {
                require(qp.sendQueue().postSend(2, 0, m, 0, BYTES));
            }
            long n = 0;
            while (true) {
                while (cq.startPoll() != 0) {
                    Thread.onSpinWait();
                }
                require(cq.status());
                boolean received = cq.opcode() == WcOpcode.RECV;
                cq.endPoll();
                if (!received) {
                    continue;
                }
                require(qp.receiveQueue().post(1, m, BYTES, BYTES));
                require(qp.sendQueue().postSend(2, (++n & 15) == 0 ? SendFlags.SIGNALED : 0, m, 0,
                        BYTES));
                if (first) {
                    rounds = n;
                }
            }
        } catch (Exception e) {
            e.printStackTrace(); // the test prints it when this process has ended
            Runtime.getRuntime().halt(1);
        }
    }

    private static void require(int status) {
        if (status != 0) {
            throw new IllegalStateException("error " + status);
        }
    }
}
