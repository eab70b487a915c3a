// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.PeerException;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.GidType;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.Verbs;

/**
 * The verbs objects of one end. All messages are received into one buffer, as in C; behind it the region has the
 * message that a client sends. A server sends what it received.
 */
final class PingPongEndpoint implements AutoCloseable {
    /** Work request number of a receive, and bit of what a queue pair waits for. */
    static final int RECEIVE = 1;
    /** Work request number of a send, and bit of what a queue pair waits for. */
    static final int SEND = 2;

    private static final int RX_DEPTH = 500;
    private static final int QKEY = 0x11111111;
    private static final int PSN_BITS = 24;
    private static final int MIN_RNR_TIMER = 12; // 0.64 ms
    private static final int TIMEOUT = 14; // 67 ms
    private static final int RETRIES = 7;

    final PingPongOptions options;
    final CompletionQueue cq;
    final List<QueuePair> qps = new ArrayList<>();
    final List<PingPongAddress> local = new ArrayList<>();
    final int rxDepth;
    final PingPongContents contents;

    private final Context context;
    private final ProtectionDomain pd;
    private final MemoryRegion region;
    private final @Nullable SharedReceiveQueue srq;
    private final int header;
    private final boolean client;
    private final int gidIndex;
    private List<PingPongAddress> remote = List.of();
    private @Nullable AddressHandle handle;

    /**
     * Creates everything, up to queue pairs that receive; if something fails, the objects created so far are closed.
     */
    static PingPongEndpoint open(PingPongOptions options, boolean client) throws IOException {
        Context context = Verbs.open(options.device());
        try {
            return new PingPongEndpoint(options, client, context);
        } catch (IOException | RuntimeException e) {
            context.close();
            throw e;
        }
    }

    private PingPongEndpoint(PingPongOptions o, boolean client, Context context) throws IOException {
        this.options = o;
        this.client = client;
        this.context = context;
        PortAttributes port = context.queryPort(o.ibPort());
        check(port);
        gidIndex = o.gidIndex() == PingPongOptions.ANY_GID ? chooseGid(context, o.ibPort(), port) : o.gidIndex();
        DeviceAttributes limits = context.queryDevice();
        boolean shared = o.type() == PingPongType.SRQ;
        int most = Math.min(shared ? limits.maxSrqWr() : limits.maxQpWr(), limits.maxCqe() - o.queuePairs());
        rxDepth = o.rxDepth() > 0 ? o.rxDepth() : Math.min(RX_DEPTH, most);
        header = o.type() == PingPongType.UD ? GlobalRoutingHeader.BYTES : 0;
        pd = context.allocateProtectionDomain();
        region = pd.allocate(header + 2L * o.size(), AccessFlags.LOCAL_WRITE);
        contents = new PingPongContents(region.segment().asSlice(header, o.size()),
                region.segment().asSlice(header + (long) o.size(), o.size()), !shared);
        CompletionQueueAttributes.Builder queue = CompletionQueueAttributes.builder().cqe(rxDepth + o.queuePairs());
        cq = context.createCompletionQueue((o.events() ? queue.channel(context.createCompletionChannel()) : queue)
                .build());
        srq = shared
                ? pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(rxDepth).maxSge(1).build())
                : null;
        for (int i = 0; i < o.queuePairs(); i++) {
            addQueuePair(port);
        }
        postReceives(rxDepth);
    }

    private void check(PortAttributes port) throws PeerException {
        String name = "port " + options.ibPort() + " of " + options.device();
        if (port.state() != PortAttributes.STATE_ACTIVE) {
            throw new PeerException(name + " is not active: it is " + port.stateName());
        }
        boolean datagram = options.type() == PingPongType.UD;
        long most = datagram ? port.activeMtu() : port.maxMessageSize();
        if (options.size() > most) {
            throw new PeerException("a message of " + options.size() + " bytes is too long: " + name + " carries "
                    + most
                    + " at most" + (datagram ? " in a datagram" : ""));
        }
        if (!datagram && options.mtu() > port.activeMtu()) {
            throw new PeerException("an MTU of " + options.mtu() + " is too much: that of " + name + " is "
                    + port.activeMtu() + " bytes");
        }
    }

    /** None on InfiniBand, where local identifiers suffice; else a routable one, of IPv4 rather than of IPv6. */
    static int chooseGid(Context context, int ibPort, PortAttributes port) throws IOException {
        if (port.lid().orElse(0) != 0) {
            return PingPongOptions.ANY_GID;
        }
        int best = PingPongOptions.ANY_GID;
        int bestRank = 0;
        for (int i = 0; i < port.gidTableLength(); i++) {
            GidEntry e = context.queryGidEntry(ibPort, i);
            int rank = rank(e);
            if (rank > bestRank) {
                best = i;
                bestRank = rank;
            }
        }
        return best;
    }

    private static int rank(GidEntry e) {
        Gid g = e.gid();
        boolean ipv4 = g.high() == 0 && g.low() >>> 32 == 0xffff;
        return g.equals(PingPongAddress.NO_GID) ? 0 : e.type() != GidType.ROCE_V2 ? 1 : ipv4 ? 3 : 2;
    }

    private void addQueuePair(PortAttributes port) throws IOException {
        PingPongType type = options.type();
        QueuePairInitAttributes.Builder init = QueuePairInitAttributes.builder(cq, cq).type(type.queuePairType)
                .maxSendWr(1);
        SharedReceiveQueue s = srq;
        QueuePair qp = pd.createQueuePair((s == null ? init.maxReceiveWr(rxDepth) : init.sharedReceiveQueue(s))
                .build());
        QueuePairAttributes.Builder b = QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0)
                .port(options.ibPort());
        qp.modify((type == PingPongType.UD ? b.qkey(QKEY) : b.accessFlags(0)).build());
        qps.add(qp);
        local.add(new PingPongAddress(port.lid().orElse(0), qp.number(),
                ThreadLocalRandom.current().nextInt(1 << PSN_BITS), gidIndex == PingPongOptions.ANY_GID
                        ? PingPongAddress.NO_GID
                        : context.queryGid(options.ibPort(), gidIndex)));
    }

    /** The peer's addresses, one for each queue pair. */
    List<PingPongAddress> remote() {
        return remote;
    }

    /** Makes the queue pairs ready to receive and to send. */
    void connect(List<PingPongAddress> all) throws IOException {
        remote = all.stream().filter(a -> !a.equals(PingPongAddress.NONE)).toList();
        if (remote.size() != qps.size()) {
            throw new PeerException("the peer has " + HumanText.count(remote.size(), "queue pair") + " and this end "
                    + qps.size() + ": give both the same --num-qp (-q)");
        }
        for (int i = 0; i < qps.size(); i++) {
            connect(qps.get(i), local.get(i).psn(), remote.get(i));
        }
    }

    private void connect(QueuePair qp, int psn, PingPongAddress to) throws IOException {
        QueuePairAttributes.Builder rtr = QueuePairAttributes.to(QueuePairState.RTR);
        QueuePairAttributes.Builder rts = QueuePairAttributes.to(QueuePairState.RTS).sqPsn(psn);
        if (options.type() == PingPongType.UD) {
            handle = pd.createAddressHandle(path(to));
        } else {
            rtr.addressVector(path(to)).pathMtu(options.mtu()).destinationQueuePair(to.qpn()).rqPsn(to.psn());
        }
        if (options.type() == PingPongType.RC || options.type() == PingPongType.SRQ) {
            rtr.maxDestReadAtomic(1).minRnrTimer(MIN_RNR_TIMER);
            rts.timeout(TIMEOUT).retryCount(RETRIES).rnrRetry(RETRIES).maxReadAtomic(1);
        }
        qp.modify(rtr.build());
        qp.modify(rts.build());
    }

    private AddressVector path(PingPongAddress to) throws PeerException {
        AddressVector.Builder path = AddressVector.builder(to.gid()).port(options.ibPort());
        if (options.serviceLevel() != 0) {
            path.serviceLevel(options.serviceLevel());
        }
        if (to.gid().equals(PingPongAddress.NO_GID)) {
            if (to.lid() == 0) {
                throw new PeerException("the peer told neither a GID nor a LID: start it with the index of a GID"
                        + " (-g)");
            }
            return path.destinationLid(to.lid()).build();
        }
        return path.sourceGidIndex(Math.max(0, gidIndex)).build();
    }

    /** Posts receives; with a shared receive queue for all queue pairs. */
    void postReceives(int n) throws PeerException {
        SharedReceiveQueue s = srq;
        ReceiveQueue queue = s == null ? qps.getFirst().receiveQueue() : s.receiveQueue();
        for (int i = 0; i < n; i++) {
            int error = queue.post(RECEIVE, region, 0, header + (long) options.size());
            if (error != 0) {
                throw new PeerException("a receive cannot be posted: error " + error);
            }
        }
    }

    /** The length of the message in a receive of this many bytes. */
    long messageLength(long received) {
        return received - header;
    }

    void postSend(int qp) throws PeerException {
        long from = header + (client ? options.size() : 0L);
        SendQueue queue = qps.get(qp).sendQueue();
        AddressHandle to = handle;
        int error = to == null
                ? queue.postSend(SEND, SendFlags.SIGNALED, region, from, options.size())
                : queue.start().send(SEND, SendFlags.SIGNALED).datagram(to, remote.getFirst().qpn(), QKEY)
                        .sge(region, from, options.size()).complete();
        if (error != 0) {
            String reason = qps.get(qp).errorReason();
            throw new PeerException("a send cannot be posted: error " + error + (reason.isEmpty()
                    ? ""
                    : ", " + reason));
        }
    }

    @Override
    public void close() throws IOException {
        context.close();
    }
}
