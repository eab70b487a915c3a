// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * Two connected queue pairs of two contexts in this process, so that one thread can drive both ends. {@link #a} sends,
 * {@link #b} receives; nothing prevents the other direction.
 */
public final class Loop implements AutoCloseable {
    private static final int TIMEOUT_CODE = 20;
    private static final int FOR_EVER = 7;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** One end. */
    public static final class End {
        /** The queue pair. */
        public final QueuePair qp;
        /** Its completion queue for sends. */
        public final CompletionQueue sendCq;
        /** Its completion queue for receives. */
        public final CompletionQueue receiveCq;
        /** The channel of both; null if none was asked for. */
        public final @Nullable CompletionChannel channel;
        /** Memory with all rights. */
        public final MemoryRegion region;

        private End(MemoryRegion region, int depth, boolean events) throws VerbsException {
            this.region = region;
            Context context = region.protectionDomain().context();
            channel = events ? context.createCompletionChannel() : null;
            sendCq = context.createCompletionQueue(queue(depth));
            receiveCq = context.createCompletionQueue(queue(depth));
            qp = queuePair(depth);
        }

        private QueuePair queuePair(int depth) throws VerbsException {
            return region.protectionDomain().createQueuePair(QueuePairInitAttributes.builder(sendCq, receiveCq)
                    .maxSendWr(depth).maxReceiveWr(depth).maxInlineData(64).build());
        }

        private CompletionQueueAttributes queue(int depth) {
            CompletionQueueAttributes.Builder b = CompletionQueueAttributes.builder().cqe(depth);
            return (channel == null ? b : b.channel(channel)).build();
        }

        private void close() throws VerbsException {
            qp.close();
            sendCq.close();
            receiveCq.close();
            if (channel != null) {
                channel.close();
            }
        }
    }

    /** The end that sends. */
    public final End a;
    /** The end that receives. */
    public final End b;

    private final List<QueuePair> more = new ArrayList<>();

    /**
     * Creates and connects two queue pairs in the domains of two regions.
     *
     * @param first memory of the end that sends, with all rights; at least 8 bytes; still owned by the caller
     * @param second memory of the end that receives, likewise
     * @param depth entries of each queue
     * @param events whether the completion queues have a channel
     */
    public Loop(MemoryRegion first, MemoryRegion second, int depth, boolean events) throws VerbsException {
        a = new End(first, depth, events);
        b = new End(second, depth, events);
        connect(a.qp, b.qp);
        // from then on nothing is created
        warm(a, a.qp, b, b.qp);
        warm(b, b.qp, a, a.qp);
    }

    /** Connects more queue pairs to each other, on the same completion queues, with {@code depth} entries each. */
    public void add(int pairs, int depth) throws VerbsException {
        for (int n = 0; n < pairs; n++) {
            QueuePair first = a.queuePair(depth);
            more.add(first);
            QueuePair second = b.queuePair(depth);
            more.add(second);
            connect(first, second);
            warm(a, first, b, second);
        }
    }

    /** Brings both queue pairs from RESET to RTS. */
    public static void connect(QueuePair first, QueuePair second) throws VerbsException {
        for (QueuePair qp : new QueuePair[] {first, second}) {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                    .build());
        }
        ready(first, second);
        ready(second, first);
    }

    private static void ready(QueuePair qp, QueuePair peer) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR)
                .addressVector(AddressVector.to(peer.protectionDomain().context().queryGid(1, 0))).pathMtu(4096)
                .destinationQueuePair(peer.number()).rqPsn(0).maxDestReadAtomic(16).minRnrTimer(1).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(TIMEOUT_CODE).retryCount(FOR_EVER).rnrRetry(
                FOR_EVER)
                .sqPsn(0).maxReadAtomic(16).build());
    }

    private static void warm(End from, QueuePair sender, End to, QueuePair receiver) {
        check(receiver.receiveQueue().post(0, to.region, 0, 0));
        check(sender.sendQueue().start().send(0, SendFlags.SIGNALED).sge(from.region, 0, 0)
                .write(0, SendFlags.SIGNALED, to.region.rkey(), to.region.address()).sge(from.region, 0, 8).complete());
        take(to.receiveCq);
        take(from.sendCq);
        take(from.sendCq);
    }

    /** Waits for one completion, which must be a success. */
    public static void take(CompletionQueue cq) {
        if (!isTaken(cq, PATIENCE)) {
            throw new IllegalStateException("no completion on " + cq.describe());
        }
    }

    /** Waits for one completion, which must be a success, up to this time; false if there was none. */
    public static boolean isTaken(CompletionQueue cq, Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (cq.startPoll() != 0) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            Thread.onSpinWait();
        }
        int status = cq.status();
        cq.endPoll();
        if (status != WcStatus.SUCCESS) {
            throw new IllegalStateException("completed with " + WcStatus.toString(status));
        }
        return true;
    }

    /** Throws if {@code errno} is not 0. */
    public static void check(int errno) {
        if (errno != 0) {
            throw new IllegalStateException("refused with errno " + errno);
        }
    }

    @Override
    public void close() throws VerbsException {
        for (QueuePair qp : more) {
            qp.close();
        }
        a.close();
        b.close();
    }
}
