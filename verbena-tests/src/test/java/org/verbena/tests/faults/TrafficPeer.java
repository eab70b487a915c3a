// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.util.concurrent.locks.LockSupport;

import org.verbena.verbs.Connection;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;

/** A child that connects to a port and makes {@link Traffic} until it is killed or its queue pair fails.
 * A third argument makes it leave the processor to others. */
final class TrafficPeer {
    private static final long GENTLY_NANOS = 300_000;

    private TrafficPeer() {}

    public static void main(String[] args) throws Exception {
        Peer.begin();
        try (Node node = Node.open()) {
            QueuePair qp = node.queuePair();
            MemoryRegion memory = node.allocate(Traffic.BYTES);
            Traffic t = new Traffic(qp, memory, Long.parseLong(args[1]));
            Peer.say("READY");
            Peer.hear();
            Connection c = node.connect(qp, Integer.parseInt(args[0]), t.address());
            t.begin(c.privateData());
            Peer.say("TRAFFIC");
            while (qp.state() == QueuePairState.RTS) {
                t.step();
                t.poll(node.cq);
                if (args.length > 2) {
                    LockSupport.parkNanos(GENTLY_NANOS);
                }
            }
            Peer.say("FAILED " + t);
        }
    }
}
