// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

import org.verbena.tests.faults.Node;
import org.verbena.tests.faults.Peer;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * A child with two queue pairs that are connected with each other: it sends as much as it is told, and reports when it
 * has.
 */
public final class StatPeer {
    private static final int BIG = 4096;
    private static final long GENTLY_NANOS = 200_000;

    private final Node node = Node.open();
    private final QueuePair from = node.queuePair();
    private final QueuePair to = node.queuePair();
    private final MemoryRegion memory = node.allocate(2 * BIG);
    private final Connection connection;
    private final List<AutoCloseable> more = new ArrayList<>();

    private StatPeer() throws VerbsException {
        ConnectionListener listener = node.listen();
        CompletableFuture<Void> accepted = CompletableFuture.runAsync(() -> {
            try {
                Node.await(listener).accept(to, ConnectionParameters.defaults());
            } catch (VerbsException e) {
                throw new IllegalStateException(e);
            }
        }, task -> Thread.ofPlatform().daemon().start(task));
        connection = node.connect(from, listener.localAddress().getPort());
        accepted.join();
    }

    /** Waits for the test, line by line. */
    public static void main(String[] args) throws Exception {
        Peer.begin();
        StatPeer p = new StatPeer();
        Peer.say("QPS " + p.from.number() + " " + p.to.number());
        while (true) {
            String[] words = Peer.hear().split(" ", -1);
            switch (words[0]) {
                case "send" -> {
                    for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                        p.send(Integer.parseInt(words[2]));
                    }
                    Peer.say("SENT");
                }
                case "flow" -> {
                    p.send(64); // the first takes long
                    Peer.say("FLOWING");
                    while (!Peer.told()) {
                        p.send(64);
                        LockSupport.parkNanos(GENTLY_NANOS);
                    }
                }
                case "regions" -> {
                    for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                        p.more.add(p.node.pd.allocate(1, AccessFlags.LOCAL_WRITE));
                    }
                    Peer.say("HAVE " + p.more.size());
                }
                case "close" -> {
                    p.connection.close();
                    p.from.close();
                    Peer.say("CLOSED");
                }
                default -> throw new IllegalArgumentException(words[0]);
            }
        }
    }

    private void send(int bytes) {
        check(to.receiveQueue().post(1, memory, BIG, BIG));
        check(from.sendQueue().postSend(2, SendFlags.SIGNALED, memory, 0, bytes));
        for (int done = 0; done < 2;) {
            if (node.cq.startPoll() == 0) {
                do {
                    if (node.cq.status() != WcStatus.SUCCESS) {
                        throw new IllegalStateException(WcStatus.toString(node.cq.status()));
                    }
                    done++;
                } while (node.cq.nextPoll() == 0);
                node.cq.endPoll();
            }
        }
    }

    private static void check(int code) {
        if (code != 0) {
            throw new IllegalStateException("error " + code);
        }
    }
}
