// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;

/** What each operation does. */
abstract class OperationsConformance extends Conformance {
    OperationsConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @Test
    void sendFillsThePostedReceive() throws Exception {
        Pair p = connected();
        p.near.fill(10, 100, 1);
        assertPosted(p.far.postReceives(Op.receive(7).on(500, 200)));
        assertPosted(p.near.post(Op.send(8).on(10, 100)));
        assertDone(WcOpcode.SEND, 8, p.near.awaitSend());
        Completion c = p.far.awaitReceive();
        assertReceived(7, 100, c);
        assertThat(c.flags() & WcFlags.WITH_IMM).isZero();
        assertThat(p.far.mismatch(500, 100, 1)).isEqualTo(-1);
        assertThat(p.far.bytes(600, 100)).as("after the message").containsOnly(0);
    }

    /** The receiver polls for the first time when its sender is gone. */
    @Test
    void sendBeforeCloseOfTheSenderArrives() throws Exception {
        Pair p = connected();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64), Op.receive(2).on(64, 512)));
        assertPosted(p.near.post(Op.send(1).on(0, 40), Op.send(2).on(0, 400)));
        p.near.awaitSends(2);
        p.near.qp.close();
        List<Completion> got = p.far.awaitReceives(2);
        assertReceived(1, 40, got.get(0));
        assertReceived(2, 400, got.get(1));
    }

    @Test
    void sendWithImmediateCarriesTheValue() throws Exception {
        Pair p = connected();
        for (int immediate : new int[] {0, 1, 0x80000000, 0xdeadbeef, -1}) {
            assertPosted(p.far.postReceives(Op.receive(1).on(0, 64)));
            assertPosted(p.near.post(Op.sendImmediate(2, immediate).on(0, 64)));
            assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
            Completion c = p.far.awaitReceive();
            assertReceived(1, 64, c);
            assertThat(c.flags() & WcFlags.WITH_IMM).isNotZero();
            assertThat(c.immediate()).isEqualTo(immediate);
        }
    }

    @Test
    void writeChangesExactlyItsRange() throws Exception {
        Pair p = connected();
        p.near.fill(0, 1000, 2);
        assertPosted(p.near.post(Op.write(1, p.farAddress, 333).on(0, 1000)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        assertThat(p.far.mismatch(333, 1000, 2)).isEqualTo(-1);
        assertThat(p.far.bytes(0, 333)).containsOnly(0);
        assertThat(p.far.bytes(1333, 100)).containsOnly(0);
    }

    @Test
    void writeConsumesNoReceive() throws Exception {
        Pair p = connected();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64)));
        assertPosted(p.near.post(Op.write(2, p.farAddress, 100).on(0, 64)));
        assertDone(WcOpcode.RDMA_WRITE, 2, p.near.awaitSend());
        p.far.act(End::expectNoCompletion);
    }

    @Test
    void writeWithImmediateConsumesAReceiveButNotItsBuffer() throws Exception {
        Pair p = connected();
        p.near.fill(0, 500, 3);
        p.far.fill(1000, 64, 9);
        assertPosted(p.far.postReceives(Op.receive(5).on(1000, 64)));
        assertPosted(p.near.post(Op.writeImmediate(6, p.farAddress, 0, 0xcafe).on(0, 500)));
        assertDone(WcOpcode.RDMA_WRITE, 6, p.near.awaitSend());
        Completion c = p.far.awaitReceive();
        assertDone(WcOpcode.RECV_RDMA_WITH_IMM, 5, c);
        assertThat(c.immediate()).isEqualTo(0xcafe);
        assertThat(c.flags() & WcFlags.WITH_IMM).isNotZero();
        assertThat(c.byteLength()).isEqualTo(500);
        assertThat(p.far.mismatch(0, 500, 3)).isEqualTo(-1);
        assertThat(p.far.mismatch(1000, 64, 9)).as("the receive's buffer").isEqualTo(-1);
    }

    @Test
    void readReturnsMemoryOfThePeer() throws Exception {
        Pair p = connected();
        p.far.fill(77, 1000, 4);
        assertPosted(p.near.post(Op.read(1, p.farAddress, 77).on(2000, 1000)));
        Completion c = p.near.awaitSend();
        assertDone(WcOpcode.RDMA_READ, 1, c);
        assertThat(c.byteLength()).isEqualTo(1000);
        assertThat(Pattern.mismatch(p.near.at(2000, 1000), 4)).isEqualTo(-1);
        assertThat(p.near.bytes(0, 2000)).containsOnly(0);
        assertThat(p.near.bytes(3000, 100)).containsOnly(0);
    }

    @Test
    void compareAndSwapSwapsWhenEqual() throws Exception {
        Pair p = connected();
        needs(p.near.context, Feature.ATOMICS);
        p.far.setLong(64, 0x1122334455667788L);
        assertPosted(p.near.post(Op.compareAndSwap(1, p.farAddress, 64, 0x1122334455667788L, -5).on(8, 8)));
        assertDone(WcOpcode.COMP_SWAP, 1, p.near.awaitSend());
        assertThat(p.near.getLong(8)).as("old value").isEqualTo(0x1122334455667788L);
        assertThat(p.far.getLong(64)).isEqualTo(-5);
    }

    @Test
    void compareAndSwapKeepsADifferentValue() throws Exception {
        Pair p = connected();
        needs(p.near.context, Feature.ATOMICS);
        p.far.setLong(64, 10);
        assertPosted(p.near.post(Op.compareAndSwap(1, p.farAddress, 64, 11, 12).on(8, 8)));
        assertDone(WcOpcode.COMP_SWAP, 1, p.near.awaitSend());
        assertThat(p.near.getLong(8)).as("old value").isEqualTo(10);
        assertThat(p.far.getLong(64)).isEqualTo(10);
    }

    @Test
    void fetchAndAddAddsAndWrapsAround() throws Exception {
        Pair p = connected();
        needs(p.near.context, Feature.ATOMICS);
        p.far.setLong(0, Long.MAX_VALUE - 1);
        long expected = Long.MAX_VALUE - 1;
        for (long add : new long[] {1, 1, -3, 0, Long.MIN_VALUE}) {
            assertPosted(p.near.post(Op.fetchAndAdd(add, p.farAddress, 0, add).on(8, 8)));
            assertDone(WcOpcode.FETCH_ADD, add, p.near.awaitSend());
            assertThat(p.near.getLong(8)).as("old value").isEqualTo(expected);
            expected += add;
            assertThat(p.far.getLong(0)).isEqualTo(expected);
        }
        assertThat(p.far.bytes(8, 100)).as("beside the word").containsOnly(0);
    }

    @Test
    void atomicsOfSeveralQueuePairsAddUp() throws Exception {
        int rounds = 2000;
        Pair target = connected();
        needs(target.near.context, Feature.ATOMICS);
        QueuePair second = target.near.queuePair();
        EndAddress nearSecond = target.near.address(second);
        EndAddress farSecond = target.far.run(end -> {
            QueuePair q = end.queuePair();
            end.toInit(q);
            end.toRtr(q, nearSecond);
            end.toRts(q);
            return end.address(q);
        });
        target.near.toInit(second);
        target.near.toRtr(second, farSecond);
        target.near.toRts(second);
        List<Completion> seen = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            assertPosted(target.near.post(Op.fetchAndAdd(i, target.farAddress, 0, 1).on(0, 8)));
            assertPosted(target.near.post(second, Op.fetchAndAdd(i, target.farAddress, 0, 1 << 16).on(8, 8)));
            seen.addAll(target.near.awaitSends(2));
        }
        assertThat(seen).allMatch(c -> c.status() == 0);
        assertThat(target.far.getLong(0)).isEqualTo(rounds + ((long) rounds << 16));
    }

    @Test
    void atomicsFromBothEndsAddUp() throws Exception {
        int rounds = 3000;
        Pair p = connected();
        needs(p.near.context, Feature.ATOMICS);
        EndAddress word = p.farAddress;
        EndAddress loop = p.far.run(end -> { // a queue pair of the far end that is connected to itself
            QueuePair q = end.queuePair();
            end.toInit(q);
            end.toRtr(q, end.address(q));
            end.toRts(q);
            end.start(e -> {
                for (int i = 0; i < rounds; i++) {
                    assertPosted(e.post(q, Op.fetchAndAdd(i, word, 0, 1).on(128, 8)));
                    assertDone(WcOpcode.FETCH_ADD, i, e.awaitSend());
                }
                return true;
            });
            return end.address(q);
        });
        assertThat(loop.queuePairNumber()).isNotEqualTo(word.queuePairNumber());
        for (int i = 0; i < rounds; i++) {
            assertPosted(p.near.post(Op.fetchAndAdd(i, word, 0, 1).on(0, 8)));
            assertDone(WcOpcode.FETCH_ADD, i, p.near.awaitSend());
        }
        p.far.join();
        assertThat(p.far.getLong(0)).isEqualTo(2L * rounds);
    }

    /** The old values of fetch-and-adds are all different, even with concurrent adders. */
    @Test
    void fetchAndAddGivesUniqueTickets() throws Exception {
        Pair p = connected();
        needs(p.near.context, Feature.ATOMICS);
        LongStream.range(0, 100).forEach(i -> {
            assertPosted(p.near.post(Op.fetchAndAdd(i, p.farAddress, 8, 3).on(i * 8, 8)));
            if (i % 10 == 9) {
                assertThat(tryAwait(p.near, 10)).allMatch(c -> c.status() == 0);
            }
        });
        for (int i = 0; i < 100; i++) {
            assertThat(p.near.getLong(i * 8L)).isEqualTo(i * 3L);
        }
    }

    private static List<Completion> tryAwait(End end, int n) {
        try {
            return end.awaitSends(n);
        } catch (org.verbena.verbs.VerbsException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void everyOperationTakesInlineData() throws Exception {
        Pair p = connected();
        int n = Math.min(48, p.near.device.maxInlineData());
        org.junit.jupiter.api.Assumptions.assumeTrue(n > 0, "the device has no inline data");
        p.near.fill(0, n, 5);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64), Op.receive(2).on(64, 64), Op.receive(3).on(128, 64)));
        assertPosted(p.near.post(Op.send(1).inlineFrom(0, n), Op.sendImmediate(2, 22).inlineFrom(0, n),
                Op.writeImmediate(3, p.farAddress, 1000, 33).inlineFrom(0, n),
                Op.write(4, p.farAddress, 2001).inlineFrom(0, n)));
        p.near.fill(0, n, 6); // copied when posted, so this comes too late
        assertThat(p.near.awaitSends(4)).extracting(Completion::statusName).containsOnly("SUCCESS");
        List<Completion> got = p.far.awaitReceives(3);
        assertReceived(1, n, got.get(0));
        assertReceived(2, n, got.get(1));
        assertThat(got.get(1).immediate()).isEqualTo(22);
        assertDone(WcOpcode.RECV_RDMA_WITH_IMM, 3, got.get(2));
        for (long at : new long[] {0, 64, 1000, 2001}) {
            assertThat(p.far.mismatch(at, n, 5)).as("at " + at).isEqualTo(-1);
        }
    }

    /** The peer has no receive yet, so the data wait somewhere: not in the application's buffer. */
    @Test
    void inlineDataAreCopiedAtPost() throws Exception {
        Pair p = connected();
        int n = p.near.device.maxInlineData();
        org.junit.jupiter.api.Assumptions.assumeTrue(n > 0, "the device has no inline data");
        p.near.fill(0, n, 7);
        assertPosted(p.near.post(Op.send(1).inlineFrom(0, n)));
        p.near.fill(0, n, 8);
        assertPosted(p.far.postReceives(Op.receive(2).on(0, n)));
        assertReceived(2, n, p.far.awaitReceive());
        assertDone(WcOpcode.SEND, 1, p.near.awaitSend());
        assertThat(p.far.mismatch(0, n, 7)).isEqualTo(-1);
    }

    @Test
    void inlineDataMayBeOnTheHeap() throws Exception {
        Pair p = connected();
        int n = Math.min(16, p.near.device.maxInlineData());
        org.junit.jupiter.api.Assumptions.assumeTrue(n > 0, "the device has no inline data");
        byte[] bytes = Pattern.bytes(n + 3, 9);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64), Op.receive(2).on(64, 64)));
        SendQueue sq = p.near.qp.sendQueue().start();
        p.near.name(p.near.qp, sq.send(1, SendFlags.SIGNALED)).inline(MemorySegment.ofArray(bytes), 3, n);
        p.near.name(p.near.qp, sq.send(2, SendFlags.SIGNALED)).inline(MemorySegment.ofArray(bytes).asReadOnly(), 0, n);
        assertPosted(sq.complete());
        p.far.awaitReceives(2);
        p.near.awaitSends(2);
        assertThat(p.far.bytes(0, n)).isEqualTo(java.util.Arrays.copyOfRange(bytes, 3, n + 3));
        assertThat(p.far.bytes(64, n)).isEqualTo(java.util.Arrays.copyOf(bytes, n));
    }

    @Test
    void emptyMessagesArrive() throws Exception {
        Pair p = connected();
        p.far.remember();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64), Op.receive(2), Op.receive(3).on(0, 0), Op.receive(4)));
        assertPosted(p.near.post(Op.send(1), Op.send(2).on(0, 0), Op.sendImmediate(3, 3),
                Op.writeImmediate(4, p.farAddress, 0, 4), Op.write(5, p.farAddress, 0).on(0, 0), Op.write(6,
                        p.farAddress, 0),
                Op.read(7, p.farAddress, 0).on(0, 0), Op.read(8, p.farAddress, 0)));
        assertThat(p.near.awaitSends(8)).extracting(Completion::wrId, Completion::statusName)
                .containsExactlyElementsOf(LongStream.rangeClosed(1, 8)
                        .mapToObj(i -> org.assertj.core.groups.Tuple.tuple(i, "SUCCESS")).toList());
        List<Completion> got = p.far.awaitReceives(4);
        for (int i = 0; i < 4; i++) {
            assertThat(got.get(i).statusName()).isEqualTo("SUCCESS");
            assertThat(got.get(i).wrId()).isEqualTo(i + 1);
            assertThat(got.get(i).byteLength()).isZero();
        }
        assertThat(got.get(2).immediate()).isEqualTo(3);
        assertThat(got.get(3).immediate()).isEqualTo(4);
        assertUntouched(p.far);
    }

    /** InfiniBand C9-88: the key of an empty access is not checked. */
    @Test
    void emptyAccessNeedsNoKey() throws Exception {
        Pair p = connected();
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).at(0, 0), Op.read(2, p.farAddress, 0).at(0x123, -1)));
        assertThat(p.near.awaitSends(2)).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    @Test
    void unsignaledSendHasNoCompletion() throws Exception {
        Pair p = connected();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8), Op.receive(2).on(8, 8)));
        assertPosted(p.near.post(Op.send(1).on(0, 8).unsignaled(), Op.write(2, p.farAddress, 64).on(0, 8)
                .unsignaled()));
        assertReceived(1, 8, p.far.awaitReceive());
        p.near.expectNoCompletion();
        assertPosted(p.near.post(Op.send(3).on(0, 8)));
        assertDone(WcOpcode.SEND, 3, p.near.awaitSend());
        assertReceived(2, 8, p.far.awaitReceive());
        p.near.expectNoCompletion();
    }

    @Test
    void queuePairSignalingAllHasACompletionForEach() throws Exception {
        Pair p = connected(EndOptions.defaults().sqSigAll(), EndOptions.defaults());
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8).unsignaled(),
                Op.write(2, p.farAddress, 0).on(0, 8), Op.read(3, p.farAddress, 0).on(0, 8).unsignaled()));
        assertThat(p.near.awaitSends(3)).extracting(Completion::wrId).containsExactly(1L, 2L, 3L);
    }

    /** A fenced send carries the data that the read before it has fetched. */
    @Test
    void fencedSendWaitsForTheRead() throws Exception {
        Pair p = connected();
        for (int round = 1; round <= 50; round++) {
            p.far.fill(0, 8192, round);
            assertPosted(p.far.postReceives(Op.receive(round).on(10_000, 8192)));
            assertPosted(p.near.post(Op.read(1, p.farAddress, 0).on(0, 8192),
                    Op.send(2).on(0, 8192).and(SendFlags.FENCE)));
            assertThat(p.near.awaitSends(2)).extracting(Completion::statusName).containsOnly("SUCCESS");
            assertReceived(round, 8192, p.far.awaitReceive());
            assertThat(p.far.mismatch(10_000, 8192, round)).isEqualTo(-1);
        }
    }

    @Test
    void bothDirectionsWorkSimultaneously() throws Exception {
        Pair p = connected();
        EndAddress near = p.nearAddress;
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64)));
        assertPosted(p.near.postReceives(Op.receive(2).on(0, 64)));
        p.near.fill(100, 64, 1);
        p.far.fill(100, 64, 2);
        assertPosted(p.near.post(Op.send(3).on(100, 64)));
        assertPosted(p.far.post(Op.send(4).on(100, 64), Op.write(5, near, 1000).on(100, 64),
                Op.read(6, near, 100).on(2000, 64)));
        assertReceived(2, 64, p.near.awaitReceive());
        assertReceived(1, 64, p.far.awaitReceive());
        assertDone(WcOpcode.SEND, 3, p.near.awaitSend());
        assertDone(WcOpcode.SEND, 4, p.far.awaitSend());
        assertDone(WcOpcode.RDMA_WRITE, 5, p.far.awaitSend());
        assertDone(WcOpcode.RDMA_READ, 6, p.far.awaitSend());
        assertThat(Pattern.mismatch(p.near.at(0, 64), 2)).isEqualTo(-1);
        assertThat(Pattern.mismatch(p.near.at(1000, 64), 2)).isEqualTo(-1);
        assertThat(p.far.mismatch(0, 64, 1)).isEqualTo(-1);
        assertThat(p.far.mismatch(2000, 64, 1)).isEqualTo(-1);
    }

    @Test
    void registeredMemoryWorksAtBothEnds() throws Exception {
        EndOptions.Memory registered = EndOptions.Memory.REGISTERED;
        Pair p = connected(EndOptions.defaults().memory(registered), EndOptions.defaults().memory(registered));
        p.near.fill(0, 20_000, 1);
        assertPosted(p.far.postReceives(Op.receive(1).on(30_000, 30_000), Op.receive(2).on(60_000, 100)));
        assertPosted(p.near.post(Op.send(1).on(0, 20_000), Op.send(2).on(0, 40),
                Op.write(3, p.farAddress, 1).on(0, 20_000), Op.read(4, p.farAddress, 1).on(30_000, 20_000)));
        assertThat(p.near.awaitSends(4)).extracting(Completion::statusName).containsOnly("SUCCESS");
        assertReceived(1, 20_000, p.far.awaitReceive());
        assertReceived(2, 40, p.far.awaitReceive());
        assertThat(p.far.mismatch(30_000, 20_000, 1)).isEqualTo(-1);
        assertThat(p.far.mismatch(60_000, 40, 1)).isEqualTo(-1);
        assertThat(p.far.mismatch(1, 20_000, 1)).isEqualTo(-1);
        assertThat(Pattern.mismatch(p.near.at(30_000, 20_000), 1)).isEqualTo(-1);
    }

    @Test
    void atomicsReachRegisteredMemory() throws Exception {
        Pair p = connected(EndOptions.defaults(), EndOptions.defaults().memory(EndOptions.Memory.REGISTERED));
        needs(p.near.context, Feature.ATOMICS);
        p.far.setLong(8, 5);
        int r = p.near.post(Op.fetchAndAdd(1, p.farAddress, 8, 2).on(0, 8));
        if (!fixture.atomicsOnRegisteredMemory()) {
            assertNotSupported(p.near, r);
            assertThat(p.far.getLong(8)).isEqualTo(5);
        } else {
            assertPosted(r);
            assertDone(WcOpcode.FETCH_ADD, 1, p.near.awaitSend());
            assertThat(p.near.getLong(0)).isEqualTo(5);
            assertThat(p.far.getLong(8)).isEqualTo(7);
        }
    }

    /** EOPNOTSUPP comes from the post, or with a failed completion as the provider's error. */
    private static void assertNotSupported(End end, int posted) throws Exception {
        if (posted != 0) {
            assertRefused(org.verbena.linux.Errno.EOPNOTSUPP, posted);
            return;
        }
        int[] error = new int[2];
        Await.until("a completion", () -> {
            if (end.sendCq.startPoll() != 0) {
                return false;
            }
            error[0] = end.sendCq.status();
            error[1] = end.sendCq.vendorError();
            end.sendCq.endPoll();
            return true;
        }, end::describe);
        assertThat(error[0]).isNotZero();
        assertRefused(org.verbena.linux.Errno.EOPNOTSUPP, error[1]);
    }

    @Test
    void queuePairInRtrReceives() throws Exception {
        Pair p = pair(EndOptions.defaults(), EndOptions.defaults());
        EndAddress near = p.nearAddress;
        p.toInit();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64)));
        p.far.act(end -> end.toRtr(near));
        p.near.toRtr(p.farAddress);
        p.near.toRts();
        assertPosted(p.near.post(Op.send(2).on(0, 64), Op.write(3, p.farAddress, 64).on(0, 8)));
        assertThat(p.near.awaitSends(2)).extracting(Completion::statusName).containsOnly("SUCCESS");
        assertReceived(1, 64, p.far.awaitReceive());
    }

    @Test
    void queuePairMayBeConnectedToItself() throws Exception {
        End e = end(EndOptions.defaults());
        e.toInit();
        e.toRtr(e.address());
        e.toRts();
        e.fill(0, 100, 1);
        assertPosted(e.postReceives(Op.receive(1).on(1000, 100)));
        assertPosted(e.post(Op.send(2).on(0, 100), Op.write(3, e.address(), 2000).on(0, 100)));
        assertReceived(1, 100, e.awaitReceive());
        assertThat(e.awaitSends(2)).extracting(Completion::statusName).containsOnly("SUCCESS");
        assertThat(Pattern.mismatch(e.at(1000, 100), 1)).isEqualTo(-1);
        assertThat(Pattern.mismatch(e.at(2000, 100), 1)).isEqualTo(-1);
    }
}
