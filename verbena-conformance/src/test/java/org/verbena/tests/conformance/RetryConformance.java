// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Receivers that are not ready, peers that do not answer, the error state and recovery from it. */
abstract class RetryConformance extends Conformance {
    RetryConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    /** Retries that are exhausted within milliseconds. */
    private static EndOptions hasty() {
        return EndOptions.defaults().rnrRetry(2).retry(8, 2);
    }

    /** The kinds of requests that need a receive. */
    private static List<Op> consumers(EndAddress far, long id) {
        return List.of(Op.send(id).on(0, 8), Op.send(id).on(0, 20_000), Op.sendImmediate(id, 5).on(0, 8),
                Op.writeImmediate(id, far, 0, 6).on(0, 8));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 6})
    void rnrRetriesAreExhausted(int rnrRetry) throws Exception {
        for (int i = 0; i < 4; i++) {
            Pair p = connected(EndOptions.defaults().rnrRetry(rnrRetry), EndOptions.defaults());
            p.far.remember();
            assertPosted(p.near.post(consumers(p.farAddress, 1).get(i), Op.write(2, p.farAddress, 0).on(0, 8)));
            assertStatus(WcStatus.RNR_RETRY_EXC_ERR, 1, p.near.awaitSend());
            assertStatus(WcStatus.WR_FLUSH_ERR, 2, p.near.awaitSend());
            p.near.awaitState(QueuePairState.ERR);
            assertSaysWhy(p.near);
            if (i < 3) {
                assertUntouched(p.far);
            }
        }
    }

    /** The longest timer and many retries: the sender really waits for the timer of the receiver. */
    @Test
    void rnrTimerOfTheReceiverIsUsed() throws Exception {
        EndOptions slow = EndOptions.defaults();
        slow.minRnrTimer = 25; // 61.44 ms
        Pair p = connected(EndOptions.defaults().rnrRetry(3), slow);
        long start = System.nanoTime();
        assertPosted(p.near.post(Op.send(1).on(0, 8)));
        assertStatus(WcStatus.RNR_RETRY_EXC_ERR, 1, p.near.awaitSend());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(2 * 61),
                Await.LIMIT);
    }

    @Test
    void sevenRnrRetriesNeverEnd() throws Exception {
        for (int i = 0; i < 4; i++) {
            Pair p = connected(EndOptions.defaults(), EndOptions.defaults());
            p.near.fill(0, 20_000, 1);
            assertPosted(p.near.post(consumers(p.farAddress, 1).get(i)));
            p.near.expectNoCompletion();
            assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
            assertPosted(p.far.postReceives(Op.receive(2).on(0, 20_000)));
            assertThat(p.near.awaitSend().statusName()).isEqualTo("SUCCESS");
            Completion c = p.far.awaitReceive();
            assertStatus(WcStatus.SUCCESS, 2, c);
            assertThat(p.far.mismatch(0, c.byteLength(), 1)).isEqualTo(-1);
        }
    }

    /** The sender does nothing after the post: it need not poll for its message to arrive. */
    @Test
    void waitingSendContinuesWithoutPolls() throws Exception {
        Pair p = connected();
        p.near.fill(0, 20_000, 1);
        assertPosted(p.near.post(Op.send(1).on(0, 20_000), Op.send(2).on(0, 8)));
        assertPosted(p.far.postReceives(Op.receive(3).on(0, 20_000), Op.receive(4).on(30_000, 8)));
        assertReceived(3, 20_000, p.far.awaitReceive());
        assertReceived(4, 8, p.far.awaitReceive());
        assertThat(p.near.awaitSends(2)).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    /**
     * The same for the send behind it: the sender polls only while the first is in progress. Between the two there is
     * enough time for a thread of the provider to fall asleep.
     */
    @Test
    void secondWaitingSendContinuesWithoutPolls() throws Exception {
        Pair p = connected();
        for (int round = 0; round < fixture.rounds(Thorough.ON ? 150 : 12); round++) {
            assertPosted(p.near.post(Op.send(1).on(0, 8), Op.send(2).on(0, 8)));
            Await.during(Duration.ofMillis(14));
            p.far.start(end -> {
                assertPosted(end.postReceives(Op.receive(3).on(0, 8)));
                return true;
            });
            assertDone(WcOpcode.SEND, 1, awaitSpinning(p.near));
            p.far.join();
            assertReceived(3, 8, p.far.awaitReceive());
            assertPosted(p.far.postReceives(Op.receive(4).on(0, 8)));
            assertReceived(4, 8, p.far.awaitReceive());
            assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
        }
    }

    /** Polls without a pause. */
    private static Completion awaitSpinning(End end) {
        long limit = System.nanoTime() + Await.LIMIT.toNanos();
        while (System.nanoTime() - limit < 0) {
            List<Completion> found = End.poll(end.sendCq, 1);
            if (!found.isEmpty()) {
                return found.getFirst();
            }
        }
        throw new AssertionError("no completion; " + end.describe());
    }

    @Test
    void manyWaitingSendsContinueInOrder() throws Exception {
        Pair p = connected();
        for (int i = 0; i < 40; i++) {
            p.near.fill(i * 1000L, 1000, i);
            assertPosted(p.near.post(Op.send(i).on(i * 1000L, i % 2 == 0 ? 1000 : 10)));
        }
        for (int i = 0; i < 40; i++) {
            assertPosted(p.far.postReceives(Op.receive(i).on(0, 1000)));
            int length = i % 2 == 0 ? 1000 : 10;
            assertReceived(i, length, p.far.awaitReceive());
            assertThat(p.far.mismatch(0, length, i)).isEqualTo(-1);
            assertDone(WcOpcode.SEND, i, p.near.awaitSend());
        }
    }

    /** Requests behind one that waits for a receive wait too, even those that need none. */
    @Test
    void noRequestOvertakesAWaitingSend() throws Exception {
        Pair p = connected();
        p.near.setLong(0, 7);
        assertPosted(p.near.post(Op.send(1).on(0, 8), Op.write(2, p.farAddress, 800).on(0, 8)));
        p.near.expectNoCompletion();
        assertThat(p.far.getLong(800)).isZero();
        assertPosted(p.far.postReceives(Op.receive(3).on(0, 8)));
        assertThat(p.near.awaitSends(2)).extracting(Completion::wrId).containsExactly(1L, 2L);
        assertThat(p.far.getLong(800)).isEqualTo(7);
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairState.class, names = {"RESET", "INIT", "ERR"})
    void peerNotReadyToReceiveDoesNotAnswer(QueuePairState far) throws Exception {
        for (Op op : List.of(Op.send(1).on(0, 8), Op.writeImmediate(1, dummy(), 0, 1).on(0, 8),
                Op.write(1, dummy(), 0).on(0, 8), Op.read(1, dummy(), 0).on(0, 8))) {
            Pair p = pair(hasty(), EndOptions.defaults());
            p.toInit();
            if (far == QueuePairState.RESET) {
                p.far.to(QueuePairState.RESET);
            } else {
                assertPosted(p.far.postReceives(Op.receive(9).on(0, 64)));
                p.far.act(end -> {
                    if (far == QueuePairState.ERR) {
                        end.to(QueuePairState.ERR);
                    }
                });
            }
            p.near.toRtr(p.farAddress);
            p.near.toRts();
            p.far.remember();
            assertPosted(p.near.post(op.at(p.farAddress.rkey(), p.farAddress.address()), Op.send(2).on(0, 8)));
            assertStatus(WcStatus.RETRY_EXC_ERR, 1, p.near.awaitSend());
            assertStatus(WcStatus.WR_FLUSH_ERR, 2, p.near.awaitSend());
            p.near.awaitState(QueuePairState.ERR);
            assertUntouched(p.far);
        }
    }

    private static EndAddress dummy() {
        return new EndAddress("::", 0, 0, 0, 0, 0);
    }

    @Test
    void missingQueuePairDoesNotAnswer() throws Exception {
        End near = end(hasty());
        near.toInit();
        EndAddress a = near.address();
        near.toRtr(new EndAddress(a.gid(), 0xfffffe, 0, 0, 0, 0));
        near.toRts();
        assertPosted(near.post(Op.send(1).on(0, 8)));
        assertStatus(WcStatus.RETRY_EXC_ERR, 1, near.awaitSend());
    }

    @Test
    void closedQueuePairDoesNotAnswer() throws Exception {
        Pair p = connected(hasty(), EndOptions.defaults());
        p.far.act(end -> end.qp.close());
        List<Integer> seen = new ArrayList<>();
        Await.until("an error", () -> {
            if (p.near.state() != QueuePairState.ERR) {
                p.near.post(Op.write(1, p.farAddress, 0).on(0, 8)); // refused while the queue is full
            }
            End.poll(p.near.sendCq, 64).forEach(c -> seen.add(c.status()));
            return seen.stream().anyMatch(s -> s != WcStatus.SUCCESS);
        }, p.near::describe);
        assertThat(seen).contains(seen.contains(WcStatus.RETRY_EXC_ERR)
                ? WcStatus.RETRY_EXC_ERR
                : WcStatus.WR_FLUSH_ERR);
        p.near.awaitState(QueuePairState.ERR);
    }

    /** The number of another queue pair: a connection accepts only messages of its peer. */
    @Test
    void connectedQueuePairAcceptsItsPeerOnly() throws Exception {
        Pair p = connected();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64)));
        End intruder = end(hasty());
        intruder.toInit();
        intruder.toRtr(p.farAddress);
        intruder.toRts();
        p.far.remember();
        assertPosted(intruder.post(Op.send(5).on(0, 8), Op.write(6, p.farAddress, 0).on(0, 8)));
        assertStatus(WcStatus.RETRY_EXC_ERR, 5, intruder.awaitSend());
        assertStatus(WcStatus.WR_FLUSH_ERR, 6, intruder.awaitSend());
        assertUntouched(p.far);
        assertPosted(p.near.post(Op.send(2).on(0, 8)));
        assertReceived(1, 8, p.far.awaitReceive());
    }

    @Test
    void moveToErrFlushesBothQueues() throws Exception {
        Pair p = connected();
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 8), Op.receive(2).on(0, 8)));
        assertPosted(p.near.post(Op.send(3).on(0, 8), Op.send(4).on(0, 8).unsignaled()));
        p.near.to(QueuePairState.ERR);
        List<Completion> sends = p.near.awaitSends(2);
        assertStatus(WcStatus.WR_FLUSH_ERR, 3, sends.get(0));
        assertStatus(WcStatus.WR_FLUSH_ERR, 4, sends.get(1)); // an error completes unsignalled requests too
        List<Completion> receives = p.near.awaitReceives(2);
        assertStatus(WcStatus.WR_FLUSH_ERR, 1, receives.get(0));
        assertStatus(WcStatus.WR_FLUSH_ERR, 2, receives.get(1));
    }

    @Test
    void postsInErrAreFlushed() throws Exception {
        Pair p = connected();
        p.far.remember();
        p.near.to(QueuePairState.ERR);
        for (int i = 0; i < 300; i++) {
            assertPosted(p.near.post(Op.send(i).on(0, 8), Op.write(1000 + i, p.farAddress, 0).on(0, 8)));
            assertPosted(p.near.postReceives(Op.receive(2000 + i).on(0, 8)));
            List<Completion> sends = p.near.awaitSends(2);
            assertStatus(WcStatus.WR_FLUSH_ERR, i, sends.get(0));
            assertStatus(WcStatus.WR_FLUSH_ERR, 1000 + i, sends.get(1));
            assertStatus(WcStatus.WR_FLUSH_ERR, 2000 + i, p.near.awaitReceive());
        }
        assertUntouched(p.far);
    }

    @Test
    void failedUnsignaledRequestCompletes() throws Exception {
        Pair p = connected();
        assertPosted(p.near.post(Op.write(1, p.farAddress, -8).on(0, 8).unsignaled()));
        assertStatus(WcStatus.REM_ACCESS_ERR, 1, p.near.awaitSend());
    }

    @Test
    void requestsBeforeTheErrorStaySuccessful() throws Exception {
        Pair p = connected();
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8), Op.write(2, p.farAddress, 8).on(0, 8),
                Op.write(3, p.farAddress, -8).on(0, 8), Op.write(4, p.farAddress, 0).on(0, 8)));
        assertThat(p.near.awaitSends(4)).extracting(Completion::statusName).containsExactly("SUCCESS", "SUCCESS",
                "REM_ACCESS_ERR", "WR_FLUSH_ERR");
    }

    /** Recovery from the error by RESET, repeatedly, on either side. */
    @Test
    void queuePairIsReusableAfterReset() throws Exception {
        Pair p = connected();
        for (int round = 0; round < 20; round++) {
            assertPosted(p.far.postReceives(Op.receive(1).on(0, 64)));
            assertPosted(p.near.post(Op.send(2).on(0, 64)));
            assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
            assertReceived(1, 64, p.far.awaitReceive());
            assertPosted(p.far.postReceives(Op.receive(3).on(0, 64)));
            assertPosted(p.near.post(Op.write(4, p.farAddress, -1).on(0, 8)));
            assertStatus(WcStatus.REM_ACCESS_ERR, 4, p.near.awaitSend());
            assertStatus(WcStatus.WR_FLUSH_ERR, 3, p.far.awaitReceive());
            p.near.awaitState(QueuePairState.ERR);
            p.far.awaitState(QueuePairState.ERR);
            p.near.to(QueuePairState.RESET);
            p.far.to(QueuePairState.RESET);
            assertThat(p.near.qp.errorReason()).isEmpty();
            p.connect();
        }
    }

    /** An error report to the far end belongs to the connection that failed, however late it arrives. */
    @Test
    void errorOfAnEarlierConnectionDoesNotReachTheNext() throws Exception {
        Pair p = connected();
        for (int round = 0; round < fixture.rounds(Thorough.ON ? 50 : 15); round++) {
            assertPosted(p.near.post(Op.write(1, p.farAddress, -1).on(0, 8)));
            assertStatus(WcStatus.REM_ACCESS_ERR, 1, p.near.awaitSend());
            p.far.to(QueuePairState.RESET); // whether it has heard of the error or not
            p.near.to(QueuePairState.RESET);
            p.connect();
        }
        assertPosted(p.far.postReceives(Op.receive(2).on(0, 64)));
        p.far.act(End::expectNoCompletion);
        assertPosted(p.near.post(Op.send(3).on(0, 64)));
        assertDone(WcOpcode.SEND, 3, p.near.awaitSend());
        assertReceived(2, 64, p.far.awaitReceive());
        p.far.awaitState(QueuePairState.RTS);
    }

    /** RESET during normal traffic discards outstanding requests. */
    @Test
    void resetDiscardsOutstandingRequests() throws Exception {
        Pair p = connected();
        assertPosted(p.near.post(Op.send(1).on(0, 8))); // waits for a receive
        assertPosted(p.near.postReceives(Op.receive(2).on(0, 8)));
        p.near.to(QueuePairState.RESET);
        p.far.to(QueuePairState.RESET);
        p.connect();
        assertPosted(p.far.postReceives(Op.receive(3).on(0, 64)));
        p.far.act(End::expectNoCompletion);
        assertPosted(p.near.post(Op.send(4).on(0, 16)));
        assertReceived(3, 16, p.far.awaitReceive());
        assertDone(WcOpcode.SEND, 4, p.near.awaitSend());
    }

    /** In SQD requests are accepted and wait; back in RTS they continue. */
    @Test
    void drainingQueueHoldsNewRequests() throws Exception {
        Pair p = connected();
        p.near.setLong(0, 5);
        p.near.qp.modify(QueuePairAttributes.to(QueuePairState.SQD).build());
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8)));
        p.near.expectNoCompletion();
        assertThat(p.far.getLong(0)).isZero();
        EndAddress near = p.nearAddress;
        assertPosted(p.near.postReceives(Op.receive(2).on(64, 8)));
        assertPosted(p.far.post(Op.send(3).on(64, 8), Op.write(4, near, 800).on(0, 8)));
        assertReceived(2, 8, p.near.awaitReceive()); // the receiving side continues
        assertDone(WcOpcode.SEND, 3, p.far.awaitSend());
        p.near.qp.modify(QueuePairAttributes.to(QueuePairState.RTS).build());
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        assertThat(p.far.getLong(0)).isEqualTo(5);
    }

    /**
     * A send that waits for a receive has been started: SQD lets it finish, holds back later requests, and reports that
     * it is drained only then.
     */
    @Test
    void queueIsDrainedWhenTheWaitingSendCompletes() throws Exception {
        for (Op waiting : List.of(Op.send(1).on(0, 8), Op.send(1).on(0, 20_000), Op.sendImmediate(1, 5).on(0, 8))) {
            Pair p = connected();
            p.near.setLong(0, 5);
            assertPosted(p.near.post(waiting, Op.write(2, p.farAddress, 30_000).on(0, 8)));
            drain(p);
            assertErrno(Errno.EINVAL, () -> p.near.qp.modify(QueuePairAttributes.to(QueuePairState.RTS).build()),
                    "SQ_DRAINED");
            assertPosted(p.near.post(Op.write(3, p.farAddress, 30_008).on(0, 8)));
            Await.during(Await.WHILE);
            expectNotDrained(p);
            assertThat(p.near.qp.query().sqDraining()).isTrue();
            assertPosted(p.far.postReceives(Op.receive(4).on(0, 20_000)));
            p.near.awaitAsyncEvent(AsyncEventType.SQ_DRAINED);
            assertThat(p.near.qp.query().sqDraining()).isFalse();
            assertThat(p.near.awaitSend().statusName()).isEqualTo("SUCCESS");
            assertStatus(WcStatus.SUCCESS, 4, p.far.awaitReceive());
            if (fixture.startsBehindWhatWaits()) {
                assertDone(WcOpcode.RDMA_WRITE, 2, p.near.awaitSend());
            }
            p.near.expectNoCompletion();
            assertThat(p.far.getLong(fixture.startsBehindWhatWaits() ? 30_008 : 30_000)).isZero();
            p.near.qp.modify(QueuePairAttributes.to(QueuePairState.RTS).build());
            if (!fixture.startsBehindWhatWaits()) {
                assertDone(WcOpcode.RDMA_WRITE, 2, p.near.awaitSend());
            }
            assertDone(WcOpcode.RDMA_WRITE, 3, p.near.awaitSend());
            assertThat(p.far.getLong(30_000)).isEqualTo(5);
            expectNotDrained(p); // once
        }
    }

    /**
     * The retries of a started send continue in SQD; when they are exhausted the queue pair fails instead of being
     * drained.
     */
    @Test
    void startedSendMayFailDuringDrain() throws Exception {
        EndOptions slow = EndOptions.defaults();
        slow.minRnrTimer = 25; // 61.44 ms, so that SQD comes first
        Pair p = connected(EndOptions.defaults().rnrRetry(3), slow);
        assertPosted(p.near.post(Op.send(1).on(0, 8), Op.send(2).on(0, 8)));
        drain(p);
        assertStatus(WcStatus.RNR_RETRY_EXC_ERR, 1, p.near.awaitSend());
        assertStatus(WcStatus.WR_FLUSH_ERR, 2, p.near.awaitSend());
        p.near.awaitState(QueuePairState.ERR);
        expectNotDrained(p);
    }

    /** A queue that waits forever is left by ERR or RESET. */
    @ParameterizedTest
    @EnumSource(value = QueuePairState.class, names = {"ERR", "RESET"})
    void drainingQueueCanBeMovedToErr(QueuePairState end) throws Exception {
        Pair p = connected();
        assertPosted(p.near.post(Op.send(1).on(0, 8)));
        drain(p);
        p.near.to(end);
        if (end == QueuePairState.ERR) {
            assertStatus(WcStatus.WR_FLUSH_ERR, 1, p.near.awaitSend());
        }
        expectNotDrained(p);
    }

    private static void drain(Pair p) throws Exception {
        p.near.qp.modify(QueuePairAttributes.to(QueuePairState.SQD).sqdAsyncNotify(true).build());
    }

    private static void expectNotDrained(Pair p) throws Exception {
        for (AsyncEvent e = p.near.context.awaitAsyncEvent(Duration.ZERO); e != null; e = p.near.context
                .awaitAsyncEvent(Duration.ZERO)) {
            assertThat(e.type()).as(e.toString()).isNotEqualTo(AsyncEventType.SQ_DRAINED);
        }
    }
}
