// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.SendFlags;

/** A child that opens and closes as many contexts as it is told, and then collects garbage on demand. */
final class CyclePeer {
    private static final int BYTES = 10_000;

    private CyclePeer() {}

    public static void main(String[] args) throws Exception {
        Peer.begin();
        Peer.say("READY");
        while (true) {
            String[] words = Peer.hear().split(" ", -1);
            if (words[0].equals("collect")) {
                System.gc();
                Peer.say("COLLECTED");
            } else {
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    cycle();
                }
                Peer.say("CYCLED");
            }
        }
    }

    /** Two contexts of this process, a session between them, one message. */
    private static void cycle() throws Exception {
        try (Node a = Node.open(); Node b = Node.openWithChannel()) {
            QueuePair x = a.queuePair();
            QueuePair y = b.queuePair();
            MemoryRegion m = a.allocate(BYTES);
            MemoryRegion n = b.pd.allocate(BYTES, AccessFlags.LOCAL_WRITE);
            Node.toRtr(x, b.gid(), y.number());
            Node.toRtr(y, a.gid(), x.number());
            Node.toRts(x);
            Node.toRts(y);
            require(y.receiveQueue().post(1, n, 0, BYTES) == 0);
            require(x.sendQueue().start().send(1, SendFlags.SIGNALED).sge(m, 0, BYTES).complete() == 0);
            // the message about the memory may still be in flight
            Await.until(Child.LIMIT, () -> b.cq.startPoll() == 0, () -> Node.describe(x));
            require(b.cq.byteLength() == BYTES);
            b.cq.endPoll();
        }
    }

    private static void require(boolean condition) {
        if (!condition) {
            throw new AssertionError();
        }
    }
}
