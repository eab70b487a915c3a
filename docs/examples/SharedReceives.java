// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** Two queue pairs take their receives from one queue, which says when few are left. */
public class SharedReceives {
    public static void main(String[] args) throws VerbsException {
        try (Context context = Verbs.open("shm0"); Context peer = Verbs.open("shm0")) {
            CompletionQueue cq = context.createCompletionQueue(64);
            ProtectionDomain pd = context.allocateProtectionDomain();
            MemoryRegion region = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            SharedReceiveQueue srq = pd.createSharedReceiveQueue(
                    SharedReceiveQueueAttributes.builder().maxWr(256).build());
            QueuePair[] many = new QueuePair[2];
            for (int i = 0; i < many.length; i++) {
                many[i] = pd.createQueuePair(
                        QueuePairInitAttributes.builder(cq, cq).sharedReceiveQueue(srq).build());
            }
            for (int i = 0; i < 4; i++) {
                require(srq.receiveQueue().post(i, region, 512 * i, 512));
            }
            srq.modify(SharedReceiveQueueAttributes.builder().limit(3).build());

            CompletionQueue sent = peer.createCompletionQueue(64);
            ProtectionDomain peerPd = peer.allocateProtectionDomain();
            MemoryRegion from = peerPd.allocate(4096, AccessFlags.LOCAL_WRITE);
            for (QueuePair qp : many) {
                QueuePair sender = peerPd.createQueuePair(QueuePairInitAttributes.builder(sent, sent).build());
                connect(sender, context.queryGid(1, 0), qp.number());
                connect(qp, peer.queryGid(1, 0), sender.number());
                require(sender.sendQueue().postSend(9, SendFlags.SIGNALED, from, 0, 100));
            }
            for (int i = 0; i < many.length; i++) {
                while (cq.startPoll() != 0) {
                    Thread.onSpinWait();
                }
                System.out.println("receive " + cq.wrId() + ": " + cq.byteLength() + " bytes");
                cq.endPoll();
            }
            AsyncEvent event = context.awaitAsyncEvent(Duration.ofSeconds(10));
            System.out.println(event == null ? "no event" : AsyncEventType.toString(event.type()));
        }
    }

    static void connect(QueuePair qp, Gid peer, int peerNumber) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT)
                .pkeyIndex(0).port(1).accessFlags(AccessFlags.LOCAL_WRITE).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR)
                .addressVector(AddressVector.to(peer)).destinationQueuePair(peerNumber)
                .pathMtu(4096).rqPsn(0).maxDestReadAtomic(16).minRnrTimer(12).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS)
                .timeout(14).retryCount(7).rnrRetry(7).sqPsn(0).maxReadAtomic(16).build());
    }

    static void require(int error) {
        if (error != 0) {
            throw new IllegalStateException("not posted: " + Errno.describe(error));
        }
    }
}
