// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.verbena.cli.support.PeerException;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Connection;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;

/**
 * The verbs objects of one end: queue pairs of type RC with one completion queue, and a region: its first half has a
 * slot for the data that each queue pair sends, its second one for the memory that the peer of each accesses. The
 * context closes them.
 */
final class PerftestEndpoint {
    private static final int RX_DEPTH = 512;
    private static final int MOST_READS = 16;

    /** The memory that perftest's atomics are spread over: a page. */
    private static final int CYCLE_BUFFER = 4096;
    private static final int MOST_CYCLE_BUFFER = 1 << 20;
    private static final int CACHE_LINE = 64;
    private static final int MOST_CACHE_LINE = 4096;
    /** For the exchange of the ends before there are queue pairs. */
    private static final PerftestAddress NOWHERE = new PerftestAddress(0, 0, 0, 0, 0, 0, new Gid(0, 0));

    final PerftestOptions options;
    final CompletionQueue cq;
    final List<QueuePair> queuePairs = new ArrayList<>();
    final int txDepth;
    final int rxDepth;

    private final List<PerftestAddress> locals = new ArrayList<>();
    private final List<PerftestAddress> remotes = new ArrayList<>();
    private final MemoryRegion region;
    private final long place;
    private final int reads;

    /**
     * Agrees with the peer, makes everything and connects.
     *
     * @param link carries the exchange
     */
    PerftestEndpoint(PerftestOptions o, PerftestExchange exchange, PerftestLink link, Context context)
            throws IOException {
        this.options = o;
        PortAttributes port = context.queryPort(o.ibPort());
        PerftestPath.check(o, port);
        exchange.versions();
        place = Math.max(o.size(), exchange.largest(CYCLE_BUFFER, MOST_CYCLE_BUFFER, "page"));
        exchange.largest(CACHE_LINE, MOST_CACHE_LINE, "cache line");
        int mtu = exchange.mtu(o.mtu() == 0 ? port.activeMtu() : o.mtu());

        DeviceAttributes limits = context.queryDevice();
        int entries = limits.maxCqe() / o.queuePairs();
        int most = o.type().atomic() ? (int) place / PerftestType.ATOMIC_BYTES : Integer.MAX_VALUE; // a slot for each
        rxDepth = o.type().sends() ? depth(RX_DEPTH, limits.maxQpWr(), entries / 2) : 1;
        txDepth = depth(Math.min(o.txDepth(), most), limits.maxQpWr(), entries - rxDepth);
        reads = Math.clamp(Math.min(limits.maxQpRdAtom(), limits.maxQpInitRdAtom()), 1, MOST_READS);
        ProtectionDomain pd = context.allocateProtectionDomain();
        region = pd.allocate(2 * place * o.queuePairs(), AccessFlags.ALL);
        CompletionQueueAttributes.Builder b = CompletionQueueAttributes.builder().cqe(o.queuePairs() * (txDepth
                + rxDepth));
        cq = context.createCompletionQueue((o.events() ? b.channel(context.createCompletionChannel()) : b).build());
        for (int i = 0; i < o.queuePairs(); i++) {
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(txDepth)
                    .maxReceiveWr(rxDepth).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(o.ibPort())
                    .accessFlags(AccessFlags.ALL).build());
            queuePairs.add(qp);
        }
        agree(exchange, link, new PerftestPath(o, context, port, mtu));
    }

    private static int depth(int wanted, int requests, int entries) {
        return Math.max(1, Math.min(Math.min(wanted, requests), entries));
    }

    private void agree(PerftestExchange exchange, PerftestLink link, PerftestPath path) throws IOException {
        if (link instanceof PerftestMessages manager) {
            exchange.addresses(NOWHERE); // the listener is ready
            for (QueuePair qp : queuePairs) {
                Connection c = manager.connect(qp, reads);
                if (!c.isConnected()) {
                    throw new PeerException("the peer disconnected " + qp.describe() + " at once");
                }
            }
            exchange.addresses(NOWHERE);
        }
        for (int i = 0; i < queuePairs.size(); i++) {
            locals.add(new PerftestAddress(path.lid(), reads, queuePairs.get(i).number(), path.newPsn(), region.rkey(),
                    region.address() + inboxAt(i), path.gid()));
        }
        if (options.type().latency && options.type() != PerftestType.SEND_LAT) {
            exchange.addresses(locals.getFirst()); // these tests exchange it once more
        }
        for (PerftestAddress local : locals) {
            remotes.add(exchange.addresses(local));
        }
        if (!options.manager()) {
            for (int i = 0; i < queuePairs.size(); i++) {
                path.connect(queuePairs.get(i), locals.get(i), remotes.get(i), reads);
            }
        }
        // of the two rounds one is for what the programs print, and one tells that both are ready to receive
        if (options.type().sends()) {
            exchange.addresses(locals.getFirst());
        }
        for (PerftestAddress local : locals) {
            exchange.addresses(local);
        }
        if (!options.type().sends()) {
            exchange.addresses(locals.getFirst());
        }
    }

    /** This end's, of each queue pair. */
    List<PerftestAddress> locals() {
        return Collections.unmodifiableList(locals);
    }

    /** The peer's, of each queue pair. */
    List<PerftestAddress> remotes() {
        return Collections.unmodifiableList(remotes);
    }

    private long outboxAt(int qp) {
        return qp * place;
    }

    private long inboxAt(int qp) {
        return (options.queuePairs() + qp) * place;
    }

    /** The memory that the peer of the first queue pair writes. */
    MemorySegment inbox(int size) {
        return region.segment().asSlice(inboxAt(0), size);
    }

    /** The memory that the first queue pair sends. */
    MemorySegment outbox(int size) {
        return region.segment().asSlice(outboxAt(0), size);
    }

    void postReceive(int qp, long id, int size) throws PeerException {
        int error = queuePairs.get(qp).receiveQueue().post(id, region, inboxAt(qp), size);
        if (error != 0) {
            throw new PeerException("a receive cannot be posted: error " + error);
        }
    }

    /** Posts the test's request, number {@code n} of that queue pair. */
    void post(int qp, int n, long id, int size) throws PeerException {
        PerftestAddress remote = remotes.get(qp);
        SendQueue q = queuePairs.get(qp).sendQueue().start();
        int error = (switch (options.type()) {
            case WRITE_BW, WRITE_LAT -> q.write(id, SendFlags.SIGNALED, remote.rkey(), remote.address());
            case READ_BW, READ_LAT -> q.read(id, SendFlags.SIGNALED, remote.rkey(), remote.address());
            case SEND_BW, SEND_LAT -> q.send(id, SendFlags.SIGNALED);
            case ATOMIC_BW, ATOMIC_LAT ->
                q.fetchAndAdd(id, SendFlags.SIGNALED, remote.rkey(), remote.address(), 1);
        }).sge(region, placeOf(qp, n), size).complete();
        if (error != 0) {
            String reason = queuePairs.get(qp).errorReason();
            throw new PeerException("a request cannot be posted: error " + error + (reason.isEmpty()
                    ? ""
                    : ", " + reason));
        }
    }

    /** The offset of the bytes of a request in the region; atomics, whose results are checked, each have their own. */
    private long placeOf(int qp, int n) {
        return outboxAt(qp) + (options.type().atomic() ? (long) (n % txDepth) * PerftestType.ATOMIC_BYTES : 0);
    }

    /** The value that an atomic found at the peer. */
    long fetched(int qp, int n) {
        return region.segment().get(ValueLayout.JAVA_LONG, placeOf(qp, n));
    }
}
