// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CompletionWait;
import org.verbena.cli.support.PeerException;
import org.verbena.linux.Errno;
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
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/**
 * The two ends of perftest over a connection of the connection manager, like the programs in C with {@code -R}: one
 * SEND for each message, in turn. The same service then connects the queue pairs of the test.
 */
final class PerftestMessages implements PerftestLink {
    private static final int LARGEST = PerftestAddress.STRUCT_BYTES;
    private static final int SEND_AT = 64;
    private static final int RETRIES = 7;
    private static final int RECEIVE = 1;
    /** Longer than an answer to the last message of a peer is delayed. */
    private static final Duration LAST_ANSWERS = Duration.ofMillis(20);
    private static final Duration UNTIL_IT_LISTENS = Duration.ofSeconds(5);
    private static final Duration AGAIN = Duration.ofMillis(50);
    private static final Duration FAREWELL = Duration.ofSeconds(5);

    private final Context context;
    private final InetSocketAddress address;
    private final @Nullable ConnectionListener listener;
    private final PerftestOptions options;
    private final MemoryRegion region;
    private final QueuePair qp;
    private final CompletionWait wait;
    private Connection last;
    private byte @Nullable [] arrived;

    /** @param listener of a server; null for a client */
    private PerftestMessages(Context context, InetSocketAddress address, @Nullable ConnectionListener listener,
            PerftestOptions options) throws IOException {
        this.context = context;
        this.address = address;
        this.listener = listener;
        this.options = options;
        ProtectionDomain pd = context.allocateProtectionDomain();
        region = pd.allocate(2L * SEND_AT, AccessFlags.LOCAL_WRITE);
        CompletionQueue cq = context.createCompletionQueue(4);
        wait = new CompletionWait(cq, options.timeout());
        qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(2).maxReceiveWr(2).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(options.ibPort()).pkeyIndex(0).accessFlags(0)
                .build());
        postReceive();
        last = connect(qp, 0);
    }

    /** Waits for a client as long as it takes. */
    static PerftestMessages accept(Context context, ConnectionListener listener, PerftestOptions options)
            throws IOException {
        return new PerftestMessages(context, listener.localAddress(), listener, options);
    }

    static PerftestMessages connect(Context context, InetSocketAddress to, PerftestOptions options)
            throws IOException {
        try {
            return new PerftestMessages(context, to, null, options);
        } catch (VerbsException e) {
            throw PeerException.orNobody(e, to, "perftest " + options.type() + " -R");
        }
    }

    /**
     * Connects the next queue pair of the test, which is in state INIT.
     *
     * @param reads reads and atomics outstanding, either way
     */
    Connection connect(QueuePair next, int reads) throws IOException {
        ConnectionParameters parameters = ConnectionParameters.builder().responderResources(reads).initiatorDepth(reads)
                .retryCount(RETRIES).rnrRetry(RETRIES).timeout(options.timeout()).build();
        ConnectionListener l = listener;
        if (l == null) {
            last = next == qp
                    ? context.connectionManager().connect(next, address, parameters)
                    : patiently(next, parameters);
        } else {
            last = request(l, next != qp).accept(next, parameters);
        }
        return last;
    }

    /** A server in C reports that it is ready, and listens then. */
    private Connection patiently(QueuePair next, ConnectionParameters parameters) throws IOException {
        long until = System.nanoTime() + UNTIL_IT_LISTENS.toNanos();
        while (true) {
            try {
                return context.connectionManager().connect(next, address, parameters);
            } catch (VerbsException e) {
                if (e.errno() != Errno.ECONNREFUSED || System.nanoTime() - until > 0) {
                    throw e;
                }
            }
            pause(AGAIN);
        }
    }

    private ConnectionRequest request(ConnectionListener l, boolean soon) throws IOException {
        while (true) {
            ConnectionRequest r = l.awaitRequest(options.timeout());
            if (r != null) {
                return r;
            }
            if (soon) {
                throw new PeerException("the client did not connect within " + options.timeout().toSeconds()
                        + " seconds: give both ends the same number of queue pairs (-q)");
            }
        }
    }

    @Override
    public byte[] exchange(byte[] own) throws IOException {
        if (client()) {
            send(own);
        }
        byte[] remote = receive();
        if (remote.length != own.length) {
            throw new PeerException("the peer speaks another protocol: it sent " + remote.length + " bytes instead of "
                    + own.length + "; give both ends the same test and options");
        }
        if (!client()) {
            send(own);
        }
        return remote;
    }

    @Override
    public PerftestAddress exchange(PerftestAddress own) throws IOException {
        return PerftestAddress.ofStruct(exchange(own.struct()));
    }

    private boolean client() {
        return listener == null;
    }

    private void send(byte[] own) throws IOException {
        MemorySegment.copy(own, 0, region.segment(), ValueLayout.JAVA_BYTE, SEND_AT, own.length);
        int error = qp.sendQueue().postSend(0, SendFlags.SIGNALED, region, SEND_AT, own.length);
        if (error != 0) {
            throw new PeerException("a message cannot be sent: error " + error + ", " + qp.errorReason());
        }
        while (!completion()) {
            // an answer may come before it is known that the question has arrived
        }
    }

    private byte[] receive() throws IOException {
        byte[] message = arrived;
        while (message == null) {
            completion();
            message = arrived;
        }
        arrived = null;
        return message;
    }

    /** Takes a completion; false if it is that of a receive. */
    private boolean completion() throws IOException {
        WorkCompletion c = wait.next();
        if (c.status() != WcStatus.SUCCESS) {
            throw PeerException.of(c.wrId() == RECEIVE ? "the receive of a message" : "a message", c.status(), qp);
        }
        if (c.wrId() != RECEIVE) {
            return true;
        }
        if (arrived != null) {
            throw new PeerException("the peer speaks another protocol: it sent two messages in a row");
        }
        byte[] bytes = region.segment().asSlice(0, LARGEST).toArray(ValueLayout.JAVA_BYTE);
        arrived = Arrays.copyOf(bytes, (int) Math.min(c.byteLength(), LARGEST));
        postReceive();
        return false;
    }

    private void postReceive() throws PeerException {
        int error = qp.receiveQueue().post(RECEIVE, region, 0, LARGEST);
        if (error != 0) {
            throw new PeerException("a receive cannot be posted: error " + error);
        }
    }

    /** A client disconnects the queue pairs of the test, and a server waits for that, as in C. */
    @Override
    public void end(boolean agreed) throws IOException {
        if (client()) {
            if (!agreed) {
                pause(LAST_ANSWERS);
            }
            return; // closing disconnects
        }
        Connection c = last;
        long until = System.nanoTime() + FAREWELL.toNanos();
        while (c.isConnected() && System.nanoTime() < until) {
            c.awaitEvent(Duration.ofNanos(Math.max(0, until - System.nanoTime())));
        }
    }

    private static void pause(Duration time) throws IOException {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PeerException("interrupted", e);
        }
    }

    /** The context closes the rest. */
    @Override
    public void close() throws IOException {
        if (listener != null) {
            listener.close();
        }
    }
}
