// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Seeds;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/** Random work over a wire that drops, duplicates, delays, reorders and corrupts packets, in virtual time. */
class FaultyWireTest {
    private static final int OPS = 60;
    private static final int SLOT = 24_000;
    private static final int HALF = SLOT / 2;
    private static final int MAX = HALF - 64;
    private static final long COUNTER = (long) OPS * SLOT;
    private static final long MEMORY = COUNTER + 4096;
    private static final int SRQ = 0x77;
    /** Connections of a test, and how many of them may exhaust their retries: 0 to 9 of 600 were seen. */
    private static final int RUNS = 100;
    private static final int MOST_FAILURES = 10;
    private static final int EACH_WAY = 30;
    /** Bytes of a receive where both ends send, and bytes that stay zero after it. */
    private static final int PLACE = 5000 + 64;
    private static final int SENT_FROM = 600_000;

    /** One request of the plan, and its expected result. */
    private record Job(int index, int opcode, int length, int immediate, long before, long after) {
        boolean takesReceive() {
            return opcode == SendOpcode.SEND || opcode == SendOpcode.SEND_IMM || opcode == SendOpcode.WRITE_IMM
                    || opcode == SendOpcode.SEND_INV;
        }

        boolean isAtomic() {
            return opcode == SendOpcode.FETCH_ADD || opcode == SendOpcode.CMP_SWP;
        }

        /** Has no buffer of its own. */
        boolean isBare() {
            return opcode == SendOpcode.FLUSH || opcode == SendOpcode.ATOMIC_WRITE;
        }

        boolean isSend() {
            return takesReceive() && opcode != SendOpcode.WRITE_IMM;
        }

        boolean hasImmediate() {
            return opcode == SendOpcode.SEND_IMM || opcode == SendOpcode.WRITE_IMM;
        }

        long offset() {
            return (long) index * SLOT;
        }
    }

    private static byte pattern(int index, int i) {
        return (byte) (index * 31 + i * 7 + (i >> 8) + 1);
    }

    private static void fill(TestEnd end, long offset, int index, int length) {
        MemorySegment s = end.memory.segment().asSlice(offset, length);
        for (int i = 0; i < length; i++) {
            s.set(ValueLayout.JAVA_BYTE, i, pattern(index, i));
        }
    }

    private static void assertPattern(TestEnd end, long offset, int index, int length) {
        MemorySegment s = end.memory.segment().asSlice(offset, length + 64);
        for (int i = 0; i < length; i++) {
            if (s.get(ValueLayout.JAVA_BYTE, i) != pattern(index, i)) {
                throw new AssertionError("byte " + i + " of job " + index + " is wrong");
            }
        }
        for (int i = length; i < length + 64; i++) {
            assertThat(s.get(ValueLayout.JAVA_BYTE, i)).as("after job %s", index).isZero();
        }
    }

    private static List<Job> plan(Random random, int... opcodes) {
        List<Job> jobs = new ArrayList<>();
        long counter = 0;
        for (int i = 0; i < OPS; i++) {
            int op = opcodes[random.nextInt(opcodes.length)];
            int length = switch (random.nextInt(4)) {
                case 0 -> random.nextInt(3);
                case 1 -> random.nextInt(300);
                case 2 -> 256 << random.nextInt(6);
                default -> random.nextInt(MAX);
            };
            length = switch (op) {
                case SendOpcode.FETCH_ADD, SendOpcode.CMP_SWP, SendOpcode.ATOMIC_WRITE -> Long.BYTES;
                case SendOpcode.FLUSH -> 0;
                default -> Math.min(length, MAX);
            };
            long after = switch (op) {
                case SendOpcode.FETCH_ADD -> counter + 1 + i;
                case SendOpcode.CMP_SWP -> swaps(i) ? ~counter : counter;
                default -> counter;
            };
            jobs.add(new Job(i, op, length, random.nextInt(), counter, after));
            counter = after;
        }
        return jobs;
    }

    /** Whether a compare-and-swap of the plan finds what it expects. */
    private static boolean swaps(int index) {
        return index % 3 != 0;
    }

    private static void post(TestPair p, Job j, Random random) {
        TestEnd near = p.near;
        SendWqe w = near.wqe(j.index, j.opcode);
        w.rkey = TestEnd.KEY;
        w.immediate = j.opcode == SendOpcode.SEND_INV ? windowKey(j.index) : j.immediate;
        w.remoteAddress = p.far.at(j.offset());
        w.remoteSharedReceiveQueue = SRQ;
        if (random.nextInt(6) == 0) {
            w.flags |= SendFlags.FENCE;
        }
        long from = j.offset();
        if (j.opcode == SendOpcode.READ) {
            fill(p.far, j.offset() + HALF, j.index, j.length);
            w.remoteAddress = p.far.at(j.offset() + HALF);
        } else if (j.opcode == SendOpcode.FETCH_ADD) {
            w.remoteAddress = p.far.at(COUNTER);
            w.compareOrAdd = 1L + j.index;
        } else if (j.opcode == SendOpcode.CMP_SWP) {
            w.remoteAddress = p.far.at(COUNTER);
            w.compareOrAdd = swaps(j.index) ? j.before : j.before + 1;
            w.swap = ~j.before;
        } else if (j.opcode == SendOpcode.FLUSH) {
            w.flushType = FlushType.GLOBAL;
            w.flushLevel = FlushType.RANGE;
            w.flushLength = HALF;
        } else {
            from += HALF;
            fill(near, from, j.index, j.length);
        }
        if (j.opcode == SendOpcode.SEND_INV) {
            p.far.memory.addWindow(windowKey(j.index), 0, 8, 0, TestPair.FAR_NUMBER);
        }
        boolean inline = j.length <= 200 && j.opcode != SendOpcode.READ && !j.isAtomic() && !j.isBare()
                && random.nextBoolean();
        if (j.opcode == SendOpcode.ATOMIC_WRITE) {
            w.compareOrAdd = near.memory.segment().get(ValueLayout.JAVA_LONG, from);
        } else if (j.opcode == SendOpcode.FLUSH) {
            w.sgeCount = 0;
        } else if (inline) {
            w.flags |= SendFlags.INLINE;
            w.addInline(near.memory, TestEnd.KEY, near.at(from), j.length);
        } else if (j.length > 2 && random.nextBoolean()) {
            int cut = random.nextInt(j.length);
            w.addSge(TestEnd.KEY, near.at(from), cut);
            w.addSge(TestEnd.KEY, near.at(from + cut), j.length - cut);
        } else {
            w.addSge(TestEnd.KEY, near.at(from), j.length);
        }
        near.post(w);
        if (inline) {
            near.memory.segment().asSlice(from, j.length).fill((byte) -1); // the data were copied when it was posted
        }
    }

    private static int windowKey(int index) {
        return 0x9000 + index;
    }

    private static void postReceive(TestReceives to, TestEnd far, Job j, Random random) {
        long at = far.at(j.offset());
        long cut = random.nextInt(j.length + 1);
        to.post(j.index, TestEnd.KEY, at, cut, TestEnd.KEY, at + cut, j.length - cut);
    }

    /** Posts sends and receives at random moments until all are complete, or the sender has failed. */
    private static void work(TestPair p, List<Job> jobs, TestReceives receives, Random random) {
        int sends = 0;
        int posted = 0;
        while (p.near.sent.size() < OPS && p.near.qp.state() == QueuePairState.RTS) {
            if (sends < OPS && p.near.qp.sends().room() > 0 && random.nextInt(3) == 0) {
                post(p, jobs.get(sends++), random);
            } else if (posted < OPS && random.nextInt(3) == 0) {
                Job j = jobs.get(posted++);
                if (j.takesReceive()) {
                    postReceive(receives, p.far, j, random);
                }
            } else if (!p.step()) {
                assertThat(sends < OPS || posted < OPS).as("it makes progress: %s", p.near.sent).isTrue();
            }
        }
    }

    private static void check(TestPair p, List<Job> jobs) {
        int done = 0;
        for (TestEnd.Sent s : p.near.sent) {
            if (s.status() != WcStatus.SUCCESS) {
                break;
            }
            Job j = jobs.get(done);
            assertThat(s.wrId()).isEqualTo(done);
            assertThat(s.bytes()).isEqualTo(j.length);
            done++;
        }
        List<TestEnd.Received> got = p.far.received.stream().filter(r -> r.status() == WcStatus.SUCCESS).toList();
        List<Job> expected = jobs.stream().filter(Job::takesReceive).toList();
        for (int i = 0; i < got.size(); i++) {
            Job j = expected.get(i);
            TestEnd.Received r = got.get(i);
            assertThat(r.wrId()).isEqualTo(j.index);
            assertThat(r.bytes()).isEqualTo(j.length);
            assertThat(r.opcode()).isEqualTo(j.isSend() ? WcOpcode.RECV : WcOpcode.RECV_RDMA_WITH_IMM);
            if (j.hasImmediate()) {
                assertThat(r.immediate()).isEqualTo(j.immediate);
            }
        }
        for (int i = 0; i < done; i++) {
            Job j = jobs.get(i);
            switch (j.opcode) {
                case SendOpcode.READ -> assertPattern(p.near, j.offset(), j.index, j.length);
                case SendOpcode.FETCH_ADD, SendOpcode.CMP_SWP -> assertThat(p.near.memory.segment().get(
                        ValueLayout.JAVA_LONG, j.offset())).isEqualTo(j.before);
                default -> assertPattern(p.far, j.offset(), j.index, j.length);
            }
            if (j.opcode == SendOpcode.SEND_INV) {
                assertThat(p.far.memory.has(windowKey(j.index))).isFalse();
            }
        }
        if (done == OPS) {
            assertThat(got).hasSize(expected.size());
            assertThat(p.far.memory.segment().get(ValueLayout.JAVA_LONG, COUNTER)).isEqualTo(jobs.getLast().after);
            assertThat(p.far.qp.state()).isEqualTo(QueuePairState.RTS);
        } else {
            assertFailedByTheRules(p.near, done);
        }
    }

    /** The only error that faults of a wire can cause: exhausted retries. Later requests are flushed. */
    private static void assertFailedByTheRules(TestEnd end, int done) {
        assertThat(end.qp.state()).isEqualTo(QueuePairState.ERR);
        assertThat(end.sent.get(done).status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
        assertThat(end.sent.subList(done + 1, end.sent.size()))
                .allSatisfy(s -> assertThat(s.status()).isEqualTo(WcStatus.WR_FLUSH_ERR));
    }

    @ParameterizedTest
    @ValueSource(ints = {256, 512, 1024, 2048, 4096})
    void faultyWireDeliversOnceAndInOrder(int mtu) {
        int[] failed = new int[1];
        int[] corrupted = new int[1];
        Seeds.each(RUNS, random -> {
            TestPair p = new TestPair(random, QueuePairType.RC, MEMORY);
            p.near.mtu = mtu;
            p.far.mtu = mtu;
            p.near.depth = 1 + random.nextInt(5);
            p.far.depth = p.near.depth;
            p.connect();
            p.network.faults = VirtualNetwork.Faults.ALL;
            List<Job> jobs = plan(random, SendOpcode.SEND, SendOpcode.SEND_IMM, SendOpcode.WRITE, SendOpcode.WRITE_IMM,
                    SendOpcode.READ, SendOpcode.FETCH_ADD, SendOpcode.CMP_SWP, SendOpcode.FLUSH,
                    SendOpcode.ATOMIC_WRITE, SendOpcode.SEND_INV);
            work(p, jobs, p.far.receives, random);
            check(p, jobs);
            failed[0] += p.near.qp.state() == QueuePairState.ERR ? 1 : 0;
            corrupted[0] += p.network.corrupted;
        });
        assertThat(failed[0]).as("connections that exhausted their retries, of %s", RUNS).isLessThanOrEqualTo(
                MOST_FAILURES);
        assertThat(corrupted[0]).as("damaged packets that the ICRC detected").isPositive();
    }

    @Test
    void xrcOverFaultyWire() {
        int[] failed = new int[1];
        Seeds.each(RUNS, random -> {
            TestPair p = new TestPair(random, QueuePairType.XRC_SEND, QueuePairType.XRC_RECV, MEMORY, false);
            p.connect();
            TestReceives queue = new TestReceives(p.far.memory, true);
            p.far.queues.put(SRQ, queue);
            p.network.faults = VirtualNetwork.Faults.ALL;
            List<Job> jobs = plan(random, SendOpcode.SEND, SendOpcode.SEND_IMM, SendOpcode.WRITE, SendOpcode.WRITE_IMM,
                    SendOpcode.READ, SendOpcode.FETCH_ADD, SendOpcode.CMP_SWP, SendOpcode.FLUSH,
                    SendOpcode.ATOMIC_WRITE);
            work(p, jobs, queue, random);
            check(p, jobs);
            failed[0] += p.near.qp.state() == QueuePairState.ERR ? 1 : 0;
        });
        assertThat(failed[0]).as("connections that exhausted their retries, of %s", RUNS).isLessThanOrEqualTo(
                MOST_FAILURES);
    }

    /** Both ends send at once, so that ACKs, responses and requests share the wire. */
    @Test
    void bothDirectionsOverFaultyWire() {
        int[] failed = new int[1];
        Seeds.each(RUNS, random -> {
            TestPair p = new TestPair(random, QueuePairType.RC, 1 << 20).connect();
            p.network.faults = VirtualNetwork.Faults.ALL;
            int[] toFar = new int[EACH_WAY];
            int[] toNear = new int[EACH_WAY];
            for (int i = 0; i < EACH_WAY; i++) {
                p.near.receives.post(i, TestEnd.KEY, p.near.at((long) i * PLACE), 5000);
                p.far.receives.post(i, TestEnd.KEY, p.far.at((long) i * PLACE), 5000);
            }
            for (int i = 0; i < EACH_WAY; i++) {
                toFar[i] = send(p.near, i, i, random);
                toNear[i] = send(p.far, i, EACH_WAY + i, random);
            }
            p.run(() -> p.near.sent.size() == EACH_WAY && p.far.sent.size() == EACH_WAY);
            checkOneWay(p.near, p.far, toFar, 0);
            checkOneWay(p.far, p.near, toNear, EACH_WAY);
            failed[0] += p.near.qp.state() == QueuePairState.ERR || p.far.qp.state() == QueuePairState.ERR ? 1 : 0;
        });
        assertThat(failed[0]).as("connections that exhausted their retries, of %s", RUNS).isLessThanOrEqualTo(
                MOST_FAILURES);
    }

    /** A message of random length with a pattern of its own. */
    private static int send(TestEnd from, int i, int pattern, Random random) {
        int length = 1 + random.nextInt(5000);
        fill(from, SENT_FROM + (long) i * PLACE, pattern, length);
        from.send(i, SENT_FROM + (long) i * PLACE, length);
        return length;
    }

    /**
     * What completed at the sender has arrived, what has arrived is intact and in order, and every error is the wire's.
     */
    private static void checkOneWay(TestEnd from, TestEnd to, int[] lengths, int firstPattern) {
        int done = 0;
        while (done < EACH_WAY && from.sent.get(done).status() == WcStatus.SUCCESS) {
            assertThat(from.sent.get(done).wrId()).isEqualTo(done);
            done++;
        }
        List<TestEnd.Received> got = to.received.stream().filter(r -> r.status() == WcStatus.SUCCESS).toList();
        assertThat(got).hasSizeGreaterThanOrEqualTo(done);
        for (int i = 0; i < got.size(); i++) {
            assertThat(got.get(i).wrId()).isEqualTo(i);
            assertThat(got.get(i).bytes()).isEqualTo(lengths[i]);
            assertPattern(to, (long) i * PLACE, firstPattern + i, lengths[i]);
        }
        if (done < EACH_WAY) {
            assertFailedByTheRules(from, done);
        }
    }

    /** Messages that arrive by UC are whole, in order, and arrive once. */
    @Test
    void ucDeliversWholeMessages() {
        int[] arrived = new int[1];
        Seeds.each(80, random -> {
            TestPair p = new TestPair(random, QueuePairType.UC, MEMORY).connect();
            p.network.faults = new VirtualNetwork.Faults(5, 5, 3, 5, 1);
            List<Job> jobs = plan(random, SendOpcode.SEND, SendOpcode.SEND_IMM);
            for (Job j : jobs) {
                p.far.receives.post(j.index, TestEnd.KEY, p.far.at(j.offset()), HALF);
                post(p, j, random);
                p.settle();
            }
            assertThat(p.near.sent).hasSize(OPS);
            assertThat(p.far.qp.state()).isEqualTo(QueuePairState.RTS);
            for (int i = 0; i < p.far.received.size(); i++) {
                TestEnd.Received r = p.far.received.get(i);
                assertThat(r.wrId()).isEqualTo(i);
                assertThat(r.status()).isEqualTo(WcStatus.SUCCESS);
                int slot = i;
                Job j = jobs.stream().filter(k -> k.length == r.bytes() && matches(p.far, slot, k)).findFirst()
                        .orElseThrow(() -> new AssertionError("a message that was not sent"));
                if (j.hasImmediate() && j.length > 8) {
                    assertThat(r.immediate()).isEqualTo(j.immediate);
                }
            }
            arrived[0] += p.far.received.size();
        });
        assertThat(arrived[0]).as("of 4,800 messages").isBetween(1500, 4760);
    }

    private static boolean matches(TestEnd far, int slot, Job j) {
        MemorySegment s = far.memory.segment().asSlice((long) slot * SLOT, Math.max(1, j.length));
        for (int i = 0; i < j.length; i++) {
            if (s.get(ValueLayout.JAVA_BYTE, i) != pattern(j.index, i)) {
                return false;
            }
        }
        return true;
    }

    @Test
    void deadPeerExhaustsRetries() throws Exception {
        for (int retries : new int[] {0, 1, 7}) {
            TestPair p = new TestPair(new Random(1), QueuePairType.RC, 1 << 16);
            p.near.retries = retries;
            p.near.timeout = 14;
            p.connect();
            p.network.faults = new VirtualNetwork.Faults(100, 0, 0, 0, 0);
            long begin = p.network.now();
            p.near.receives.post(5, TestEnd.KEY, p.near.at(0), 8);
            p.near.send(1, 0, 100);
            p.near.write(2, 0, 100, p.far, 0);
            p.run(() -> p.near.qp.state() == QueuePairState.ERR);
            assertThat(p.near.sent).extracting(TestEnd.Sent::status).containsExactly(WcStatus.RETRY_EXC_ERR,
                    WcStatus.WR_FLUSH_ERR);
            assertThat(p.near.received).extracting(TestEnd.Received::status).containsExactly(WcStatus.WR_FLUSH_ERR);
            long intervals = retries == 7 ? 1 + 1 + 2 + 5 * 4 : retries + 1;
            assertThat(p.network.now() - begin).isBetween(intervals * 67_108_864L, intervals * 67_108_864L + 1_000_000);
            assertThat(p.near.count(SamplePoint.QP_TX_PEER_WAITS)).isEqualTo(retries + 1);
            assertThat(p.near.events).doesNotContain(AsyncEventType.QP_FATAL);
            p.settle();
        }
    }
}
