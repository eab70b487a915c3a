package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.RepeatedTest;

import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.WcStatus;

/**
 * The process of a sender is stopped in the middle of a message, for longer than its receiver waits for it: when it goes on, it
 * does not report success of a message that was not received.
 */
abstract class StoppedSenderConformance extends Conformance {
    /** Takes long enough for most stops to come in the middle; wherever they come, the two ends have to agree. */
    private static final long LENGTH = 128 << 20;

    StoppedSenderConformance(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    @RepeatedTest(2)
    void whatTheReceiverHasFlushedDoesNotSucceed() throws Exception {
        PeerProcess process = ownPeer();
        // packets that are not answered are given up soon, as are those of a queue pair that has failed
        EndOptions options = EndOptions.defaults().bytes(LENGTH).retry(14, 6);
        Pair p = connectedTo(process, options, options);
        assertPosted(p.near.postReceives(Op.receive(1).on(0, LENGTH), Op.receive(2).on(0, LENGTH)));
        p.far.start(end -> {
            end.setLong(0, 1);
            assertPosted(end.post(Op.send(1).on(0, LENGTH)));
            return end.awaitSend().status();
        });
        Await.until("the first bytes", () -> p.near.getLong(0) == 1, p.near::describe);
        process.signal("STOP");
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
}
