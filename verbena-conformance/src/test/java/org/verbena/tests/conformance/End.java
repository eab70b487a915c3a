// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Connection;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;

/** One end of a connection: a context, a PD, completion queues, a queue pair and a region. */
final class End implements AutoCloseable {
    private static final int READS = 16;

    final ConformanceFixture fixture;
    final Context context;
    final ProtectionDomain pd;
    final @Nullable CompletionChannel channel;
    final CompletionQueue sendCq;
    final CompletionQueue receiveCq;
    final @Nullable SharedReceiveQueue srq;
    /** Beside the queue pair, if that is of type XRC_SEND. */
    final @Nullable XrcEnd xrc;
    final QueuePair qp;
    final MemoryRegion region;
    final DeviceAttributes device;

    /** Connections of {@link #qp} that a job has made, newest last. */
    final List<Connection> connections = new CopyOnWriteArrayList<>();
    /** Whatever one job leaves for the next. */
    volatile @Nullable Object later;

    volatile Posting posting = Posting.IN_TURN;

    private final AtomicInteger turns = new AtomicInteger();
    private final EndOptions options;
    private final boolean ownContext;
    private final EndMemory memory;
    private @Nullable BackgroundJob background;
    private final Deque<AutoCloseable> more = new ArrayDeque<>();
    private final Map<Integer, QueuePair> queuePairs = new HashMap<>();
    private final Map<String, AddressHandle> handles = new HashMap<>();

    /** Makes an end on a context of its own. */
    static End open(ConformanceFixture fixture, EndOptions options) throws VerbsException {
        return new End(fixture, fixture.open(), true, options);
    }

    /** Makes an end on a context that the caller closes. */
    static End on(ConformanceFixture fixture, Context context, EndOptions options) throws VerbsException {
        return new End(fixture, context, false, options);
    }

    private End(ConformanceFixture fixture, Context context, boolean ownContext, EndOptions o) throws VerbsException {
        this.fixture = fixture;
        this.context = context;
        this.ownContext = ownContext;
        options = o;
        device = context.queryDevice();
        ProtectionDomain plain = context.allocateProtectionDomain();
        pd = o.parentDomain ? parentDomain(plain) : plain;
        channel = o.channel ? context.createCompletionChannel() : null;
        sendCq = completionQueue();
        receiveCq = o.oneCompletionQueue ? sendCq : completionQueue();
        xrc = o.isXrc() ? new XrcEnd(context, pd, receiveCq, o) : null;
        srq = xrc == null ? sharedReceives() : xrc.srq;
        qp = pd.createQueuePair(initAttributes());
        memory = new EndMemory(pd, o, known(o.access));
        region = memory.region;
    }

    /** Rights without those that the device has never heard of, which tests ask for in case it has. */
    private int known(int access) {
        return context.supports(Feature.FLUSH)
                ? access
                : access & ~(AccessFlags.FLUSH_GLOBAL | AccessFlags.FLUSH_PERSISTENT);
    }

    private @Nullable SharedReceiveQueue sharedReceives() throws VerbsException {
        return options.sharedReceives
                ? pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(options.maxReceiveWr)
                        .maxSge(options.maxSge).build())
                : null;
    }

    /** What an end of XRC has more than others. */
    XrcEnd xrc() {
        return Objects.requireNonNull(xrc, "not of XRC");
    }

    private ProtectionDomain parentDomain(ProtectionDomain plain) throws VerbsException {
        ParentDomainAttributes a = ParentDomainAttributes.builder().protectionDomain(plain)
                .threadDomain(context.allocateThreadDomain()).build();
        return context.allocateParentDomain(a);
    }

    private CompletionQueue completionQueue() throws VerbsException {
        var b = CompletionQueueAttributes.builder().cqe(Math.min(options.cqe, device.maxCqe()))
                .fields(CompletionQueueAttributes.STANDARD_FIELDS | options.fields);
        if (options.cqFlags != 0) {
            b.flags(options.cqFlags);
        }
        if (options.parentDomain) {
            b.parentDomain(pd);
        }
        return context.createCompletionQueue((channel == null ? b : b.channel(channel)).build());
    }

    /** One more queue pair like {@link #qp}, on the same queues. */
    QueuePair queuePair() throws VerbsException {
        QueuePair q = keep(pd.createQueuePair(initAttributes()));
        queuePairs.put(q.number(), q);
        return q;
    }

    /** The queue pair of that number. */
    QueuePair queuePair(int number) {
        return queuePairs.getOrDefault(number, qp);
    }

    /** Posts the receive of a completion again, on whichever queue pair of this end it was. */
    void postAgain(Completion c) {
        QueuePair q = queuePairs.getOrDefault(c.queuePairNumber(), qp);
        int r = postReceives(q, Op.receive(c.wrId()).on(512 * (c.wrId() % 64), 512));
        if (r != 0) {
            throw new AssertionError("cannot post again: " + r);
        }
    }

    /** Has something closed before this end. */
    <T extends AutoCloseable> T keep(T what) {
        more.push(what);
        return what;
    }

    QueuePairInitAttributes initAttributes() {
        return initAttributes(receiveCq);
    }

    private QueuePairInitAttributes initAttributes(CompletionQueue receives) {
        var b = QueuePairInitAttributes.builder(sendCq, receives).type(options.type).maxSendWr(options.maxSendWr)
                .maxReceiveWr(options.maxReceiveWr).maxSendSge(options.maxSge).maxReceiveSge(options.maxSge)
                .maxInlineData(device.maxInlineData()).sqSigAll(options.sqSigAll);
        if (options.createFlags != 0) {
            b.createFlags(options.createFlags);
        }
        if (srq != null && xrc == null) {
            b.sharedReceiveQueue(srq);
        }
        return b.build();
    }

    /** One more queue pair with a queue of its own for completions of receives. */
    QueuePair queuePair(CompletionQueue receives) throws VerbsException {
        return keep(pd.createQueuePair(initAttributes(receives)));
    }

    /** One more queue pair on the same queues, of another type. */
    QueuePair queuePairOfType(int type) throws VerbsException {
        QueuePair q = keep(pd.createQueuePair(initAttributes().toBuilder().type(type).build()));
        queuePairs.put(q.number(), q);
        return q;
    }

    /** Where receives for a queue pair are posted. */
    ReceiveQueue receiveQueue(QueuePair q) {
        return srq == null ? q.receiveQueue() : srq.receiveQueue();
    }

    EndAddress address() throws VerbsException {
        return address(qp);
    }

    EndAddress address(QueuePair q) throws VerbsException {
        return new EndAddress(context.queryGid(1, 0).toString(), q.number(), psn(q), region.rkey(), region.address(),
                region.length(), xrc == null ? null : xrc.address(q));
    }

    private static int psn(QueuePair q) {
        return q.number() * 31 & 0xffffff;
    }

    void toInit() throws VerbsException {
        toInit(qp);
    }

    void toInit(QueuePair q) throws VerbsException {
        var b = QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1);
        q.modify((isDatagram(q) ? b.qkey(options.qkey) : b.accessFlags(known(options.queuePairAccess))).build());
        if (q.type() == QueuePairType.XRC_SEND) {
            xrc().toInit(q, known(options.queuePairAccess));
        }
    }

    void toRtr(EndAddress peer) throws VerbsException {
        toRtr(qp, peer);
    }

    boolean isDatagram() {
        return isDatagram(qp);
    }

    private static boolean isDatagram(QueuePair q) {
        return q.type() == QueuePairType.UD;
    }

    private static boolean isReliable(QueuePair q) {
        return q.type() == QueuePairType.RC || q.type() == QueuePairType.XRC_SEND;
    }

    void toRtr(QueuePair q, EndAddress peer) throws VerbsException {
        var b = QueuePairAttributes.to(QueuePairState.RTR);
        if (!isDatagram(q)) {
            b.addressVector(peer.vector()).pathMtu(context.queryPort(1).activeMtu())
                    .destinationQueuePair(peer.destination()).rqPsn(peer.psn());
        }
        if (q.type() == QueuePairType.RC) {
            b.maxDestReadAtomic(reads()).minRnrTimer(options.minRnrTimer);
        }
        q.modify(b.build());
        if (q.type() == QueuePairType.XRC_SEND) {
            xrc().toRtr(q, peer, context.queryPort(1).activeMtu(), reads(), options.minRnrTimer);
        }
    }

    /** From RESET to RTS, for a queue pair of type UD. */
    void toReady(QueuePair q) throws VerbsException {
        toInit(q);
        toRtr(q, address(q));
        toRts(q);
    }

    /** A handle to the context of another end, or to a group. */
    AddressHandle handle(String gid) throws VerbsException {
        AddressHandle h = handles.get(gid);
        if (h == null) {
            h = keep(pd.createAddressHandle(AddressVector.to(Gid.parse(gid))));
            handles.put(gid, h);
        }
        return h;
    }

    /** Posts datagrams to another end, all in one batch; 0 or an errno. */
    int postTo(EndAddress peer, Op... ops) throws VerbsException {
        return postTo(qp, peer, options.qkey, ops);
    }

    int postTo(QueuePair q, EndAddress peer, int qkey, Op... ops) throws VerbsException {
        return postTo(q, handle(peer.gid()), peer.queuePairNumber(), qkey, ops);
    }

    int postTo(QueuePair q, AddressHandle to, int number, int qkey, Op... ops) {
        SendQueue sq = q.sendQueue().start();
        for (Op op : ops) {
            op.addTo(sq, region);
            sq.datagram(to, number, qkey);
        }
        return sq.complete();
    }

    /** Posts datagrams to all members of a group. */
    int postToGroup(String group, Op... ops) throws VerbsException {
        return postTo(qp, handle(group), QueuePair.MULTICAST, options.qkey, ops);
    }

    /** Makes a queue pair of type UD a member of a group. */
    void attach(QueuePair q, Gid group) throws IOException {
        keep(fixture.reaching(group));
        q.attachMulticast(group, 0);
    }

    int reads() {
        return Math.min(READS, Math.min(device.maxQpRdAtom(), device.maxQpInitRdAtom()));
    }

    void toRts() throws VerbsException {
        toRts(qp);
    }

    void toRts(QueuePair q) throws VerbsException {
        var b = QueuePairAttributes.to(QueuePairState.RTS).sqPsn(psn(q));
        if (isReliable(q)) {
            b.timeout(options.timeout).retryCount(options.retryCount).rnrRetry(options.rnrRetry)
                    .maxReadAtomic(reads());
        }
        q.modify(b.build());
        if (q.type() == QueuePairType.XRC_SEND) {
            xrc().toRts(q, options.timeout, psn(q));
        }
    }

    void to(QueuePairState state) throws VerbsException {
        qp.modify(QueuePairAttributes.to(state).build());
    }

    QueuePairState state() {
        return qp.state();
    }

    void awaitState(QueuePairState wanted) throws VerbsException {
        awaitState(qp, wanted);
    }

    private void awaitState(QueuePair q, QueuePairState wanted) throws VerbsException {
        Await.until("state " + wanted, () -> q.state() == wanted, () -> describe(q));
    }

    /** What answers the peer's requests: the queue pair itself, or with XRC the one that only receives. */
    QueuePair responder() throws VerbsException {
        return xrc == null ? qp : xrc.target(qp);
    }

    void awaitResponder(QueuePairState wanted) throws VerbsException {
        awaitState(responder(), wanted);
    }

    /** How many receives may be outstanding. */
    int maxReceives() throws VerbsException {
        return srq == null ? qp.initAttributes().maxReceiveWr() : srq.query().maxWr();
    }

    /**
     * Posts sends, all in one batch; 0 or an errno. A single request of one buffer is posted by a batch and by the call
     * for just that in turn, so that each test meets both; {@link #posting} chooses one of the two.
     */
    int post(Op... ops) {
        return post(qp, ops);
    }

    int post(QueuePair q, Op... ops) {
        if (ops.length == 1 && ops[0].isSimple() && xrc == null && isQuick()) {
            return postAlone(q.sendQueue(), ops[0]);
        }
        SendQueue sq = q.sendQueue().start();
        for (Op op : ops) {
            op.addTo(sq, region);
            name(q, sq);
        }
        return sq.complete();
    }

    /** Says which queue of the peer the request is for that was added last, where one has to say. */
    SendQueue name(QueuePair q, SendQueue sq) {
        return xrc == null ? sq : sq.remoteSharedReceiveQueue(xrc.named(q));
    }

    /** How to post what can be posted in two ways. */
    enum Posting {
        /** The one and the other in turn. */
        IN_TURN,
        /** By start and complete. */
        BATCH,
        /** By postSend, postWrite, postRead and post. */
        ALONE
    }

    private boolean isQuick() {
        return posting == Posting.ALONE || (posting == Posting.IN_TURN && (turns.incrementAndGet() & 1) == 0);
    }

    private int postAlone(SendQueue sq, Op op) {
        Sge s = op.buffers().getFirst();
        return switch (op.kind()) {
            case SEND -> sq.postSend(op.wrId(), op.flags(), region, s.at(), s.length());
            case WRITE -> sq.postWrite(op.wrId(), op.flags(), region, s.at(), s.length(), op.rkey(), op.remote());
            default -> sq.postRead(op.wrId(), op.flags(), region, s.at(), s.length(), op.rkey(), op.remote());
        };
    }

    /** Posts receives, all in one batch; 0 or an errno. */
    int postReceives(Op... ops) {
        return postReceives(qp, ops);
    }

    int postReceives(QueuePair q, Op... ops) {
        if (ops.length == 1 && ops[0].isSimple() && isQuick()) {
            Sge s = ops[0].buffers().getFirst();
            return receiveQueue(q).post(ops[0].wrId(), region, s.at(), s.length());
        }
        ReceiveQueue rq = receiveQueue(q).start();
        for (Op op : ops) {
            op.addTo(rq, region);
        }
        return rq.complete();
    }

    /** The completions that are there now, at most {@code max}. */
    static List<Completion> poll(CompletionQueue cq, int max) {
        List<Completion> found = new ArrayList<>();
        if (max > 0 && cq.startPoll() == 0) {
            do {
                found.add(Completion.of(cq));
            } while (found.size() < max && cq.nextPoll() == 0);
            cq.endPoll();
        }
        return found;
    }

    /** Waits for exactly {@code n} completions; what else is there stays there. */
    List<Completion> await(CompletionQueue cq, int n) throws VerbsException {
        List<Completion> found = new ArrayList<>();
        Await.until(n + " completions", () -> {
            found.addAll(poll(cq, n - found.size()));
            return found.size() == n;
        }, () -> "got " + found + "; " + describe());
        return found;
    }

    Completion awaitSend() throws VerbsException {
        return await(sendCq, 1).getFirst();
    }

    Completion awaitReceive() throws VerbsException {
        return await(receiveCq, 1).getFirst();
    }

    List<Completion> awaitSends(int n) throws VerbsException {
        return await(sendCq, n);
    }

    List<Completion> awaitReceives(int n) throws VerbsException {
        return await(receiveCq, n);
    }

    /** Looks for a while that no completion arrives on either queue. */
    void expectNoCompletion() throws VerbsException {
        Await.never("a completion", () -> !poll(sendCq, 1).isEmpty() || !poll(receiveCq, 1).isEmpty());
    }

    /** Waits for an asynchronous event of a kind and passes over others. */
    void awaitAsyncEvent(int type) throws VerbsException {
        awaitAsyncEvent(type, List.of(qp, responder()));
    }

    /** The same, of another queue pair of this end. */
    void awaitAsyncEvent(int type, QueuePair of) throws VerbsException {
        awaitAsyncEvent(type, List.of(of));
    }

    private void awaitAsyncEvent(int type, List<QueuePair> of) throws VerbsException {
        List<AsyncEvent> seen = new ArrayList<>();
        Await.until("event " + AsyncEventType.toString(type), () -> {
            AsyncEvent e = context.awaitAsyncEvent(Duration.ofMillis(10));
            if (e != null) {
                seen.add(e);
            }
            return e != null && e.type() == type && of.stream().anyMatch(q -> e.element().equals(q));
        }, () -> "got " + seen + "; " + describe());
    }

    /** A range of the own region. */
    MemorySegment at(long offset, long length) {
        return memory.at(offset, length);
    }

    void fill(long offset, long length, long seed) {
        Pattern.fill(at(offset, length), seed);
    }

    byte[] bytes(long offset, int length) {
        return at(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    void setLong(long offset, long value) {
        region.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
    }

    long getLong(long offset) {
        return region.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    /** Remembers all memory, guard bytes included. */
    void remember() {
        memory.remember();
    }

    /** The offset in the region of the first byte that changed since {@link #remember()}, or {@code Long.MIN_VALUE}. */
    long changed() {
        return memory.changed();
    }

    /** Starts a job on a thread of its own. */
    void start(Job<?> job) {
        background = new BackgroundJob(this, job);
    }

    /** Waits for the job that was started and throws what it threw. */
    Object join() throws Exception {
        BackgroundJob b = background;
        if (b == null) {
            throw new IllegalStateException("no job was started");
        }
        return b.join();
    }

    String describe() {
        return describe(qp);
    }

    private static String describe(QueuePair q) {
        return q.describe() + " is in " + q.state() + (q.errorReason().isEmpty() ? "" : ": " + q.errorReason());
    }

    @Override
    public void close() throws VerbsException {
        while (!more.isEmpty()) {
            try {
                more.pop().close();
            } catch (VerbsException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        if (ownContext) {
            context.close();
        } else {
            qp.close();
            if (xrc != null) {
                xrc.closeTargets();
            }
            if (srq != null) {
                srq.close();
            }
            if (xrc != null) {
                xrc.domain.close();
            }
            region.close();
            receiveCq.close();
            sendCq.close();
            if (channel != null) {
                channel.close();
            }
            pd.close();
            ParentDomainAttributes parent = pd.parentDomainAttributes();
            if (parent != null) {
                Objects.requireNonNull(parent.threadDomain()).close();
                pd.underlying().close();
            }
        }
        memory.close();
    }
}
