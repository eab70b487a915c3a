// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/**
 * The verbs objects of one connection, with all receives posted. Each connection has a protection domain of its own, so
 * that keys of one peer are useless to another.
 */
final class CopyEndpoint implements AutoCloseable {
    static final int RECEIVES = 64;
    static final int SENDS = 32;
    static final int SLOT = CopyProtocol.MAX_MESSAGE;

    private static final Duration CONNECT = Duration.ofSeconds(10);

    final ProtectionDomain pd;
    final CompletionChannel events;
    final CompletionQueue cq;
    final QueuePair qp;
    /** {@link #RECEIVES} slots for incoming messages, then {@link #SENDS} slots for outgoing ones. */
    final MemoryRegion messages;
    private @Nullable MemoryRegion chunks;
    private @Nullable Connection connection;

    private CopyEndpoint(Context context, int remoteAccess) throws VerbsException {
        List<VerbsObject> made = new ArrayList<>();
        try {
            pd = add(made, context.allocateProtectionDomain());
            messages = add(made, pd.allocate((long) (RECEIVES + SENDS) * SLOT, AccessFlags.LOCAL_WRITE));
            events = add(made, context.createCompletionChannel());
            cq = add(made, context.createCompletionQueue(CompletionQueueAttributes.builder()
                    .cqe(RECEIVES + SENDS + CopyProtocol.CHUNKS_AHEAD).channel(events).build()));
            qp = add(made, pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq)
                    .maxReceiveWr(RECEIVES).maxSendWr(SENDS + CopyProtocol.CHUNKS_AHEAD).build()));
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).pkeyIndex(0).accessFlags(remoteAccess)
                    .build());
        } catch (VerbsException e) {
            for (VerbsObject o : made.reversed()) {
                o.close();
            }
            throw e;
        }
        for (int i = 0; i < RECEIVES; i++) {
            postReceive(i);
        }
    }

    private static <T extends VerbsObject> T add(List<VerbsObject> made, T object) {
        made.add(object);
        return object;
    }

    /** Connects as a sender, which lets its peer write nothing. */
    static CopyEndpoint connect(Context context, InetSocketAddress to) throws VerbsException {
        CopyEndpoint e = new CopyEndpoint(context, 0);
        try {
            e.connection = context.connectionManager().connect(e.qp, to,
                    ConnectionParameters.builder().privateData(CopyProtocol.greeting()).timeout(CONNECT).build());
            return e;
        } catch (VerbsException failure) {
            e.closeAfter(failure);
            throw failure;
        }
    }

    /** Accepts a sender. */
    static CopyEndpoint accept(Context context, ConnectionRequest request) throws VerbsException {
        CopyEndpoint e;
        try {
            e = new CopyEndpoint(context, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        } catch (VerbsException failure) {
            request.reject("it has no resources left".getBytes(StandardCharsets.US_ASCII));
            throw failure;
        }
        try {
            e.connection = request.accept(e.qp, ConnectionParameters.builder().timeout(CONNECT).build());
            return e;
        } catch (VerbsException failure) {
            e.closeAfter(failure);
            throw failure;
        }
    }

    private void closeAfter(VerbsException failure) {
        try {
            close();
        } catch (VerbsException e) {
            failure.addSuppressed(e);
        }
    }

    boolean isConnected() {
        Connection c = connection;
        return c != null && c.isConnected();
    }

    /** Makes the memory that a sender reads its files into. */
    void allocateChunks(int count) throws VerbsException {
        chunks = pd.allocate((long) count * CopyProtocol.CHUNK, 0);
    }

    MemoryRegion chunks() {
        MemoryRegion m = chunks;
        if (m == null) {
            throw new IllegalStateException("no memory for chunks");
        }
        return m;
    }

    void postReceive(int slot) {
        // Refused only by a queue pair that has failed, which its completions report.
        int _ = qp.receiveQueue().post(slot, messages, (long) slot * SLOT, SLOT);
    }

    /** Disconnects and releases everything. Memory that others registered here must have been closed before. */
    @Override
    public void close() throws VerbsException {
        Connection c = connection;
        if (c != null) {
            c.close();
        }
        qp.close();
        messages.close();
        MemoryRegion m = chunks;
        if (m != null) {
            m.close();
        }
        cq.close();
        events.close();
        pd.close();
    }
}
