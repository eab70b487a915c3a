// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Values;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkCompletion;

/** The fields of completions, and polling. */
abstract class CompletionConformance extends Conformance {
    CompletionConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @Test
    void completionOfEveryKindHasAllFields() throws Exception {
        Pair p = connected();
        assertPosted(p.far.postReceives(Op.receive(Long.MIN_VALUE).on(0, 100), Op.receive(-1).on(0, 100),
                Op.receive(0x123456789abcdefL).on(0, 100)));
        assertPosted(p.near.post(Op.send(Long.MAX_VALUE).on(0, 60), Op.sendImmediate(-7, 0x01020304).on(0, 100),
                Op.writeImmediate(0, p.farAddress, 0, -9).on(0, 3), Op.write(3, p.farAddress, 0).on(0, 3),
                Op.read(4, p.farAddress, 0).on(0, 5)));
        List<Completion> sent = p.near.awaitSends(5);
        assertDone(WcOpcode.SEND, Long.MAX_VALUE, sent.get(0));
        assertDone(WcOpcode.SEND, -7, sent.get(1));
        assertDone(WcOpcode.RDMA_WRITE, 0, sent.get(2));
        assertDone(WcOpcode.RDMA_WRITE, 3, sent.get(3));
        assertDone(WcOpcode.RDMA_READ, 4, sent.get(4));
        assertThat(sent.get(4).byteLength()).isEqualTo(5);
        assertThat(sent).extracting(Completion::queuePairNumber).containsOnly(p.nearAddress.queuePairNumber());
        int stray = fixture.strayFlags(false);
        assertThat(sent).allMatch(c -> (c.flags() & WcFlags.WITH_IMM & ~stray) == 0);

        List<Completion> got = p.far.awaitReceives(3);
        assertReceived(Long.MIN_VALUE, 60, got.get(0));
        assertReceived(-1, 100, got.get(1));
        assertDone(WcOpcode.RECV_RDMA_WITH_IMM, 0x123456789abcdefL, got.get(2));
        assertThat(got.get(2).byteLength()).isEqualTo(3);
        assertThat(got).extracting(c -> c.flags() & WcFlags.WITH_IMM)
                .containsExactly(0, WcFlags.WITH_IMM, WcFlags.WITH_IMM);
        assertThat(got.get(1).immediate()).isEqualTo(0x01020304);
        assertThat(got.get(2).immediate()).isEqualTo(-9);
        assertThat(got).extracting(Completion::queuePairNumber).containsOnly(p.farAddress.queuePairNumber());
        got.forEach(c -> assertSender(p.nearAddress.queuePairNumber(), c.sourceQueuePair()));
        assertThat(got).extracting(c -> WcOpcode.isReceive(c.opcode())).containsOnly(true);
    }

    @Test
    void continuousReceivesDoNotHideASend() throws Exception {
        Pair p = connected(EndOptions.defaults().oneCompletionQueue(), EndOptions.defaults());
        assertPosted(p.near.postReceives(Op.receives(16, 512, 512)));
        for (int k = 0; k < 8; k++) {
            assertPosted(p.far.post(Op.send(k).on(0, 8).unsignaled()));
        }
        assertPosted(p.near.post(Op.write(99, p.farAddress, 0).on(0, 8)));
        int receives = 0;
        long begun = System.nanoTime();
        while (true) {
            Completion c = p.near.await(p.near.sendCq, 1).getFirst();
            if (c.wrId() == 99) {
                break;
            }
            receives++;
            // there is always a receive to take, so only time can delay the send
            assertThat(System.nanoTime() - begun).as("nanoseconds, " + receives + " receives before the send")
                    .isLessThan(
                            Await.LIMIT.toNanos());
            p.near.postAgain(c);
            assertPosted(p.far.post(Op.send(receives).on(0, 8)));
            p.far.awaitSend(); // so that its queue does not fill, however long it takes
        }
    }

    @Test
    void errorNamesRequestAndQueuePair() throws Exception {
        Pair p = connected();
        assertPosted(p.near.post(Op.write(42, p.farAddress, 0).on(0, 8).at(p.farAddress.rkey() ^ 0x5555, 0)));
        CompletionQueue cq = p.near.sendCq;
        Await.until("a completion", () -> cq.startPoll() == 0, p.near::describe);
        assertThat(WcStatus.toString(cq.status())).isEqualTo("REM_ACCESS_ERR");
        assertThat(cq.wrId()).isEqualTo(42);
        assertThat(cq.queuePairNumber()).isEqualTo(p.nearAddress.queuePairNumber());
        cq.endPoll();
        p.near.awaitState(org.verbena.verbs.QueuePairState.ERR);
        assertSaysWhy(p.near);
    }

    @Test
    void emptyQueueHasNoCursor() throws Exception {
        Pair p = connected();
        CompletionQueue cq = p.near.sendCq;
        for (int i = 0; i < 3; i++) {
            assertRefused(Errno.ENOENT, cq.startPoll());
        }
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8)));
        Await.until("a completion", () -> cq.startPoll() == 0, p.near::describe);
        assertThat(cq.wrId()).isEqualTo(1);
        assertRefused(Errno.ENOENT, cq.nextPoll());
        assertRefused(Errno.ENOENT, cq.nextPoll());
        cq.endPoll();
        assertRefused(Errno.ENOENT, cq.startPoll());
    }

    @Test
    void cursorVisitsEachCompletionOnce() throws Exception {
        Pair p = connected();
        CompletionQueue cq = p.near.sendCq;
        Op[] writes = new Op[50];
        for (int i = 0; i < writes.length; i++) {
            writes[i] = Op.write(i, p.farAddress, 8L * i).on(0, 8);
        }
        assertPosted(p.near.post(writes));
        List<Long> seen = new ArrayList<>();
        Await.until("all completions", () -> {
            if (cq.startPoll() == 0) {
                do {
                    seen.add(cq.wrId());
                } while (cq.nextPoll() == 0);
                cq.endPoll();
            }
            return seen.size() >= writes.length;
        }, () -> "got " + seen);
        assertThat(seen).containsExactlyElementsOf(java.util.stream.LongStream.range(0, 50).boxed().toList());
        p.near.expectNoCompletion();
    }

    @Test
    void completionsBehindTheCursorStay() throws Exception {
        Pair p = connected();
        CompletionQueue cq = p.near.sendCq;
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8), Op.write(2, p.farAddress, 0).on(0, 8),
                Op.write(3, p.farAddress, 0).on(0, 8)));
        for (long id = 1; id <= 3; id++) {
            Await.until("completion " + id, () -> cq.startPoll() == 0, p.near::describe);
            assertThat(cq.wrId()).isEqualTo(id);
            cq.endPoll();
        }
        assertRefused(Errno.ENOENT, cq.startPoll());
    }

    @Test
    void fieldsStayValidUntilTheCursorMoves() throws Exception {
        Pair p = connected();
        assertPosted(p.far.postReceives(Op.receive(5).on(0, 64), Op.receive(6).on(0, 64)));
        assertPosted(p.near.post(Op.sendImmediate(1, 99).on(0, 33)));
        CompletionQueue shown = p.near.sendCq;
        Await.until("a completion", () -> shown.startPoll() == 0, p.near::describe);
        assertPosted(p.near.post(Op.sendImmediate(2, 98).on(0, 34))); // more arrive meanwhile
        assertThat(shown.wrId()).isEqualTo(1);
        assertThat(shown.wrId()).isEqualTo(1);
        assertThat(shown.status()).isEqualTo(WcStatus.SUCCESS);
        Await.until("a second completion", () -> shown.nextPoll() == 0, p.near::describe);
        assertThat(shown.wrId()).isEqualTo(2);
        shown.endPoll();
        List<Completion> got = p.far.awaitReceives(2);
        assertThat(got).extracting(Completion::immediate).containsExactly(99, 98);
        assertThat(got).extracting(Completion::byteLength).containsExactly(33L, 34L);
    }

    @Test
    void pollFillsTheArrayAsFarAsPossible() throws Exception {
        Pair p = connected();
        CompletionQueue cq = p.near.sendCq;
        WorkCompletion[] three = WorkCompletion.array(3);
        assertThat(cq.poll(three)).isZero();
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8), Op.write(2, p.farAddress, 0).on(0, 8),
                Op.read(3, p.farAddress, 0).on(0, 8), Op.write(4, p.farAddress, 0).on(0, 8)));
        assertThat(cq.poll(new WorkCompletion[0])).isZero();
        List<Long> seen = new ArrayList<>();
        List<Integer> counts = new ArrayList<>();
        Await.until("four completions", () -> {
            int n = cq.poll(three);
            counts.add(n);
            for (int i = 0; i < n; i++) {
                assertThat(WcStatus.toString(three[i].status())).isEqualTo("SUCCESS");
                assertThat(three[i].queuePairNumber()).isEqualTo(p.nearAddress.queuePairNumber());
                seen.add(three[i].wrId());
            }
            return seen.size() >= 4;
        }, () -> "got " + seen);
        assertThat(seen).containsExactly(1L, 2L, 3L, 4L);
        assertThat(counts).allMatch(n -> n <= 3);
        assertThat(cq.poll(three)).isZero();
    }

    @Test
    void polledReceivesAreCopiedIntoTheHolder() throws Exception {
        Pair p = connected();
        assertPosted(p.far.postReceives(Op.receive(5).on(0, 64)));
        assertPosted(p.near.post(Op.sendImmediate(1, 99).on(0, 33)));
        String s = p.far.run(end -> {
            WorkCompletion[] one = WorkCompletion.array(1);
            Await.until("a completion", () -> end.receiveCq.poll(one) == 1, end::describe);
            WorkCompletion w = one[0];
            return w.wrId() + " " + w.byteLength() + " " + w.immediate() + " " + (w.flags() & ~end.fixture.strayFlags(
                    true)) + " "
                    + WcOpcode.toString(w
                            .opcode())
                    + " " + (w.queuePairNumber() == end.qp.number()) + " " + WcStatus.toString(w.status());
        });
        assertThat(s).isEqualTo("5 33 99 2 RECV true SUCCESS");
    }

    @Test
    void sendsAndReceivesShareACompletionQueue() throws Exception {
        Pair p = connected(EndOptions.defaults().oneCompletionQueue(), EndOptions.defaults().oneCompletionQueue());
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 64)));
        assertPosted(p.far.postReceives(Op.receive(2).on(0, 64)));
        assertPosted(p.near.post(Op.send(3).on(0, 64)));
        assertPosted(p.far.post(Op.send(4).on(0, 64)));
        assertThat(p.near.awaitSends(2)).extracting(Completion::wrId).containsExactlyInAnyOrder(1L, 3L);
        assertThat(p.far.awaitReceives(2)).extracting(Completion::wrId).containsExactlyInAnyOrder(2L, 4L);
    }

    @Test
    void timestampsAreMonotonicAndWithinTheClock() throws Exception {
        int stamped = CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP;
        try (var c = fixture.open()) {
            needs(c, Feature.COMPLETION_TIMESTAMP);
            needs(c, Feature.QUERY_VALUES);
        }
        Pair p = connected(EndOptions.defaults().fields(stamped), EndOptions.defaults().fields(stamped));
        long mask = p.near.device.completionTimestampMask().orElseThrow();
        long last = p.near.context.queryValues(Values.RAW_CLOCK).rawClock().orElseThrow() & mask;
        long farLast = p.far.run(end -> end.context.queryValues(Values.RAW_CLOCK).rawClock().orElseThrow()) & mask;
        for (int i = 0; i < 200; i++) {
            assertPosted(p.far.postReceives(Op.receive(i).on(0, 64)));
            assertPosted(p.near.post(Op.send(i).on(0, 64)));
            Completion sent = p.near.awaitSend();
            Completion got = p.far.awaitReceive();
            long now = p.near.context.queryValues(Values.RAW_CLOCK).rawClock().orElseThrow() & mask;
            long farNow = p.far.run(end -> end.context.queryValues(Values.RAW_CLOCK).rawClock().orElseThrow()) & mask;
            assertThat(sent.timestamp()).as("send %d", i).isBetween(last, now);
            assertThat(got.timestamp()).as("receive %d", i).isBetween(farLast, farNow);
            last = sent.timestamp();
            farLast = got.timestamp();
        }
    }

    @Test
    void timestampIsAbsentUnlessRequested() throws Exception {
        Pair p = connected();
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8)));
        CompletionQueue cq = p.near.sendCq;
        Await.until("a completion", () -> cq.startPoll() == 0, p.near::describe);
        assertThat(cq.timestamp()).isZero();
        cq.endPoll();
    }

    /** Many times around every ring that a provider may have. */
    @Test
    void completionQueueWrapsAroundManyTimes() throws Exception {
        Pair p = connected(EndOptions.defaults().queues(8), EndOptions.defaults().queues(8));
        for (int round = 0; round < (Thorough.ON ? 3000 : 600); round++) {
            assertPosted(p.far.postReceives(Op.receive(round).on(0, 64), Op.receive(round + 1).on(64, 200)));
            assertPosted(p.near.post(Op.send(round).on(0, round % 64), Op.send(round + 1).on(0, 200)));
            List<Completion> sent = p.near.awaitSends(2);
            List<Completion> got = p.far.awaitReceives(2);
            assertDone(WcOpcode.SEND, round, sent.get(0));
            assertDone(WcOpcode.SEND, round + 1, sent.get(1));
            assertReceived(round, round % 64, got.get(0));
            assertReceived(round + 1, 200, got.get(1));
        }
    }
}
