// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
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
 * Requests that name the queue they are for: the near end receives messages of far ends on shared receive queues of its
 * domain. The operations themselves are tested by running their tests over XRC.
 */
abstract class XrcConformance extends XrcTraffic {
    XrcConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    // ---- which queue

    @Test
    void oneConnectionReachesSeveralQueues() throws VerbsException {
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
    void protectionDomainOfTheQueueIsUsed() throws VerbsException {
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
    void manySendersShareOneQueue() throws VerbsException {
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

    // ---- naming a queue

    @Test
    void requestWithoutAQueueIsRefused() throws VerbsException {
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
            // one request without a queue fails the batch
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
    void queueOnOtherTypesIsRefused(int type) throws VerbsException {
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

    /** Numbers are reused; a number means its current queue. */
    @Test
    void numberIdentifiesTheCurrentQueue() throws VerbsException {
        Pair p = xrc();
        CompletionQueue cq = p.near.context.createCompletionQueue(8);
        int first = -1;
        // a provider may take long until it gives a number again: where both ends are near, it is waited for
        int most = Thorough.ON || topology == Topology.ONE_CONTEXT ? 20_000 : 2000;
        for (int i = 0, sent = 0; i < most && sent < 20; i++) {
            try (SharedReceiveQueue q = p.near.pd.createSharedReceiveQueue(
                    XrcEnd.queue(p.near.xrc().domain, cq).maxWr(4).build())) {
                first = first < 0 ? q.number() : first;
                if (sent < 10 || q.number() == first) {
                    sent++;
                    post(q, p.near, i);
                    name(p, q.number());
                    assertAllSent(send(p, 8));
                    assertReceived(i, 8, p.near.await(cq, 1).getFirst());
                }
            }
        }
        cq.close();
    }

    @Test
    void oneConnectionReachesManyQueues() throws VerbsException {
        Pair p = xrc();
        int queues = 100;
        List<SharedReceiveQueue> all = new ArrayList<>();
        CompletionQueue cq = p.near.keep(p.near.context.createCompletionQueue(4 * queues));
        for (int i = 0; i < queues; i++) {
            all.add(queue(p, p.near.pd, cq));
        }
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < queues; i++) {
                post(all.get(i), p.near, i);
            }
            for (int i = queues - 1; i >= 0; i--) {
                name(p, all.get(i).number());
                assertAllSent(send(p, 8 + i));
            }
            List<Completion> got = p.near.await(cq, queues);
            assertThat(got.stream().map(Completion::wrId).distinct()).hasSize(queues);
            assertThat(got).allMatch(c -> c.byteLength() == 8 + c.wrId());
        }
    }

    /** Sends, receives of a queue pair and of both kinds of queues complete in one place. */
    @Test
    void queuesShareOneCompletionQueue() throws VerbsException {
        Pair p = xrc(EndOptions.defaults().oneCompletionQueue(), EndOptions.defaults().oneCompletionQueue());
        EndAddress near = p.nearAddress;
        postReceives(p.near, 0, CAPACITY);
        p.far.act(end -> postReceives(end, 0, CAPACITY));
        for (int round = 0; round < 10; round++) {
            assertPosted(p.near.post(Op.send(1000).on(0, 8), Op.write(1001, p.farAddress, 60_000).on(0, 8)));
            p.far.act(end -> assertPosted(end.post(Op.send(1000).on(0, 16), Op.read(1001, near, 0).on(50_000, 8))));
            for (List<Completion> got : List.of(p.near.awaitSends(3), p.far.run(end -> end.awaitSends(3)))) {
                assertThat(got).extracting(Completion::statusName).containsOnly("SUCCESS");
                assertThat(got.stream().map(Completion::opcode)).contains(WcOpcode.RECV, WcOpcode.SEND);
                assertThat(got.stream().filter(c -> c.wrId() >= 1000).map(Completion::wrId))
                        .containsExactly(1000L, 1001L);
            }
        }
    }

    // ---- waiting for receives

    @Test
    void messageWaitsForAReceive() throws VerbsException {
        Pair p = xrc();
        assertPosted(p.far.post(Op.send(1).on(0, 8)));
        Await.never("the send completes", () -> p.far.run(end -> !End.poll(end.sendCq, 4).isEmpty()));
        postReceives(p.near, 0, 1);
        assertReceived(0, 8, p.near.awaitReceive());
        assertDone(WcOpcode.SEND, 1, p.far.awaitSend());
    }

    @Test
    void rnrRetriesAreExhausted() throws VerbsException {
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
    void completionsOfTheQueueRaiseEvents() throws VerbsException {
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
    void limitEventIsRaisedOnce() throws VerbsException {
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
    void completionsHaveTimestamps() throws VerbsException {
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

    /** The completion names the sender of the message. */
    @Test
    void completionNamesTheSender() throws VerbsException {
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
    void flushesAndAtomicWritesWork() throws VerbsException {
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

    /** A window of type 1 belongs to a protection domain, so a request that reaches that domain reaches the window. */
    @Test
    void windowsOfTheQueueAreAccessible() throws VerbsException {
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
    void closedRegionIsRefused() throws VerbsException {
        Pair p = xrc();
        MemoryRegion more = p.near.pd.allocate(4096, AccessFlags.ALL);
        EndAddress there = new EndAddress("", 0, 0, more.rkey(), more.address(), more.length());
        assertPosted(p.far.post(Op.write(1, there, 0).on(0, 8)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.far.awaitSend());
        more.close();
        assertFails(p, WcStatus.REM_ACCESS_ERR, Op.write(2, there, 0).on(0, 8));
    }
}
