// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Shared receive queues of reliable queue pairs, whose senders wait for receives. */
abstract class ReliableSharedReceiveQueueConformance extends SharedReceiveQueueConformance {
    ReliableSharedReceiveQueueConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @Test
    void messageWaitsForAReceive() throws VerbsException {
        Pair p = sharing();
        QueuePair second = p.near.queuePair();
        int sender = p.connect(second).queuePairNumber();
        assertPosted(p.far.post(Op.send(1).on(0, 8)));
        p.far.act(end -> {
            if (end.post(end.queuePair(sender), Op.send(2).on(0, 9)) != 0) {
                throw new AssertionError();
            }
        });
        Await.never("a send completes", () -> p.far.run(end -> !End.poll(end.sendCq, 4).isEmpty()));
        postReceives(p.near, 0, 1);
        Completion first = p.near.awaitReceive();
        assertThat(first.wrId()).isZero();
        postReceives(p.near, 1, 2);
        Completion last = p.near.awaitReceive();
        assertThat(LongStream.of(first.byteLength(), last.byteLength())).containsExactlyInAnyOrder(8L, 9L);
        assertAllSent(p.far.run(end -> end.await(end.sendCq, 2)));
    }

    @Test
    void rnrRetriesAreExhausted() throws VerbsException {
        Pair p = sharing(EndOptions.defaults(), EndOptions.defaults().rnrRetry(1));
        assertPosted(p.far.post(Op.send(1).on(0, 8)));
        assertStatus(WcStatus.RNR_RETRY_EXC_ERR, 1, p.far.awaitSend());
    }

    /** Nothing is polled, so that receives and room for messages are exhausted together. */
    @Test
    void rnrRetriesAreExhaustedWhenAllReceivesAreUsed() throws VerbsException {
        Pair p = sharing(EndOptions.defaults(), EndOptions.defaults().rnrRetry(1));
        postReceives(p.near, 0, CAPACITY);
        for (int i = 0; i < CAPACITY; i++) {
            assertPosted(p.far.post(Op.send(i).on(0, 8)));
            assertStatus(WcStatus.SUCCESS, i, p.far.awaitSend());
        }
        assertPosted(p.far.post(Op.send(99).on(0, 8)));
        assertStatus(WcStatus.RNR_RETRY_EXC_ERR, 99, p.far.awaitSend());
        assertThat(p.near.awaitReceives(CAPACITY)).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    @Test
    void queueGrownAfterConnectHoldsMoreUnpolledMessages() throws VerbsException {
        Pair p = connected(EndOptions.defaults().sharedReceives().queues(4), EndOptions.defaults());
        SharedReceiveQueue q = srq(p.near);
        q.modify(attributes().maxWr(40).build());
        assertThat(q.query().maxWr()).isEqualTo(fixture.queueSize(40));
        postReceives(p.near, 0, 40);
        for (int i = 0; i < 40; i++) {
            assertPosted(p.far.post(Op.send(i).on(0, i)));
        }
        List<Completion> got = p.near.awaitReceives(40);
        assertThat(got.stream().map(Completion::byteLength))
                .containsExactlyElementsOf(LongStream.range(0, 40).boxed().toList());
        assertAllSent(p.far.run(end -> end.await(end.sendCq, 40)));
    }
}
