// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.ValueLayout;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** Connects two queue pairs without the connection manager, posts a batch and polls with an array. */
public class ByHand {
    static final int DEPTH = 16;

    public static void main(String[] args) throws VerbsException {
        try (Context a = Verbs.open("shm0"); Context b = Verbs.open("shm0")) {
            CompletionQueue cqA = a.createCompletionQueue(2 * DEPTH);
            CompletionQueue cqB = b.createCompletionQueue(2 * DEPTH);
            ProtectionDomain pdA = a.allocateProtectionDomain();
            ProtectionDomain pdB = b.allocateProtectionDomain();
            MemoryRegion from = pdA.allocate(4096, AccessFlags.LOCAL_WRITE);
            MemoryRegion to = pdB.allocate(4096, AccessFlags.ALL);
            QueuePair qpA = create(pdA, cqA);
            QueuePair qpB = create(pdB, cqB);

            toInit(qpA);
            toInit(qpB);
            require(qpB.receiveQueue().start().receive(7).sge(to, 2048, 1024).complete());
            toReady(qpA, b.queryGid(1, 0), qpB.number()); // GID and number travel by any means you have
            toReady(qpB, a.queryGid(1, 0), qpA.number());

            for (int i = 0; i < 4; i++) {
                from.segment().setAtIndex(ValueLayout.JAVA_LONG, i, i + 1);
            }
            int error = qpA.sendQueue().start()
                    .write(1, SendFlags.NONE, to.rkey(), to.address()).sge(from, 0, 8).sge(from, 16, 16)
                    .fetchAndAdd(2, SendFlags.SIGNALED, to.rkey(), to.address(), 41).sge(from, 64, 8)
                    .read(3, SendFlags.SIGNALED, to.rkey(), to.address()).sge(from, 128, 24)
                    .sendImmediate(4, SendFlags.SIGNALED | SendFlags.FENCE, 99).sge(from, 0, 32)
                    .complete();
            require(error);

            print(cqA, 3);
            print(cqB, 1);
            System.out.println("old value " + from.segment().get(ValueLayout.JAVA_LONG, 64) + ", new value "
                    + from.segment().get(ValueLayout.JAVA_LONG, 128));
        }
    }

    static QueuePair create(ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        return pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq)
                .maxSendWr(DEPTH).maxSendSge(2).maxReceiveWr(DEPTH).maxInlineData(64).build());
    }

    static void toInit(QueuePair qp) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT)
                .pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL).build());
    }

    static void toReady(QueuePair qp, Gid peer, int peerNumber) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR)
                .addressVector(AddressVector.to(peer)).destinationQueuePair(peerNumber)
                .pathMtu(4096).rqPsn(0).maxDestReadAtomic(16).minRnrTimer(12).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS)
                .timeout(14).retryCount(7).rnrRetry(7).sqPsn(0).maxReadAtomic(16).build());
    }

    static void print(CompletionQueue cq, int count) {
        WorkCompletion[] completions = WorkCompletion.array(DEPTH);
        int seen = 0;
        while (seen < count) {
            int n = cq.poll(completions);
            for (int i = 0; i < n; i++) {
                System.out.println(completions[i]);
            }
            seen += n;
        }
    }

    static void require(int error) {
        if (error != 0) {
            throw new IllegalStateException("not posted: " + Errno.describe(error));
        }
    }
}
