// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.testkit.Await;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;

/**
 * A message whose request has succeeded arrives, whatever its sender does next, even if the receiver polls only then.
 * The far end sends.
 */
abstract class ArrivalConformance extends Conformance {
    /** What the sender does when its requests have succeeded. */
    enum Next {
        /** Moves to ERR. */
        FAILS,
        /** Moves to RESET. */
        RESETS,
        /** Moves to RESET and is connected to another queue pair of the receiving end. */
        CONNECTS_ELSEWHERE,
        /** Is closed. */
        CLOSES,
        /** Is closed, and others replace it. */
        IS_REPLACED
    }

    ArrivalConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsPromise() {
        assumeFalse(fixture.hasPackets() && adapted(EndOptions.defaults()).type == QueuePairType.UC,
                "packets of unreliable queue pairs may be lost");
    }

    private static Op[] requests(EndAddress to) {
        return new Op[] {Op.send(1).on(0, 16), Op.sendImmediate(2, 22).on(16, 60), Op.send(3).on(0, 2000),
            Op.writeImmediate(4, to, 40_000, 44).on(0, 2000)};
    }

    private static Op[] receives(int from) {
        return new Op[] {Op.receive(from + 1).on(2048, 2048), Op.receive(from + 2).on(4096, 2048),
            Op.receive(from + 3).on(6144, 2048), Op.receive(from + 4).on(8192, 2048)};
    }

    /** Lets the requests of the far end succeed. */
    private static void send(Pair p, EndAddress to) throws Exception {
        p.far.act(end -> {
            end.fill(0, 2048, 5);
            assertPosted(end.post(requests(to)));
            assertThat(end.awaitSends(4)).extracting(Completion::statusName).containsOnly("SUCCESS");
        });
    }

    private static void next(Pair p, Next next) throws Exception {
        switch (next) {
            case FAILS -> p.far.to(QueuePairState.ERR);
            case RESETS -> reset(p);
            case CONNECTS_ELSEWHERE -> {
                reset(p);
                connect(p, p.near.queuePair());
            }
            case CLOSES -> p.far.act(end -> end.qp.close());
            case IS_REPLACED -> {
                p.far.act(end -> end.qp.close());
                for (int i = 0; i < 3; i++) {
                    p.connect(p.near.queuePair());
                }
            }
        }
    }

    private static void reset(Pair p) throws Exception {
        p.far.act(end -> {
            end.to(QueuePairState.RESET);
            move(end.responder(), QueuePairState.RESET);
        });
    }

    private static void move(QueuePair q, QueuePairState to) throws VerbsException {
        q.modify(QueuePairAttributes.to(to).build());
    }

    /** Connects the far end's first queue pair, which is in RESET. */
    private static void connect(Pair p, QueuePair to) throws Exception {
        EndAddress far = p.farAddress;
        EndAddress near = p.near.address(to);
        p.near.toInit(to);
        p.near.toRtr(to, far);
        p.far.act(end -> {
            end.toInit();
            end.toRtr(near);
            end.toRts();
        });
        p.near.toRts(to);
    }

    private static void assertArrived(Pair p, List<Completion> got) {
        assertReceived(1, 16, got.get(0));
        assertReceived(2, 60, got.get(1));
        assertThat(got.get(1).immediate()).isEqualTo(22);
        assertReceived(3, 2000, got.get(2));
        assertDone(WcOpcode.RECV_RDMA_WITH_IMM, 4, got.get(3));
        assertThat(got.get(3).immediate()).isEqualTo(44);
        assertThat(Pattern.mismatch(p.near.at(2048, 16), 5)).isEqualTo(-1);
        assertThat(Pattern.mismatch(p.near.at(6144, 2000), 5)).isEqualTo(-1);
        assertThat(Pattern.mismatch(p.near.at(40_000, 2000), 5)).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void succeededSendArrives(Next next) throws Exception {
        Pair p = connected();
        assertPosted(p.near.postReceives(receives(0)));
        send(p, p.nearAddress);
        next(p, next);
        assertArrived(p, p.near.awaitReceives(4));
    }

    /** The receiver fails as well before it polls. */
    @ParameterizedTest
    @EnumSource
    void succeededSendArrivesEvenIfTheReceiverFails(Next next) throws Exception {
        Pair p = connected();
        assertPosted(p.near.postReceives(receives(0)));
        send(p, p.nearAddress);
        next(p, next);
        move(p.near.responder(), QueuePairState.ERR);
        assertArrived(p, p.near.awaitReceives(4));
    }

    /** It has polled before, and found nothing. */
    @ParameterizedTest
    @EnumSource
    void succeededSendArrivesAfterAnEmptyPoll(Next next) throws Exception {
        Pair p = connected();
        assertPosted(p.near.postReceives(receives(0)));
        assertThat(End.poll(p.near.receiveCq, 1)).isEmpty();
        send(p, p.nearAddress);
        next(p, next);
        assertArrived(p, p.near.awaitReceives(4));
    }

    /** A sleeping receiver is woken by a sender that is gone by then, and finds the event. */
    @ParameterizedTest
    @EnumSource
    void succeededSendRaisesItsEvent(Next next) throws Exception {
        Pair p = connected(EndOptions.defaults().channel(), EndOptions.defaults());
        assertPosted(p.near.postReceives(receives(0)));
        assertPosted(p.near.receiveCq.requestNotify(false));
        send(p, p.nearAddress);
        next(p, next);
        CompletionQueue woken = Objects.requireNonNull(p.near.channel).await(Await.LIMIT);
        assertThat(woken).isSameAs(p.near.receiveCq);
        assertArrived(p, p.near.awaitReceives(4));
    }

    /** Messages of the next connection of the sender arrive as well. */
    @Test
    void sendOfTheNextConnectionArrives() throws Exception {
        Pair p = connected();
        assertPosted(p.near.postReceives(receives(0)));
        send(p, p.nearAddress);
        reset(p);
        QueuePair other = p.near.queuePair();
        connect(p, other);
        assertPosted(p.near.postReceives(other, Op.receive(5).on(10_240, 2048)));
        p.far.act(end -> {
            assertPosted(end.post(Op.send(5).on(0, 16)));
            assertThat(end.awaitSend().statusName()).isEqualTo("SUCCESS");
        });
        List<Completion> got = p.near.awaitReceives(5);
        assertArrived(p, got.stream().filter(c -> c.wrId() != 5).toList());
        assertReceived(5, 16, got.stream().filter(c -> c.wrId() == 5).findFirst().orElseThrow());
    }
}
