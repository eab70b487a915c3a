// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.Poll;
import org.verbena.testkit.Await;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueModification;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;

/** Moderated events of completion queues. */
abstract class ModerationConformance extends Conformance {
    private static final int LONGEST_MICROS = 65_535;

    ModerationConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsModeration() throws Exception {
        needs(open(), Feature.CQ_MODERATION);
    }

    private Pair pair() throws Exception {
        Pair p = connected(EndOptions.defaults().channel(), EndOptions.defaults());
        assertPosted(p.near.postReceives(Op.receives(32, 512, 512)));
        return p;
    }

    private static void moderate(CompletionQueue cq, int count, int micros) throws Exception {
        cq.modify(CompletionQueueModification.moderate(count, micros));
    }

    private static CompletionChannel channel(Pair p) {
        return Objects.requireNonNull(p.near.channel);
    }

    private static void arm(CompletionQueue cq) {
        assertPosted(cq.requestNotify(false));
    }

    private static void send(Pair p, int flags) throws Exception {
        assertPosted(p.far.post(Op.send(1).on(0, 100).and(flags)));
        assertThat(p.far.awaitSend().statusName()).isEqualTo("SUCCESS");
    }

    private static void send(Pair p) throws Exception {
        send(p, 0);
    }

    private static void expectEvent(Pair p) throws Exception {
        assertThat(channel(p).await(Await.LIMIT)).isSameAs(p.near.receiveCq);
    }

    private static void expectNoEvent(Pair p) throws Exception {
        assertThat(channel(p).await(Await.WHILE)).isNull();
    }

    @Test
    void eventFollowsTheLastCompletionOfTheCount() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 3, 0);
        for (int round = 0; round < 5; round++) {
            arm(p.near.receiveCq);
            send(p);
            send(p);
            expectNoEvent(p);
            send(p);
            expectEvent(p);
            expectNoEvent(p);
            p.near.awaitReceives(3);
        }
    }

    /** Between the completions there is enough time for an observer to fall asleep. */
    @Test
    void slowCompletionsAreCounted() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 4, 0);
        arm(p.near.receiveCq);
        for (int i = 0; i < 3; i++) {
            send(p);
            expectNoEvent(p);
            expectNoEvent(p);
        }
        send(p);
        expectEvent(p);
    }

    @Test
    void completionsPolledMeanwhileAreCounted() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 3, 0);
        arm(p.near.receiveCq);
        for (int i = 0; i < 2; i++) {
            send(p);
            p.near.awaitReceive();
            expectNoEvent(p);
        }
        send(p);
        expectEvent(p);
    }

    @Test
    void completionsBeforeArmingAreNotCounted() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 3, 0);
        send(p);
        send(p);
        arm(p.near.receiveCq);
        send(p);
        send(p);
        expectNoEvent(p);
        send(p);
        expectEvent(p);
    }

    @Test
    void eventFollowsThePeriodAndNotEarlier() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 0, LONGEST_MICROS);
        for (int round = 0; round < 3; round++) {
            arm(p.near.receiveCq);
            expectNoEvent(p); // no completion, no event, however long it takes
            long begin = System.nanoTime();
            send(p);
            expectEvent(p);
            assertThat(System.nanoTime() - begin)
                    .isGreaterThanOrEqualTo(TimeUnit.MICROSECONDS.toNanos(LONGEST_MICROS));
            p.near.awaitReceive();
        }
    }

    @Test
    void periodExpiresBeforeTheCount() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 30, 1000);
        arm(p.near.receiveCq);
        send(p);
        send(p);
        expectEvent(p);
        expectNoEvent(p);
    }

    @Test
    void sendCompletionsAreModerated() throws Exception {
        Pair p = pair();
        moderate(p.near.sendCq, 4, 0);
        arm(p.near.sendCq);
        for (int i = 0; i < 3; i++) {
            assertPosted(p.near.post(Op.write(i, p.farAddress, 0).on(0, 8)));
        }
        expectNoEvent(p);
        assertPosted(p.near.post(Op.write(3, p.farAddress, 0).on(0, 8)));
        assertThat(channel(p).await(Await.LIMIT)).isSameAs(p.near.sendCq);
        p.near.awaitSends(4);
    }

    @Test
    void moderationAppliesToOneQueueOfAChannel() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 2, 0);
        arm(p.near.receiveCq);
        arm(p.near.sendCq);
        send(p);
        expectNoEvent(p);
        assertPosted(p.near.post(Op.write(3, p.farAddress, 0).on(0, 8)));
        assertThat(channel(p).await(Await.LIMIT)).isSameAs(p.near.sendCq);
        send(p);
        expectEvent(p);
    }

    @Test
    void solicitedArmingStartsWithASolicitedMessage() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 3, 0);
        assertPosted(p.near.receiveCq.requestNotify(true));
        for (int i = 0; i < 4; i++) {
            send(p);
        }
        expectNoEvent(p);
        send(p, SendFlags.SOLICITED);
        expectEvent(p);
    }

    @Test
    void countOfOneDisablesModeration() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 1, LONGEST_MICROS);
        arm(p.near.receiveCq);
        send(p);
        expectEvent(p);
    }

    @Test
    void moderationCanBeDisabledWhileArmed() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 1000, 0);
        arm(p.near.receiveCq);
        send(p);
        expectNoEvent(p);
        moderate(p.near.receiveCq, 0, 0);
        expectEvent(p);
        p.near.awaitReceive();
        arm(p.near.receiveCq);
        send(p);
        expectEvent(p);
    }

    @Test
    void moderationCanBeEnabledWhileArmed() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq);
        moderate(p.near.receiveCq, 2, 0);
        send(p);
        expectNoEvent(p);
        send(p);
        expectEvent(p);
    }

    @Test
    void pendingEventIsNotWithdrawn() throws Exception {
        Pair p = pair();
        arm(p.near.receiveCq);
        send(p);
        assertThat(Poll.await(Fd.of(channel(p).descriptor()), Poll.IN, 60_000)).isEqualTo(Poll.IN);
        moderate(p.near.receiveCq, 1000, 0);
        assertThat(channel(p).await(Duration.ZERO)).isSameAs(p.near.receiveCq);
    }

    @Test
    void descriptorIsNotReadableBeforeTheEvent() throws Exception {
        Pair p = pair();
        Fd fd = Fd.of(channel(p).descriptor());
        moderate(p.near.receiveCq, 2, 0);
        arm(p.near.receiveCq);
        send(p);
        assertThat(Poll.await(fd, Poll.IN, 50)).isZero();
        send(p);
        assertThat(Poll.await(fd, Poll.IN, 60_000)).isEqualTo(Poll.IN);
        assertThat(channel(p).await(Duration.ZERO)).isSameAs(p.near.receiveCq);
    }

    @Test
    void flushedReceivesAreCounted() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 20, 0);
        arm(p.near.receiveCq);
        p.near.to(QueuePairState.ERR);
        expectEvent(p);
        p.near.awaitReceives(32);
    }

    @Test
    void armPollWaitLoopMissesNothing() throws Exception {
        Pair p = pair();
        moderate(p.near.receiveCq, 5, 500);
        p.far.start(end -> {
            for (int i = 0; i < 500; i++) {
                assertPosted(end.post(Op.send(i).on(0, i % 200)));
                end.awaitSend();
            }
            return true;
        });
        int got = 0;
        while (got < 500) {
            arm(p.near.receiveCq);
            int before = got;
            for (Completion c : End.poll(p.near.receiveCq, 32)) {
                assertReceived(c.wrId(), got % 200, c);
                p.near.postAgain(c);
                got++;
            }
            if (got == before) {
                assertThat(channel(p).await(Await.LIMIT)).as("after %d", got).isNotNull();
            }
        }
        p.far.join();
    }

    @Test
    void valuesOutOfRangeAreRefused() throws Exception {
        Context c = open();
        CompletionQueue cq = c.createCompletionQueue(8);
        int count = c.queryDevice().maxCqModerationCount().orElseThrow();
        int period = c.queryDevice().maxCqModerationPeriodMicros().orElseThrow();
        moderate(cq, count, period);
        assertErrno(Errno.EINVAL, () -> moderate(cq, count + 1, 0), "count", Integer.toString(count + 1));
        assertErrno(Errno.EINVAL, () -> moderate(cq, -1, 0), "count");
        assertErrno(Errno.EINVAL, () -> moderate(cq, 0, period + 1), "period");
        assertErrno(Errno.EINVAL, () -> moderate(cq, 0, -1), "period");
        cq.close();
        assertErrno(Errno.EINVAL, () -> moderate(cq, 1, 1), "closed");
    }
}
