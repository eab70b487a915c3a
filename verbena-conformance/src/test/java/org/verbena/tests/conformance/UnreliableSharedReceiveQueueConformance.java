// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/** Shared receive queues of unreliable connections, whose messages are lost where there is no receive. */
abstract class UnreliableSharedReceiveQueueConformance extends SharedReceiveQueueConformance {
    UnreliableSharedReceiveQueueConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsUnreliableConnections() throws VerbsException {
        try (Context c = fixture.open()) {
            needs(c, Feature.UC);
        }
    }

    @Override
    EndOptions adapted(EndOptions options) {
        return options.type(QueuePairType.UC);
    }

    /** A message without room is lost and uses no receive. */
    @Test
    void unreliableMessagesWithoutRoomAreLostAndKeepReceives() throws VerbsException {
        Pair p = connected(EndOptions.defaults().sharedReceives().queues(4), EndOptions.defaults());
        srq(p.near).modify(attributes().maxWr(40).build());
        postReceives(p.near, 0, 40);
        int sender = p.farAddress.queuePairNumber();
        assertAllSent(send(p.far, sender, LongStream.range(0, 30).toArray()));
        List<Completion> got = new ArrayList<>(p.near.awaitReceives(4));
        got.addAll(End.poll(p.near.receiveCq, 40));
        assertThat(got.stream().map(Completion::byteLength)).isSorted().doesNotHaveDuplicates();
        while (got.size() < 40) {
            assertAllSent(send(p.far, sender, 200));
            got.add(p.near.awaitReceive());
        }
        assertThat(got.stream().map(Completion::wrId)).doesNotHaveDuplicates();
        assertAllSent(send(p.far, sender, 8));
        p.near.expectNoCompletion();
        postReceives(p.near, 0, 1);
        assertAllSent(send(p.far, sender, 9));
        assertThat(p.near.awaitReceive().byteLength()).isEqualTo(9);
    }
}
