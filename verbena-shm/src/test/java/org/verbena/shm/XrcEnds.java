// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;

import org.verbena.shm.pool.ReceivePool;
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
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.SharedReceiveQueueType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/** A context with a shared receive queue of type XRC, one that sends to it, and one that the sender is connected to. */
final class XrcEnds implements AutoCloseable {
    private final Path file = Files.createTempFile("domain", ".xrc");
    final ShmContext owner = (ShmContext) ShmDevice.INSTANCE.open();
    private final ShmContext target = (ShmContext) ShmDevice.INSTANCE.open();
    final ShmContext sender = (ShmContext) ShmDevice.INSTANCE.open();
    final CompletionQueue received = owner.createCompletionQueue(64);
    final CompletionQueue sent = sender.createCompletionQueue(64);
    private final MemoryRegion to;
    private final MemoryRegion from;
    private final SharedReceiveQueue srq;
    private final QueuePair qp;

    XrcEnds() throws Exception {
        ProtectionDomain pd = owner.allocateProtectionDomain();
        to = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
        XrcDomain domain = owner.openXrcDomain(shared());
        srq = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(8).type(
                SharedReceiveQueueType.XRC).xrcDomain(domain).completionQueue(received).build());
        QueuePair receiver = target.openXrcDomain(shared()).createQueuePair(QueuePairInitAttributes.builderXrcReceive()
                .build());
        ProtectionDomain senderPd = sender.allocateProtectionDomain();
        from = senderPd.allocate(4096, AccessFlags.LOCAL_WRITE);
        qp = senderPd.createQueuePair(QueuePairInitAttributes.builder(sent, sent).type(QueuePairType.XRC_SEND)
                .maxSendWr(8)
                .build());
        connect(receiver, sender, qp);
        connect(qp, target, receiver);
    }

    private XrcDomainAttributes shared() {
        return XrcDomainAttributes.builder().file(file).openFlags(XrcDomainAttributes.CREATE).build();
    }

    private static void connect(QueuePair qp, ShmContext peer, QueuePair other) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(0).build());
        QueuePairAttributes.Builder rtr = QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(
                peer.queryGid(1, 0))).destinationQueuePair(other.number()).pathMtu(4096).rqPsn(0);
        QueuePairAttributes.Builder rts = QueuePairAttributes.to(QueuePairState.RTS).timeout(14).sqPsn(0);
        if (qp.type() == QueuePairType.XRC_SEND) {
            rts.retryCount(7).rnrRetry(7).maxReadAtomic(1);
        } else {
            rtr.maxDestReadAtomic(1).minRnrTimer(1);
        }
        qp.modify(rtr.build());
        qp.modify(rts.build());
    }

    ReceivePool pool() {
        return ((ShmSharedReceiveQueue) srq).pool().receives();
    }

    void post(int n) {
        for (int i = 0; i < n; i++) {
            assertThat(srq.receiveQueue().post(i, to, 64L * i, 64)).isZero();
        }
    }

    int send() throws VerbsException {
        return qp.sendQueue().start().send(1, SendFlags.SIGNALED).sge(from, 0, 16).remoteSharedReceiveQueue(srq
                .number()).complete();
    }

    String sentStatus() {
        long end = System.nanoTime() + PoolEnds.LIMIT.toNanos();
        while (sent.startPoll() != 0) {
            assertThat(System.nanoTime() - end).as("no completion").isNegative();
            Thread.onSpinWait();
        }
        String s = WcStatus.toString(sent.status());
        sent.endPoll();
        return s;
    }

    @Override
    public void close() throws Exception {
        sender.close();
        target.close();
        owner.close();
        Files.delete(file);
    }
}
