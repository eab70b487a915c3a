// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/**
 * Opens a context as often as it is told, creates two of every object there, drops all, and closes only the context.
 */
final class DropPeer {
    private DropPeer() {}

    public static void main(String[] args) throws Exception {
        Peer.begin();
        while (true) {
            int rounds = Integer.parseInt(Peer.hear());
            for (int i = 0; i < rounds; i++) {
                try (Context c = Verbs.open(args[0])) {
                    awaitCollected(make(c));
                }
            }
            System.gc();
            Peer.say("DROPPED");
        }
    }

    private static void awaitCollected(List<WeakReference<VerbsObject>> dropped) {
        Await.until(Child.LIMIT, () -> {
            System.gc();
            return dropped.stream().allMatch(r -> r.get() == null);
        }, () -> "not collected: " + dropped.stream().map(WeakReference::get).toList());
    }

    /** Returns the regions, which no other object uses. */
    private static List<WeakReference<VerbsObject>> make(Context c) throws Exception {
        List<WeakReference<VerbsObject>> made = new ArrayList<>();
        ProtectionDomain pd = c.allocateProtectionDomain();
        for (int i = 0; i < 2; i++) {
            MemoryRegion m = pd.allocate(1 << 20, AccessFlags.ALL);
            made.add(new WeakReference<>(m));
            made.add(new WeakReference<>(pd.register(m.segment().asSlice(4096), AccessFlags.ALL)));
            pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(16).build());
            queue(c, c.createCompletionChannel());
        }
        connect(c, pd);
        return made;
    }

    private static CompletionQueue queue(Context c, CompletionChannel channel) throws VerbsException {
        return c.createCompletionQueue(CompletionQueueAttributes.builder().cqe(64).channel(channel).build());
    }

    private static void connect(Context c, ProtectionDomain pd) throws Exception {
        ConnectionListener listener = c.connectionManager().listen(new InetSocketAddress(0));
        CompletionQueue cq = queue(c, c.createCompletionChannel());
        QueuePair here = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
        QueuePair there = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
        try (ExecutorService accepts = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Connection> accepted = accepts.submit(() -> Node.await(listener).accept(there,
                    ConnectionParameters.builder().build()));
            InetSocketAddress at = listener.localAddress();
            c.connectionManager().connect(here, at.getAddress().isAnyLocalAddress()
                    ? new InetSocketAddress(InetAddress.getLoopbackAddress(), at.getPort())
                    : at, ConnectionParameters.builder().build());
            accepted.get();
        }
    }
}
