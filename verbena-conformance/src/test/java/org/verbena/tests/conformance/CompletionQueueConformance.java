// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/** Creating and resizing completion queues, and the fields of their completions. */
abstract class CompletionQueueConformance extends Conformance {
    private static final int RAW = CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP;
    private static final int WALL = CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    private static final long SLACK = TimeUnit.MILLISECONDS.toNanos(50);

    CompletionQueueConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    private static CompletionQueueAttributes.Builder attributes() {
        return CompletionQueueAttributes.builder();
    }

    // ---- creation

    @Test
    void everySizeAndVectorIsAccepted() throws Exception {
        Context c = open();
        int max = c.queryDevice().maxCqe();
        for (int cqe : new int[] {1, max / 2, max}) {
            for (int vector = 0; vector < c.completionVectors(); vector++) {
                try (CompletionQueue cq = c.createCompletionQueue(attributes().cqe(cqe).completionVector(vector)
                        .build())) {
                    assertThat(cq.cqe()).isGreaterThanOrEqualTo(cqe);
                }
                try (var channel = c.createCompletionChannel();
                        CompletionQueue cq = c.createCompletionQueue(attributes().cqe(cqe).channel(channel)
                                .completionVector(vector).build())) {
                    assertThat(cq.channel()).isSameAs(channel);
                }
            }
        }
    }

    @Test
    void vectorBeyondTheLastIsRefused() throws Exception {
        Context c = open();
        for (int vector : new int[] {c.completionVectors(), c.completionVectors() + 1, Integer.MAX_VALUE, -1}) {
            assertErrno(Errno.EINVAL,
                    () -> c.createCompletionQueue(attributes().completionVector(vector).build()), "vector");
        }
    }

    @Test
    void userContextIsReturned() throws Exception {
        Context c = open();
        Object mine = new Object();
        assertThat(c.createCompletionQueue(attributes().userContext(mine).build()).userContext()).isSameAs(mine);
        assertThat(c.createCompletionQueue(1).userContext()).isNull();
    }

    /** Each field alone; a field that a device does not know is not supported, and nothing else fails. */
    @Test
    void everyFieldIsSupportedOrRefused() throws Exception {
        Context c = open();
        for (int bit = 0; bit < 12; bit++) {
            int field = 1 << bit;
            try (CompletionQueue cq = c.createCompletionQueue(attributes().fields(field).build())) {
                assertThat(cq.fields()).isEqualTo(field);
            } catch (VerbsException e) {
                assertThat(Errno.name(e.errno())).as(e.getMessage()).isEqualTo("EOPNOTSUPP");
                assertThat(field & CompletionQueueAttributes.STANDARD_FIELDS).isZero();
                assertThat(e).hasMessageContaining(CompletionQueueAttributes.fieldNames(field));
                assertThat(field == RAW && c.supports(Feature.COMPLETION_TIMESTAMP)).isFalse();
                assertThat(field == WALL && c.supports(Feature.COMPLETION_TIMESTAMP_WALLCLOCK)).isFalse();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 8, 1 << 30, Integer.MIN_VALUE, 7})
    void unknownFlagsAreNotSupported(int flags) throws Exception {
        Context c = open();
        assertErrno(Errno.EOPNOTSUPP, () -> c.createCompletionQueue(attributes().flags(flags).build()));
    }

    @Test
    void parentDomainMustBeOneOfThisContext() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        assertErrno(Errno.EINVAL, () -> c.createCompletionQueue(attributes().parentDomain(pd).build()), "parent");
        ProtectionDomain foreign = open().allocateProtectionDomain();
        assertErrno(Errno.EINVAL, () -> c.createCompletionQueue(attributes().parentDomain(foreign).build()),
                "another context");
    }

    @ParameterizedTest
    @ValueSource(ints = {CompletionQueueAttributes.SINGLE_THREADED, CompletionQueueAttributes.IGNORE_OVERRUN,
        CompletionQueueAttributes.SINGLE_THREADED | CompletionQueueAttributes.IGNORE_OVERRUN})
    void trafficWorksWithEveryFlag(int flags) throws Exception {
        if ((flags & fixture.lackedCompletionFlags()) != 0) {
            Context c = open();
            assertErrno(Errno.EOPNOTSUPP, () -> c.createCompletionQueue(attributes().flags(flags).build()),
                    "IGNORE_OVERRUN");
            return;
        }
        Pair p = connected(EndOptions.defaults().cqFlags(flags), EndOptions.defaults().cqFlags(flags));
        for (int i = 0; i < 20; i++) {
            assertPosted(p.far.postReceives(Op.receive(i).on(0, 256)));
            assertPosted(p.near.post(Op.send(i).on(0, 10L * i)));
            assertDone(org.verbena.verbs.WcOpcode.SEND, i, p.near.awaitSend());
            assertReceived(i, 10L * i, p.far.awaitReceive());
        }
    }

    // ---- fields

    @Test
    void standardFieldsAreZeroWithoutLocalIdentifiers() throws Exception {
        Pair p = connected();
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 64)));
        assertPosted(p.far.post(Op.send(2).on(0, 33)));
        CompletionQueue cq = p.near.receiveCq;
        Await.until("a completion", () -> cq.startPoll() == 0, p.near::describe);
        assertThat(cq.byteLength()).isEqualTo(33);
        assertThat(cq.queuePairNumber()).isEqualTo(p.nearAddress.queuePairNumber());
        assertSender(p.farAddress.queuePairNumber(), cq.sourceQueuePair());
        assertThat(cq.serviceLevel()).isBetween(0, 15);
        assertThat(cq.dlidPathBits()).isBetween(0, 127);
        assertThat(cq.slid()).isBetween(0, 0xffff);
        cq.endPoll();
    }

    @Test
    void fieldsNotRequestedReadZero() throws Exception {
        Pair p = connected();
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 64)));
        assertPosted(p.far.post(Op.send(2).on(0, 33)));
        CompletionQueue cq = p.near.receiveCq;
        Await.until("a completion", () -> cq.startPoll() == 0, p.near::describe);
        assertThat(new long[] {cq.timestamp(), cq.wallClockTimestamp(), cq.cvlan(), cq.flowTag(), cq.tmTag(),
            cq.tmPrivate()}).containsOnly(0);
        cq.endPoll();
    }

    // ---- time stamps

    private void needsWallClock() throws Exception {
        try (Context c = fixture.open()) {
            needs(c, Feature.COMPLETION_TIMESTAMP_WALLCLOCK);
        }
    }

    private static long epochNanos() {
        return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
    }

    @Test
    void wallClockTimestampsLieBetweenSurroundingTimes() throws Exception {
        needsWallClock();
        Pair p = connected(EndOptions.defaults().fields(WALL), EndOptions.defaults().fields(WALL));
        for (int i = 0; i < 100; i++) {
            long before = epochNanos();
            assertPosted(p.far.postReceives(Op.receive(i).on(0, 512)));
            assertPosted(p.near.post(Op.send(i).on(0, 5L * i)));
            Completion sent = p.near.awaitSend();
            Completion got = p.far.awaitReceive();
            long after = epochNanos() + TimeUnit.MILLISECONDS.toNanos(1);
            assertThat(sent.wallClock()).as("send %d", i).isBetween(before - SLACK, after + SLACK);
            assertThat(got.wallClock()).as("receive %d", i).isBetween(before - SLACK, after + SLACK);
            assertThat(sent.timestamp()).as("the raw one was not asked for").isZero();
        }
    }

    @Test
    void wallClockAndRawTimestampsAreAvailableTogether() throws Exception {
        needsWallClock();
        Pair p = connected(EndOptions.defaults().fields(RAW | WALL).oneCompletionQueue(),
                EndOptions.defaults().fields(RAW | WALL));
        List<Completion> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            assertPosted(p.near.postReceives(Op.receive(1000 + i).on(0, 64)));
            assertPosted(p.near.post(Op.write(i, p.farAddress, 0).on(0, 8)));
            assertPosted(p.far.post(Op.send(i).on(0, 8)));
            p.far.awaitSend();
            all.addAll(p.near.awaitReceives(2));
        }
        assertThat(all).allMatch(c -> c.timestamp() != 0 && c.wallClock() != 0);
        all.sort(Comparator.comparingLong(Completion::timestamp));
        for (int i = 1; i < all.size(); i++) {
            long raw = all.get(i).timestamp() - all.get(0).timestamp();
            long wall = all.get(i).wallClock() - all.get(0).wallClock();
            assertThat(wall).as("completion %d, raw %d", i, raw).isBetween(raw - SLACK, raw + SLACK);
        }
    }

    @Test
    void wallClockTimestampsAreMonotonic() throws Exception {
        needsWallClock();
        Pair p = connected(EndOptions.defaults().fields(RAW | WALL), EndOptions.defaults());
        long last = 0;
        long end = System.nanoTime() + Duration.ofMillis(Thorough.ON ? 300 : 60).toNanos();
        for (int i = 0; System.nanoTime() < end; i++) {
            assertPosted(p.near.post(Op.write(i, p.farAddress, 0).on(0, 8)));
            Completion c = p.near.awaitSend();
            assertThat(c.wallClock()).isGreaterThanOrEqualTo(last);
            last = c.wallClock();
        }
    }

    // ---- resizing

    private Pair resizable(EndOptions near, EndOptions far) throws Exception {
        Pair p = connected(near, far);
        needs(p.near.context, Feature.CQ_RESIZE);
        return p;
    }

    private static void assertResized(CompletionQueue cq, int cqe) throws Exception {
        cq.resize(cqe);
        assertThat(cq.cqe()).isGreaterThanOrEqualTo(cqe);
    }

    @Test
    void completionQueueShrinksAndGrows() throws Exception {
        Pair p = resizable(EndOptions.defaults().cqe(3), EndOptions.defaults());
        CompletionQueue cq = p.near.sendCq;
        assertResized(cq, 1);
        assertResized(cq, 7);
        for (int i = 0; i < 6; i++) {
            assertPosted(p.near.post(Op.write(i, p.farAddress, 0).on(0, 8)));
        }
        Await.until("EINVAL for six completions", () -> {
            try {
                LockSupport.parkNanos(20_000_000); // completions that arrive while there is room for only one would overrun it
                cq.resize(1); // the requests may still wait for the memory to arrive
                cq.resize(7);
                return false;
            } catch (VerbsException e) {
                return e.errno() == Errno.EINVAL;
            }
        }, p.near::describe);
        assertThat(cq.cqe()).isGreaterThanOrEqualTo(7);
        assertThat(p.near.awaitSends(6)).extracting(Completion::wrId).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        assertResized(cq, 1);
        assertPosted(p.near.post(Op.write(7, p.farAddress, 0).on(0, 8)));
        assertThat(p.near.awaitSend().wrId()).isEqualTo(7);
    }

    @Test
    void pendingReceivesCountForTheSize() throws Exception {
        Pair p = resizable(EndOptions.defaults().cqe(64), EndOptions.defaults());
        CompletionQueue cq = p.near.receiveCq;
        for (int i = 0; i < 10; i++) {
            assertPosted(p.near.postReceives(Op.receive(i).on(0, 64)));
            assertPosted(p.far.post(Op.send(i).on(0, 64)));
            p.far.awaitSend();
        }
        assertErrno(Errno.EINVAL, () -> cq.resize(4), "4", fixture.saysWhatWaits() ? "10" : "");
        assertResized(cq, 16);
        assertThat(p.near.awaitReceives(10)).extracting(Completion::wrId)
                .containsExactlyElementsOf(LongStream.range(0, 10).boxed().toList());
        assertResized(cq, 4);
    }

    @Test
    void invalidSizeIsRefused() throws Exception {
        Context c = open();
        needs(c, Feature.CQ_RESIZE);
        CompletionQueue cq = c.createCompletionQueue(8);
        int max = c.queryDevice().maxCqe();
        for (int wrong : new int[] {0, -1, Integer.MIN_VALUE, max + 1, Integer.MAX_VALUE}) {
            assertErrno(Errno.EINVAL, () -> cq.resize(wrong), Integer.toString(wrong));
        }
        assertResized(cq, max);
        cq.close();
        assertErrno(Errno.EINVAL, () -> cq.resize(8), "closed");
    }

    @Test
    void completionQueueIsResizedUnderTraffic() throws Exception {
        Pair p = resizable(EndOptions.defaults(), EndOptions.defaults());
        Random random = new Random(20);
        AtomicInteger resized = new AtomicInteger();
        FutureTask<Integer> resizing = new FutureTask<>(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                p.near.receiveCq.resize(64 + random.nextInt(4000));
                p.near.sendCq.resize(64 + random.nextInt(4000));
                resized.incrementAndGet();
                LockSupport.parkNanos(Thorough.ON ? 0 : 200_000); // leaves the processor to the traffic
            }
            return resized.get();
        });
        Thread t = Thread.ofPlatform().daemon().start(resizing);
        int times = Thorough.ON ? 100 : 25;
        // a thread may start later than all the traffic takes
        for (int i = 0; i < 15 * times || resized.get() < times && !resizing.isDone(); i++) {
            assertPosted(p.near.postReceives(Op.receive(i).on(0, 256)));
            assertPosted(p.near.post(Op.write(i, p.farAddress, 0).on(0, 8)));
            assertPosted(p.far.post(Op.send(i).on(0, i % 256)));
            assertThat(p.far.awaitSend().statusName()).isEqualTo("SUCCESS");
            assertDone(org.verbena.verbs.WcOpcode.RDMA_WRITE, i, p.near.awaitSend());
            assertReceived(i, i % 256, p.near.awaitReceive());
        }
        t.interrupt();
        assertThat(resizing.get(15, TimeUnit.SECONDS)).isGreaterThanOrEqualTo(times);
    }

    // ---- capacity

    @Test
    void noCompletionIsLostWhereQueuesCannotOverrun() throws Exception {
        assumeFalse(fixture.completionQueuesOverrun(), "the provider's queues overrun");
        EndOptions small = EndOptions.defaults().oneCompletionQueue().cqe(1);
        Pair p = connected(small, EndOptions.defaults());
        for (int i = 0; i < 60; i++) {
            assertPosted(p.near.postReceives(Op.receive(100 + i).on(0, 64)));
        }
        for (int i = 0; i < 60; i++) {
            assertPosted(p.near.post(Op.write(i, p.farAddress, 0).on(0, 8)));
            assertPosted(p.far.post(Op.send(i).on(0, 64)));
            p.far.awaitSend();
        }
        assertThat(p.near.sendCq.cqe()).isLessThan(60);
        List<Long> expected = IntStream.range(0, 60).boxed().flatMap(i -> java.util.stream.Stream.of((long) i,
                100L + i)).toList();
        assertThat(p.near.awaitReceives(120)).extracting(Completion::wrId).containsExactlyInAnyOrderElementsOf(
                expected);
        assertThat(p.near.context.awaitAsyncEvent(Duration.ZERO)).isNull();
        p.near.expectNoCompletion();
    }

    /** One completion more than there is room for: an event reports it. */
    @Test
    void overrunIsReported() throws Exception {
        assumeTrue(fixture.completionQueuesOverrun(), "the provider's queues do not overrun");
        Pair p = connected(EndOptions.defaults().oneCompletionQueue().cqe(1), EndOptions.defaults());
        CountBook counts = p.near.context.supports(Feature.COUNTERS) ? CountBook.of(p.near) : null;
        for (int i = 0; i <= p.near.sendCq.cqe(); i++) {
            assertPosted(p.near.post(Op.write(i, p.farAddress, 0).on(0, 8)));
        }
        Await.until("event CQ_ERR", () -> {
            AsyncEvent e = p.near.context.awaitAsyncEvent(Duration.ofMillis(10));
            return e != null && e.type() == AsyncEventType.CQ_ERR && e.element() == p.near.sendCq;
        }, p.near::describe);
        if (counts != null) {
            assertThat(counts.read("SEND_CQ_OVERRUNS")).hasSize(1);
        }
    }

    /** Completions of a queue pair disappear with it: the queue is as empty as if it had been polled. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void completionsOfADestroyedQueuePairTakeNoRoom(boolean close) throws Exception {
        End e = end(EndOptions.defaults().cqe(16));
        QueuePair stays = e.queuePair();
        QueuePair goes = e.queuePair();
        int n = Math.min(16, e.receiveCq.cqe());
        for (int round = 0; round < 5; round++) {
            flushed(e, goes, 100 * round, n - 1);
            if (round == 2) {
                flushed(e, stays, 1, 1); // between them, and it does not go
            }
            if (close) {
                goes.close();
                goes = e.queuePair();
            } else {
                goes.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
            }
        }
        flushed(e, goes, 1000, n - 1);
        List<Long> expected = new ArrayList<>(List.of(1L));
        LongStream.range(1000, 1000 + n - 1).forEach(expected::add);
        assertThat(e.awaitReceives(n)).extracting(Completion::wrId).containsExactlyElementsOf(expected);
        e.expectNoCompletion();
        assertThat(e.context.awaitAsyncEvent(Duration.ZERO)).isNull();
    }

    /** Posts receives and flushes them. */
    private static void flushed(End e, QueuePair q, int first, int n) throws Exception {
        e.toInit(q);
        for (int i = 0; i < n; i++) {
            assertPosted(e.postReceives(q, Op.receive(first + i).on(0, 8)));
        }
        q.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
    }

    /** They do not count for shrinking a queue either. */
    @Test
    void completionsOfADestroyedQueuePairAreDropped() throws Exception {
        needs(Feature.CQ_RESIZE);
        End e = end(EndOptions.defaults().cqe(16));
        QueuePair goes = e.queuePair();
        QueuePair stays = e.queuePair();
        flushed(e, goes, 100, 10);
        flushed(e, stays, 1, 2);
        goes.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
        assertErrno(Errno.EINVAL, () -> e.receiveCq.resize(1));
        assertResized(e.receiveCq, 2);
        assertThat(e.awaitReceives(2)).extracting(Completion::wrId).containsExactly(1L, 2L);
        e.expectNoCompletion();
    }
}
