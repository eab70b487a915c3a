package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * Requests that name the queue they are for: the near end receives, on shared receive queues of its domain, what far ends
 * send. What the operations themselves do is tested by running their tests over XRC.
 */
abstract class XrcConformance extends Conformance {
    private static final int CAPACITY = 64;
    private static final int SLOT = 512;

    XrcConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsXrc() throws VerbsException {
        try (Context c = fixture.open()) {
            needs(c, Feature.XRC);
        }
    }

    private Pair xrc(EndOptions near, EndOptions far) throws VerbsException {
        return connected(near.xrc().queues(CAPACITY), far.xrc().queues(CAPACITY));
    }

    private Pair xrc() throws VerbsException {
        return xrc(EndOptions.defaults(), EndOptions.defaults());
    }

    private static Op receive(long id) {
        return Op.receive(id).on(SLOT * (id % CAPACITY), SLOT);
    }

    private static void postReceives(End end, int from, int to) {
        assertPosted(end.postReceives(IntStream.range(from, to).mapToObj(XrcConformance::receive).toArray(Op[]::new)));
    }

    /** Posts a receive of the end's region on any queue. */
    private static void post(SharedReceiveQueue q, End end, long id) {
        assertPosted(q.receiveQueue().post(id, end.region, SLOT * (id % CAPACITY), SLOT));
    }

    /** Sends from one queue pair of the far end; answers the completions. */
    private static List<Completion> send(Far far, int sender, long... lengths) throws VerbsException {
        return far.run(end -> {
            QueuePair q = end.queuePair(sender);
            for (int i = 0; i < lengths.length; i++) {
                assertPosted(end.post(q, Op.send(i).on(0, lengths[i])));
            }
            List<Completion> done = end.await(end.sendCq, lengths.length);
            assertThat(done).extracting(Completion::statusName).as(end.describe()).containsOnly("SUCCESS");
            return done;
        });
    }

    private static List<Completion> send(Pair p, long... lengths) throws VerbsException {
        return send(p.far, p.farAddress.queuePairNumber(), lengths);
    }

    private static void assertAllSent(List<Completion> completions) {
        assertThat(completions).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    /** Has the far end's first queue pair name a queue. */
    private static void name(Pair p, int number) throws VerbsException {
        p.far.act(end -> end.xrc().name(end.qp, number));
    }

    /** A further queue of the near end. */
    private static SharedReceiveQueue queue(Pair p, ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        return p.near.keep(pd.createSharedReceiveQueue(XrcEnd.queue(p.near.xrc().domain, cq).maxWr(CAPACITY).build()));
    }

    private static QueuePair target(End end) throws VerbsException {
        return end.xrc().target(end.qp);
    }

    /** The request fails so at the sender, and both queue pairs of the connection are in ERR. */
    private static void assertFails(Pair p, int status, Op op) throws VerbsException {
        assertPosted(p.far.post(op, Op.send(1002)));
        List<Completion> c = p.far.run(end -> end.awaitSends(2));
        assertStatus(status, op.wrId(), c.get(0));
        assertStatus(WcStatus.WR_FLUSH_ERR, 1002, c.get(1));
        p.far.awaitState(QueuePairState.ERR);
        QueuePair t = target(p.near);
        Await.until("the target is in ERR", () -> t.state() == QueuePairState.ERR, () -> "it is in " + t.state());
        assertThat(t.errorReason()).isNotBlank();
    }

    // ---- which queue

    @Test
    void severalQueuesOverOneConnection() throws VerbsException {
        Pair p = xrc();
        ProtectionDomain pd = p.near.context.allocateProtectionDomain();
        CompletionQueue cq = p.near.context.createCompletionQueue(CAPACITY);
        MemoryRegion memory = pd.allocate(8192, AccessFlags.ALL);
        SharedReceiveQueue second = queue(p, pd, cq);
        int first = p.near.xrc().srq.number();
        int other = second.number();
        for (int i = 0; i < 20; i++) {
            postReceives(p.near, i, i + 1);
            assertPosted(second.receiveQueue().post(100 + i, memory, 0, SLOT));
        }
        p.far.fill(0, 64, 5);
        p.far.act(end -> {
            SendQueue sq = end.qp.sendQueue().start();
            for (int i = 0; i < 40; i++) {
                sq.send(i, SendFlags.SIGNALED).remoteSharedReceiveQueue(i % 2 == 0 ? first : other)
                        .sge(end.region, 0, i);
            }
            assertPosted(sq.complete());
            assertThat(end.awaitSends(40)).extracting(Completion::statusName).as(end.describe())
                    .containsOnly("SUCCESS");
        });
        int at = target(p.near).number();
        List<Completion> even = p.near.awaitReceives(20);
        List<Completion> odd = p.near.await(cq, 20);
        for (int i = 0; i < 20; i++) {
            assertReceived(i, 2L * i, even.get(i));
            assertReceived(100 + i, 2L * i + 1, odd.get(i));
            assertThat(even.get(i).queuePairNumber()).isEqualTo(at);
            assertThat(odd.get(i).queuePairNumber()).isEqualTo(at);
        }
        assertThat(Pattern.mismatch(memory.segment().asSlice(0, 39), 5)).isEqualTo(-1);
        memory.close();
        second.close();
        pd.close();
        cq.close();
    }

    /** Keys are those of the protection domain of the queue that the request names. */
    @Test
    void theQueueSaysWhichMemoryIsReached() throws VerbsException {
        Pair p = xrc();
        CompletionQueue cq = p.near.context.createCompletionQueue(8);
        ProtectionDomain pd = p.near.context.allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(4096, AccessFlags.ALL);
        SharedReceiveQueue second = queue(p, pd, cq);
        EndAddress there = new EndAddress("", 0, 0, memory.rkey(), memory.address(), memory.length());
        p.far.fill(0, 100, 3);
        assertPosted(p.far.post(Op.write(1, p.nearAddress, 0).on(0, 100)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.far.awaitSend());
        name(p, second.number());
        assertPosted(p.far.post(Op.write(2, there, 10).on(0, 100), Op.read(3, there, 10).on(200, 100)));
        p.far.act(end -> assertAllSent(end.awaitSends(2)));
        assertThat(Pattern.mismatch(memory.segment().asSlice(10, 100), 3)).isEqualTo(-1);
        assertThat(p.far.mismatch(200, 100, 3)).isEqualTo(-1);
        p.near.remember();
        assertFails(p, WcStatus.REM_ACCESS_ERR, Op.write(4, p.nearAddress, 0).on(200, 100));
        assertUntouched(p.near);
        memory.close();
        second.close();
        pd.close();
        cq.close();
    }

    @Test
    void manySendersFillOneQueue() throws VerbsException {
        Pair p = xrc();
        List<Integer> senders = new ArrayList<>(List.of(p.farAddress.queuePairNumber()));
        List<Integer> targets = new ArrayList<>(List.of(target(p.near).number()));
        for (int i = 0; i < 3; i++) {
            QueuePair q = p.near.queuePair();
            senders.add(p.connect(q).queuePairNumber());
            targets.add(p.near.xrc().target(q).number());
        }
        postReceives(p.near, 0, CAPACITY);
        p.far.fill(0, SLOT, 7);
        for (int round = 0; round < 20; round++) {
            for (int s : senders) {
                assertAllSent(send(p.far, s, 0, 8, 48, 49, 64, 200, SLOT));
            }
            List<Completion> got = p.near.awaitReceives(7 * senders.size());
            assertThat(got.stream().map(Completion::wrId).distinct()).as("each receive once").hasSameSizeAs(got);
            for (int t : targets) {
                assertThat(got.stream().filter(c -> c.queuePairNumber() == t).mapToLong(Completion::byteLength))
                        .as("messages to 0x%x in order", t).containsExactly(0L, 8L, 48L, 49L, 64L, 200L, 512L);
            }
            for (Completion c : got) {
                assertDone(WcOpcode.RECV, c.wrId(), c);
                assertThat(Pattern.mismatch(p.near.at(SLOT * (c.wrId() % CAPACITY), c.byteLength()), 7)).isEqualTo(-1);
                assertPosted(p.near.postReceives(receive(c.wrId())));
            }
        }
    }

    // ---- requests that name none, or a wrong one

    @Test
    void everyRequestNamesAQueue() throws VerbsException {
        Pair p = xrc();
        postReceives(p.near, 0, 2);
        EndAddress near = p.nearAddress;
        p.far.act(end -> {
            int n = Objects.requireNonNull(near.xrc()).srq();
            SendQueue sq = end.qp.sendQueue();
            MemoryRegion r = end.region;
            assertRefused(Errno.EINVAL, sq.start().send(1, 0).sge(r, 0, 8).complete());
            assertRefused(Errno.EINVAL, sq.start().write(1, 0, near.rkey(), near.address()).sge(r, 0, 8).complete());
            assertRefused(Errno.EINVAL, sq.start().read(1, 0, near.rkey(), near.address()).sge(r, 0, 8).complete());
            assertRefused(Errno.EINVAL, sq.postSend(1, 0, r, 0, 8));
            assertRefused(Errno.EINVAL, sq.postWrite(1, 0, r, 0, 8, near.rkey(), near.address()));
            assertRefused(Errno.EINVAL, sq.postRead(1, 0, r, 0, 8, near.rkey(), near.address()));
            assertRefused(Errno.EINVAL, sq.start().remoteSharedReceiveQueue(n).send(1, 0).sge(r, 0, 8).complete());
            assertRefused(Errno.EINVAL, sq.start().remoteSharedReceiveQueue(n).complete());
            for (int bad : new int[] {-1, 1 << 24, Integer.MIN_VALUE}) {
                assertRefused(Errno.EINVAL, sq.start().send(1, 0).remoteSharedReceiveQueue(bad).complete());
            }
            // one that does not spoils the batch
            assertRefused(Errno.EINVAL, sq.start().send(1, SendFlags.SIGNALED).remoteSharedReceiveQueue(n)
                    .sge(r, 0, 8).send(2, SendFlags.SIGNALED).sge(r, 0, 8).complete());
            end.expectNoCompletion();
            assertPosted(sq.start().send(3, SendFlags.SIGNALED).sge(r, 0, 8).remoteSharedReceiveQueue(n).complete());
            assertDone(WcOpcode.SEND, 3, end.awaitSend());
        });
        assertReceived(0, 8, p.near.awaitReceive());
    }

    @ParameterizedTest
    @ValueSource(ints = {QueuePairType.RC, QueuePairType.UC, QueuePairType.UD})
    void onlyRequestsOfThisTypeNameOne(int type) throws VerbsException {
        Pair p = connected(EndOptions.defaults().type(type), EndOptions.defaults().type(type));
        SendQueue sq = p.near.qp.sendQueue().start().send(1, SendFlags.SIGNALED).remoteSharedReceiveQueue(1)
                .sge(p.near.region, 0, 8);
        if (p.near.isDatagram()) {
            sq.datagram(p.near.handle(p.farAddress.gid()), p.farAddress.queuePairNumber(), 1);
        }
        assertRefused(Errno.EINVAL, sq.complete());
        p.near.expectNoCompletion();
        assertPosted(p.far.postReceives(Op.receive(3).on(0, 100)));
        sent(p, Op.send(2).on(0, 8));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aQueueThatThereIsNotIsAnError(boolean write) throws VerbsException {
        Pair p = xrc();
        postReceives(p.near, 0, 4);
        int own = p.near.xrc().srq.number();
        SharedReceiveQueue closed = queue(p, p.near.pd, p.near.receiveCq);
        int gone = closed.number();
        closed.close();
        for (int wrong : new int[] {0, 0xffffff, gone, p.nearAddress.queuePairNumber()}) {
            Pair q = xrc();
            name(q, wrong);
            assertFails(q, WcStatus.REM_INV_REQ_ERR, write ? Op.write(1, q.nearAddress, 0).on(0, 8) : Op.send(1));
        }
        name(p, own);
        assertAllSent(send(p, 8));
        assertReceived(0, 8, p.near.awaitReceive());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aQueueOfAnotherDomainIsAnError(boolean write) throws VerbsException {
        Pair p = xrc();
        Pair other = xrc();
        postReceives(other.near, 0, 4);
        name(p, other.near.xrc().srq.number());
        assertFails(p, WcStatus.REM_INV_REQ_ERR, write ? Op.write(1, other.nearAddress, 0).on(0, 8) : Op.send(1));
        assertAllSent(send(other, 8));
        assertReceived(0, 8, other.near.awaitReceive());
    }

    @Test
    void aQueueThatIsClosedIsAnError() throws VerbsException {
        Pair p = xrc();
        CompletionQueue cq = p.near.context.createCompletionQueue(8);
        SharedReceiveQueue second = queue(p, p.near.pd, cq);
        post(second, p.near, 1);
        post(second, p.near, 2);
        name(p, second.number());
        assertAllSent(send(p, 8));
        assertReceived(1, 8, p.near.await(cq, 1).getFirst());
        second.close();
        cq.close();
        assertFails(p, WcStatus.REM_INV_REQ_ERR, Op.send(3).on(0, 8));
    }

    // ---- errors of the receiving side

    @Test
    void aMessageThatIsTooLongFailsItsConnectionOnly() throws VerbsException {
        Pair p = xrc();
        int other = p.connect(p.near.queuePair()).queuePairNumber();
        postReceives(p.near, 0, 4);
        assertFails(p, WcStatus.REM_INV_REQ_ERR, Op.send(1).on(0, SLOT + 1));
        Completion c = p.near.awaitReceive();
        assertThat(c.statusName()).isEqualTo("LOC_LEN_ERR");
        assertThat(c.queuePairNumber()).isEqualTo(target(p.near).number());
        assertAllSent(send(p.far, other, 1, 2, 3));
        assertThat(p.near.awaitReceives(3).stream().mapToLong(Completion::wrId).filter(id -> id != c.wrId()))
                .hasSize(3);
    }

    /** A receive's memory is checked when it is taken. */
    @Test
    void aReceiveOfForeignMemoryFailsBothEnds() throws VerbsException {
        Pair p = xrc();
        ProtectionDomain pd = p.near.context.allocateProtectionDomain();
        MemoryRegion foreign = pd.allocate(4096, AccessFlags.ALL);
        int posted = p.near.xrc().srq.receiveQueue().post(7, foreign, 0, 64);
        if (posted == 0) {
            assertFails(p, WcStatus.REM_OP_ERR, Op.send(1).on(0, 8));
            assertStatus(WcStatus.LOC_PROT_ERR, 7, p.near.awaitReceive());
        } else {
            assertRefused(Errno.EINVAL, posted);
        }
        foreign.close();
        pd.close();
    }

    @Test
    void rightsOfTheTargetCount() throws VerbsException {
        Pair p = xrc(EndOptions.defaults().queuePairAccess(AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE),
                EndOptions.defaults());
        assertPosted(p.far.post(Op.write(1, p.nearAddress, 0).on(0, 8)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.far.awaitSend());
        assertFails(p, WcStatus.REM_INV_REQ_ERR, Op.read(2, p.nearAddress, 0).on(0, 8));
    }

    @Test
    void aMessageWithAWrongKeyIsAnErrorOnBothEnds() throws VerbsException {
        Pair p = xrc();
        needs(p.near.context, Feature.SEND_INVALIDATE);
        postReceives(p.near, 0, 2);
        int key = p.nearAddress.rkey(); // of a region, which no message takes away
        p.far.act(end -> {
            assertPosted(end.name(end.qp, end.qp.sendQueue().start().sendInvalidate(2, SendFlags.SIGNALED, key))
                    .sge(end.region, 0, 8).complete());
            assertStatus(WcStatus.REM_ACCESS_ERR, 2, end.awaitSend());
        });
        assertThat(p.near.awaitReceive().statusName()).isEqualTo("REM_INV_REQ_ERR");
        p.far.awaitState(QueuePairState.ERR);
        assertPosted(p.far.post(Op.write(3, p.nearAddress, 0).on(0, 8)));
        assertStatus(WcStatus.WR_FLUSH_ERR, 3, p.far.awaitSend());
    }

    // ---- waiting for receives

    @Test
    void aMessageWaitsForAReceive() throws VerbsException {
        Pair p = xrc();
        assertPosted(p.far.post(Op.send(1).on(0, 8)));
        Await.never("the send completes", () -> p.far.run(end -> !End.poll(end.sendCq, 4).isEmpty()));
        postReceives(p.near, 0, 1);
        assertReceived(0, 8, p.near.awaitReceive());
        assertDone(WcOpcode.SEND, 1, p.far.awaitSend());
    }

    @Test
    void retriesForAReceiveEnd() throws VerbsException {
        Pair p = xrc(EndOptions.defaults(), EndOptions.defaults().rnrRetry(1));
        postReceives(p.near, 0, 1);
        assertAllSent(send(p, 8));
        assertPosted(p.far.post(Op.send(1).on(0, 8)));
        assertStatus(WcStatus.RNR_RETRY_EXC_ERR, 1, p.far.awaitSend());
        p.far.awaitState(QueuePairState.ERR);
        assertReceived(0, 8, p.near.awaitReceive());
    }

    // ---- events and time

    @Test
    void theQueuesCompletionsMakeEvents() throws VerbsException {
        Pair p = xrc(EndOptions.defaults().channel(), EndOptions.defaults());
        CompletionChannel channel = Objects.requireNonNull(p.near.channel);
        postReceives(p.near, 0, 8);
        assertPosted(p.near.receiveCq.requestNotify(true));
        assertAllSent(send(p, 8));
        assertThat(channel.await(Await.WHILE)).as("not solicited").isNull();
        assertPosted(p.far.post(Op.send(2).on(0, 8).and(SendFlags.SOLICITED)));
        assertThat(channel.await(Await.LIMIT)).isSameAs(p.near.receiveCq);
        assertDone(WcOpcode.SEND, 2, p.far.awaitSend());
        assertThat(p.near.awaitReceives(2)).extracting(Completion::wrId).containsExactly(0L, 1L);
        assertPosted(p.near.receiveCq.requestNotify(false));
        assertAllSent(send(p, 8));
        assertThat(channel.await(Await.LIMIT)).isSameAs(p.near.receiveCq);
        assertReceived(2, 8, p.near.awaitReceive());
    }

    @Test
    void theLimitIsReachedOnce() throws VerbsException {
        Pair p = xrc();
        SharedReceiveQueue q = p.near.xrc().srq;
        postReceives(p.near, 0, 6);
        q.modify(SharedReceiveQueueAttributes.builder().limit(4).build());
        assertAllSent(send(p, 1, 1));
        assertThat(p.near.context.awaitAsyncEvent(Await.WHILE)).as("4 are left").isNull();
        assertAllSent(send(p, 1));
        AsyncEvent e = p.near.context.awaitAsyncEvent(Await.LIMIT);
        assertThat(e).isNotNull();
        assertThat(AsyncEventType.toString(e.type())).isEqualTo("SRQ_LIMIT_REACHED");
        assertThat(e.element()).isSameAs(q);
        assertThat(q.query().limit()).isZero();
        assertAllSent(send(p, 1, 1, 1)); // the last of the receives
        assertThat(p.near.context.awaitAsyncEvent(Await.WHILE)).as("once").isNull();
        p.near.awaitReceives(6);
    }

    @Test
    void completionsHaveTime() throws VerbsException {
        Pair p = xrc(EndOptions.defaults().fields(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP),
                EndOptions.defaults());
        needs(p.near.context, Feature.COMPLETION_TIMESTAMP);
        postReceives(p.near, 0, 10);
        long last = 0;
        for (int i = 0; i < 10; i++) {
            assertAllSent(send(p, i));
            Completion c = p.near.awaitReceive();
            assertThat(c.timestamp()).isGreaterThan(last);
            last = c.timestamp();
        }
    }

    /** The completion says where the message came from. */
    @Test
    void theSenderIsKnown() throws VerbsException {
        Pair p = xrc();
        postReceives(p.near, 0, 1);
        assertPosted(p.far.post(Op.sendImmediate(1, 0x1234).on(0, 8)));
        assertDone(WcOpcode.SEND, 1, p.far.awaitSend());
        Completion c = p.near.awaitReceive();
        assertReceived(0, 8, c);
        assertThat(c.flags()).isEqualTo(WcFlags.WITH_IMM);
        assertThat(c.immediate()).isEqualTo(0x1234);
        assertThat(c.sourceQueuePair()).isEqualTo(p.farAddress.queuePairNumber());
        assertThat(c.queuePairNumber()).isEqualTo(target(p.near).number());
    }

    // ---- memory beyond reading and writing

    @Test
    void flushesAndAtomicWrites() throws VerbsException {
        int access = AccessFlags.ALL | AccessFlags.FLUSH_GLOBAL;
        Pair p = xrc(EndOptions.defaults().access(access).queuePairAccess(access), EndOptions.defaults());
        needs(p.near.context, Feature.FLUSH);
        needs(p.near.context, Feature.ATOMIC_WRITE);
        EndAddress near = p.nearAddress;
        p.far.act(end -> {
            assertPosted(end.post(Op.write(1, near, 64).on(0, 8).unsignaled()));
            SendQueue sq = end.qp.sendQueue().start();
            end.name(end.qp, sq.atomicWrite(2, SendFlags.SIGNALED, near.rkey(), near.address() + 8, 42));
            end.name(end.qp, sq.flush(3, SendFlags.SIGNALED, near.rkey(), near.address(), 128, FlushType.GLOBAL,
                    FlushType.RANGE));
            assertPosted(sq.complete());
            assertDone(WcOpcode.ATOMIC_WRITE, 2, end.awaitSend());
            assertDone(WcOpcode.FLUSH, 3, end.awaitSend());
        });
        assertThat(p.near.getLong(8)).isEqualTo(42);
    }

    /** A window of type 1 is of a protection domain, so whoever reaches that reaches the window. */
    @Test
    void windowsAreReachedThroughTheQueue() throws VerbsException {
        Pair p = xrc(EndOptions.defaults().access(AccessFlags.ALL | AccessFlags.MW_BIND), EndOptions.defaults());
        needs(p.near.context, Feature.MEMORY_WINDOW_TYPE_1);
        QueuePair helper = p.near.keep(p.near.pd.createQueuePair(QueuePairInitAttributes
                .builder(p.near.sendCq, p.near.sendCq).build()));
        helper.modify(XrcEnd.init(0));
        helper.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(p.nearAddress.vector())
                .pathMtu(p.near.context.queryPort(1).activeMtu()).destinationQueuePair(helper.number()).rqPsn(0)
                .maxDestReadAtomic(1).minRnrTimer(12).build());
        helper.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).timeout(14).retryCount(7).rnrRetry(7)
                .maxReadAtomic(1).build());
        MemoryWindow w = p.near.keep(p.near.pd.allocateMemoryWindow(MemoryWindow.TYPE_1));
        assertPosted(helper.bindMemoryWindow(w, 9, SendFlags.SIGNALED, p.near.region, p.near.region.address() + 64, 64,
                AccessFlags.REMOTE_WRITE));
        assertDone(WcOpcode.BIND_MW, 9, p.near.awaitSend());
        EndAddress window = new EndAddress("", 0, 0, w.rkey(), p.near.region.address(), 128);
        p.far.fill(0, 64, 8);
        assertPosted(p.far.post(Op.write(1, window, 64).on(0, 64)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.far.awaitSend());
        assertThat(Pattern.mismatch(p.near.at(64, 64), 8)).isEqualTo(-1);
        assertFails(p, WcStatus.REM_ACCESS_ERR, Op.write(2, window, 63).on(0, 64));
    }

    @Test
    void aRegionThatIsClosedIsNotReached() throws VerbsException {
        Pair p = xrc();
        MemoryRegion more = p.near.pd.allocate(4096, AccessFlags.ALL);
        EndAddress there = new EndAddress("", 0, 0, more.rkey(), more.address(), more.length());
        assertPosted(p.far.post(Op.write(1, there, 0).on(0, 8)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.far.awaitSend());
        more.close();
        assertFails(p, WcStatus.REM_ACCESS_ERR, Op.write(2, there, 0).on(0, 8));
    }

    // ---- states

    private static void reset(End end) throws VerbsException {
        end.to(QueuePairState.RESET);
        target(end).modify(XrcEnd.to(QueuePairState.RESET));
    }

    @Test
    void queuePairsAreConnectedAnew() throws VerbsException {
        Pair p = xrc();
        postReceives(p.near, 0, 4);
        for (int round = 0; round < 3; round++) {
            assertAllSent(send(p, 8));
            assertReceived(round, 8, p.near.awaitReceive());
            target(p.near).modify(XrcEnd.to(QueuePairState.ERR));
            assertPosted(p.far.post(Op.send(1).on(0, 8)));
            Completion c = p.far.awaitSend();
            assertThat(c.status()).as(c.toString()).isNotEqualTo(WcStatus.SUCCESS);
            p.far.awaitState(QueuePairState.ERR);
            assertThat(End.poll(p.near.receiveCq, 4)).as("receives stay in the queue").isEmpty();
            reset(p.near);
            p.far.act(XrcConformance::reset);
            p.connect();
        }
    }

    @Test
    void attributesAreThoseOfTheType() throws VerbsException {
        Pair p = xrc();
        QueuePairAttributes sender = p.near.qp.query();
        assertThat(sender.state()).isEqualTo(QueuePairState.RTS);
        assertThat(sender.destinationQueuePair()).isEqualTo(p.farAddress.destination());
        assertThat(sender.retryCount()).isEqualTo(7);
        assertThat(p.near.qp.initAttributes().maxReceiveWr()).isZero();
        QueuePairAttributes target = target(p.near).query();
        assertThat(target.state()).isEqualTo(QueuePairState.RTS);
        assertThat(target.destinationQueuePair()).isEqualTo(p.farAddress.queuePairNumber());
        assertThat(target.accessFlags()).isEqualTo(AccessFlags.ALL);
        assertErrno(Errno.EINVAL, () -> p.near.qp.modify(QueuePairAttributes.to(QueuePairState.RTS)
                .minRnrTimer(3).build()), "MIN_RNR_TIMER");
        target(p.near).modify(QueuePairAttributes.to(QueuePairState.RTS).minRnrTimer(3).build());
        assertThat(target(p.near).query().minRnrTimer()).isEqualTo(3);
    }

    /** The sender looks for a target that is closed. */
    @Test
    void aTargetThatIsClosedEndsTheConnection() throws VerbsException {
        Pair p = xrc(EndOptions.defaults(), EndOptions.defaults().retry(10, 1));
        postReceives(p.near, 0, 2);
        assertAllSent(send(p, 8));
        p.near.xrc().closeTargets();
        assertPosted(p.far.post(Op.send(1).on(0, 8)));
        Completion c = p.far.awaitSend();
        assertThat(c.statusName()).as(c.toString()).isIn("RETRY_EXC_ERR", "REM_INV_REQ_ERR");
        p.far.awaitState(QueuePairState.ERR);
        assertReceived(0, 8, p.near.awaitReceive());
    }

    @Test
    void anErrorIsToldToAllWhoHaveTheTargetOpen() throws VerbsException {
        Pair p = xrc();
        QueuePair t = target(p.near);
        QueuePair second = p.near.keep(p.near.xrc().domain.openQueuePair(
                XrcEnd.numbered(t.number())));
        assertFails(p, WcStatus.REM_ACCESS_ERR, Op.write(1, p.nearAddress, 1L << 40).on(0, 8));
        List<Object> told = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            AsyncEvent e = p.near.context.awaitAsyncEvent(Await.LIMIT);
            assertThat(e).isNotNull();
            assertThat(AsyncEventType.toString(e.type())).isEqualTo("QP_ACCESS_ERR");
            told.add(e.element());
        }
        assertThat(told).containsExactlyInAnyOrder(t, second);
        assertThat(second.state()).isEqualTo(QueuePairState.ERR);
    }
}
