// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.ValueLayout;
import java.nio.file.*;

import org.verbena.verbs.*;

/** One connection to a host whose two processes have a shared receive queue each; here they are two contexts. */
public class Xrc {
    public static void main(String[] args) throws Exception {
        Path file = Files.createTempFile("domain", null);
        try (Context sender = Verbs.open("shm0"); Context first = Verbs.open("shm0");
                Context second = Verbs.open("shm0")) {
            // the first process creates the domain and the end of the connection, the second opens both
            XrcDomain domain = first.openXrcDomain(XrcDomainAttributes.builder()
                    .file(file).openFlags(XrcDomainAttributes.CREATE).build());
            QueuePair target = domain.createQueuePair(QueuePairInitAttributes.builderXrcReceive().build());
            XrcDomain same = second.openXrcDomain(XrcDomainAttributes.builder().file(file).openFlags(0).build());
            same.openQueuePair(QueuePairOpenAttributes.builder()
                    .number(target.number()).type(QueuePairType.XRC_RECV).build());

            CompletionQueue cq = sender.createCompletionQueue(16);
            ProtectionDomain pd = sender.allocateProtectionDomain();
            QueuePair qp = pd.createQueuePair(
                    QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.XRC_SEND).build());
            connect(qp, target, sender.queryGid(1, 0), first.queryGid(1, 0));

            MemoryRegion from = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            receive(first, domain, qp, cq, from, 41);
            receive(second, same, qp, cq, from, 42);
        } finally {
            Files.delete(file);
        }
    }

    /** Sends a number to a new shared receive queue of that process. */
    static void receive(Context context, XrcDomain domain, QueuePair qp, CompletionQueue sent, MemoryRegion from,
            long number) throws VerbsException {
        try (CompletionQueue cq = context.createCompletionQueue(16);
                ProtectionDomain pd = context.allocateProtectionDomain();
                MemoryRegion to = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
                SharedReceiveQueue srq = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder()
                        .type(SharedReceiveQueueType.XRC).xrcDomain(domain).completionQueue(cq).maxWr(16).build())) {
            ByHand.require(srq.receiveQueue().post(1, to, 0, 64));

            from.segment().set(ValueLayout.JAVA_LONG, 0, number);
            ByHand.require(qp.sendQueue().start()
                    .send(2, SendFlags.SIGNALED).remoteSharedReceiveQueue(srq.number()).sge(from, 0, 8)
                    .complete());
            ByHand.print(sent, 1);
            ByHand.print(cq, 1);
            System.out.println("received " + to.segment().get(ValueLayout.JAVA_LONG, 0));
        }
    }

    static void connect(QueuePair sending, QueuePair target, Gid sender, Gid receiver) throws VerbsException {
        ByHand.toInit(sending);
        ByHand.toInit(target);
        target.modify(QueuePairAttributes.to(QueuePairState.RTR)
                .addressVector(AddressVector.to(sender)).destinationQueuePair(sending.number())
                .pathMtu(4096).rqPsn(0).maxDestReadAtomic(16).minRnrTimer(12).build());
        sending.modify(QueuePairAttributes.to(QueuePairState.RTR)
                .addressVector(AddressVector.to(receiver)).destinationQueuePair(target.number())
                .pathMtu(4096).rqPsn(0).build());
        sending.modify(QueuePairAttributes.to(QueuePairState.RTS)
                .timeout(14).retryCount(7).rnrRetry(7).sqPsn(0).maxReadAtomic(16).build());
    }
}
