// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** A peer's memory has been sent, and the thread that receives it is paused for longer than the retries last. */
class LateMemoryTest {
    private static final int TIMEOUT = 10;
    private static final int RETRIES = 3;
    private static final long RETRY_NANOS = (4096L << TIMEOUT) * (RETRIES + 1);
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static QueuePair queuePair(ProtectionDomain pd, CompletionQueue cq, int type) throws VerbsException {
        return pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(type).maxSendWr(16).build());
    }

    private static void connect(QueuePair qp, ShmContext peer, QueuePair other) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(
                AccessFlags.REMOTE_WRITE).build());
        QueuePairAttributes.Builder rtr = QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(
                peer.queryGid(1, 0))).destinationQueuePair(other.number()).pathMtu(4096).rqPsn(0);
        QueuePairAttributes.Builder rts = QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0);
        if (qp.type() == QueuePairType.RC) {
            rtr.maxDestReadAtomic(1).minRnrTimer(1);
            rts.timeout(TIMEOUT).retryCount(RETRIES).rnrRetry(7).maxReadAtomic(1);
        }
        qp.modify(rtr.build());
        qp.modify(rts.build());
    }

    private static void write(QueuePair qp, MemoryRegion from, MemoryRegion to) {
        assertThat(qp.sendQueue().start().write(1, SendFlags.SIGNALED, to.rkey(), to.address()).sge(from, 0, 8)
                .complete()).isZero();
    }

    /** The status of the next completion, -1 if there is none in that time. */
    private static int status(CompletionQueue cq, long nanos) {
        long end = System.nanoTime() + nanos;
        while (cq.startPoll() != 0) {
            if (System.nanoTime() - end > 0) {
                return -1;
            }
            Thread.onSpinWait();
        }
        int s = cq.status();
        cq.endPoll();
        return s;
    }

    @Test
    void requestWaitsForMemoryInTransit() throws Exception {
        requestWaitsForMemoryInTransit(QueuePairType.RC, 10 * RETRY_NANOS);
    }

    /** Which has no retries. */
    @Test
    void requestOfTypeUcWaitsForMemoryInTransit() throws Exception {
        requestWaitsForMemoryInTransit(QueuePairType.UC, TimeUnit.MILLISECONDS.toNanos(500));
    }

    private static void requestWaitsForMemoryInTransit(int type, long nanos) throws Exception {
        try (ShmContext near = (ShmContext) ShmDevice.INSTANCE.open();
                ShmContext far = (ShmContext) ShmDevice.INSTANCE.open()) {
            CompletionQueue sent = near.createCompletionQueue(16);
            ProtectionDomain pd = near.allocateProtectionDomain();
            ProtectionDomain farPd = far.allocateProtectionDomain();
            QueuePair qp = queuePair(pd, sent, type);
            QueuePair other = queuePair(farPd, far.createCompletionQueue(16), type);
            connect(other, near, qp);
            connect(qp, far, other);
            MemoryRegion from = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            int access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
            write(qp, from, farPd.allocate(4096, access));
            assertThat(status(sent, LIMIT_NANOS)).isEqualTo(WcStatus.SUCCESS);

            try (PausedEngine held = new PausedEngine(near.engine())) {
                MemoryRegion late = farPd.allocate(4096, access);
                from.segment().set(ValueLayout.JAVA_LONG, 0, 7);
                write(qp, from, late);
                assertThat(status(sent, nanos)).as("status before the memory is there").isEqualTo(-1);
                held.close();
                assertThat(status(sent, LIMIT_NANOS)).isEqualTo(WcStatus.SUCCESS);
                assertThat(late.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
            }
        }
    }
}
