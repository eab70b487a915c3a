// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.testkit.Await;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * The process of a sender is stopped in the middle of a message, for longer than its receiver waits for it: when it
 * continues, it does not report success of a message that was not received.
 */
abstract class StoppedSenderConformance extends Conformance {
    /** Takes long enough for most stops to hit the middle; wherever they hit, the two ends have to agree. */
    private static final long LENGTH = 128 << 20;

    StoppedSenderConformance(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    /** Lets the far end send its whole region, and stops its process when the first bytes have arrived. */
    private static void stopInTheMiddle(PeerProcess process, Pair p) throws Exception {
        p.far.start(end -> {
            end.setLong(0, 1);
            end.setLong(LENGTH - 8, 2);
            assertPosted(end.post(Op.send(1).on(0, LENGTH)));
            return end.awaitSend().status();
        });
        Await.until("the first bytes", () -> p.near.getLong(0) == 1, p.near::describe);
        process.signal("STOP");
    }

    @Rounds(value = 1, thorough = 2)
    void sendIntoAFlushedReceiveDoesNotSucceed() throws Exception {
        PeerProcess process = otherPeer();
        // unanswered packets time out soon, like those of a queue pair that has failed
        EndOptions options = EndOptions.defaults().bytes(LENGTH).retry(14, 6);
        Pair p = connectedTo(process, options, options);
        assertPosted(p.near.postReceives(Op.receive(1).on(0, LENGTH), Op.receive(2).on(0, LENGTH)));
        stopInTheMiddle(process, p);
        Completion received;
        try {
            p.near.to(QueuePairState.ERR);
            received = p.near.awaitReceive();
            assertStatus(WcStatus.WR_FLUSH_ERR, 2, p.near.awaitReceive());
        } finally {
            process.signal("CONT");
        }
        assertThat(received.wrId()).isEqualTo(1);
        int sent = (int) p.far.join();
        if (received.status() != WcStatus.SUCCESS) {
            assertStatus(WcStatus.WR_FLUSH_ERR, 1, received);
            assertThat(sent).as("status of a message that was not received").isIn(WcStatus.RETRY_EXC_ERR,
                    WcStatus.WR_FLUSH_ERR);
        }
    }

    /** The receives of this queue are not flushed. */
    enum Shared {
        QUEUE, XRC
    }

    /** A message to a shared queue may arrive long after the connection has ended, and no later than it succeeds. */
    @ParameterizedTest
    @EnumSource
    void succeededSendIsInTheSharedQueue(Shared kind) throws Exception {
        PeerProcess process = otherPeer();
        Pair p = connectedTo(process, options(kind), options(kind));
        assertPosted(p.near.postReceives(Op.receive(1).on(0, LENGTH)));
        stopInTheMiddle(process, p);
        try {
            p.near.responder().modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        } finally {
            process.signal("CONT");
        }
        int sent = (int) p.far.join();
        if (sent == WcStatus.SUCCESS) {
            assertStatus(WcStatus.SUCCESS, 1, p.near.awaitReceive());
            assertThat(p.near.getLong(LENGTH - 8)).isEqualTo(2);
        } else {
            assertThat(sent).as("status of a message that may have been received").isIn(WcStatus.RETRY_EXC_ERR,
                    WcStatus.WR_FLUSH_ERR);
        }
    }

    private EndOptions options(Shared kind) throws VerbsException {
        EndOptions o = EndOptions.defaults().bytes(LENGTH).retry(14, 6);
        if (kind == Shared.XRC) {
            return XrcEnd.options(fixture, o);
        }
        try (Context c = fixture.open()) {
            needs(c, Feature.SHARED_RECEIVE_QUEUE);
        }
        return o.sharedReceives();
    }
}
