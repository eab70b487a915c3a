// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;

import org.verbena.testkit.Await;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** The base of tests of traffic over XRC: the near end receives messages of far ends. */
abstract class XrcTraffic extends Conformance {
    static final int CAPACITY = 64;
    static final int SLOT = 512;

    XrcTraffic(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsXrc() throws VerbsException {
        try (Context c = fixture.open()) {
            needs(c, Feature.XRC);
        }
    }

    final Pair xrc(EndOptions near, EndOptions far) throws VerbsException {
        return connected(near.xrc().queues(CAPACITY), far.xrc().queues(CAPACITY));
    }

    final Pair xrc() throws VerbsException {
        return xrc(EndOptions.defaults(), EndOptions.defaults());
    }

    static Op receive(long id) {
        return Op.receive(id).on(SLOT * (id % CAPACITY), SLOT);
    }

    static void postReceives(End end, int from, int to) {
        assertPosted(end.postReceives(IntStream.range(from, to).mapToObj(XrcTraffic::receive).toArray(Op[]::new)));
    }

    /** Posts a receive of the end's region on any queue. */
    static void post(SharedReceiveQueue q, End end, long id) {
        assertPosted(q.receiveQueue().post(id, end.region, SLOT * (id % CAPACITY), SLOT));
    }

    /** Sends from one queue pair of the far end; returns the completions. */
    static List<Completion> send(Far far, int sender, long... lengths) throws VerbsException {
        return far.run(end -> {
            QueuePair q = end.queuePair(sender);
            for (int i = 0; i < lengths.length; i++) {
                assertPosted(end.post(q, Op.send(i).on(0, lengths[i])));
            }
            List<Completion> done = end.await(end.sendCq, lengths.length);
            assertThat(done).extracting(Completion::statusName).as(end.describe()).containsOnly("SUCCESS");
            return done;
        });
    }

    static List<Completion> send(Pair p, long... lengths) throws VerbsException {
        return send(p.far, p.farAddress.queuePairNumber(), lengths);
    }

    static void assertAllSent(List<Completion> completions) {
        assertThat(completions).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    /** Lets the first queue pair of the far end name a queue. */
    static void name(Pair p, int number) throws VerbsException {
        p.far.act(end -> end.xrc().name(end.qp, number));
    }

    /** A further queue of the near end. */
    static SharedReceiveQueue queue(Pair p, ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        return p.near.keep(pd.createSharedReceiveQueue(XrcEnd.queue(p.near.xrc().domain, cq).maxWr(CAPACITY).build()));
    }

    static QueuePair target(End end) throws VerbsException {
        return end.xrc().target(end.qp);
    }

    /** The request fails with this status at the sender, and both queue pairs of the connection are in ERR. */
    static void assertFails(Pair p, int status, Op op) throws VerbsException {
        assertPosted(p.far.post(op, Op.send(1002)));
        List<Completion> c = p.far.run(end -> end.awaitSends(2));
        assertStatus(status, op.wrId(), c.get(0));
        assertStatus(WcStatus.WR_FLUSH_ERR, 1002, c.get(1));
        p.far.awaitState(QueuePairState.ERR);
        QueuePair t = target(p.near);
        Await.until("the target is in ERR", () -> t.state() == QueuePairState.ERR, () -> "it is in " + t.state());
        assertThat(t.errorReason()).isNotBlank();
    }
}
