// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcOpcode;

/** Full queues and refused batches: refused requests leave no trace, and no accepted one is lost. */
abstract class QueueLimitsConformance extends Conformance {
    QueueLimitsConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    private Pair small() throws Exception {
        return connected(EndOptions.defaults().queues(4), EndOptions.defaults().queues(4));
    }

    private static Op write(Pair p, long id) {
        return Op.write(id, p.farAddress, 8 * (id % 64)).on(8 * (id % 64), 8);
    }

    @Test
    void fullSendQueueIsEnomemAndLosesNothing() throws Exception {
        Pair p = small();
        int n = p.near.qp.initAttributes().maxSendWr();
        for (int round = 0; round < 50; round++) {
            for (int i = 0; i < n; i++) {
                assertPosted(p.near.post(write(p, i)));
            }
            for (int i = 0; i < 10; i++) {
                assertRefused(Errno.ENOMEM, p.near.post(write(p, 999)));
            }
            List<Completion> all = p.near.awaitSends(n);
            for (int i = 0; i < n; i++) {
                assertDone(WcOpcode.RDMA_WRITE, i, all.get(i));
            }
        }
        p.near.expectNoCompletion();
    }

    /** A slot is free again when its completion has been polled, not earlier. */
    @Test
    void polledCompletionFreesOneSlot() throws Exception {
        Pair p = small();
        int n = p.near.qp.initAttributes().maxSendWr();
        for (int i = 0; i < n; i++) {
            assertPosted(p.near.post(write(p, i)));
        }
        for (int i = n; i < n + 20; i++) {
            assertRefused(Errno.ENOMEM, p.near.post(write(p, 999)));
            assertDone(WcOpcode.RDMA_WRITE, i - n, p.near.awaitSend());
            assertPosted(p.near.post(write(p, i)));
        }
    }

    /** Like in C: an unsignaled request holds its slot until a later completion is polled. */
    @Test
    void unsignaledRequestsOccupyTheirSlots() throws Exception {
        Pair p = small();
        int n = p.near.qp.initAttributes().maxSendWr();
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < n - 1; i++) {
                assertPosted(p.near.post(write(p, i).unsignaled()));
            }
            assertPosted(p.near.post(write(p, n)));
            assertRefused(Errno.ENOMEM, p.near.post(write(p, 999)));
            assertDone(WcOpcode.RDMA_WRITE, n, p.near.awaitSend()); // one too many would be the next round's first
        }
        p.near.expectNoCompletion();
        for (int i = 0; i < n; i++) {
            assertPosted(p.near.post(write(p, i).unsignaled()));
        }
        p.near.expectNoCompletion();
        assertRefused(Errno.ENOMEM, p.near.post(write(p, 999)));
    }

    @Test
    void batchLargerThanTheQueueIsRefusedAsAWhole() throws Exception {
        Pair p = small();
        int n = p.near.qp.initAttributes().maxSendWr();
        p.near.fill(0, 4096, 1);
        p.far.remember();
        Op[] batch = new Op[n + 1];
        for (int i = 0; i <= n; i++) {
            batch[i] = write(p, i);
        }
        assertRefused(Errno.ENOMEM, p.near.post(batch));
        p.near.expectNoCompletion();
        assertUntouched(p.far);
        Op[] fits = java.util.Arrays.copyOf(batch, n);
        assertPosted(p.near.post(fits));
        if (!fixture.freesWhatIsNotPolled()) {
            assertRefused(Errno.ENOMEM, p.near.post(write(p, 999)));
        }
        assertThat(p.near.awaitSends(n)).extracting(Completion::statusName).containsOnly("SUCCESS");
        p.near.expectNoCompletion();
    }

    @Test
    void partlyFittingBatchIsRefusedAsAWhole() throws Exception {
        Pair p = small();
        int n = p.near.qp.initAttributes().maxSendWr();
        assertPosted(p.near.post(write(p, 0)));
        Op[] batch = new Op[n];
        java.util.Arrays.fill(batch, write(p, 7));
        assertRefused(Errno.ENOMEM, p.near.post(batch));
        assertDone(WcOpcode.RDMA_WRITE, 0, p.near.awaitSend());
        p.near.expectNoCompletion();
        assertPosted(p.near.post(batch));
        p.near.awaitSends(n);
    }

    @Test
    void fullReceiveQueueIsEnomemAndLosesNothing() throws Exception {
        Pair p = small();
        int n = fixture.queueSize(p.near.maxReceives());
        for (int i = 0; i < n; i++) {
            assertPosted(p.near.postReceives(Op.receive(i).on(8L * i, 8)));
        }
        assertRefused(Errno.ENOMEM, p.near.postReceives(Op.receive(999).on(0, 8)));
        assertRefused(Errno.ENOMEM, p.near.receiveQueue(p.near.qp).post(999, p.near.region, 0, 8));
        for (int i = 0; i < 3 * n; i++) {
            assertPosted(p.far.post(Op.send(i).on(0, 8)));
            assertReceived(i, 8, p.near.awaitReceive());
            assertThat(p.far.awaitSend().statusName()).isEqualTo("SUCCESS");
            assertPosted(p.near.postReceives(Op.receive(n + i).on(0, 8)));
            assertRefused(Errno.ENOMEM, p.near.postReceives(Op.receive(999).on(0, 8)));
        }
    }

    @Test
    void receiveBatchLargerThanTheQueueIsRefusedAsAWhole() throws Exception {
        Pair p = small();
        int n = p.near.maxReceives();
        Op[] batch = new Op[n + 1];
        for (int i = 0; i <= n; i++) {
            batch[i] = Op.receive(i).on(0, 8);
        }
        assertRefused(Errno.ENOMEM, p.near.postReceives(batch));
        assertPosted(p.near.postReceives(Op.receive(500).on(0, 8)));
        assertPosted(p.far.post(Op.send(1).on(0, 8)));
        assertReceived(500, 8, p.near.awaitReceive());
    }

    /** More sends than the peer has receives, and more than its completion queue holds: none is lost. */
    @Test
    void slowReceiverLosesNothing() throws Exception {
        Pair p = connected(EndOptions.defaults().queues(16), EndOptions.defaults().queues(16));
        int n = Math.min(16, p.near.qp.initAttributes().maxSendWr());
        for (int round = 0; round < 50; round++) {
            for (int i = 0; i < n; i++) {
                p.near.setLong(8L * i, round * 100L + i);
                assertPosted(p.near.post(Op.send(i).on(8L * i, i % 3 == 0 ? 600 : 8)));
            }
            for (int i = 0; i < n; i++) {
                assertPosted(p.far.postReceives(Op.receive(i).on(1024L * i, 1024)));
            }
            List<Completion> got = p.far.awaitReceives(n);
            for (int i = 0; i < n; i++) {
                assertReceived(i, i % 3 == 0 ? 600 : 8, got.get(i));
                assertThat(p.far.getLong(1024L * i)).isEqualTo(round * 100L + i);
            }
            assertThat(p.near.awaitSends(n)).extracting(Completion::statusName).containsOnly("SUCCESS");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1 << 5, 1 << 9, 1 << 20, Integer.MIN_VALUE})
    void unknownFlagIsRefused(int flag) throws Exception {
        Pair p = connected();
        p.far.remember();
        assertRefused(Errno.EINVAL, p.near.post(write(p, 1), write(p, 2).and(flag), write(p, 3)));
        p.near.expectNoCompletion();
        assertUntouched(p.far);
        assertPosted(p.near.post(write(p, 4)));
        assertDone(WcOpcode.RDMA_WRITE, 4, p.near.awaitSend());
    }

    @Test
    void tooLongInlineDataAreRefused() throws Exception {
        Pair p = connected();
        int max = p.near.qp.initAttributes().maxInlineData();
        assertRefused(Errno.EINVAL, p.near.post(write(p, 1), Op.send(2).inlineFrom(0, max + 1L)));
        p.near.expectNoCompletion();
        assertThat(p.far.getLong(8)).isZero();
    }

    @Test
    void inlineDataOutsideTheirSegmentAreRefused() throws Exception {
        Pair p = connected();
        SendQueue sq = p.near.qp.sendQueue();
        byte[] eight = new byte[8];
        MemorySegment s = MemorySegment.ofArray(eight);
        for (long[] range : new long[][] {{0, 9}, {8, 1}, {-1, 4}, {4, -1}, {Long.MAX_VALUE, 8}, {8, Long.MAX_VALUE},
            {Long.MIN_VALUE, 1}, {0, Long.MIN_VALUE}}) {
            assertRefused(Errno.EINVAL, p.near.name(p.near.qp, sq.start().send(1, SendFlags.SIGNALED))
                    .inline(s, range[0], range[1]).complete());
        }
        p.near.expectNoCompletion();
    }

    @Test
    void inlineDataOfAClosedArenaAreRefused() throws Exception {
        Pair p = connected();
        Arena arena = Arena.ofShared();
        MemorySegment s = arena.allocate(8);
        arena.close();
        assertInaccessible(p.near.name(p.near.qp, p.near.qp.sendQueue().start().send(1, SendFlags.SIGNALED))
                .inline(s, 0, 8).complete());
        p.near.expectNoCompletion();
    }

    @Test
    void inlineDataOfAnotherThreadsArenaAreRefused() throws Exception {
        Pair p = connected();
        int[] result = new int[1];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s = arena.allocate(8);
            Thread t = Thread.ofPlatform().start(() -> result[0] = p.near
                    .name(p.near.qp, p.near.qp.sendQueue().start().send(1, SendFlags.SIGNALED)).inline(s, 0, 8)
                    .complete());
            t.join();
        }
        assertInaccessible(result[0]);
    }

    private static void assertInaccessible(int result) {
        assertThat(Errno.name(result)).isIn("EINVAL", "EFAULT");
    }

    @Test
    void readsAndAtomicsAreNotInline() throws Exception {
        Pair p = connected();
        assertRefused(Errno.EINVAL, p.near.post(Op.read(1, p.farAddress, 0).inlineFrom(0, 8)));
        assertRefused(Errno.EINVAL, p.near.post(Op.fetchAndAdd(1, p.farAddress, 0, 1).inlineFrom(0, 8)));
        p.near.expectNoCompletion();
    }

    /** The old value of an atomic has 8 bytes: a buffer of another size is refused or fails, and nothing is added. */
    @Test
    void atomicNeedsABufferOfEightBytes() throws Exception {
        for (long length : new long[] {0, 4, 7}) {
            Pair p = connected();
            needs(p.near.context, org.verbena.verbs.Feature.ATOMICS);
            int r = p.near.post(Op.fetchAndAdd(1, p.farAddress, 0, 1).on(0, length));
            if (r == 0) {
                assertThat(p.near.awaitSend().statusName()).isNotEqualTo("SUCCESS");
            } else {
                assertRefused(Errno.EINVAL, r);
            }
            assertThat(p.far.getLong(0)).isZero();
        }
    }

    @Test
    void oneInvalidRequestRefusesTheBatch() throws Exception {
        Pair p = connected();
        int max = p.near.qp.initAttributes().maxSendSge();
        p.near.fill(0, 4096, 1);
        p.far.remember();
        Op wrong = Op.send(5);
        for (int i = 0; i <= max; i++) {
            wrong = wrong.on(i, 1);
        }
        assertRefused(Errno.EINVAL, p.near.post(write(p, 1), write(p, 2), wrong, write(p, 3)));
        p.near.expectNoCompletion();
        assertUntouched(p.far);
    }

    @Test
    void abortedBatchIsDiscarded() throws Exception {
        Pair p = connected();
        p.near.fill(0, 4096, 1);
        p.far.remember();
        SendQueue sq = p.near.qp.sendQueue();
        sq.start().write(1, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress.address()).sge(p.near.region, 0, 8)
                .send(2, SendFlags.SIGNALED).inline(MemorySegment.ofArray(new byte[4]), 0, 4);
        sq.abort();
        p.near.expectNoCompletion();
        assertUntouched(p.far);
        assertPosted(p.near.post(write(p, 3)));
        assertDone(WcOpcode.RDMA_WRITE, 3, p.near.awaitSend());
        p.near.expectNoCompletion();
    }

    @Test
    void openBatchIsDiscarded() throws Exception {
        Pair p = connected();
        SendQueue sq = p.near.qp.sendQueue();
        for (int i = 0; i < 1000; i++) {
            sq.start().write(i, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress.address())
                    .sge(p.near.region, 0, 8);
        }
        assertPosted(p.near.post(write(p, 3)));
        assertDone(WcOpcode.RDMA_WRITE, 3, p.near.awaitSend());
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 8)));
        p.near.receiveQueue(p.near.qp).start().receive(998).sge(p.near.region, 0, 8).receive(999);
        assertPosted(p.near.postReceives(Op.receive(2).on(0, 8)));
        assertPosted(p.far.post(Op.send(1).on(0, 8), Op.send(2).on(0, 8)));
        assertThat(p.near.awaitReceives(2)).extracting(Completion::wrId).containsExactly(1L, 2L);
    }

    @Test
    void emptyBatchPostsNothing() throws Exception {
        Pair p = connected();
        assertPosted(p.near.qp.sendQueue().start().complete());
        assertPosted(p.near.receiveQueue(p.near.qp).start().complete());
        p.near.expectNoCompletion();
    }

    /** A call out of order is a mistake of the program that must neither throw nor post. */
    @Test
    void buffersWithoutAnOperationAreRefused() throws Exception {
        Pair p = connected();
        assertRefused(Errno.EINVAL, p.near.qp.sendQueue().start().sge(p.near.region, 0, 8).complete());
        assertRefused(Errno.EINVAL,
                p.near.qp.sendQueue().start().inline(MemorySegment.ofArray(new byte[8]), 0, 8).complete());
        assertRefused(Errno.EINVAL, p.near.receiveQueue(p.near.qp).start().sge(p.near.region, 0, 8).complete());
        p.near.expectNoCompletion();
    }

    @Test
    void completedBatchIsNotPostedAgain() throws Exception {
        Pair p = connected();
        assertPosted(p.near.post(write(p, 1)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        int again = p.near.qp.sendQueue().complete();
        assertThat(again).isIn(0, Errno.EINVAL);
        p.near.expectNoCompletion();
    }

    @Test
    void manyQueuePairsExistSimultaneously() throws Exception {
        Pair p = connected();
        int n = Math.min(100, p.near.device.maxQp() / 4);
        for (int i = 0; i < n; i++) {
            QueuePair q = p.near.queuePair();
            EndAddress far = p.connect(q);
            int number = far.queuePairNumber();
            p.far.act(end -> assertPosted(end.postReceives(end.queuePair(number), Op.receive(number).on(0, 8))));
            assertPosted(p.near.post(q, Op.send(i).on(0, 8)));
            assertDone(WcOpcode.SEND, i, p.near.awaitSend());
            Completion c = p.far.awaitReceive();
            assertReceived(far.queuePairNumber(), 8, c);
            assertThat(c.queuePairNumber()).isEqualTo(far.destination());
        }
    }
}
