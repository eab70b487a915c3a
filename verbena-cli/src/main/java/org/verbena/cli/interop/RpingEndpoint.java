// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CompletionWait;
import org.verbena.cli.support.PeerException;
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
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/**
 * The verbs objects of one connection, and its messages, one at a time in each direction. Each connection has a
 * protection domain of its own, so that keys of one peer are useless to another. For one thread.
 */
final class RpingEndpoint implements AutoCloseable {
    private static final int RECEIVE = 0;
    private static final int SEND = 1;
    private static final int RDMA = 2;

    private static final int SEND_AT = 64;
    private static final int MESSAGES = 128;
    private static final int RETRIES = 7;

    /** The data of a client; those of a server are in {@link #sink}. */
    final MemoryRegion source;
    /** The memory where data arrive. */
    final MemoryRegion sink;

    private final MemoryRegion messages;
    private final QueuePair qp;
    private final CompletionWait wait;
    private final Duration timeout;
    private final List<VerbsObject> made;
    private final boolean[] completed = new boolean[3];
    private boolean sending;
    private @Nullable Connection connection;

    private RpingEndpoint(Context context, int size, boolean client, Duration timeout, List<VerbsObject> made)
            throws IOException {
        this.made = made;
        this.timeout = timeout;
        ProtectionDomain pd = add(context.allocateProtectionDomain());
        messages = add(pd.allocate(MESSAGES, AccessFlags.LOCAL_WRITE));
        source = add(pd.allocate(size, client ? AccessFlags.REMOTE_READ : 0));
        sink = add(pd.allocate(size, AccessFlags.LOCAL_WRITE | (client ? AccessFlags.REMOTE_WRITE : 0)));
        CompletionChannel channel = add(context.createCompletionChannel());
        CompletionQueue cq = add(context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(8)
                .channel(channel).build()));
        wait = new CompletionWait(cq, timeout);
        qp = add(pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxReceiveWr(2).maxSendWr(4).build()));
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).pkeyIndex(0).accessFlags(client
                ? AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE
                : 0).build());
        postReceive();
    }

    private <T extends VerbsObject> T add(T object) {
        made.add(object);
        return object;
    }

    /** Connects as a client. */
    static RpingEndpoint connect(Context context, InetSocketAddress to, int size, Duration timeout)
            throws IOException {
        RpingEndpoint e = open(context, size, true, timeout);
        try {
            e.connection = context.connectionManager().connect(e.qp, to, e.parameters());
            return e;
        } catch (VerbsException failure) {
            closeAfter(e.made, failure);
            throw failure;
        }
    }

    /** Accepts a client. */
    static RpingEndpoint accept(Context context, ConnectionRequest request, int size, Duration timeout)
            throws IOException {
        RpingEndpoint e = open(context, size, false, timeout);
        try {
            e.connection = request.accept(e.qp, e.parameters());
            return e;
        } catch (VerbsException failure) {
            closeAfter(e.made, failure);
            throw failure;
        }
    }

    private static RpingEndpoint open(Context context, int size, boolean client, Duration timeout)
            throws IOException {
        List<VerbsObject> made = new ArrayList<>();
        try {
            return new RpingEndpoint(context, size, client, timeout, made);
        } catch (IOException e) {
            closeAfter(made, e);
            throw e;
        }
    }

    private static void closeAfter(List<VerbsObject> made, IOException failure) {
        try {
            close(made);
        } catch (VerbsException e) {
            failure.addSuppressed(e);
        }
    }

    private ConnectionParameters parameters() {
        return ConnectionParameters.builder().responderResources(1).initiatorDepth(1).retryCount(RETRIES)
                .rnrRetry(RETRIES).timeout(timeout).build();
    }

    /** The peer, for display. */
    String peer() {
        Connection c = connection;
        return c == null ? "no peer" : c.peer();
    }

    private void postReceive() throws PeerException {
        posted(qp.receiveQueue().post(RECEIVE, messages, 0, RpingBuffer.BYTES), "a receive");
    }

    private void posted(int error, String what) throws PeerException {
        if (error != 0) {
            String reason = qp.errorReason();
            throw new PeerException(what + " cannot be posted: error " + error
                    + (reason.isEmpty() ? "" : ", " + reason));
        }
    }

    /** Sends a message. */
    void send(RpingBuffer message) throws IOException {
        if (sending) {
            must(completes(SEND));
        }
        message.put(messages.segment().asSlice(SEND_AT, RpingBuffer.BYTES));
        posted(qp.sendQueue().postSend(SEND, SendFlags.SIGNALED, messages, SEND_AT, RpingBuffer.BYTES), "a send");
        sending = true;
    }

    /** Tells the peer to go ahead. */
    void goAhead() throws IOException {
        send(new RpingBuffer(0, 0, 0));
    }

    /** The next message of the peer, in the middle of a ping. */
    RpingBuffer receive() throws IOException {
        RpingBuffer offer = receiveOrEnd();
        must(offer != null);
        return offer == null ? new RpingBuffer(0, 0, 0) : offer;
    }

    /** The next message of the peer, or null if it has disconnected. */
    @Nullable
    RpingBuffer receiveOrEnd() throws IOException {
        if (!completes(RECEIVE)) {
            return null;
        }
        RpingBuffer offer = RpingBuffer.get(messages.segment());
        postReceive();
        return offer;
    }

    /** Reads the memory that the peer offers. */
    void read(RpingBuffer from) throws IOException {
        posted(qp.sendQueue().postRead(RDMA, SendFlags.SIGNALED, sink, 0, from.size(), from.rkey(), from.address()),
                "a read");
        must(completes(RDMA));
    }

    /** Writes this many of the bytes that were read into the memory that the peer offers. */
    void write(RpingBuffer to, long length) throws IOException {
        posted(qp.sendQueue().postWrite(RDMA, SendFlags.SIGNALED, sink, 0, length, to.rkey(), to.address()), "a write");
        must(completes(RDMA));
    }

    /** Offers memory. */
    void offer(MemoryRegion memory) throws IOException {
        send(new RpingBuffer(memory.address(), memory.rkey(), memory.length()));
    }

    private static void must(boolean well) throws PeerException {
        if (!well) {
            throw new PeerException("the peer disconnected in the middle of a ping");
        }
    }

    /** Waits until a request has completed; earlier completions are kept. False if the peer has disconnected. */
    private boolean completes(int id) throws IOException {
        while (!completed[id]) {
            WorkCompletion c = wait.next();
            int done = (int) c.wrId();
            if (c.status() == WcStatus.WR_FLUSH_ERR) {
                return false;
            }
            if (c.status() != WcStatus.SUCCESS) {
                throw PeerException.of(switch (done) {
                    case RECEIVE -> "a receive";
                    case SEND -> "a send";
                    default -> "the transfer of the data";
                }, c.status(), qp);
            }
            if (done == RECEIVE && c.byteLength() != RpingBuffer.BYTES) {
                throw new PeerException("the peer is no rping: it sent a message of " + c.byteLength()
                        + " bytes instead of " + RpingBuffer.BYTES);
            }
            completed[done] = true;
            sending &= done != SEND;
        }
        completed[id] = false;
        return true;
    }

    /** The first bytes that were read. */
    MemorySegment data(long length) {
        return sink.segment().asSlice(0, length);
    }

    /** Disconnects and releases everything. */
    @Override
    public void close() throws VerbsException {
        Connection c = connection;
        if (c != null) {
            c.close();
        }
        close(made);
    }

    private static void close(List<VerbsObject> made) throws VerbsException {
        for (VerbsObject o : made.reversed()) {
            o.close();
        }
    }
}
