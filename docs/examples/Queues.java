// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;
import java.time.Instant;

import org.verbena.verbs.*;

/** An extended completion queue in a parent domain: moderated events, time stamps of the wall clock, another size. */
public class Queues {
    static final Duration LONG = Duration.ofSeconds(10);

    public static void main(String[] args) throws Exception {
        try (Context context = Verbs.open("shm0")) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            CompletionChannel channel = context.createCompletionChannel();

            ThreadDomain td = context.allocateThreadDomain(); // a promise: one thread at a time
            ProtectionDomain parent = context.allocateParentDomain(
                    ParentDomainAttributes.builder().protectionDomain(pd).threadDomain(td).build());

            CompletionQueue cq = context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(64)
                    .channel(channel).parentDomain(parent).flags(CompletionQueueAttributes.SINGLE_THREADED)
                    .fields(CompletionQueueAttributes.STANDARD_FIELDS
                            | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
                    .build());
            cq.modify(CompletionQueueModification.moderate(3, 0)); // an event for three completions
            cq.resize(256);
            System.out.println("cqe " + cq.cqe());

            CompletionQueue other = context.createCompletionQueue(16);
            QueuePair a = parent.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(8).build());
            QueuePair b = pd.createQueuePair(QueuePairInitAttributes.builder(other, other).build());
            ByHand.toInit(a);
            ByHand.toInit(b);
            ByHand.toReady(a, context.queryGid(1, 0), b.number());
            ByHand.toReady(b, context.queryGid(1, 0), a.number());

            MemoryRegion region = parent.allocate(4096, AccessFlags.ALL);
            cq.requestNotify(false);
            for (int i = 0; i < 3; i++) {
                a.sendQueue().postWrite(i, SendFlags.SIGNALED, region, 0, 64, region.rkey(), region.address() + 2048);
                System.out.println("event: " + (channel.await(i < 2 ? Duration.ofMillis(50) : LONG) == cq));
            }
            while (cq.startPoll() == 0) {
                long ago = System.currentTimeMillis() - cq.wallClockTimestamp() / 1_000_000;
                System.out.println("write " + cq.wrId() + (ago < 60_000 ? " just now" : " at " + Instant.EPOCH
                        .plusNanos(cq.wallClockTimestamp())));
                cq.endPoll();
            }
        }
    }
}
