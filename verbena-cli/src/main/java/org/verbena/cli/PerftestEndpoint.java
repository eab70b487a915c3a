package org.verbena.cli;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ThreadLocalRandom;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.Verbs;

/**
 * The verbs objects of one end: a queue pair of type RC, and a region with what is sent in its first half and what the
 * peer reaches in its second.
 */
final class PerftestEndpoint implements AutoCloseable {
    private static final int RX_DEPTH = 512;
    private static final int MOST_READS = 16;
    private static final int PSN_BITS = 24;
    private static final int MIN_RNR_TIMER = 12; // 0.64 ms
    private static final int RETRIES = 7;

    /** What perftest's atomics spread over: a page. */
    private static final int CYCLE_BUFFER = 4096;
    private static final int MOST_CYCLE_BUFFER = 1 << 20;
    private static final int CACHE_LINE = 64;
    private static final int MOST_CACHE_LINE = 4096;

    final PerftestOptions options;
    final CompletionQueue sendCq;
    final CompletionQueue receiveCq;
    final QueuePair qp;
    final int txDepth;
    final int rxDepth;
    final PerftestAddress local;

    private final Context context;
    private final MemoryRegion region;
    private final long half;
    private final int mtu;
    private PerftestAddress remote;

    /** Agrees with the peer, makes everything and connects. */
    static PerftestEndpoint open(PerftestOptions options, PerftestExchange exchange) throws IOException {
        Context context = Verbs.open(options.device());
        try {
            return new PerftestEndpoint(options, exchange, context);
        } catch (IOException | RuntimeException e) {
            context.close();
            throw e;
        }
    }

    private PerftestEndpoint(PerftestOptions o, PerftestExchange exchange, Context context) throws IOException {
        this.options = o;
        this.context = context;
        PortAttributes port = context.queryPort(o.ibPort());
        check(port);
        exchange.versions();
        half = Math.max(o.size(), exchange.largest(CYCLE_BUFFER, MOST_CYCLE_BUFFER, "page"));
        exchange.largest(CACHE_LINE, MOST_CACHE_LINE, "cache line");
        mtu = exchange.mtu(o.mtu() == 0 ? port.activeMtu() : o.mtu());

        DeviceAttributes limits = context.queryDevice();
        int most = o.type().atomic() ? (int) half / PerftestType.ATOMIC_BYTES : Integer.MAX_VALUE; // a place for each
        txDepth = Math.min(Math.min(o.txDepth(), most), Math.min(limits.maxQpWr(), limits.maxCqe()));
        rxDepth = o.type().sends() ? Math.min(RX_DEPTH, Math.min(limits.maxQpWr(), limits.maxCqe())) : 1;
        ProtectionDomain pd = context.allocateProtectionDomain();
        region = pd.allocate(2 * half, AccessFlags.ALL);
        sendCq = queue(txDepth);
        receiveCq = queue(rxDepth);
        qp = pd.createQueuePair(QueuePairInitAttributes.builder(sendCq, receiveCq).maxSendWr(txDepth)
                .maxReceiveWr(rxDepth).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(o.ibPort())
                .accessFlags(AccessFlags.ALL).build());

        int gidIndex = o.gidIndex() == PingPongOptions.ANY_GID
                ? PingPongEndpoint.chooseGid(context, o.ibPort(), port)
                : o.gidIndex();
        if (gidIndex == PingPongOptions.ANY_GID) {
            throw new PeerException("port " + o.ibPort() + " of " + o.device() + " goes by LID: give the index of a"
                    + " GID, to both ends (-x)");
        }
        int reads = Math.clamp(Math.min(limits.maxQpRdAtom(), limits.maxQpInitRdAtom()), 1, MOST_READS);
        local = new PerftestAddress(port.lid().orElse(0), reads, qp.number(),
                ThreadLocalRandom.current().nextInt(1 << PSN_BITS), region.rkey(), region.address() + half,
                context.queryGid(o.ibPort(), gidIndex));
        remote = exchange.addresses(local);
        if (o.type().latency && o.type() != PerftestType.SEND_LAT) {
            remote = exchange.addresses(local); // these tests tell it twice
        }
        connect(gidIndex, reads);
        exchange.addresses(local); // for what the programs print
        exchange.addresses(local); // both are ready to receive
    }

    private CompletionQueue queue(int depth) throws IOException {
        CompletionQueueAttributes.Builder b = CompletionQueueAttributes.builder().cqe(depth);
        return context.createCompletionQueue((options.events() ? b.channel(context.createCompletionChannel()) : b)
                .build());
    }

    private void check(PortAttributes port) throws PeerException {
        String name = "port " + options.ibPort() + " of " + options.device();
        if (port.state() != PortAttributes.STATE_ACTIVE) {
            throw new PeerException(name + " is not active: it is " + port.stateName());
        }
        if (options.size() > port.maxMessageSize()) {
            throw new PeerException("a message of " + options.size() + " bytes is too long: " + name + " carries "
                    + port.maxMessageSize() + " at most");
        }
        if (options.mtu() > port.activeMtu()) {
            throw new PeerException("an MTU of " + options.mtu() + " is too much: that of " + name + " is "
                    + port.activeMtu() + " bytes");
        }
    }

    private void connect(int gidIndex, int reads) throws IOException {
        AddressVector path = AddressVector.builder(remote.gid()).port(options.ibPort()).sourceGidIndex(gidIndex)
                .build();
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(path).pathMtu(mtu)
                .destinationQueuePair(remote.qpn()).rqPsn(remote.psn()).maxDestReadAtomic(reads)
                .minRnrTimer(MIN_RNR_TIMER).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(local.psn()).timeout(options.retryTimeout())
                .retryCount(RETRIES)
                .rnrRetry(RETRIES).maxReadAtomic(Math.clamp(remote.reads(), 1, reads)).build());
    }

    PerftestAddress remote() {
        return remote;
    }

    /** What the peer writes, as many bytes as a message has. */
    MemorySegment inbox() {
        return region.segment().asSlice(half, options.size());
    }

    /** What this end sends. */
    MemorySegment outbox() {
        return region.segment().asSlice(0, options.size());
    }

    void postReceive() throws PeerException {
        int error = qp.receiveQueue().post(0, region, half, options.size());
        if (error != 0) {
            throw new PeerException("a receive cannot be posted: error " + error);
        }
    }

    /** Posts the test's request, number {@code id}. */
    void post(long id) throws PeerException {
        SendQueue q = qp.sendQueue().start();
        int error = (switch (options.type()) {
            case WRITE_BW, WRITE_LAT -> q.write(id, SendFlags.SIGNALED, remote.rkey(), remote.address());
            case READ_BW, READ_LAT -> q.read(id, SendFlags.SIGNALED, remote.rkey(), remote.address());
            case SEND_BW, SEND_LAT -> q.send(id, SendFlags.SIGNALED);
            case ATOMIC_BW, ATOMIC_LAT ->
                q.fetchAndAdd(id, SendFlags.SIGNALED, remote.rkey(), remote.address(), 1);
        }).sge(region, place(id), options.size()).complete();
        if (error != 0) {
            String reason = qp.errorReason();
            throw new PeerException("a request cannot be posted: error " + error + (reason.isEmpty()
                    ? ""
                    : ", " + reason));
        }
    }

    /** Where in the region a request's bytes are: those of atomics, whose answers are looked at, each for itself. */
    private long place(long id) {
        return options.type().atomic() ? id % txDepth * PerftestType.ATOMIC_BYTES : 0;
    }

    /** What an atomic found at the peer. */
    long fetched(long id) {
        return region.segment().get(ValueLayout.JAVA_LONG, place(id));
    }

    @Override
    public void close() throws IOException {
        context.close();
    }
}
