// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.AllocatedBytes;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;

/** Two contexts of this process over the loopback interface. */
class LoopbackTest {
    private static final int PSN = 0xfffffe; // wraps soon
    private static final long COMPILED_NANOS = 60_000_000_000L;
    private static final long PATIENCE_NANOS = 20_000_000_000L;

    private static final class End implements AutoCloseable {
        final Context context;
        final CompletionQueue cq;
        final QueuePair qp;
        final MemoryRegion region;

        End() throws Exception {
            this(64);
        }

        End(int receives) throws Exception {
            context = LoopbackDevice.open();
            ProtectionDomain pd = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(256);
            qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(64).maxReceiveWr(receives)
                    .build());
            region = pd.allocate(1 << 20, AccessFlags.ALL);
        }

        void connect(End peer) throws Exception {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                    .build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTR)
                    .addressVector(AddressVector.to(peer.context.queryGid(1, 0))).pathMtu(1024)
                    .destinationQueuePair(peer.qp.number()).rqPsn(PSN).maxDestReadAtomic(16).minRnrTimer(1).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(PSN).timeout(14).retryCount(7).rnrRetry(7)
                    .maxReadAtomic(16).build());
        }

        void await(long wrId) {
            long begin = System.nanoTime();
            while (cq.startPoll() != 0) {
                assertThat(System.nanoTime() - begin).as("nanoseconds without a completion").isLessThan(PATIENCE_NANOS);
            }
            assertThat(WcStatus.toString(cq.status())).isEqualTo("SUCCESS");
            assertThat(cq.wrId()).isEqualTo(wrId);
            cq.endPoll();
        }

        @Override
        public void close() throws Exception {
            context.close();
        }
    }

    @Test
    void echoReturnsBytes() throws Exception {
        try (End near = new End(); End far = new End()) {
            near.connect(far);
            far.connect(near);
            for (int length : new int[] {0, 1, 3, 1024, 1025, 100_000}) {
                near.region.segment().asSlice(0, Math.max(1, length)).fill((byte) length);
                assertThat(far.qp.receiveQueue().post(7, far.region, 0, 100_000)).isZero();
                assertThat(near.qp.sendQueue().postSend(1, SendFlags.SIGNALED, near.region, 0, length)).isZero();
                near.await(1);
                far.await(7);
                assertThat(near.qp.sendQueue().postWrite(2, SendFlags.SIGNALED, near.region, 0, length, far.region
                        .rkey(), far.region.address() + 200_000)).isZero();
                near.await(2);
                assertThat(near.qp.sendQueue().postRead(3, SendFlags.SIGNALED, near.region, 400_000, length, far.region
                        .rkey(), far.region.address() + 200_000)).isZero();
                near.await(3);
                assertThat(near.region.segment().asSlice(0, length).mismatch(near.region.segment().asSlice(400_000,
                        length))).isEqualTo(-1);
                assertThat(near.region.segment().asSlice(0, length).mismatch(far.region.segment().asSlice(0, length)))
                        .isEqualTo(-1);
            }
        }
    }

    /** Posting, polling and everything else that both ends do meanwhile on this thread. */
    @Test
    void postAndPollAllocateNothing() throws Exception {
        int rounds = 3000;
        try (End near = new End(); End far = new End()) {
            near.connect(far);
            far.connect(near);
            long least = Long.MAX_VALUE;
            long end = System.nanoTime() + COMPILED_NANOS;
            while (least > 0 && System.nanoTime() - end < 0) { // code that is not compiled yet allocates
                long before = AllocatedBytes.ofThisThread();
                for (int i = 0; i < rounds; i++) {
                    round(near, far);
                }
                least = Math.min(least, (AllocatedBytes.ofThisThread() - before) / rounds);
            }
            assertThat(least).as("bytes a round").isZero();
            assertThat(far.region.segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();
        }
    }

    /**
     * The engine's thread completes and this one polls: with a queue of one receive, each has to be free when it is
     * polled.
     */
    @Test
    void polledCompletionFreesReceive() throws Exception {
        int rounds = 20_000;
        System.setProperty("verbena.roce.progress", "engine");
        try (End near = new End(); End far = new End(1)) {
            near.connect(far);
            far.connect(near);
            for (int i = 0; i < rounds; i++) {
                assertThat(far.qp.receiveQueue().post(i, far.region, 0, 64)).as("round %d", i).isZero();
                assertThat(near.qp.sendQueue().postSend(i, SendFlags.SIGNALED, near.region, 0, 64)).isZero();
                far.await(i);
                assertThat(far.qp.receiveQueue().post(i, far.region, 0, 64)).as("round %d", i).isZero();
                assertThat(near.qp.sendQueue().postSend(i, SendFlags.SIGNALED, near.region, 0, 64)).isZero();
                far.await(i);
                near.await(i);
                near.await(i);
            }
        } finally {
            System.clearProperty("verbena.roce.progress");
        }
    }

    private static void round(End near, End far) {
        if (far.qp.receiveQueue().post(7, far.region, 0, 64) != 0
                || near.qp.sendQueue().postSend(1, SendFlags.SIGNALED, near.region, 0, 64) != 0
                || near.qp.sendQueue().postWrite(2, SendFlags.SIGNALED, near.region, 0, 64, far.region.rkey(),
                        far.region.address()) != 0) {
            throw new AssertionError("not posted");
        }
        int missing = 3;
        while (missing > 0) {
            missing -= poll(near.cq) + poll(far.cq);
        }
    }

    private static int poll(CompletionQueue cq) {
        if (cq.startPoll() != 0) {
            return 0;
        }
        int n = 0;
        do {
            if (cq.status() != WcStatus.SUCCESS) {
                throw new AssertionError(WcStatus.toString(cq.status()));
            }
            n++;
        } while (cq.nextPoll() == 0);
        cq.endPoll();
        return n;
    }
}
