// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.net.InetSocketAddress;
import java.time.Duration;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** A context with one protection domain and one completion queue, as in small programs. */
public final class Node implements AutoCloseable {
    private static final int DEPTH = 64;

    /** The context. */
    public final Context context;
    /** Its domain. */
    public final ProtectionDomain pd;
    /** The queue where everything completes. */
    public final CompletionQueue cq;

    private Node(CompletionQueueAttributes.Builder queue, boolean channel) throws VerbsException {
        context = Verbs.open("shm0");
        pd = context.allocateProtectionDomain();
        if (channel) {
            queue.channel(context.createCompletionChannel());
        }
        cq = context.createCompletionQueue(queue.cqe(1024).build());
    }

    /** Opens shm0. */
    public static Node open() throws VerbsException {
        return new Node(CompletionQueueAttributes.builder(), false);
    }

    static Node openWithChannel() throws VerbsException {
        return new Node(CompletionQueueAttributes.builder(), true);
    }

    /** Memory with all access rights for peers. */
    public MemoryRegion allocate(long bytes) throws VerbsException {
        return pd.allocate(bytes, AccessFlags.ALL);
    }

    /** A queue pair with room for 64 work requests on either side. */
    public QueuePair queuePair() throws VerbsException {
        return pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(DEPTH).maxReceiveWr(DEPTH)
                .maxSendSge(2).maxReceiveSge(2).maxInlineData(256).build());
    }

    /** Listens on any port. */
    public ConnectionListener listen() throws VerbsException {
        return listen(0);
    }

    ConnectionListener listen(int port) throws VerbsException {
        return context.connectionManager().listen(new InetSocketAddress("127.0.0.1", port));
    }

    /** Connects to a port of this host. */
    public Connection connect(QueuePair qp, int port, byte... data) throws VerbsException {
        return connect(qp, port, ConnectionParameters.builder().privateData(data).build());
    }

    Connection connect(QueuePair qp, int port, ConnectionParameters parameters) throws VerbsException {
        return context.connectionManager().connect(qp, new InetSocketAddress("127.0.0.1", port), parameters);
    }

    /** The next request; fails if none arrives. */
    public static ConnectionRequest await(ConnectionListener listener) throws VerbsException {
        ConnectionRequest r = listener.awaitRequest(Duration.ofSeconds(30));
        if (r == null) {
            throw new AssertionError("no request on " + listener);
        }
        return r;
    }

    /** The data that another process needs to connect manually. */
    String gid() throws VerbsException {
        return context.queryGid(1, 0).toString();
    }

    /** Moves a queue pair to RTR towards a queue pair of the context with that GID. */
    static void toRtr(QueuePair qp, String gid, int peer) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                .build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(Gid.parse(gid)))
                .pathMtu(4096).destinationQueuePair(peer).rqPsn(0).maxDestReadAtomic(16).minRnrTimer(12).build());
    }

    static void toRts(QueuePair qp) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(14).retryCount(7).rnrRetry(7).sqPsn(0)
                .maxReadAtomic(16).build());
    }

    static String describe(QueuePair qp) {
        return qp.describe() + " is in " + qp.state() + (qp.errorReason().isEmpty() ? "" : ": " + qp.errorReason());
    }

    @Override
    public void close() throws VerbsException {
        context.close();
    }
}
