// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** A peer has windows invalidated by messages, and is inside one after the other as if it was stopped there. */
class StoppedInWindowTest {
    private static final int WINDOWS = 4;
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static ShmQueuePair queuePair(ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        return (ShmQueuePair) pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(16).maxReceiveWr(16)
                .build());
    }

    private static void connect(QueuePair qp, ShmContext peer, QueuePair other) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(
                AccessFlags.REMOTE_WRITE).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(peer.queryGid(1, 0)))
                .destinationQueuePair(other.number()).pathMtu(4096).rqPsn(0).maxDestReadAtomic(1).minRnrTimer(1)
                .build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(10).retryCount(3).rnrRetry(7).sqPsn(0)
                .maxReadAtomic(1).build());
    }

    private static int status(CompletionQueue cq) {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (cq.startPoll() != 0) {
            assertThat(System.nanoTime() - end).as("no completion").isNegative();
        }
        int s = cq.status();
        cq.endPoll();
        return s;
    }

    @Test
    void onlyTheFirstInvalidationWaits() throws Exception {
        try (ShmContext owner = (ShmContext) ShmDevice.INSTANCE.open();
                ShmContext peer = (ShmContext) ShmDevice.INSTANCE.open()) {
            CompletionQueue received = owner.createCompletionQueue(64);
            CompletionQueue sent = peer.createCompletionQueue(64);
            ProtectionDomain pd = owner.allocateProtectionDomain();
            MemoryRegion memory = pd.allocate(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
            ShmQueuePair receiver = queuePair(pd, received);
            ShmQueuePair sender = queuePair(peer.allocateProtectionDomain(), sent);
            connect(receiver, peer, sender);
            connect(sender, owner, receiver);
            List<MemoryWindow> windows = new ArrayList<>();
            for (int i = 0; i < WINDOWS; i++) {
                MemoryWindow w = pd.allocateMemoryWindow(MemoryWindow.TYPE_2);
                windows.add(w);
                assertThat(receiver.sendQueue().start().bindMemoryWindow(i, SendFlags.SIGNALED, w,
                        MemoryWindow.incrementRkey(w.rkey()), memory, memory.address(), 64, AccessFlags.REMOTE_WRITE)
                        .complete()).isZero();
                assertThat(status(received)).isEqualTo(WcStatus.SUCCESS);
                assertThat(receiver.receiveQueue().post(i, memory, 0, 8)).isZero();
            }
            for (MemoryWindow w : windows) {
                assertThat(sender.sendQueue().start().sendInvalidate(1, SendFlags.SIGNALED, w.rkey()).complete())
                        .isZero();
                assertThat(status(sent)).isEqualTo(WcStatus.SUCCESS);
            }
            long hazard = peer.adapter().base() + AdapterLayout.qpEntry(sender.number()) + AdapterLayout.QP_HAZARD;
            for (int i = 0; i < WINDOWS - 1; i++) {
                RawMemory.putLongRelease(hazard, (i + 1L) << 32 | Hazard.region(windows.get(i).rkey()));
                assertThat(status(received)).isEqualTo(WcStatus.REM_INV_REQ_ERR);
                assertThat(receiver.state()).isEqualTo(QueuePairState.ERR);
                assertThat(receiver.waitBudget().left(QueuePairState.RTS)).as("budget that is left").isZero();
            }
            // a window that it is not inside of is invalidated as usual
            assertThat(status(received)).isEqualTo(WcStatus.SUCCESS);
            RawMemory.putLongRelease(hazard, 0);
            for (MemoryWindow w : windows) {
                w.close();
            }
            memory.close();
        }
    }
}
