// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * Queues of XRC that are resized while senders use them, the fields of their completions, and requests without a queue.
 */
abstract class XrcQueueConformance extends XrcTraffic {
    private static final int FEW = 4;
    private static final int MANY = 40;

    XrcQueueConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    // ---- resizing

    private static void resize(SharedReceiveQueue q, int maxWr) throws VerbsException {
        q.modify(SharedReceiveQueueAttributes.builder().maxWr(maxWr).build());
        assertThat(q.query().maxWr()).isGreaterThanOrEqualTo(maxWr);
    }

    /** This many messages, alternately short and long, none of which is polled before the last is sent. */
    private static void assertCarries(Pair p, int sender, int n) throws VerbsException {
        p.far.fill(0, SLOT, n);
        long[] lengths = IntStream.range(0, n).mapToLong(i -> i % 2 == 0 ? i : SLOT - i).toArray();
        assertAllSent(send(p.far, sender, lengths));
        List<Completion> got = p.near.awaitReceives(n);
        assertThat(got).extracting(Completion::statusName).containsOnly("SUCCESS");
        assertThat(got.stream().mapToLong(Completion::byteLength)).containsExactlyElementsOf(LongStream.of(lengths)
                .boxed().toList());
        for (Completion c : got) {
            assertThat(Pattern.mismatch(p.near.at(SLOT * (c.wrId() % CAPACITY), c.byteLength()), n)).isEqualTo(-1);
        }
        p.near.expectNoCompletion();
    }

    @Test
    void queueIsResizedUnderTraffic() throws VerbsException {
        Pair p = connected(EndOptions.defaults().xrc().queues(FEW), EndOptions.defaults().xrc().queues(CAPACITY));
        SharedReceiveQueue q = p.near.xrc().srq;
        int first = p.farAddress.queuePairNumber();
        int second = p.connect(p.near.queuePair()).queuePairNumber();
        for (int round = 0; round < 5; round++) {
            for (int sender : new int[] {first, second}) {
                postReceives(p.near, 0, FEW);
                assertCarries(p, sender, FEW);
            }
        }
        // with receives that are there, and one message that is not polled
        postReceives(p.near, 0, FEW);
        assertAllSent(send(p.far, second, 7));
        resize(q, MANY);
        postReceives(p.near, FEW, MANY);
        assertReceived(0, 7, p.near.awaitReceive());
        assertCarries(p, first, MANY - 1);
        int third = p.connect(p.near.queuePair()).queuePairNumber();
        for (int sender : new int[] {second, third, first}) {
            postReceives(p.near, 0, MANY);
            assertCarries(p, sender, MANY);
        }
        postReceives(p.near, 0, FEW + 1);
        assertErrno(Errno.EINVAL, () -> resize(q, FEW), "outstanding");
        assertCarries(p, third, FEW + 1);
        resize(q, FEW);
        for (int sender : new int[] {third, first, second}) {
            postReceives(p.near, 0, FEW);
            assertCarries(p, sender, FEW);
        }
        resize(q, MANY);
        postReceives(p.near, 0, MANY);
        assertCarries(p, second, MANY);
    }

    /** A sender waits for a receive when the queue is resized. */
    @Test
    void queueGrowsWhileAMessageWaits() throws VerbsException {
        Pair p = connected(EndOptions.defaults().xrc().queues(FEW), EndOptions.defaults().xrc().queues(CAPACITY));
        postReceives(p.near, 0, FEW);
        p.far.act(end -> {
            for (int i = 0; i < MANY; i++) {
                assertPosted(end.post(Op.send(i).on(0, i)));
            }
        });
        resize(p.near.xrc().srq, MANY);
        postReceives(p.near, FEW, MANY);
        assertThat(p.near.awaitReceives(MANY)).extracting(Completion::byteLength)
                .containsExactlyElementsOf(LongStream.range(0, MANY).boxed().toList());
        p.far.act(end -> assertAllSent(end.awaitSends(MANY)));
    }

    // ---- completion fields

    /** All fields that completion queues of the device can have. */
    private int allFields() throws VerbsException {
        int all = 0;
        try (Context c = fixture.open()) {
            for (int bit = 0; bit < 12; bit++) {
                try (CompletionQueue cq = c.createCompletionQueue(CompletionQueueAttributes.builder().cqe(1)
                        .fields(1 << bit).build())) {
                    all |= cq.fields();
                } catch (VerbsException e) {
                    assertThat(Errno.name(e.errno())).isEqualTo("EOPNOTSUPP");
                }
            }
        }
        return all;
    }

    private static boolean has(CompletionQueue cq, int field) {
        return (cq.fields() & field) != 0;
    }

    @ParameterizedTest
    @ValueSource(ints = {33, 500})
    void everyCompletionFieldIsReadable(int length) throws VerbsException {
        int all = allFields();
        Pair p = xrc(EndOptions.defaults().fields(all), EndOptions.defaults().fields(all));
        assertThat(all & CompletionQueueAttributes.STANDARD_FIELDS)
                .isEqualTo(CompletionQueueAttributes.STANDARD_FIELDS);
        int target = p.near.responder().number();
        long last = 0;
        for (int i = 0; i < 10; i++) {
            postReceives(p.near, i, i + 1);
            assertPosted(p.far.post(Op.sendImmediate(2, 0x80000000 + i).on(0, length)));
            CompletionQueue cq = p.near.receiveCq;
            Await.until("a completion", () -> cq.startPoll() == 0, p.near::describe);
            assertThat(cq.status()).isEqualTo(WcStatus.SUCCESS);
            assertThat(cq.opcode()).isEqualTo(WcOpcode.RECV);
            assertThat(cq.wrId()).isEqualTo(i);
            assertThat(cq.byteLength()).isEqualTo(length);
            assertThat(cq.flags()).isEqualTo(WcFlags.WITH_IMM);
            assertThat(cq.immediate()).isEqualTo(0x80000000 + i);
            assertThat(cq.queuePairNumber()).isEqualTo(target);
            assertThat(cq.sourceQueuePair()).isEqualTo(p.farAddress.queuePairNumber());
            assertThat(cq.serviceLevel()).isBetween(0, 15);
            assertThat(cq.dlidPathBits()).isBetween(0, 127);
            assertThat(cq.slid()).isBetween(0, 0xffff);
            if (has(cq, CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP)) {
                assertThat(cq.timestamp()).isGreaterThan(last);
                last = cq.timestamp();
            }
            if (has(cq, CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK)) {
                assertThat(cq.wallClockTimestamp()).isPositive();
            }
            assertThat(cq.cvlan() == 0 || has(cq, CompletionQueueAttributes.WITH_CVLAN)).isTrue();
            assertThat(cq.flowTag() == 0 || has(cq, CompletionQueueAttributes.WITH_FLOW_TAG)).isTrue();
            assertThat(cq.tmTag() == 0 || has(cq, CompletionQueueAttributes.WITH_TM_INFO)).isTrue();
            assertThat(cq.nextPoll()).isEqualTo(Errno.ENOENT);
            cq.endPoll();
            p.far.act(end -> {
                Completion c = end.awaitSend();
                assertDone(WcOpcode.SEND, 2, c);
                assertThat(c.queuePairNumber()).isEqualTo(end.qp.number());
            });
        }
    }

    // ---- local requests, which name no queue

    @Test
    void windowsAreBoundThroughAnInitiatorQueuePair() throws VerbsException {
        int access = AccessFlags.ALL | AccessFlags.MW_BIND;
        Pair p = xrc(EndOptions.defaults().access(access), EndOptions.defaults().access(access));
        needs(p.near.context, Feature.MEMORY_WINDOW_TYPE_1);
        MemoryWindow w = p.near.keep(p.near.pd.allocateMemoryWindow(MemoryWindow.TYPE_1));
        assertPosted(p.near.qp.bindMemoryWindow(w, 9, SendFlags.SIGNALED, p.near.region,
                p.near.region.address() + 64, 64, AccessFlags.REMOTE_WRITE));
        assertDone(WcOpcode.BIND_MW, 9, p.near.awaitSend());
        EndAddress window = new EndAddress("", 0, 0, w.rkey(), p.near.region.address(), 128);
        p.far.fill(0, 64, 8);
        assertPosted(p.far.post(Op.write(1, window, 64).on(0, 64)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.far.awaitSend());
        assertThat(Pattern.mismatch(p.near.at(64, 64), 8)).isEqualTo(-1);
        assertFails(p, WcStatus.REM_ACCESS_ERR, Op.write(2, window, 63).on(0, 64));
    }

    @Test
    void windowsAreBoundAndInvalidatedRepeatedly() throws VerbsException {
        Pair p = xrc(EndOptions.defaults(), EndOptions.defaults().access(AccessFlags.ALL | AccessFlags.MW_BIND));
        needs(p.near.context, Feature.MEMORY_WINDOW_TYPE_2);
        p.far.act(end -> {
            MemoryWindow w = end.keep(end.pd.allocateMemoryWindow(MemoryWindow.TYPE_2));
            for (int i = 0; i < 3; i++) {
                int key = MemoryWindow.incrementRkey(w.rkey());
                assertPosted(end.qp.sendQueue().start().bindMemoryWindow(1, SendFlags.SIGNALED, w, key, end.region,
                        end.region.address(), 64, AccessFlags.REMOTE_WRITE).complete());
                assertDone(WcOpcode.BIND_MW, 1, end.awaitSend());
                assertThat(w.rkey()).isEqualTo(key);
                assertPosted(end.qp.sendQueue().start().localInvalidate(2, SendFlags.SIGNALED, key).complete());
                assertDone(WcOpcode.LOCAL_INV, 2, end.awaitSend());
            }
        });
    }

    /** In one batch with requests that name one. */
    @Test
    void windowsAreBoundAndInvalidatedAmongMessages() throws VerbsException {
        int access = AccessFlags.ALL | AccessFlags.MW_BIND;
        Pair p = xrc(EndOptions.defaults(), EndOptions.defaults().access(access));
        needs(p.near.context, Feature.MEMORY_WINDOW_TYPE_2);
        postReceives(p.near, 0, 3);
        p.far.act(end -> {
            MemoryWindow w = end.keep(end.pd.allocateMemoryWindow(MemoryWindow.TYPE_2));
            int key = MemoryWindow.incrementRkey(w.rkey());
            SendQueue sq = end.qp.sendQueue().start();
            end.name(end.qp, sq.send(1, SendFlags.SIGNALED)).sge(end.region, 0, 8);
            sq.bindMemoryWindow(2, SendFlags.SIGNALED, w, key, end.region, end.region.address(), 64,
                    AccessFlags.REMOTE_WRITE);
            end.name(end.qp, sq.send(3, SendFlags.SIGNALED)).sge(end.region, 0, 200);
            sq.localInvalidate(4, SendFlags.SIGNALED, key);
            end.name(end.qp, sq.send(5, SendFlags.SIGNALED)).sge(end.region, 0, 9);
            assertPosted(sq.complete());
            List<Completion> done = end.awaitSends(5);
            assertDone(WcOpcode.SEND, 1, done.get(0));
            assertDone(WcOpcode.BIND_MW, 2, done.get(1));
            assertDone(WcOpcode.SEND, 3, done.get(2));
            assertDone(WcOpcode.LOCAL_INV, 4, done.get(3));
            assertDone(WcOpcode.SEND, 5, done.get(4));
            // a request that has to name a queue fails even if the others need none
            assertRefused(Errno.EINVAL, end.qp.sendQueue().start().bindMemoryWindow(6, SendFlags.SIGNALED, w,
                    MemoryWindow.incrementRkey(key), end.region, end.region.address(), 64, AccessFlags.REMOTE_WRITE)
                    .send(7, SendFlags.SIGNALED).sge(end.region, 0, 8).complete());
            end.expectNoCompletion();
        });
        assertThat(p.near.awaitReceives(3)).extracting(Completion::byteLength).containsExactly(8L, 200L, 9L);
    }
}
