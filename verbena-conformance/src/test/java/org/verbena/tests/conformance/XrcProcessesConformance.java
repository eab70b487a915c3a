// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Thorough;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * The purpose of XRC: a sender in one process, the queue pair that it is connected to in a second one, and the shared
 * receive queue that its requests name in a third. Each of them is killed, too.
 */
abstract class XrcProcessesConformance extends XrcProcesses {
    XrcProcessesConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    // ---- routing of messages

    @Test
    void messageReachesTheProcessOfItsQueue() throws VerbsException {
        Far a = here();
        Far b = in(sharedPeer());
        Far c = in(otherPeer());
        connect(a, b, c);
        b.remember();
        postReceives(c, 0, 4);
        EndAddress there = c.address();
        a.fill(0, 5000, 9);
        c.setLong(130_000, 5);
        a.act(end -> {
            assertPosted(end.post(Op.send(0).on(0, 16), Op.send(1).inlineFrom(0, 40), Op.send(2).on(0, LENGTH),
                    Op.writeImmediate(3, there, 100_000, 42).on(0, 5000), Op.read(4, there, 100_001).on(60_000, 4999),
                    Op.fetchAndAdd(5, there, 130_000, 3).on(70_000, 8)));
            assertThat(end.awaitSends(6)).extracting(Completion::statusName).containsOnly("SUCCESS");
        });
        List<Completion> got = c.awaitReceives(4);
        assertThat(got).extracting(Completion::wrId).containsExactly(0L, 1L, 2L, 3L);
        assertThat(got).extracting(Completion::byteLength).containsExactly(16L, 40L, (long) LENGTH, 5000L);
        assertThat(got).extracting(Completion::queuePairNumber).containsOnly(xrc(b).target());
        assertThat(got.get(3).immediate()).isEqualTo(42);
        assertThat(c.mismatch(4096, LENGTH, 9)).isEqualTo(-1);
        assertThat(c.mismatch(100_000, 5000, 9)).isEqualTo(-1);
        assertThat(a.bytes(60_000, 4999)).isEqualTo(c.bytes(100_001, 4999));
        assertThat(a.getLong(70_000)).isEqualTo(5);
        assertThat(c.getLong(130_000)).isEqualTo(8);
        b.act(End::expectNoCompletion);
        assertUntouched(b);
    }

    @Test
    void oneConnectionReachesAllProcesses() throws VerbsException {
        Far a = in(sharedPeer());
        Far b = here();
        Far c = in(otherPeer());
        connect(a, b, c);
        List<Far> all = List.of(b, c);
        for (Far f : all) {
            postReceives(f, 0, CAPACITY);
        }
        for (int i = 0; i < CAPACITY; i++) {
            for (int j = 0; j < 2; j++) {
                name(a, all.get(j));
                assertSent(a, 2 * i + j, 1);
            }
        }
        for (int j = 0; j < 2; j++) {
            assertThat(all.get(j).awaitReceives(CAPACITY)).extracting(Completion::byteLength)
                    .containsExactlyElementsOf(LongStream.iterate(j, n -> n + 2).limit(CAPACITY).boxed().toList());
        }
    }

    /** Its process does nothing, and need not be running. */
    @Test
    void stoppedProcessOfTheTargetDoesNotBlock() throws Exception {
        PeerProcess still = otherPeer();
        Far a = here();
        Far b = in(still);
        Far c = in(sharedPeer());
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        assertSent(a, 8, 1);
        serve(c, 1);
        still.signal("STOP");
        try {
            for (int i = 0; i < 200; i++) {
                assertSent(a, i % 2 == 0 ? 16 : LENGTH, 10);
                serve(c, 10);
            }
            EndAddress there = c.address();
            a.act(end -> {
                assertPosted(end.post(Op.write(1, there, 0).on(0, 5000)));
                assertDone(WcOpcode.RDMA_WRITE, 1, end.awaitSend());
            });
        } finally {
            still.signal("CONT");
        }
        assertThat(targetState(b)).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void stoppedProcessOfTheQueueDoesNotBlockOthers() throws Exception {
        PeerProcess still = otherPeer();
        Far a = here();
        Far b = in(sharedPeer());
        Far c = in(still);
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        assertSent(a, 8, 1);
        still.signal("STOP");
        try {
            assertSent(a, LENGTH, CAPACITY - 1);
        } finally {
            still.signal("CONT");
        }
        assertThat(c.awaitReceives(CAPACITY)).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    /** Each message is received once, even with concurrent senders. */
    @Test
    void manySendersMayFloodOneQueue() throws VerbsException {
        int messages = Thorough.ON ? 5000 : 1000;
        Far b = in(sharedPeer());
        Far c = here();
        List<Far> senders = List.of(in(sharedPeer()), in(otherPeer()), here());
        postReceives(c, 0, CAPACITY);
        connect(senders.get(0), b, c);
        connect(senders.get(1), in(sharedPeer()), c);
        connect(senders.get(2), in(otherPeer()), c);
        for (int s = 0; s < senders.size(); s++) {
            int id = s << 24;
            senders.get(s).start(end -> {
                for (int i = 0; i < messages;) {
                    int room = Math.min(16, messages - i);
                    for (int j = 0; j < room; j++, i++) {
                        assertPosted(end.post(Op.sendImmediate(i, id | i).on(0, i % 5 == 0 ? LENGTH : 32)));
                    }
                    assertThat(end.awaitSends(room)).extracting(Completion::statusName).containsOnly("SUCCESS");
                }
                return true;
            });
        }
        c.start(end -> {
            int[] expected = new int[3];
            for (int i = 0; i < 3 * messages; i++) {
                Completion w = end.awaitReceive();
                assertThat(w.status()).as(w.toString()).isEqualTo(WcStatus.SUCCESS);
                int from = w.immediate() >>> 24;
                assertThat(w.immediate() & 0xffffff).as("next of sender %d", from).isEqualTo(expected[from]++);
                assertPosted(end.postReceives(receive(w.wrId())));
            }
            return expected;
        });
        assertThat((int[]) c.join()).containsOnly(messages);
        for (Far s : senders) {
            s.join();
        }
    }

    // ---- one of them is killed

    @Rounds(value = 1, thorough = 4)
    void killedProcessOfTheQueueFailsItsRequests() throws Exception {
        PeerProcess victim = ownPeer();
        Far a = here();
        Far b = in(sharedPeer());
        Far c = in(victim);
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        flood(a);
        serve(c, 1000);
        serveOn(c);
        TimeUnit.MICROSECONDS.sleep(new Random().nextInt(20_000));
        victim.kill();
        assertEnds(a);
        awaitTarget(b, QueuePairState.ERR);
        // after reconnecting, it reaches the live processes
        for (Far f : List.of(a, b)) {
            f.act(end -> {
                end.to(QueuePairState.RESET);
                end.xrc().target(end.qp).modify(XrcEnd.to(QueuePairState.RESET));
            });
        }
        connect(a, b, b);
        postReceives(b, 0, 4);
        a.act(end -> End.poll(end.sendCq, 4 * CAPACITY));
        assertSent(a, 8, 4);
        assertThat(b.awaitReceives(4)).extracting(Completion::statusName).containsOnly("SUCCESS");
    }

    @Test
    void killingTheProcessOfTheQueueEndsAWaitingRequest() throws Exception {
        PeerProcess victim = ownPeer();
        Far a = here();
        Far b = in(sharedPeer());
        Far c = in(victim);
        connect(a, b, c);
        a.act(end -> {
            assertPosted(end.post(Op.send(1).on(0, 8)));
            end.expectNoCompletion();
        });
        victim.kill();
        Completion end = a.awaitSend();
        assertThat(end.status()).as(end.toString()).isNotEqualTo(WcStatus.SUCCESS);
        a.awaitState(QueuePairState.ERR);
        awaitTarget(b, QueuePairState.ERR);
    }

    @Rounds(value = 1, thorough = 4)
    void killedProcessOfTheTargetLeavesTheQueueUsable() throws Exception {
        PeerProcess victim = ownPeer();
        Far a = here();
        Far b = in(victim);
        Far c = in(sharedPeer());
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        flood(a);
        serve(c, 1000);
        serveOn(c);
        TimeUnit.MICROSECONDS.sleep(new Random().nextInt(20_000));
        victim.kill();
        assertEnds(a);
        c.act(end -> end.later = true);
        c.join();
        // the queue is as good as before for others
        Far d = here();
        connect(d, c, c);
        drain(c);
        assertAllReceivesAreThere(d, c);
    }

    /** Receives that the sender had claimed from the queue when it was killed are returned. */
    @Rounds(value = 1, thorough = 6)
    void killedSenderLeavesAllReceives() throws Exception {
        PeerProcess victim = ownPeer();
        Far a = in(victim);
        Far b = in(sharedPeer());
        Far c = here();
        connect(a, b, c);
        postReceives(c, 0, CAPACITY);
        flood(a);
        serve(c, 3000);
        victim.kill();
        awaitTarget(b, QueuePairState.ERR);
        Far d = in(sharedPeer());
        connect(d, c, c);
        drain(c);
        assertAllReceivesAreThere(d, c);
    }

    /** Reposts the receives of all available completions. */
    private static void drain(Far far) throws VerbsException {
        far.act(end -> {
            Set<Long> unposted = new HashSet<>();
            for (List<Completion> some = End.poll(end.receiveCq, 64); !some.isEmpty(); some = End.poll(end.receiveCq,
                    64)) {
                some.forEach(c -> unposted.add(c.wrId()));
            }
            for (long id : unposted) {
                assertPosted(end.postReceives(receive(id)));
            }
        });
    }

    private static void assertAllReceivesAreThere(Far sender, Far queue) throws VerbsException {
        sender.start(end -> {
            for (int i = 0; i < CAPACITY; i++) {
                assertPosted(end.post(Op.send(i).on(0, LENGTH)));
            }
            assertThat(end.awaitSends(CAPACITY)).extracting(Completion::statusName).containsOnly("SUCCESS");
            return true;
        });
        Set<Long> used = new HashSet<>();
        for (Completion c : queue.awaitReceives(CAPACITY)) {
            assertThat(c.status()).as(c.toString()).isEqualTo(WcStatus.SUCCESS);
            used.add(c.wrId());
        }
        assertThat(used).as("each receive once").hasSize(CAPACITY);
        sender.join();
    }
}
