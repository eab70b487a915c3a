// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/** Random completions are added and polled, and a completion queue holds exactly those that a list holds. */
class CompletionRingTest {
    private static final int CQE = 8;
    private static final int QUEUE_PAIRS = 3;

    private record Entry(long wrId, int queuePair) {}

    @Test
    void randomOperationsMatchAList() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Context context = LoopbackDevice.open()) {
            RoceCompletionQueue cq = (RoceCompletionQueue) context.createCompletionQueue(CQE);
            Deque<Entry> model = new ArrayDeque<>();
            int cqe = CQE;
            for (int i = 0; i < 200_000; i++) {
                switch (random.nextInt(8)) {
                    case 0 -> {
                        int gone = random.nextInt(QUEUE_PAIRS);
                        cq.discard(gone);
                        model.removeIf(e -> e.queuePair() == gone);
                    }
                    case 1, 2, 3 -> {
                        Entry e = model.poll();
                        assertThat(cq.startPoll() == 0).as("seed %d, step %d", seed, i).isEqualTo(e != null);
                        if (e != null) {
                            assertThat(cq.wrId()).as("seed %d, step %d", seed, i).isEqualTo(e.wrId());
                        }
                        cq.endPoll();
                    }
                    case 4 -> {
                        if (random.nextInt(20) == 0) {
                            cqe = resize(cq, model.size(), 1 + random.nextInt(2 * CQE), cqe);
                        }
                    }
                    default -> {
                        int from = random.nextInt(QUEUE_PAIRS);
                        if (model.size() < cqe) {
                            long word = CompletionRing.word(0, 0, 0, from);
                            assertThat(cq.put(i, word, 0, 0, 0, false, null)).as("seed %d, step %d", seed, i).isTrue();
                            model.add(new Entry(i, from));
                        }
                    }
                }
            }
        }
    }

    private static int resize(CompletionQueue cq, int waiting, int wanted, int cqe) {
        try {
            cq.resize(wanted);
            assertThat(waiting).isLessThanOrEqualTo(wanted);
            return wanted;
        } catch (VerbsException e) {
            assertThat(waiting).isGreaterThan(wanted);
            return cqe;
        }
    }

    /** Connections end and begin, and no thread polls. */
    @Test
    void voidEntriesWithoutPollsDoNotAccumulate() throws Exception {
        try (Context context = LoopbackDevice.open()) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            var memory = pd.allocate(64, AccessFlags.ALL);
            RoceCompletionQueue cq = (RoceCompletionQueue) context.createCompletionQueue(CQE);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxReceiveWr(CQE).build());
            for (int round = 0; round < 100; round++) {
                qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(0).build());
                for (int i = 0; i < CQE; i++) {
                    assertThat(qp.receiveQueue().post(i, memory, 0, 8)).isZero();
                }
                qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
                qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
                assertThat(cq.rings()).isLessThanOrEqualTo(3);
            }
        }
    }
}
