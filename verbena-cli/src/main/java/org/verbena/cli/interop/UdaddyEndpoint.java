// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;

import org.verbena.cli.support.CompletionWait;
import org.verbena.cli.support.PeerException;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.DatagramPeer;
import org.verbena.verbs.DatagramService;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/** The queue pair of one end of {@code verbena udaddy}, whose objects the context closes, and its datagrams. */
final class UdaddyEndpoint {
    private static final int HEADER = GlobalRoutingHeader.BYTES;

    private final CmToolOptions options;
    private final ProtectionDomain pd;
    private final QueuePair qp;
    private final CompletionWait sends;
    private final CompletionWait receives;
    private final CmMessages messages;
    private final int expected;

    /** A queue pair that is ready, with a receive for each datagram that this many peers send. */
    UdaddyEndpoint(Context context, CmToolOptions options, int peers) throws IOException {
        this.options = options;
        int mtu = context.queryPort(1).activeMtu();
        if (options.size() > mtu) {
            throw new PeerException("a message of " + options.size() + " bytes is too long: a datagram of "
                    + context.device().name() + " carries " + mtu + " at most");
        }
        expected = options.count() * peers;
        pd = context.allocateProtectionDomain();
        CompletionQueue sendCq = context.createCompletionQueue(Math.max(1, options.count()));
        CompletionQueue receiveCq = context.createCompletionQueue(Math.max(1, expected));
        sends = new CompletionWait(sendCq, options.timeout());
        receives = new CompletionWait(receiveCq, options.timeout());
        messages = new CmMessages(pd, expected, options.size(), HEADER);
        qp = pd.createQueuePair(QueuePairInitAttributes.builder(sendCq, receiveCq).type(QueuePairType.UD)
                .maxSendWr(Math.max(1, options.count())).maxReceiveWr(Math.max(1, expected)).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).pkeyIndex(0).qkey(DatagramService.QKEY).build());
        messages.postReceives(qp);
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
    }

    /** Registers it as a service. */
    DatagramService provide(Context context, InetSocketAddress at) throws IOException {
        return context.connectionManager().provide(at, qp);
    }

    // ---- a client

    /** Sends all messages to a service, with its own queue pair number for the answer. */
    void ask(DatagramPeer peer) throws IOException {
        send(pd.createAddressHandle(peer.addressVector()), peer.queuePairNumber(), peer.qkey());
    }

    /** Waits for as many messages; the receive buffer of the server begins with a header, which it sends back. */
    void awaitReplies() throws IOException {
        long length = Math.max(0, options.size() - HEADER);
        for (int i = 0; i < expected; i++) {
            int message = (int) receive(i).wrId();
            CmMessages.compare(message, messages.received(message).asSlice(options.size() - length, length),
                    messages.sent().asSlice(0, length));
        }
    }

    // ---- a server

    private record Address(Gid gid, int queuePair) {}

    private static final class Client {
        private final AddressHandle handle;
        private final int queuePair;
        private final int first;
        private int messages;

        Client(AddressHandle handle, int queuePair, int first) {
            this.handle = handle;
            this.queuePair = queuePair;
            this.first = first;
        }
    }

    /** Waits for the messages of all clients, then answers each one with its message, including the header. */
    void serve() throws IOException {
        Map<Address, Client> clients = new LinkedHashMap<>();
        for (int i = 0; i < expected; i++) {
            WorkCompletion c = receive(i);
            int message = (int) c.wrId();
            MemorySegment header = messages.place(message).asSlice(0, HEADER);
            Address from = new Address(GlobalRoutingHeader.of(header).source(), c.sourceQueuePair());
            Client client = clients.get(from);
            if (client == null) {
                client = new Client(pd.createAddressHandleToSender(c.flags(), header, 1), c.immediate(), message);
                clients.put(from, client);
            }
            client.messages++;
            CmMessages.compare(message, messages.received(message), messages.received(client.first));
        }
        for (Client c : clients.values()) {
            if (c.messages != options.count()) {
                throw new PeerException("queue pair 0x" + Integer.toHexString(c.queuePair) + " sent " + c.messages
                        + " messages instead of " + options.count() + ": give all ends the same --count (-C)");
            }
            messages.sent().copyFrom(messages.place(c.first).asSlice(0, options.size()));
            send(c.handle, c.queuePair, DatagramService.QKEY);
        }
    }

    // ---- both

    private void send(AddressHandle to, int number, int qkey) throws IOException {
        for (int i = 0; i < options.count(); i++) {
            int error = qp.sendQueue().start().sendImmediate(i, SendFlags.SIGNALED, qp.number())
                    .datagram(to, number, qkey).sge(messages.region(), 0, options.size()).complete();
            if (error != 0) {
                throw new PeerException("a send cannot be posted: error " + error);
            }
        }
        for (int i = 0; i < options.count(); i++) {
            WorkCompletion c = sends.next();
            if (c.status() != WcStatus.SUCCESS) {
                throw PeerException.of("a send", c.status(), qp);
            }
        }
    }

    private WorkCompletion receive(int number) throws IOException {
        WorkCompletion c;
        try {
            c = receives.next();
        } catch (PeerException e) {
            throw new PeerException(number + " of " + expected + " datagrams came: " + e.getMessage()
                    + "; datagrams may be lost, send fewer (-C)", e);
        }
        if (c.status() != WcStatus.SUCCESS) {
            throw PeerException.of("a receive", c.status(), qp);
        }
        if (c.byteLength() != HEADER + options.size()) {
            throw new PeerException("a datagram has " + (c.byteLength() - HEADER) + " bytes instead of "
                    + options.size() + ": give both ends the same --size (-S)");
        }
        if ((c.flags() & WcFlags.WITH_IMM) == 0) {
            throw new PeerException("the peer is no udaddy: it does not say the number of its queue pair");
        }
        return c;
    }
}
