// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import org.verbena.testkit.Await;
import org.verbena.tests.faults.Node;
import org.verbena.tests.faults.Peer;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/**
 * A child that connects to a port, sends a message, and closes its context when it is told to; without a port, one that
 * serves such children, one after another.
 */
public final class LeavingPeer {
    private static final int RECEIVES = 4;

    private LeavingPeer() {}

    public static void main(String[] args) throws Exception {
        Peer.begin();
        try (Node node = Node.open()) {
            if (args.length > 0) {
                send(node, Integer.parseInt(args[0]));
                return;
            }
            try (ConnectionListener l = node.listen()) {
                Peer.say("PORT " + l.localAddress().getPort());
                while (true) {
                    serve(node, l);
                    Peer.say("GONE");
                }
            }
        }
    }

    private static void send(Node node, int port) throws Exception {
        QueuePair qp = node.queuePair();
        MemoryRegion memory = node.allocate(64);
        node.connect(qp, port);
        check(qp.sendQueue().postSend(1, SendFlags.SIGNALED, memory, 0, 8));
        check(poll(node));
        Peer.say("SENT");
        Peer.hear();
    }

    /** Takes a connection and a message, and closes its end when the peer is gone, with the other receives flushed. */
    public static void serve(Node node, ConnectionListener listener) throws Exception {
        try (QueuePair qp = node.queuePair(); MemoryRegion memory = node.allocate(64)) {
            try (Connection _ = Node.await(listener).accept(qp, ConnectionParameters.defaults())) {
                for (int i = 0; i < RECEIVES; i++) {
                    check(qp.receiveQueue().post(i, memory, 0, 64));
                }
                check(poll(node));
                Await.until("the peer stays", () -> qp.state() == QueuePairState.ERR);
                for (int i = 1; i < RECEIVES; i++) {
                    if (poll(node) != WcStatus.WR_FLUSH_ERR) {
                        throw new IllegalStateException("a receive was not flushed");
                    }
                }
            }
        }
    }

    private static int poll(Node node) {
        WorkCompletion[] one = WorkCompletion.array(1);
        Await.until("no completion", () -> node.cq.poll(one) == 1);
        return one[0].status();
    }

    private static void check(int code) {
        if (code != 0) {
            throw new IllegalStateException("error " + code);
        }
    }
}
