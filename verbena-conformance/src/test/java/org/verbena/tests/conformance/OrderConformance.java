// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** The order of messages, bytes and completions. */
abstract class OrderConformance extends Conformance {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final int FLAG = 32_768;
    private static final int ACK = 40_000;

    OrderConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @Test
    void messagesArriveInOrder() throws Exception {
        int batch = 32;
        Pair p = connected();
        long sent = 0;
        for (int round = 0; round < (Thorough.ON ? 200 : 50); round++) {
            Op[] receives = new Op[batch];
            Op[] sends = new Op[batch];
            for (int i = 0; i < batch; i++) {
                long n = sent + i;
                receives[i] = Op.receive(n).on(i * 512L, 512);
                p.near.setLong(i * 512L, n);
                sends[i] = Op.send(n).on(i * 512L, n % 7 == 0 ? 512 : 8).flags(i == batch - 1 ? SendFlags.SIGNALED : 0);
            }
            assertPosted(p.far.postReceives(receives));
            assertPosted(p.near.post(sends));
            assertDone(WcOpcode.SEND, sent + batch - 1, p.near.awaitSend());
            List<Completion> got = p.far.awaitReceives(batch);
            byte[] memory = p.far.bytes(0, batch * 512);
            for (int i = 0; i < batch; i++) {
                assertReceived(sent + i, (sent + i) % 7 == 0 ? 512 : 8, got.get(i));
                assertThat(java.nio.ByteBuffer.wrap(memory).order(java.nio.ByteOrder.nativeOrder()).getLong(i * 512))
                        .isEqualTo(sent + i);
            }
            sent += batch;
        }
    }

    /** The flag that a second WRITE sets is not visible before the data of the first. */
    @Test
    void laterWriteIsNotVisibleBeforeAnEarlierOne() throws Exception {
        int rounds = Thorough.ON ? 2000 : 150;
        int size = 4096;
        Pair p = connected();
        EndAddress near = p.nearAddress;
        p.far.start(end -> {
            for (long round = 1; round <= rounds; round++) {
                awaitLong(end, FLAG, round);
                long wrong = Pattern.mismatch(end.at(0, size), round);
                if (wrong >= 0) {
                    throw new AssertionError("round " + round + ": the flag is there, byte " + wrong + " is not");
                }
                end.setLong(ACK, round);
                assertPosted(end.post(Op.write(round, near, ACK).on(ACK, 8)));
                assertDone(WcOpcode.RDMA_WRITE, round, end.awaitSend());
            }
            return true;
        });
        for (long round = 1; round <= rounds; round++) {
            p.near.fill(0, size, round);
            p.near.setLong(FLAG, round);
            assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, size).unsignaled(),
                    Op.write(2, p.farAddress, FLAG).on(FLAG, 8)));
            assertDone(WcOpcode.RDMA_WRITE, 2, p.near.awaitSend());
            if (round == rounds) {
                p.far.join();
            }
            awaitLong(p.near, ACK, round);
        }
    }

    private static void awaitLong(End end, long offset, long value) throws org.verbena.verbs.VerbsException {
        Await.until("value " + value + " at " + offset,
                () -> (long) LONG.getAcquire(end.region.segment(), offset) == value,
                () -> "it is " + end.getLong(offset) + "; " + end.describe());
    }

    /** When a message has been received, all earlier writes have arrived. */
    @Test
    void sendArrivesAfterEarlierWrites() throws Exception {
        Pair p = connected();
        for (int round = 1; round <= (Thorough.ON ? 500 : 120); round++) {
            int size = 1 + round * 37 % 8192;
            p.near.fill(0, size, round);
            assertPosted(p.far.postReceives(Op.receive(round).on(FLAG, 64)));
            assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, size).unsignaled(), Op.send(2).on(FLAG, 8)));
            assertReceived(round, 8, p.far.awaitReceive());
            assertThat(p.far.mismatch(0, size, round)).isEqualTo(-1);
            assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
        }
    }

    @Test
    void readSeesAnEarlierWrite() throws Exception {
        Pair p = connected();
        for (int round = 1; round <= (Thorough.ON ? 500 : 120); round++) {
            p.near.fill(0, 3000, round);
            assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 3000).unsignaled(),
                    Op.read(2, p.farAddress, 0).on(FLAG, 3000)));
            assertDone(WcOpcode.RDMA_READ, 2, p.near.awaitSend());
            assertThat(Pattern.mismatch(p.near.at(FLAG, 3000), round)).isEqualTo(-1);
        }
    }

    @Test
    void completionsFollowTheOrderOfRequests() throws Exception {
        Pair p = connected();
        boolean atomics = p.near.context.supports(org.verbena.verbs.Feature.ATOMICS);
        for (int round = 0; round < (Thorough.ON ? 100 : 30); round++) {
            assertPosted(p.far.postReceives(Op.receive(1).on(FLAG, 64), Op.receive(2).on(FLAG, 64)));
            Op last = atomics ? Op.fetchAndAdd(5, p.farAddress, 0, 1).on(0, 8) : Op.read(5, p.farAddress, 0).on(0, 8);
            assertPosted(p.near.post(Op.read(0, p.farAddress, 0).on(8192, 16_000), Op.send(1).on(0, 8),
                    Op.write(2, p.farAddress, 8).on(0, 1), Op.write(3, p.farAddress, 4096).on(0, 16_000),
                    Op.sendImmediate(4, 4).on(0, 64), last));
            assertThat(p.near.awaitSends(6)).extracting(Completion::wrId).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
            assertThat(p.far.awaitReceives(2)).extracting(Completion::wrId).containsExactly(1L, 2L);
        }
    }

    @Test
    void flushedRequestsKeepTheirOrder() throws Exception {
        Pair p = connected();
        for (int i = 0; i < 20; i++) {
            assertPosted(p.near.postReceives(Op.receive(100 + i).on(0, 8)));
            assertPosted(p.near.post(Op.send(i).on(0, 8))); // the peer has no receive, so these wait
        }
        p.near.to(QueuePairState.ERR);
        for (int i = 20; i < 30; i++) {
            assertPosted(p.near.postReceives(Op.receive(100 + i).on(0, 8)));
            assertPosted(p.near.post(Op.send(i).on(0, 8)));
        }
        List<Completion> sends = p.near.awaitSends(30);
        for (int i = 0; i < 30; i++) {
            assertStatus(WcStatus.WR_FLUSH_ERR, i, sends.get(i));
        }
        assertReceivesFlushed(p.near, LongStream.range(100, 130).toArray());
        p.near.expectNoCompletion();
    }

    /** Several queue pairs complete on one queue: nothing is lost, and each one's order is kept. */
    @Test
    void queuePairsOfOneCompletionQueueKeepTheirOrder() throws Exception {
        int queuePairs = 4;
        int messages = Thorough.ON ? 400 : 160;
        Pair p = connected(EndOptions.defaults(), EndOptions.defaults());
        List<QueuePair> near = new ArrayList<>();
        for (int i = 0; i < queuePairs; i++) {
            near.add(connectAnother(p));
        }
        Map<Integer, Long> next = new HashMap<>();
        for (int round = 0; round < messages / 8; round++) {
            for (QueuePair q : near) {
                for (int i = 0; i < 8; i++) {
                    assertPosted(p.near.post(q, Op.write(round * 8L + i, p.farAddress, 8L * i).on(0, 8)));
                }
            }
            for (Completion c : p.near.awaitSends(8 * queuePairs)) {
                assertThat(c.statusName()).isEqualTo("SUCCESS");
                assertThat(c.wrId()).as("next of queue pair %d", c.queuePairNumber())
                        .isEqualTo(next.getOrDefault(c.queuePairNumber(), 0L));
                next.merge(c.queuePairNumber(), 1L, (a, b) -> a + b);
            }
        }
        assertThat(next).hasSize(queuePairs);
        assertThat(next.values()).containsOnly((long) messages);
    }

    /** Several threads send, each on its own queue pair, into one completion queue that one thread polls. */
    @Test
    void manySendersKeepTheirOrderAtOneReceiver() throws Exception {
        int senders = 3;
        int messages = Thorough.ON ? 2000 : 600;
        Pair p = connected(EndOptions.defaults(), EndOptions.defaults());
        List<QueuePair> near = new ArrayList<>();
        for (int i = 0; i < senders; i++) {
            near.add(connectAnother(p));
        }
        int total = senders * messages;
        p.far.start(end -> {
            Map<Integer, Long> next = new HashMap<>();
            for (int got = 0; got < total; got++) {
                Completion c = end.awaitReceive();
                if (c.status() != WcStatus.SUCCESS || c.immediate() != next.getOrDefault(c.queuePairNumber(), 0L)) {
                    throw new AssertionError(c + " with " + c.immediate() + " after " + next);
                }
                next.merge(c.queuePairNumber(), 1L, (a, b) -> a + b);
                end.postAgain(c);
            }
            return new HashMap<>(next);
        });
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
        for (QueuePair q : near) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    send(p.near, q, messages);
                } catch (Exception | AssertionError e) {
                    failures.add(e);
                }
            }));
        }
        long done = 0;
        while (done < total / 8) {
            Completion c = p.near.awaitSend();
            assertThat(c.statusName()).isEqualTo("SUCCESS");
            done++;
        }
        for (Thread t : threads) {
            t.join();
        }
        assertThat(failures).isEmpty();
        assertThat((Map<?, ?>) p.far.join()).hasSize(senders);
    }

    /** Every eighth message is signalled; a full queue is tried again. */
    private static void send(End end, QueuePair q, int messages) throws Exception {
        for (int i = 0; i < messages; i++) {
            Op op = Op.sendImmediate(i, i).on(0, i % 3 == 0 ? 100 : 8).flags(i % 8 == 7 ? SendFlags.SIGNALED : 0);
            Await.until("room in the send queue", () -> {
                int r = end.post(q, op);
                if (r != 0) {
                    assertRefused(org.verbena.linux.Errno.ENOMEM, r);
                }
                return r == 0;
            }, () -> q.describe() + " is in " + q.state() + ": " + q.errorReason());
        }
    }

    /** Connects a further queue pair between the same ends; the far one has 32 receives posted. */
    private static QueuePair connectAnother(Pair p) throws Exception {
        QueuePair q = p.near.queuePair();
        int far = p.connect(q).queuePairNumber();
        p.far.act(end -> {
            for (int i = 0; i < 32; i++) {
                assertPosted(end.postReceives(end.queuePair(far), Op.receive(i).on(512L * i, 512)));
            }
        });
        return q;
    }
}
