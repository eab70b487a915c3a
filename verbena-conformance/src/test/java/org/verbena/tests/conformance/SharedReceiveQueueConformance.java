// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Shared receive queues: the near end receives messages of far ends on several queue pairs, reliable or not. */
abstract class SharedReceiveQueueConformance extends Conformance {
    static final int CAPACITY = 64;
    private static final int SLOT = 512;

    SharedReceiveQueueConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsSharedReceiveQueues() throws VerbsException {
        try (Context c = fixture.open()) {
            needs(c, Feature.SHARED_RECEIVE_QUEUE);
        }
    }

    /** Of type RC, not UC. */
    private boolean isReliable() {
        return adapted(EndOptions.defaults()).type == QueuePairType.RC;
    }

    static SharedReceiveQueueAttributes.Builder attributes() {
        return SharedReceiveQueueAttributes.builder();
    }

    /** A pair whose near end is on a shared receive queue. */
    final Pair sharing(EndOptions near, EndOptions far) throws VerbsException {
        return connected(near.sharedReceives().queues(CAPACITY), far.queues(CAPACITY));
    }

    final Pair sharing() throws VerbsException {
        return sharing(EndOptions.defaults(), EndOptions.defaults());
    }

    static SharedReceiveQueue srq(End end) {
        return Objects.requireNonNull(end.srq);
    }

    private static Op[] receives(int n) {
        return LongStream.range(0, n).mapToObj(SharedReceiveQueueConformance::receive).toArray(Op[]::new);
    }

    private static Op receive(long id) {
        return Op.receive(id).on(SLOT * (id % CAPACITY), SLOT);
    }

    static void postReceives(End end, int from, int to) {
        assertPosted(end.postReceives(IntStream.range(from, to).mapToObj(SharedReceiveQueueConformance::receive)
                .toArray(Op[]::new)));
    }

    /** Sends from one queue pair of the far end; returns the statuses. */
    static List<Completion> send(Far far, int number, long... lengths) throws VerbsException {
        return far.run(end -> {
            QueuePair q = end.queuePair(number);
            for (int i = 0; i < lengths.length; i++) {
                int r = end.post(q, Op.send(i).on(0, lengths[i]));
                if (r != 0) {
                    throw new AssertionError(Errno.name(r));
                }
            }
            return end.await(end.sendCq, lengths.length);
        });
    }

    static void assertAllSent(List<Completion> completions) {
        assertThat(completions).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    // ---- create, modify, close

    @Test
    void sizesBeyondTheLimitsAreRefused() throws VerbsException {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        int maxWr = c.queryDevice().maxSrqWr();
        int maxSge = c.queryDevice().maxSrqSge();
        assertThat(c.queryDevice().maxSrq()).isPositive();
        for (int bad : new int[] {0, -1, maxWr + 1}) {
            assertErrno(Errno.EINVAL, () -> pd.createSharedReceiveQueue(attributes().maxWr(bad).build()), "maxWr");
        }
        for (int bad : new int[] {-1, maxSge + 1}) {
            assertErrno(Errno.EINVAL, () -> pd.createSharedReceiveQueue(attributes().maxSge(bad).build()), "maxSge");
        }
        try (SharedReceiveQueue q = pd.createSharedReceiveQueue(attributes().maxWr(maxWr).maxSge(maxSge).build())) {
            assertThat(q.query().maxWr()).isGreaterThanOrEqualTo(maxWr);
            assertThat(q.query().maxSge()).isGreaterThanOrEqualTo(maxSge);
            assertThat(q.query().limit()).isZero();
            assertThat(q.protectionDomain()).isSameAs(pd);
        }
    }

    @Test
    void usedQueueIsBusyAndClosedQueueIsRefused() throws VerbsException {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(8);
        SharedReceiveQueue q = pd.createSharedReceiveQueue(attributes().build());
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).sharedReceiveQueue(q).build());
        assertThat(qp.initAttributes().sharedReceiveQueue()).isSameAs(q);
        assertErrno(Errno.EBUSY, q::close);
        qp.close();
        assertErrno(Errno.EBUSY, pd::close);
        q.close();
        q.close();
        assertErrno(Errno.EINVAL, q::query, "closed");
        assertErrno(Errno.EINVAL, () -> q.modify(attributes().limit(1).build()), "closed");
        assertRefused(Errno.EINVAL, q.receiveQueue().start().receive(1).complete());
        assertErrno(Errno.EINVAL, () -> pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq)
                .sharedReceiveQueue(q).build()), "closed");
        pd.close();
        assertErrno(Errno.EINVAL, () -> pd.createSharedReceiveQueue(attributes().build()), "closed");
    }

    /** A queue pair with a shared queue has no receives of its own, whatever it requests: ibv_create_qp(3). */
    @Test
    void receiveSizesOfTheQueuePairAreIgnored() throws VerbsException {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(8);
        SharedReceiveQueue q = pd.createSharedReceiveQueue(attributes().build());
        int type = adapted(EndOptions.defaults()).type;
        for (int wanted : new int[] {0, 1, c.queryDevice().maxQpWr() + 1, Integer.MAX_VALUE}) {
            try (QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(type)
                    .sharedReceiveQueue(q).maxReceiveWr(wanted).maxReceiveSge(wanted).build())) {
                assertThat(qp.initAttributes().maxReceiveWr()).isZero();
                assertThat(qp.initAttributes().maxReceiveSge()).isZero();
                assertThat(qp.initAttributes().sharedReceiveQueue()).isSameAs(q);
            }
        }
    }

    @Test
    void queueOfAnotherContextIsRefused() throws VerbsException {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(8);
        SharedReceiveQueue foreign = open().allocateProtectionDomain().createSharedReceiveQueue(attributes().build());
        assertErrno(Errno.EINVAL, () -> pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq)
                .sharedReceiveQueue(foreign).build()), "another context");
    }

    @Test
    void invalidModifyIsRefused() throws VerbsException {
        ProtectionDomain pd = open().allocateProtectionDomain();
        SharedReceiveQueue q = pd.createSharedReceiveQueue(attributes().maxWr(4).maxSge(1).build());
        assertErrno(Errno.EINVAL, () -> q.modify(attributes().build()), "neither");
        int max = q.query().maxWr();
        assertThat(max).isIn(4, fixture.queueSize(4));
        assertErrno(Errno.EINVAL, () -> q.modify(attributes().limit(max + 1).build()), "limit");
        assertErrno(Errno.EINVAL, () -> q.modify(attributes().limit(-1).build()), "limit");
        assertErrno(Errno.EINVAL, () -> q.modify(attributes().maxWr(0).build()), "maxWr");
        assertErrno(Errno.EINVAL, () -> q.modify(attributes().maxWr(1 << 30).build()), "maxWr");
        for (int i = 0; i < 3; i++) {
            assertPosted(q.receiveQueue().start().receive(i).complete());
        }
        q.modify(attributes().limit(3).build());
        assertThat(q.query().limit()).isEqualTo(3);
        assertErrno(Errno.EINVAL, () -> q.modify(attributes().maxWr(2).build()), "limit");
        assertErrno(Errno.EINVAL, () -> q.modify(attributes().maxWr(2).limit(0).build()), fixture.saysWhatWaits()
                ? "outstanding"
                : "");
        assertThat(q.query().maxWr()).isEqualTo(max);
    }

    @Test
    void invalidPostIsRefused() throws VerbsException {
        End end = end(EndOptions.defaults().sharedReceives().queues(4).maxSge(2));
        SharedReceiveQueue q = srq(end);
        assertRefused(Errno.EINVAL, end.qp.receiveQueue().start().receive(1).complete());
        assertRefused(Errno.EINVAL, end.qp.receiveQueue().post(1, end.region, 0, 8));
        assertRefused(Errno.EINVAL, q.receiveQueue().complete());
        assertRefused(Errno.EINVAL, end.postReceives(Op.receive(1).on(0, 8).on(8, 8).on(16, 8)));
        int places = fixture.queueSize(4);
        assertRefused(Errno.ENOMEM, end.postReceives(receives(places + 1)));
        assertPosted(end.postReceives(receives(4)));
        for (int i = 4; i < places; i++) {
            assertPosted(q.receiveQueue().post(i, end.region, 0, 8));
        }
        assertRefused(Errno.ENOMEM, q.receiveQueue().post(places, end.region, 0, 8));
        q.modify(attributes().maxWr(places + 1).build());
        for (int i = places; i < fixture.queueSize(places + 1); i++) {
            assertPosted(q.receiveQueue().post(i, end.region, 0, 8));
        }
        assertRefused(Errno.ENOMEM, q.receiveQueue().post(999, end.region, 0, 8));
    }

    // ---- messages

    @Test
    void severalQueuePairsShareOneQueue() throws VerbsException {
        Pair p = sharing();
        List<Integer> senders = new ArrayList<>(List.of(p.farAddress.queuePairNumber()));
        List<QueuePair> receivers = new ArrayList<>(List.of(p.near.qp));
        for (int i = 0; i < 3; i++) {
            QueuePair q = p.near.queuePair();
            receivers.add(q);
            senders.add(p.connect(q).queuePairNumber());
        }
        postReceives(p.near, 0, CAPACITY);
        p.far.fill(0, SLOT, 7);
        for (int round = 0; round < 20; round++) {
            for (int s : senders) {
                assertAllSent(send(p.far, s, 0, 8, 48, 49, 64, 200, SLOT));
            }
            List<Completion> got = p.near.awaitReceives(7 * senders.size());
            assertThat(got.stream().map(Completion::wrId).distinct()).as("each receive once").hasSameSizeAs(got);
            for (QueuePair q : receivers) {
                assertThat(got.stream().filter(c -> c.queuePairNumber() == q.number()).mapToLong(
                        Completion::byteLength))
                        .as("messages of %s in order", q.describe()).containsExactly(0L, 8L, 48L, 49L, 64L, 200L, 512L);
            }
            for (Completion c : got) {
                assertDone(WcOpcode.RECV, c.wrId(), c);
                assertThat(Pattern.mismatch(p.near.at(SLOT * (c.wrId() % CAPACITY), c.byteLength()), 7)).isEqualTo(-1);
                assertPosted(p.near.postReceives(receive(c.wrId())));
            }
        }
    }

    @Test
    void severalCompletionQueuesAreUsed() throws VerbsException {
        Pair p = sharing();
        CompletionQueue other = p.near.keep(p.near.context.createCompletionQueue(CAPACITY));
        QueuePair second = p.near.queuePair(other);
        int sender = p.connect(second).queuePairNumber();
        postReceives(p.near, 0, 8);
        assertAllSent(send(p.far, sender, 1, 2, 3));
        assertAllSent(send(p.far, p.farAddress.queuePairNumber(), 4, 5));
        assertThat(p.near.await(other, 3)).extracting(Completion::byteLength).containsExactly(1L, 2L, 3L);
        assertThat(p.near.awaitReceives(2)).extracting(Completion::byteLength).containsExactly(4L, 5L);
        assertThat(End.poll(other, 1)).isEmpty();
    }

    @Test
    void immediateAndInlineDataArrive() throws VerbsException {
        Pair p = sharing();
        EndAddress near = p.nearAddress;
        postReceives(p.near, 0, 4);
        p.far.fill(0, 64, 3);
        assertPosted(p.far.post(Op.sendImmediate(1, 0x12345678).on(0, 16), Op.writeImmediate(2, near, 40000, 77).on(0,
                64),
                Op.send(3).inlineFrom(0, 64), Op.writeImmediate(4, near, 40000, 78)));
        List<Completion> got = p.near.awaitReceives(4);
        assertThat(got).extracting(Completion::immediate).containsExactly(0x12345678, 77, 0, 78);
        assertThat(got).extracting(Completion::opcode).containsExactly(WcOpcode.RECV, WcOpcode.RECV_RDMA_WITH_IMM,
                WcOpcode.RECV, WcOpcode.RECV_RDMA_WITH_IMM);
        assertThat(got.stream().map(Completion::wrId)).containsExactlyInAnyOrder(0L, 1L, 2L, 3L);
        assertThat(Pattern.mismatch(p.near.at(40000, 64), 3)).isEqualTo(-1);
        assertThat(Pattern.mismatch(p.near.at(SLOT * got.get(2).wrId(), 64), 3)).isEqualTo(-1);
    }

    // ---- events

    @Test
    void limitEventIsRaisedOnce() throws VerbsException {
        Pair p = sharing();
        SharedReceiveQueue q = srq(p.near);
        postReceives(p.near, 0, 8);
        q.modify(attributes().limit(6).build());
        assertThat(p.near.context.awaitAsyncEvent(Duration.ofMillis(50))).isNull();
        int sender = p.farAddress.queuePairNumber();
        assertAllSent(send(p.far, sender, 1, 1));
        assertThat(p.near.context.awaitAsyncEvent(Duration.ofMillis(50))).as("6 are left").isNull();
        assertAllSent(send(p.far, sender, 1));
        assertEvent(p.near, AsyncEventType.SRQ_LIMIT_REACHED, q);
        assertThat(q.query().limit()).isZero();
        assertAllSent(send(p.far, sender, 1, 1));
        assertThat(p.near.context.awaitAsyncEvent(Duration.ofMillis(50))).as("once").isNull();
        q.modify(attributes().limit(7).build());
        assertEvent(p.near, AsyncEventType.SRQ_LIMIT_REACHED, q);
    }

    /** A write with immediate and a wrong key uses no receive, so that it does not count for the limit. */
    @Test
    void undeliveredMessagesDoNotCountForTheLimit() throws VerbsException {
        Pair p = sharing();
        QueuePair second = p.near.queuePair();
        int sender = p.connect(second).queuePairNumber();
        SharedReceiveQueue q = srq(p.near);
        postReceives(p.near, 0, 8);
        q.modify(attributes().limit(8).build());
        EndAddress near = p.nearAddress;
        Completion c = p.far.run(end -> {
            assertPosted(end.post(Op.writeImmediate(1, near, 0, 2).on(0, 8).at(0, near.address())));
            return end.awaitSend();
        });
        assertStatus(isReliable() ? WcStatus.REM_ACCESS_ERR : WcStatus.SUCCESS, 1, c);
        p.near.expectNoCompletion();
        assertThat(q.query().limit()).isEqualTo(8);
        assertAllSent(send(p.far, sender, 1));
        p.near.awaitReceive();
        Await.until("the event of the limit", () -> {
            AsyncEvent e = p.near.context.awaitAsyncEvent(Duration.ofMillis(10)); // the first queue pair has failed
            return e != null && e.type() == AsyncEventType.SRQ_LIMIT_REACHED;
        }, () -> "limit " + limit(q));
        assertThat(q.query().limit()).isZero();
    }

    private static String limit(SharedReceiveQueue q) {
        try {
            return Integer.toString(q.query().limit());
        } catch (VerbsException e) {
            return e.getMessage();
        }
    }

    private static void assertEvent(End end, int type, Object element) throws VerbsException {
        AsyncEvent e = end.context.awaitAsyncEvent(Await.LIMIT);
        assertThat(e).isNotNull();
        assertThat(AsyncEventType.toString(e.type())).isEqualTo(AsyncEventType.toString(type));
        assertThat(e.element()).isSameAs(element);
    }

    @Test
    void failedQueuePairRaisesLastWqeReachedAndFlushesNoReceive() throws VerbsException {
        Pair p = sharing();
        QueuePair second = p.near.queuePair();
        int sender = p.connect(second).queuePairNumber();
        postReceives(p.near, 0, 8);
        p.near.to(QueuePairState.ERR);
        assertEvent(p.near, AsyncEventType.QP_LAST_WQE_REACHED, p.near.qp);
        assertThat(End.poll(p.near.receiveCq, 8)).isEmpty();
        assertAllSent(send(p.far, sender, 1, 2, 3, 4, 5, 6, 7, 8));
        List<Completion> got = p.near.awaitReceives(8);
        assertThat(got.stream().map(Completion::wrId)).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
        assertThat(second.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void tooLongMessageFailsItsQueuePairsOnly() throws VerbsException {
        Pair p = sharing();
        QueuePair second = p.near.queuePair();
        int sender = p.connect(second).queuePairNumber();
        postReceives(p.near, 0, 4);
        List<Completion> sent = send(p.far, p.farAddress.queuePairNumber(), SLOT + 1);
        assertThat(sent.getFirst().statusName()).isEqualTo(isReliable()
                ? WcStatus.toString(fixture.receiveTooShort(false))
                : "SUCCESS");
        Completion c = p.near.awaitReceive();
        assertThat(c.statusName()).isEqualTo(WcStatus.toString(fixture.receiveTooShort(true)));
        p.near.awaitState(QueuePairState.ERR);
        if (isReliable()) {
            p.far.awaitState(QueuePairState.ERR);
        } else {
            assertThat(p.far.state()).isEqualTo(QueuePairState.RTS);
        }
        assertAllSent(send(p.far, sender, 1, 2, 3));
        List<Completion> rest = p.near.awaitReceives(3);
        assertThat(rest.stream().mapToLong(Completion::wrId).filter(id -> id != c.wrId())).hasSize(3);
    }

    /** Messages that were received on a queue pair and not polled disappear with it; its receives stay in the queue. */
    @Test
    void closingAQueuePairKeepsTheReceives() throws VerbsException {
        Pair p = sharing();
        QueuePair second = p.near.queuePair();
        int sender = p.connect(second).queuePairNumber();
        postReceives(p.near, 0, 8);
        assertAllSent(send(p.far, sender, 1, 1, 1));
        second.close();
        List<Completion> got = new ArrayList<>();
        if (isReliable()) {
            assertAllSent(send(p.far, p.farAddress.queuePairNumber(), 2, 2, 2, 2, 2, 2, 2, 2));
            got.addAll(p.near.awaitReceives(8));
        } else {
            Await.until("8 messages", () -> { // which do not wait until the receives are back
                assertAllSent(send(p.far, p.farAddress.queuePairNumber(), 2));
                got.addAll(End.poll(p.near.receiveCq, 8));
                return got.size() >= 8;
            }, got::toString);
        }
        assertThat(got.stream().map(Completion::wrId)).hasSize(8).doesNotHaveDuplicates();
    }
}
