// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CompletionWait;
import org.verbena.cli.support.PeerException;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/** One connection of {@code verbena ucmatose}: its verbs objects, which the context closes, and its messages. */
final class CmatoseEndpoint {
    private static final int RETRIES = 5;

    private final CmToolOptions options;
    private final QueuePair qp;
    private final CompletionWait sends;
    private final CompletionWait receives;
    private final CmMessages messages;
    private final Connection connection;

    private CmatoseEndpoint(Context context, CmToolOptions options, @Nullable ConnectionRequest request,
            InetSocketAddress to) throws IOException {
        this.options = options;
        ProtectionDomain pd = context.allocateProtectionDomain();
        int entries = Math.max(1, options.count());
        CompletionQueue sendCq = context.createCompletionQueue(entries);
        CompletionQueue receiveCq = context.createCompletionQueue(entries);
        sends = new CompletionWait(sendCq, options.timeout());
        receives = new CompletionWait(receiveCq, options.timeout());
        messages = new CmMessages(pd, options.count(), options.size(), 0);
        qp = pd.createQueuePair(QueuePairInitAttributes.builder(sendCq, receiveCq).maxSendWr(entries)
                .maxReceiveWr(entries).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(0).build());
        messages.postReceives(qp);
        ConnectionParameters parameters = ConnectionParameters.builder().responderResources(1).initiatorDepth(1)
                .retryCount(RETRIES).timeout(options.timeout()).build();
        connection = request == null
                ? context.connectionManager().connect(qp, to, parameters)
                : request.accept(qp, parameters);
    }

    /** Connects as a client. */
    static CmatoseEndpoint connect(Context context, InetSocketAddress to, CmToolOptions options) throws IOException {
        return new CmatoseEndpoint(context, options, null, to);
    }

    /** Accepts a client. */
    static CmatoseEndpoint accept(Context context, ConnectionRequest request, CmToolOptions options)
            throws IOException {
        return new CmatoseEndpoint(context, options, request, new InetSocketAddress(0));
    }

    /** Posts all messages. */
    void send() throws IOException {
        for (int i = 0; i < options.count(); i++) {
            int error = qp.sendQueue().postSend(i, SendFlags.SIGNALED, messages.region(), 0, options.size());
            if (error != 0) {
                throw new PeerException("a send cannot be posted: error " + error + ", " + qp.errorReason());
            }
        }
    }

    /** Waits until all messages that were posted have been taken. */
    void awaitSends() throws IOException {
        for (int i = 0; i < options.count(); i++) {
            checked(sends.next(), "a send");
        }
    }

    /** On a server: checks that all replies have arrived and equal what was sent. */
    void awaitReplies() throws IOException {
        awaitReceives(messages.sent());
    }

    /** On a client: checks that all messages have arrived and are equal; it sends them back afterwards. */
    void awaitMessages() throws IOException {
        if (options.count() > 0) {
            awaitReceives(messages.received(0));
            messages.sent().copyFrom(messages.received(0));
        }
    }

    private void awaitReceives(MemorySegment expected) throws IOException {
        for (int i = 0; i < options.count(); i++) {
            WorkCompletion c = checked(receives.next(), "a receive");
            if (c.byteLength() != options.size()) {
                throw new PeerException("message " + i + " has " + c.byteLength() + " bytes instead of "
                        + options.size() + ": give both ends the same --size (-S)");
            }
            if (c.wrId() != i) {
                throw new PeerException("message " + i + " took receive " + c.wrId());
            }
            CmMessages.compare(i, messages.received(i), expected);
        }
    }

    private WorkCompletion checked(WorkCompletion c, String work) throws PeerException {
        if (c.status() != WcStatus.SUCCESS) {
            throw PeerException.of(work, c.status(), qp);
        }
        return c;
    }

    void disconnect() throws IOException {
        connection.disconnect();
    }

    /** Waits until the peer has disconnected. */
    void awaitDisconnected() throws IOException {
        while (connection.isConnected()) {
            ConnectionEvent e = connection.awaitEvent(options.timeout());
            if (e == null) {
                throw new PeerException("the peer did not disconnect within " + options.timeout().toSeconds()
                        + " seconds");
            }
        }
    }
}
