// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.Poll;
import org.verbena.testkit.Await;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Completion channels and asynchronous events. The near end waits, the far end makes things happen. */
abstract class EventsConformance extends Conformance {
    EventsConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    private Pair pair() throws Exception {
        Pair p = connected(EndOptions.defaults().channel(), EndOptions.defaults());
        Op[] receives = new Op[32];
        for (int i = 0; i < receives.length; i++) {
            receives[i] = Op.receive(i).on(512L * i, 512);
        }
        assertPosted(p.near.postReceives(receives));
        return p;
    }

    private static CompletionChannel channel(Pair p) {
        return Objects.requireNonNull(p.near.channel);
    }

    private static void send(Pair p, Op op) throws Exception {
        assertPosted(p.far.post(op));
        assertThat(p.far.awaitSend().statusName()).isEqualTo("SUCCESS");
    }

    private static void arm(CompletionQueue cq, boolean solicitedOnly) {
        assertPosted(cq.requestNotify(solicitedOnly));
    }

    private static void expectEvent(Pair p, CompletionQueue cq) throws Exception {
        assertThat(channel(p).await(Await.LIMIT)).isSameAs(cq);
    }

    private static void expectNoEvent(Pair p) throws Exception {
        assertThat(channel(p).await(Await.WHILE)).isNull();
    }

    @Test
    void armedQueueRaisesOneEvent() throws Exception {
        Pair p = pair();
        for (int round = 0; round < 10; round++) {
            arm(p.near.receiveCq, false);
            send(p, Op.send(1).on(0, 8));
            expectEvent(p, p.near.receiveCq);
            assertThat(p.near.awaitReceive().statusName()).isEqualTo("SUCCESS");
            send(p, Op.send(2).on(0, 8)); // not armed any more
            expectNoEvent(p);
            assertThat(p.near.awaitReceive().statusName()).isEqualTo("SUCCESS");
        }
    }

    @Test
    void oneArmingRaisesOneEventForManyCompletions() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq, false);
        arm(p.near.receiveCq, false); // a second arming changes nothing
        for (int i = 0; i < 5; i++) {
            send(p, Op.send(i).on(0, 8));
        }
        expectEvent(p, p.near.receiveCq);
        expectNoEvent(p);
        p.near.awaitReceives(5);
    }

    @Test
    void queueWithoutArmingRaisesNoEvent() throws Exception {
        Pair p = pair();
        send(p, Op.send(1).on(0, 8));
        expectNoEvent(p);
        assertThat(p.near.awaitReceive().statusName()).isEqualTo("SUCCESS");
    }

    /** The event is for the next completion; older ones are found by the poll after arming. */
    @Test
    void completionsBeforeArmingAreFoundByPolling() throws Exception {
        Pair p = pair();
        send(p, Op.send(1).on(0, 8));
        arm(p.near.receiveCq, false);
        assertThat(p.near.awaitReceive().wrId()).isZero();
        send(p, Op.send(2).on(0, 8));
        expectEvent(p, p.near.receiveCq);
        assertThat(p.near.awaitReceive().wrId()).isEqualTo(1);
    }

    @Test
    void sendCompletionsRaiseEvents() throws Exception {
        Pair p = pair();
        arm(p.near.sendCq, false);
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8)));
        expectEvent(p, p.near.sendCq);
        assertDone(org.verbena.verbs.WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        arm(p.near.sendCq, false);
        assertPosted(p.near.post(Op.write(2, p.farAddress, 0).on(0, 8).unsignaled()));
        expectNoEvent(p);
    }

    @Test
    void eventNamesItsQueueOfTheChannel() throws Exception {
        Pair p = pair();
        arm(p.near.sendCq, false);
        arm(p.near.receiveCq, false);
        send(p, Op.send(1).on(0, 8));
        expectEvent(p, p.near.receiveCq);
        expectNoEvent(p);
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8)));
        expectEvent(p, p.near.sendCq);
        expectNoEvent(p);
        p.near.awaitSend();
        p.near.awaitReceive();
        arm(p.near.sendCq, false);
        arm(p.near.receiveCq, false);
        send(p, Op.send(1).on(0, 8));
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8)));
        assertThat(List.of(Objects.requireNonNull(channel(p).await(Await.LIMIT)),
                Objects.requireNonNull(channel(p).await(Await.LIMIT))))
                .containsExactlyInAnyOrder(p.near.sendCq, p.near.receiveCq);
    }

    @Test
    void armingForSolicitedIgnoresOtherMessages() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq, true);
        send(p, Op.send(1).on(0, 8));
        send(p, Op.sendImmediate(2, 2).on(0, 400));
        send(p, Op.writeImmediate(3, p.nearAddress, 30_000, 3).on(0, 8));
        expectNoEvent(p);
        send(p, Op.send(4).on(0, 8).and(SendFlags.SOLICITED));
        expectEvent(p, p.near.receiveCq);
        p.near.awaitReceives(4);
        for (Op op : List.of(Op.sendImmediate(5, 1).on(0, 8), Op.send(6).on(0, 400),
                Op.writeImmediate(7, p.nearAddress, 30_000, 3).on(0, 8))) {
            arm(p.near.receiveCq, true);
            send(p, op.and(SendFlags.SOLICITED));
            expectEvent(p, p.near.receiveCq);
            p.near.awaitReceive();
        }
    }

    @Test
    void armingForAllReplacesArmingForSolicited() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq, true);
        arm(p.near.receiveCq, false);
        send(p, Op.send(1).on(0, 8));
        expectEvent(p, p.near.receiveCq);
    }

    @Test
    void armingForSolicitedKeepsAnEarlierArmingForAll() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq, false);
        arm(p.near.receiveCq, true);
        send(p, Op.send(1).on(0, 8));
        expectEvent(p, p.near.receiveCq);
    }

    @Test
    void errorsCountAsSolicited() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq, true);
        arm(p.near.sendCq, true);
        assertPosted(p.near.post(Op.write(1, p.farAddress, -1).on(0, 8)));
        List<CompletionQueue> events = new ArrayList<>();
        events.add(channel(p).await(Await.LIMIT));
        events.add(channel(p).await(Await.LIMIT));
        assertThat(events).containsExactlyInAnyOrder(p.near.sendCq, p.near.receiveCq);
        assertStatus(WcStatus.REM_ACCESS_ERR, 1, p.near.awaitSend());
        assertStatus(WcStatus.WR_FLUSH_ERR, 0, p.near.awaitReceive());
    }

    @Test
    void flushedRequestsRaiseEvents() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq, true);
        p.near.to(QueuePairState.ERR);
        expectEvent(p, p.near.receiveCq);
        assertThat(p.near.awaitReceives(32)).extracting(Completion::statusName).containsOnly("WR_FLUSH_ERR");
    }

    @Test
    void descriptorIsReadableWhileAnEventIsPending() throws Exception {
        Pair p = pair();
        Fd fd = Fd.of(channel(p).descriptor());
        for (int round = 0; round < 5; round++) {
            arm(p.near.receiveCq, false);
            assertThat(Poll.await(fd, Poll.IN, 0)).isZero();
            send(p, Op.send(1).on(0, 8));
            assertThat(Poll.await(fd, Poll.IN, 60_000)).isEqualTo(Poll.IN);
            assertThat(Poll.await(fd, Poll.IN, 0)).as("until the event is taken").isEqualTo(Poll.IN);
            assertThat(channel(p).await(Duration.ZERO)).isSameAs(p.near.receiveCq);
            assertThat(Poll.await(fd, Poll.IN, 0)).isZero();
            p.near.awaitReceive();
        }
    }

    @Test
    void epollReportsTheDescriptor() throws Exception {
        Pair p = pair();
        p.far.act(end -> { // the peer sends when its memory tells it to, so that the wait below really sleeps
            end.start(e -> {
                for (long i = 1; i <= 3; i++) {
                    long round = i;
                    Await.until("the word", () -> e.getLong(0) == round, e::describe);
                    assertPosted(e.post(Op.send(i).on(0, 8)));
                    e.awaitSend();
                }
                return true;
            });
        });
        try (Epoll epoll = Epoll.create()) {
            epoll.add(Fd.of(channel(p).descriptor()), Epoll.IN, 4711);
            for (long i = 1; i <= 3; i++) {
                arm(p.near.receiveCq, false);
                p.near.setLong(0, i);
                assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8)));
                assertThat(epoll.await(10_000)).isEqualTo(1);
                assertThat(epoll.token(0)).isEqualTo(4711);
                assertThat(channel(p).await(Duration.ZERO)).isSameAs(p.near.receiveCq);
                p.near.awaitReceive();
                p.near.awaitSend();
                assertThat(epoll.await(0)).isZero();
            }
        }
        p.far.join();
    }

    @Test
    void waitingThreadIsWoken() throws Exception {
        Pair p = pair();
        for (int round = 0; round < 20; round++) {
            arm(p.near.receiveCq, false);
            FutureTask<CompletionQueue> waiter = start(() -> channel(p).await(Await.LIMIT));
            send(p, Op.send(1).on(0, 8));
            assertThat(waiter.get(50, TimeUnit.SECONDS)).isSameAs(p.near.receiveCq);
            p.near.awaitReceive();
        }
    }

    private static <T> FutureTask<T> start(java.util.concurrent.Callable<T> job) {
        FutureTask<T> task = new FutureTask<>(job);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    /** The classical loop: arm, poll, wait. No message is ever missed, however the two interleave. */
    @Test
    void armPollWaitLoopMissesNothing() throws Exception {
        int messages = 3000;
        Pair p = pair();
        p.far.start(end -> {
            for (int i = 0; i < messages; i++) {
                assertPosted(end.post(Op.sendImmediate(i, i).on(0, i % 2 == 0 ? 8 : 300)));
                assertThat(end.awaitSend().statusName()).isEqualTo("SUCCESS");
                if (i % 16 == 0) {
                    long until = System.nanoTime() + i % 7 * 20_000L; // so that the receiver sometimes sleeps
                    Await.until("a moment", () -> System.nanoTime() - until > 0, end::describe);
                }
            }
            return true;
        });
        int got = 0;
        CompletionQueue cq = p.near.receiveCq;
        while (got < messages) {
            arm(cq, false);
            List<Completion> found = End.poll(cq, 64);
            if (found.isEmpty()) {
                assertThat(channel(p).await(Await.LIMIT)).as("event after " + got + " messages; " + p.near.describe())
                        .isSameAs(cq);
            }
            for (Completion c : found) {
                assertThat(c.statusName()).isEqualTo("SUCCESS");
                assertThat(c.immediate()).isEqualTo(got++);
                p.near.postAgain(c);
            }
        }
        p.far.join();
    }

    @Test
    void sleepingThreadUsesNoCpuTime() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq, false);
        var threads = java.lang.management.ManagementFactory.getThreadMXBean();
        long[] id = new long[1];
        CountDownLatch started = new CountDownLatch(1);
        FutureTask<CompletionQueue> waiter = start(() -> {
            id[0] = Thread.currentThread().threadId();
            started.countDown();
            return channel(p).await(Await.LIMIT);
        });
        assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
        long before = threads.getThreadCpuTime(id[0]);
        Await.during(Duration.ofMillis(500));
        assertThat(Duration.ofNanos(threads.getThreadCpuTime(id[0]) - before)).isLessThan(Duration.ofMillis(100));
        send(p, Op.send(1).on(0, 8));
        assertThat(waiter.get(50, TimeUnit.SECONDS)).isSameAs(p.near.receiveCq);
    }

    @Test
    void waitTimesOut() throws Exception {
        Pair p = pair();
        CompletionChannel channel = channel(p);
        assertTakes(0, () -> channel.await(Duration.ZERO));
        assertTakes(0, () -> channel.await(Duration.ofNanos(-1)));
        assertTakes(0, () -> channel.await(Duration.ofNanos(1)));
        assertTakes(120, () -> channel.await(Duration.ofMillis(120)));
        Context c = p.near.context;
        assertTakes(0, () -> c.awaitAsyncEvent(Duration.ZERO));
        assertTakes(120, () -> c.awaitAsyncEvent(Duration.ofMillis(120)));
    }

    private static void assertTakes(long min, java.util.concurrent.Callable<Object> wait) throws Exception {
        long start = System.nanoTime();
        assertThat(wait.call()).isNull();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(min),
                Await.LIMIT);
    }

    @Test
    void veryLongTimeoutIsAccepted() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq, false);
        send(p, Op.send(1).on(0, 8));
        assertThat(channel(p).await(Duration.ofSeconds(Long.MAX_VALUE))).isSameAs(p.near.receiveCq);
    }

    @Test
    void interruptEndsTheWait() throws Exception {
        Pair p = pair();
        assertInterruptible(() -> channel(p).await(Await.LIMIT));
        assertInterruptible(() -> p.near.context.awaitAsyncEvent(Await.LIMIT));
    }

    private static void assertInterruptible(java.util.concurrent.Callable<Object> wait) throws Exception {
        for (Thread.Builder kind : List.of(Thread.ofPlatform().daemon(), Thread.ofVirtual())) {
            for (boolean before : new boolean[] {true, false}) {
                FutureTask<Boolean> task = new FutureTask<>(() -> {
                    if (before) {
                        Thread.currentThread().interrupt();
                    }
                    return wait.call() == null && Thread.currentThread().isInterrupted();
                });
                Thread t = kind.start(task);
                if (!before) {
                    Await.during(Await.WHILE); // most likely it waits by now
                    t.interrupt();
                }
                assertThat(task.get(50, TimeUnit.SECONDS)).as("null, and still interrupted").isTrue();
            }
        }
    }

    @Test
    void closingEndsTheWait() throws Exception {
        Context c = open();
        CompletionChannel channel = c.createCompletionChannel();
        FutureTask<Object> waiter = start(() -> channel.await(Duration.ofSeconds(60)));
        Await.during(Await.WHILE); // most likely it sleeps by now
        channel.close();
        assertErrno(Errno.EINVAL, () -> unwrap(waiter), "closed");
        assertErrno(Errno.EINVAL, () -> channel.await(Duration.ZERO), "closed");

        FutureTask<Object> events = start(() -> c.awaitAsyncEvent(Duration.ofSeconds(60)));
        Await.during(Await.WHILE);
        c.close();
        assertErrno(Errno.EINVAL, () -> unwrap(events), "closed");
    }

    /** A virtual thread parks in another place than a platform thread, and is also woken. */
    @Test
    void closingEndsTheWaitOfAVirtualThread() throws Exception {
        Context c = open();
        CompletionChannel channel = c.createCompletionChannel();
        FutureTask<Object> waiter = new FutureTask<>(() -> channel.await(Duration.ofSeconds(60)));
        Thread.ofVirtual().start(waiter);
        Await.during(Await.WHILE); // most likely it is parked by now
        long start = System.nanoTime();
        channel.close();
        assertErrno(Errno.EINVAL, () -> unwrap(waiter), "closed");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    /** A channel that queues use cannot be closed alone, but with its context, and then its waiters wake. */
    @Test
    void closingTheContextEndsTheWaitForItsQueues() throws Exception {
        for (Thread.Builder kind : List.of(Thread.ofPlatform().daemon(), Thread.ofVirtual())) {
            Pair p = pair();
            CompletionChannel channel = channel(p);
            arm(p.near.receiveCq, false);
            FutureTask<Object> waiter = new FutureTask<>(() -> channel.await(Duration.ofSeconds(60)));
            kind.start(waiter);
            Await.during(Await.WHILE);
            assertErrno(Errno.EBUSY, channel::close, "use");
            assertThat(waiter.isDone()).as("a close that was refused ends no wait").isFalse();
            p.near.context.close();
            // closing moves the queue pair to ERR first, whose flushes may be an event of their own
            try {
                assertThat(waiter.get(50, TimeUnit.SECONDS)).isSameAs(p.near.receiveCq);
            } catch (java.util.concurrent.ExecutionException e) {
                assertThat(e.getCause()).isInstanceOf(VerbsException.class).hasMessageContaining("closed");
            }
        }
    }

    private static void unwrap(FutureTask<?> task) throws Exception {
        try {
            task.get(50, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            if (e.getCause() instanceof VerbsException v) {
                throw v;
            }
            throw new AssertionError(e.getCause());
        }
    }

    @Test
    void asynchronousEventsReachTheirContextOnly() throws Exception {
        Pair p = pair();
        Context other = open();
        p.far.act(end -> end.remember());
        assertPosted(p.far.post(Op.write(1, p.nearAddress, -8).on(0, 8)));
        p.near.awaitAsyncEvent(org.verbena.verbs.AsyncEventType.QP_ACCESS_ERR);
        assertThat(other.awaitAsyncEvent(Duration.ZERO)).isNull();
    }

    @Test
    void asynchronousEventHasItsTypeAndObject() throws Exception {
        Pair p = pair();
        FutureTask<AsyncEvent> waiter = start(() -> {
            AsyncEvent e;
            do {
                e = p.near.context.awaitAsyncEvent(Await.LIMIT);
            } while (e != null && e.type() != org.verbena.verbs.AsyncEventType.QP_ACCESS_ERR);
            return e;
        });
        assertPosted(p.far.post(Op.write(1, p.nearAddress, -8).on(0, 8)));
        AsyncEvent e = waiter.get(50, TimeUnit.SECONDS);
        assertThat(e).isNotNull();
        assertThat(e.element()).isSameAs(p.near.qp);
        assertThat(e.toString()).contains("QP_ACCESS_ERR", p.near.qp.describe());
    }

    /** Like in the kernel: pending events disappear with their object. */
    @Test
    void closingAnObjectDropsItsEvents() throws Exception {
        Pair p = pair();
        assertPosted(p.far.post(Op.write(1, p.nearAddress, -8).on(0, 8)));
        p.far.awaitSend(); // by then it is raised, or about to be
        Await.until("the error", () -> p.near.qp.state() == QueuePairState.ERR, p.near::describe);
        p.near.qp.close();
        assertThat(p.near.context.awaitAsyncEvent(Await.WHILE)).isNull();
    }
}
