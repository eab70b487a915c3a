// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.WcStatus;

/**
 * A server whose clients have memory, to which it writes, and are killed; or such a client, which has as many contexts as it is
 * told. The server closes what it had with each, and never asks for asynchronous events.
 */
final class ServerPeer {
    static final int CLIENT_BYTES = 8 << 20;

    private ServerPeer() {}

    public static void main(String[] args) throws Exception {
        Peer.begin();
        if (args.length > 1) {
            client(args[0], new InetSocketAddress(args[1], Integer.parseInt(args[2])), Integer.parseInt(args[3]));
        } else {
            server(args[0]);
        }
    }

    private static void server(String device) throws Exception {
        try (Context c = Verbs.open(device)) {
            ProtectionDomain pd = c.allocateProtectionDomain();
            CompletionQueue cq = c.createCompletionQueue(1024);
            ConnectionListener l = c.connectionManager().listen(new InetSocketAddress(0));
            InetSocketAddress at = l.localAddress();
            InetAddress host = at.getAddress().isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : at.getAddress();
            Peer.say("AT " + host.getHostAddress() + " " + at.getPort());
            while (true) {
                String[] words = Peer.hear().split(" ", -1);
                if (words[0].equals("collect")) {
                    System.gc();
                    Peer.say("COLLECTED");
                } else {
                    serve(pd, cq, l, Integer.parseInt(words[1]));
                    Peer.say("SERVED");
                }
            }
        }
    }

    /** Accepts this many connections, reports that they work, and closes them when their queue pairs have failed. */
    private static void serve(ProtectionDomain pd, CompletionQueue cq, ConnectionListener l, int clients)
            throws Exception {
        MemoryRegion here = pd.allocate(4096, AccessFlags.ALL);
        QueuePair[] queuePairs = new QueuePair[clients];
        Connection[] connections = new Connection[clients];
        long[][] there = new long[clients][];
        for (int i = 0; i < clients; i++) {
            queuePairs[i] = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
            ConnectionRequest r = Node.await(l);
            ByteBuffer b = ByteBuffer.wrap(r.privateData());
            there[i] = new long[] {b.getInt(), b.getLong()};
            connections[i] = r.accept(queuePairs[i], ConnectionParameters.builder().retryCount(0).build());
            write(i, queuePairs[i], here, there[i]);
            if (complete(cq).status() != WcStatus.SUCCESS) {
                throw new AssertionError(Node.describe(queuePairs[i]));
            }
        }
        Peer.say("CONNECTED");
        Peer.hear(); // they are dead
        for (int i = 0; i < clients; i++) {
            write(i, queuePairs[i], here, there[i]);
        }
        for (int left = clients; left > 0;) { // until a write fails, or the session ends
            int i = (int) complete(cq).wrId();
            if (queuePairs[i].state() == QueuePairState.ERR) {
                left--;
            } else {
                write(i, queuePairs[i], here, there[i]);
            }
        }
        for (int i = 0; i < clients; i++) {
            connections[i].close();
            queuePairs[i].close();
        }
        here.close();
    }

    private static void write(int i, QueuePair qp, MemoryRegion here, long[] there) {
        if (qp.sendQueue().postWrite(i, SendFlags.SIGNALED, here, 0, 8, (int) there[0], there[1]) != 0) {
            throw new AssertionError("not posted");
        }
    }

    private record Completion(long wrId, int status) {}

    private static Completion complete(CompletionQueue cq) throws Exception {
        Await.until(Child.LIMIT, () -> cq.startPoll() == 0, () -> "no completion");
        Completion c = new Completion(cq.wrId(), cq.status());
        cq.endPoll();
        return c;
    }

    private static void client(String device, InetSocketAddress server, int contexts) throws Exception {
        for (int i = 0; i < contexts; i++) {
            Context c = Verbs.open(device);
            ProtectionDomain pd = c.allocateProtectionDomain();
            MemoryRegion m = pd.allocate(CLIENT_BYTES, AccessFlags.ALL);
            CompletionQueue cq = c.createCompletionQueue(16);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
            byte[] where = ByteBuffer.allocate(12).putInt(m.rkey()).putLong(m.address()).array();
            c.connectionManager().connect(qp, server,
                    ConnectionParameters.builder().privateData(where).build());
        }
        Thread.sleep(Duration.ofHours(1));
    }
}
