// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Queue pairs of type UD on a shared receive queue, alone and with others: the near end receives. */
abstract class SharedDatagramConformance extends Conformance {
    private static final int CAPACITY = 64;
    private static final int SLOT = 512;
    private static final int GRH = GlobalRoutingHeader.BYTES;

    SharedDatagramConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsBoth() throws VerbsException {
        try (Context c = fixture.open()) {
            needs(c, Feature.UD);
            needs(c, Feature.SHARED_RECEIVE_QUEUE);
        }
    }

    private static EndOptions ud() {
        return EndOptions.datagrams().queues(CAPACITY);
    }

    private Pair sharing() throws VerbsException {
        return connected(ud().sharedReceives(), ud());
    }

    private static SharedReceiveQueue srq(End end) {
        return Objects.requireNonNull(end.srq);
    }

    private static Op receive(long id) {
        return Op.receive(id).on(SLOT * (id % CAPACITY), SLOT);
    }

    private static void postReceives(End end, int from, int to) {
        assertPosted(end.postReceives(IntStream.range(from, to).mapToObj(SharedDatagramConformance::receive)
                .toArray(Op[]::new)));
    }

    private static EndAddress ready(End end, QueuePair q) throws VerbsException {
        end.toReady(q);
        return end.address(q);
    }

    /** The far end sends datagrams, each with a number, which all succeed. */
    private static void send(Far far, EndAddress to, long... numbers) throws VerbsException {
        far.act(end -> {
            for (long n : numbers) {
                end.setLong(0, n);
                int r = end.postTo(to, Op.send(n).on(0, 8));
                if (r != 0 || end.awaitSend().status() != 0) {
                    throw new AssertionError("datagram " + n + " is not sent: " + Errno.name(r));
                }
            }
        });
    }

    private static long number(End end, Completion c) {
        return end.getLong(SLOT * (c.wrId() % CAPACITY) + GRH);
    }

    private static void assertEvent(End end, int type, Object element) throws VerbsException {
        AsyncEvent e = end.context.awaitAsyncEvent(Await.LIMIT);
        assertThat(e).isNotNull();
        assertThat(AsyncEventType.toString(e.type())).isEqualTo(AsyncEventType.toString(type));
        assertThat(e.element()).isSameAs(element);
    }

    @Test
    void queuePairsOfTwoTypesShareOneQueue() throws VerbsException {
        Pair p = connected(EndOptions.defaults().queues(CAPACITY).sharedReceives(), EndOptions.defaults().queues(
                CAPACITY));
        List<EndAddress> targets = new ArrayList<>();
        List<QueuePair> receivers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            QueuePair q = p.near.queuePairOfType(QueuePairType.UD);
            receivers.add(q);
            targets.add(ready(p.near, q));
        }
        int sender = p.far.run(end -> {
            QueuePair q = end.queuePairOfType(QueuePairType.UD);
            end.toReady(q);
            return q.number();
        });
        postReceives(p.near, 0, CAPACITY);
        p.far.fill(64, 200, 9);
        for (int round = 0; round < 20; round++) {
            List<EndAddress> all = List.copyOf(targets);
            p.far.act(end -> {
                QueuePair q = end.queuePair(sender);
                for (int i = 0; i < 4; i++) {
                    for (EndAddress to : all) {
                        assertPosted(end.postTo(q, to, ud().qkey, Op.send(1).on(64, 50L * i)));
                    }
                    assertPosted(end.post(Op.send(2).on(64, 40L * i)));
                }
                assertThat(end.awaitSends(16)).extracting(Completion::statusName).containsOnly("SUCCESS");
            });
            List<Completion> got = p.near.awaitReceives(16);
            assertThat(got.stream().map(Completion::wrId).distinct()).as("each receive once").hasSameSizeAs(got);
            for (QueuePair q : receivers) {
                assertThat(got.stream().filter(c -> c.queuePairNumber() == q.number()).mapToLong(
                        Completion::byteLength))
                        .as("%s", q.describe()).containsExactly((long) GRH, GRH + 50L, GRH + 100L, GRH + 150L);
            }
            assertThat(got.stream().filter(c -> c.queuePairNumber() == p.near.qp.number()).mapToLong(
                    Completion::byteLength)).containsExactly(0L, 40L, 80L, 120L);
            for (Completion c : got) {
                boolean datagram = c.queuePairNumber() != p.near.qp.number();
                int header = datagram ? GRH : 0;
                assertDone(WcOpcode.RECV, c.wrId(), c);
                assertThat(datagram ? c.flags() : c.flags() & ~fixture.strayFlags(true)).isEqualTo(datagram
                        ? WcFlags.GRH
                        : 0);
                assertThat(c.sourceQueuePair()).isEqualTo(datagram ? sender : c.sourceQueuePair());
                assertThat(Pattern.mismatch(p.near.at(SLOT * (c.wrId() % CAPACITY) + header, c.byteLength() - header),
                        9)).isEqualTo(-1);
                assertPosted(p.near.postReceives(receive(c.wrId())));
            }
        }
    }

    @Test
    void receivesCannotBePostedToTheQueuePair() throws VerbsException {
        End end = end(ud().sharedReceives());
        end.toReady(end.qp);
        assertRefused(Errno.EINVAL, end.qp.receiveQueue().start().receive(1).sge(end.region, 0, 8).complete());
        assertRefused(Errno.EINVAL, end.qp.receiveQueue().post(1, end.region, 0, 8));
    }

    /** A datagram may use a receive that was posted when it was sent, as long as no other datagram has taken it. */
    @Test
    void datagramWithoutAFreeReceiveIsLost() throws VerbsException {
        Pair p = sharing();
        QueuePair second = p.near.queuePair();
        EndAddress other = ready(p.near, second);
        postReceives(p.near, 0, 2);
        send(p.far, p.nearAddress, 1, 2, 3);
        send(p.far, other, 4);
        List<Completion> got = p.near.awaitReceives(2);
        p.near.expectNoCompletion();
        List<Long> numbers = got.stream().map(c -> number(p.near, c)).toList();
        assertThat(numbers).isSubsetOf(1L, 2L, 4L).doesNotHaveDuplicates();
        postReceives(p.near, 2, 4);
        p.near.expectNoCompletion();
        send(p.far, other, 5);
        send(p.far, p.nearAddress, 6);
        List<Completion> later = p.near.awaitReceives(2);
        assertThat(later.stream().map(Completion::wrId)).containsExactlyInAnyOrder(2L, 3L);
        assertThat(later.stream().map(c -> number(p.near, c))).containsExactlyInAnyOrder(5L, 6L);
    }

    /** While there are receives, no waiting datagram is lost, however many others have used meanwhile. */
    @Test
    void waitingMessageSurvivesReceivesUsedByOthers() throws VerbsException {
        Pair p = sharing();
        CompletionQueue cq = p.near.keep(p.near.context.createCompletionQueue(CAPACITY));
        EndAddress other = ready(p.near, p.near.queuePair(cq));
        postReceives(p.near, 0, 16);
        send(p.far, p.nearAddress, LongStream.rangeClosed(1, 10).toArray());
        for (int i = 0; i < 20; i++) {
            send(p.far, other, 100 + i);
            assertThat(number(p.near, p.near.await(cq, 1).getFirst())).isEqualTo(100 + i);
            postReceives(p.near, 16 + i, 17 + i);
        }
        assertThat(p.near.awaitReceives(10).stream().map(c -> number(p.near, c))).containsExactly(1L, 2L, 3L, 4L, 5L,
                6L, 7L, 8L, 9L, 10L);
    }

    /**
     * A datagram that finds all receives taken when it is sent is lost, even if some are posted before it would be
     * polled.
     */
    @Test
    void datagramSentWithoutAReceiveIsLost() throws VerbsException {
        Pair p = sharing();
        send(p.far, p.nearAddress, 1);
        p.near.expectNoCompletion(); // by then it has come
        postReceives(p.near, 0, 1);
        send(p.far, p.nearAddress, 2);
        assertThat(number(p.near, p.near.awaitReceives(1).getFirst())).isEqualTo(2);
        send(p.far, p.nearAddress, 3);
        p.near.expectNoCompletion();
        postReceives(p.near, 1, 3);
        p.near.expectNoCompletion();
        send(p.far, p.nearAddress, 4);
        assertThat(number(p.near, p.near.awaitReceives(1).getFirst())).isEqualTo(4);
    }

    @Test
    void severalCompletionQueuesAreUsed() throws VerbsException {
        Pair p = sharing();
        CompletionQueue cq = p.near.keep(p.near.context.createCompletionQueue(CAPACITY));
        QueuePair second = p.near.queuePair(cq);
        EndAddress other = ready(p.near, second);
        postReceives(p.near, 0, 8);
        send(p.far, other, 1, 2, 3);
        send(p.far, p.nearAddress, 4, 5);
        assertThat(p.near.await(cq, 3).stream().map(c -> number(p.near, c))).containsExactly(1L, 2L, 3L);
        assertThat(p.near.awaitReceives(2).stream().map(c -> number(p.near, c))).containsExactly(4L, 5L);
        assertThat(End.poll(cq, 1)).isEmpty();
    }

    /** Two threads poll, and a third reposts the receives: none is lost, none is used twice at a time. */
    @Test
    void separateQueuesMayBePolledByThreads() throws Exception {
        int datagrams = Thorough.ON ? 20_000 : 1500;
        Pair p = connected(ud().sharedReceives(), ud());
        CompletionQueue cq = p.near.keep(p.near.context.createCompletionQueue(CAPACITY));
        QueuePair second = p.near.queuePair(cq);
        EndAddress one = p.nearAddress;
        EndAddress two = ready(p.near, second);
        ConcurrentLinkedQueue<Completion> used = new ConcurrentLinkedQueue<>();
        AtomicBoolean done = new AtomicBoolean();
        List<Thread> pollers = new ArrayList<>();
        for (CompletionQueue q : List.of(cq, p.near.receiveCq)) {
            pollers.add(Thread.ofPlatform().daemon().start(() -> {
                while (!done.get()) {
                    used.addAll(End.poll(q, 16));
                }
            }));
        }
        try {
            boolean[] out = new boolean[CAPACITY];
            postReceives(p.near, 0, CAPACITY);
            p.far.start(end -> {
                for (int i = 0; i < datagrams; i++) {
                    assertPosted(end.postTo(i % 2 == 0 ? one : two, Op.send(i).on(0, 8)));
                    end.awaitSend();
                }
                end.later = "done";
                return true;
            });
            int received = 0;
            while (!p.far.run(end -> end.later != null)) {
                for (Completion c = used.poll(); c != null; c = used.poll()) {
                    assertThat(c.statusName()).isEqualTo("SUCCESS");
                    received++;
                    assertPosted(p.near.postReceives(receive(c.wrId())));
                }
            }
            assertThat(p.far.join()).isEqualTo(true);
            // waiting datagrams are received or lost; then all receives must still be there
            while (Await.within(Await.WHILE, () -> !used.isEmpty())) {
                for (Completion c = used.poll(); c != null; c = used.poll()) {
                    received++;
                    assertPosted(p.near.postReceives(receive(c.wrId())));
                }
            }
            assertThat(received).isPositive();
            for (int i = 0; i < CAPACITY; i++) {
                send(p.far, i % 2 == 0 ? one : two, i);
            }
            Await.until("all receives to be used", () -> used.size() == CAPACITY, () -> used.size() + " are");
            for (Completion c : used) {
                assertThat(out[(int) c.wrId()]).as("receive %d is used twice", c.wrId()).isFalse();
                out[(int) c.wrId()] = true;
            }
        } finally {
            done.set(true);
            for (Thread t : pollers) {
                t.join();
            }
        }
    }

    @Test
    void limitEventIsRaisedOnce() throws VerbsException {
        Pair p = sharing();
        SharedReceiveQueue q = srq(p.near);
        postReceives(p.near, 0, 8);
        q.modify(SharedReceiveQueueAttributes.builder().limit(6).build());
        send(p.far, p.nearAddress, 1, 2);
        p.near.awaitReceives(2);
        assertThat(p.near.context.awaitAsyncEvent(Duration.ofMillis(50))).as("6 are left").isNull();
        send(p.far, p.nearAddress, 3);
        p.near.awaitReceive();
        assertEvent(p.near, AsyncEventType.SRQ_LIMIT_REACHED, q);
        assertThat(q.query().limit()).isZero();
        send(p.far, p.nearAddress, 4);
        p.near.awaitReceive();
        assertThat(p.near.context.awaitAsyncEvent(Duration.ofMillis(50))).as("once").isNull();
        q.modify(SharedReceiveQueueAttributes.builder().limit(4).build());
        assertThat(p.near.context.awaitAsyncEvent(Duration.ofMillis(50))).as("4 are left").isNull();
        send(p.far, p.nearAddress, 5);
        p.near.awaitReceive();
        assertEvent(p.near, AsyncEventType.SRQ_LIMIT_REACHED, q);
    }

    /** A datagram that is too long for the oldest receive takes none, so that it does not count for the limit. */
    @Test
    void undeliveredMessagesDoNotCountForTheLimit() throws VerbsException {
        Pair p = sharing();
        SharedReceiveQueue q = srq(p.near);
        for (int i = 0; i < 4; i++) {
            assertPosted(p.near.postReceives(Op.receive(i).on((long) SLOT * i, GRH + 8)));
        }
        q.modify(SharedReceiveQueueAttributes.builder().limit(4).build());
        EndAddress near = p.nearAddress;
        p.far.act(end -> {
            assertPosted(end.postTo(near, Op.send(1).on(0, 100)));
            assertStatus(WcStatus.SUCCESS, 1, end.awaitSend());
        });
        p.near.expectNoCompletion();
        assertThat(p.near.context.awaitAsyncEvent(Duration.ofMillis(50))).isNull();
        assertThat(q.query().limit()).isEqualTo(4);
        send(p.far, near, 1);
        p.near.awaitReceive();
        assertEvent(p.near, AsyncEventType.SRQ_LIMIT_REACHED, q);
    }

    @Test
    void failedQueuePairRaisesLastWqeReachedAndFlushesNoReceive() throws VerbsException {
        Pair p = sharing();
        QueuePair second = p.near.queuePair();
        EndAddress other = ready(p.near, second);
        postReceives(p.near, 0, 8);
        p.near.to(QueuePairState.ERR);
        assertEvent(p.near, AsyncEventType.QP_LAST_WQE_REACHED, p.near.qp);
        send(p.far, p.nearAddress, 100);
        p.near.expectNoCompletion();
        send(p.far, other, 0, 1, 2, 3, 4, 5, 6, 7);
        assertThat(p.near.awaitReceives(8).stream().map(Completion::wrId)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L,
                7L);
        // and once more after it was in use again
        p.near.qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
        p.near.toReady(p.near.qp);
        postReceives(p.near, 0, 1);
        send(p.far, p.nearAddress, 200);
        assertThat(number(p.near, p.near.awaitReceive())).isEqualTo(200);
        p.near.to(QueuePairState.ERR);
        assertEvent(p.near, AsyncEventType.QP_LAST_WQE_REACHED, p.near.qp);
    }

    @Test
    void receiveIntoForeignMemoryFailsItsQueuePairOnly() throws VerbsException {
        Pair p = sharing();
        QueuePair second = p.near.queuePair();
        EndAddress other = ready(p.near, second);
        assertPosted(p.near.postReceives(Op.receive(1).onKey(0x7fffff01, 0, SLOT), receive(2)));
        send(p.far, p.nearAddress, 1);
        assertThat(p.near.awaitReceive().statusName()).isEqualTo(WcStatus.toString(fixture.wrongReceive()));
        assertThat(p.near.state()).isEqualTo(QueuePairState.ERR);
        send(p.far, other, 2);
        Completion c = p.near.awaitReceive();
        assertDone(WcOpcode.RECV, 2, c);
        assertThat(second.state()).isEqualTo(QueuePairState.RTS);
    }

    /** A datagram that was not polled disappears with its queue pair and has used no receive. */
    @Test
    void closingAQueuePairKeepsTheReceives() throws VerbsException {
        Pair p = sharing();
        QueuePair second = p.near.queuePair();
        EndAddress other = ready(p.near, second);
        postReceives(p.near, 0, 4);
        send(p.far, other, 1, 2, 3);
        assertErrno(Errno.EBUSY, srq(p.near)::close);
        second.close();
        send(p.far, p.nearAddress, 4, 5, 6, 7);
        List<Completion> got = p.near.awaitReceives(4);
        assertThat(got.stream().map(Completion::wrId)).containsExactly(0L, 1L, 2L, 3L);
        assertThat(got.stream().map(c -> number(p.near, c))).containsExactly(4L, 5L, 6L, 7L);
    }

    @Test
    void grownQueueTakesMoreReceives() throws VerbsException {
        Pair p = connected(ud().queues(4).sharedReceives(), ud());
        srq(p.near).modify(SharedReceiveQueueAttributes.builder().maxWr(40).build());
        postReceives(p.near, 0, 40);
        for (int i = 0; i < 40; i++) {
            send(p.far, p.nearAddress, i);
            assertThat(number(p.near, p.near.awaitReceive())).isEqualTo(i);
        }
        p.near.expectNoCompletion();
    }

    @Test
    void groupMembersOnOneQueueUseAReceiveEach() throws Exception {
        Pair p = sharing();
        needs(p.near.context, Feature.MULTICAST);
        String group = MulticastConformance.newGroup(fixture);
        List<QueuePair> members = new ArrayList<>(List.of(p.near.qp));
        for (int i = 0; i < 3; i++) {
            QueuePair q = p.near.queuePair();
            p.near.toReady(q);
            members.add(q);
        }
        for (QueuePair q : members) {
            p.near.attach(q, Gid.parse(group));
        }
        postReceives(p.near, 0, 8);
        p.far.act(end -> {
            end.setLong(0, 77);
            assertPosted(end.postToGroup(group, Op.send(1).on(0, 8)));
            end.awaitSend();
        });
        List<Completion> got = p.near.awaitReceives(4);
        assertThat(got.stream().map(Completion::wrId)).containsExactlyInAnyOrder(0L, 1L, 2L, 3L);
        assertThat(got.stream().map(Completion::queuePairNumber)).containsExactlyInAnyOrderElementsOf(members.stream()
                .map(QueuePair::number).toList());
        assertThat(got.stream().map(c -> number(p.near, c))).containsOnly(77L);
    }
}
