// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * What a session receives: calls of the peer's engine, which are empty, its control messages, and the end of the queue
 * pair, for that ends receives too.
 *
 * <p>The lock is for the receive queue, which one thread at a time may use: the peer may send as soon as there is a
 * receive, and the engine's thread then posts that one again while another still posts the first ones.
 */
final class Receives implements AutoCloseable {
    /** Of a session with another host, whose engines send control messages. */
    private static final int CONTROL_MESSAGES = 64;
    private static final byte[] CALL = {};

    /** Takes the messages of the peer's engine, on the engine's thread. */
    @FunctionalInterface
    interface ControlMessageHandler {
        void take(Session session, byte[] message);
    }

    private final int count;
    private final CompletionQueue cq;
    /** Null where no control messages come. */
    private final @Nullable MemoryRegion inbox;

    /**
     * @param events a completion is there when something has come, the end included
     * @param owner the user context of the completion queue
     */
    Receives(ProtectionDomain pd, CompletionChannel events, Session owner, boolean controlMessages)
            throws VerbsException {
        count = controlMessages ? CONTROL_MESSAGES : 1;
        inbox = controlMessages
                ? pd.allocate((long) CONTROL_MESSAGES * RemoteHandshakeMessage.CONTROL_MESSAGE_BYTES,
                        AccessFlags.LOCAL_WRITE)
                : null;
        try {
            cq = pd.context().createCompletionQueue(
                    CompletionQueueAttributes.builder().cqe(count).channel(events).userContext(owner).build());
        } catch (VerbsException | RuntimeException | Error e) {
            if (inbox != null) {
                StreamEngine.closeQuietly(inbox);
            }
            throw e;
        }
    }

    /** To be given to the session's queue pair. */
    CompletionQueue queue() {
        return cq;
    }

    /** How many there are at a time. */
    int count() {
        return count;
    }

    /** Posts all, to a queue pair that is connected. */
    synchronized void start(QueuePair qp) throws VerbsException {
        int error = cq.requestNotify(false);
        for (int i = 0; i < count && error == 0; i++) {
            error = post(qp, i);
        }
        if (error != 0) {
            throw new VerbsException("watch " + qp.describe(), error, "");
        }
    }

    private synchronized int post(QueuePair qp, int slot) {
        return inbox == null
                ? qp.receiveQueue().start().receive(slot).complete()
                : qp.receiveQueue().post(slot, inbox, (long) slot * RemoteHandshakeMessage.CONTROL_MESSAGE_BYTES,
                        RemoteHandshakeMessage.CONTROL_MESSAGE_BYTES);
    }

    /**
     * Takes what has come; each receive is posted again before that.
     *
     * @param taker gets the control messages, and an empty one for a call
     * @return false if the queue pair has died
     */
    boolean take(QueuePair qp, Consumer<byte[]> taker) {
        int error;
        synchronized (this) {
            error = cq.requestNotify(false); // before the poll: later arrivals raise an event
        }
        while (error == 0 && cq.startPoll() == 0) {
            boolean arrived = cq.status() == WcStatus.SUCCESS;
            int slot = (int) cq.wrId();
            byte[] message = arrived ? controlMessage(slot, cq.byteLength()) : CALL;
            cq.endPoll();
            error = arrived ? post(qp, slot) : Errno.EIO;
            if (error == 0) {
                taker.accept(message);
            }
        }
        return error == 0;
    }

    private byte[] controlMessage(int slot, long length) {
        return inbox == null
                ? CALL
                : inbox.segment().asSlice((long) slot * RemoteHandshakeMessage.CONTROL_MESSAGE_BYTES, Math.clamp(length,
                        0,
                        RemoteHandshakeMessage.CONTROL_MESSAGE_BYTES)).toArray(ValueLayout.JAVA_BYTE);
    }

    /** After the queue pair. */
    @Override
    public void close() throws VerbsException {
        cq.close();
        if (inbox != null) {
            inbox.close();
        }
    }
}
