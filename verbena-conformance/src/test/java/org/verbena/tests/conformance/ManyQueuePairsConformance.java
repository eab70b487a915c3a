// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Many queue pairs that share their completion queues: none is overlooked, whatever the others do. */
abstract class ManyQueuePairsConformance extends Conformance {
    private static final int MANY = 70;
    private static final int DEPTH = 4;
    private static final int ROUNDS = Thorough.ON ? 40 : 15;
    private static final int LENGTH = 24;
    private static final long SEED = 20;

    private final Random random = new Random(SEED);
    private final List<QueuePair> near = new ArrayList<>();
    private final Map<Integer, Integer> farNumbers = new HashMap<>();
    private Pair p;

    ManyQueuePairsConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    /**
     * {@link #MANY} connections with posted receives at the far end, created one after the other while the earlier ones
     * are in use.
     */
    @BeforeEach
    void connectMany() throws VerbsException {
        p = pair(options(), options());
        for (int i = 0; i < MANY; i++) {
            connectOneMore();
        }
    }

    private static EndOptions options() {
        return EndOptions.defaults().queues(DEPTH).channel();
    }

    private void connectOneMore() throws VerbsException {
        QueuePair q = p.near.queuePair();
        EndAddress n = p.near.address(q);
        EndAddress f = p.far.run(end -> {
            QueuePair other = end.queuePair();
            end.toInit(other);
            end.toRtr(other, n);
            end.toRts(other);
            for (int k = 0; k < DEPTH; k++) {
                assertPosted(end.postReceives(other, Op.receive(k).on(64L * k, 64)));
            }
            return end.address(other);
        });
        p.near.toInit(q);
        p.near.toRtr(q, f);
        p.near.toRts(q);
        near.add(q);
        farNumbers.put(f.queuePairNumber(), near.size() - 1);
        // one message each, so that every lane is in use before the next is created
        send(q, 0);
        assertThat(p.far.run(ManyQueuePairsConformance::takeOne)).isEqualTo(f.queuePairNumber());
        assertThat(p.near.awaitSend().queuePairNumber()).isEqualTo(q.number());
    }

    private void send(QueuePair q, long wrId) {
        assertPosted(p.near.post(q, Op.send(wrId).on(0, LENGTH)));
    }

    /** Takes a message, reposts its receive and returns its queue pair. */
    private static int takeOne(End end) throws VerbsException {
        Completion c = end.awaitReceive();
        assertThat(c.statusName()).isEqualTo("SUCCESS");
        assertThat(c.byteLength()).isEqualTo(LENGTH);
        end.postAgain(c);
        return c.queuePairNumber();
    }

    @Test
    void eachMessageIsPolledOnceAndInOrder() throws Exception {
        int messages = MANY * ROUNDS;
        p.far.start(end -> {
            Map<Integer, Integer> perQueuePair = new HashMap<>();
            for (int k = 0; k < messages; k++) {
                Completion c = end.awaitReceive();
                // receives are used in the order of their ids, and the first has been used when the pair was connected
                int n = perQueuePair.merge(c.queuePairNumber(), 1, Integer::sum);
                assertThat(c.wrId()).isEqualTo(n % DEPTH);
                end.postAgain(c);
            }
            assertThat(perQueuePair).hasSize(MANY);
            assertThat(perQueuePair.values()).containsOnly(ROUNDS);
            return true;
        });
        List<Integer> order = new ArrayList<>();
        for (int k = 0; k < messages; k++) {
            order.add(k % MANY);
        }
        Collections.shuffle(order, random);
        int waiting = 0;
        for (int k = 0; k < messages; k++) {
            send(near.get(order.get(k)), k);
            waiting++;
            if (waiting == DEPTH) {
                assertThat(p.near.awaitSends(waiting)).allMatch(c -> c.status() == WcStatus.SUCCESS);
                waiting = 0;
            }
        }
        p.near.awaitSends(waiting);
        p.far.join();
        p.near.expectNoCompletion();
    }

    @Test
    void pollAfterACompletedSendFindsItsMessage() throws Exception {
        for (int k = 0; k < 2 * MANY; k++) {
            int i = random.nextInt(MANY);
            send(near.get(i), k);
            assertDone(WcOpcode.SEND, k, p.near.awaitSend());
            int number = p.far.run(end -> {
                List<Completion> found = End.poll(end.receiveCq, 1);
                assertThat(found).hasSize(1);
                end.postAgain(found.getFirst());
                return found.getFirst().queuePairNumber();
            });
            assertThat(farNumbers.get(number)).isEqualTo(i);
        }
    }

    @Test
    void sleeperIsWokenByAnyQueuePair() throws Exception {
        for (int k = 0; k < MANY; k++) {
            p.far.start(end -> {
                CompletionQueue cq = end.receiveCq;
                assertThat(cq.requestNotify(false)).isZero();
                assertThat(End.poll(cq, 1)).isEmpty();
                end.later = "armed";
                assertThat(Objects.requireNonNull(end.channel).await(Await.LIMIT)).isSameAs(cq);
                return takeOne(end);
            });
            p.far.act(end -> Await.until("armed", () -> "armed".equals(end.later), end::describe));
            int i = random.nextInt(MANY);
            send(near.get(i), k);
            assertThat(farNumbers.get((Integer) p.far.join())).isEqualTo(i);
            p.far.act(end -> end.later = null);
            p.near.awaitSend();
        }
    }

    @Test
    void otherQueuePairsContinueWhenSomeFail() throws Exception {
        for (int k = 0; k < MANY; k += 2) {
            QueuePair q = near.get(k);
            if (k % 4 == 0) {
                q.close();
            } else {
                q.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
            }
        }
        for (int round = 0; round < DEPTH; round++) {
            for (int k = 1; k < MANY; k += 2) {
                send(near.get(k), k);
                assertThat(farNumbers.get(p.far.run(ManyQueuePairsConformance::takeOne))).isEqualTo(k);
                assertDone(WcOpcode.SEND, k, p.near.awaitSend());
            }
        }
        connectOneMore();
        assertThat(near).hasSize(MANY + 1);
    }

    @Test
    void flushedRequestsArePolled() throws Exception {
        List<QueuePair> failed = near.subList(MANY / 2, MANY);
        for (QueuePair q : failed) {
            for (int k = 0; k < DEPTH; k++) {
                assertPosted(p.near.postReceives(q, Op.receive(k).on(0, 8)));
            }
            q.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        }
        List<Completion> flushed = p.near.awaitReceives(failed.size() * DEPTH);
        assertThat(flushed).allMatch(c -> c.status() == WcStatus.WR_FLUSH_ERR);
        for (QueuePair q : failed) {
            assertThat(flushed.stream().filter(c -> c.queuePairNumber() == q.number()).map(Completion::wrId)).hasSize(
                    DEPTH).isSorted();
            send(q, 9);
        }
        assertThat(p.near.awaitSends(failed.size())).allMatch(c -> c.status() == WcStatus.WR_FLUSH_ERR);
        p.near.expectNoCompletion();
    }
}
