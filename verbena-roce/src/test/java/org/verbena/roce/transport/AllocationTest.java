// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/** No operation allocates: neither in the thread that posts, nor in the one that receives packets, nor with losses. */
class AllocationTest {
    private static final int ROUNDS = 20_000;
    private static final int MESSAGE = 5000;
    private static final int DATAGRAM = 4000;
    private static final int QKEY = 0x1234;

    /** An owner that allocates nothing itself. */
    private static final class Quiet implements QueuePairOwner, ReceiveSource, Memory {
        private static final MemorySegment MEMORY = Arena.ofAuto().allocate(1 << 16, 4096);
        private final ReceiveWqe[] receives = new ReceiveWqe[64];
        private int free = receives.length;
        final Transport transport;
        final TransportQueuePair qp;
        private @Nullable Path datagramPath;
        private int datagramTo;
        long sent;
        long received;
        long failed;

        Quiet(Wire wire, int number, int type) {
            for (int i = 0; i < receives.length; i++) {
                receives[i] = new ReceiveWqe(1);
                receives[i].addSge(1, RawMemory.addressOf(MEMORY), 8192);
            }
            transport = new Transport(wire);
            qp = transport.create(number, type, this, new SendRing(16, 1, 0, 0));
        }

        void connect(Wire wire, Gid own, Gid peer, int number) throws Exception {
            qp.modify(QueuePairState.INIT, QueuePairAttributes.to(QueuePairState.INIT).accessFlags(AccessFlags.ALL)
                    .build(), null);
            qp.modify(QueuePairState.RTR, QueuePairAttributes.to(QueuePairState.RTR).pathMtu(1024)
                    .destinationQueuePair(number).rqPsn(0).maxDestReadAtomic(4).minRnrTimer(1).build(), wire.path(own,
                            0, peer, 0, 0, 1));
            qp.modify(QueuePairState.RTS, QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).timeout(8).retryCount(7)
                    .rnrRetry(7).maxReadAtomic(4).build(), null);
        }

        void connectDatagrams(Wire wire, Gid own, Gid peer, int number) throws Exception {
            datagramPath = wire.path(own, 0, peer, 0, 0, 1);
            datagramTo = number;
            qp.modify(QueuePairState.INIT, QueuePairAttributes.to(QueuePairState.INIT).qkey(QKEY).build(), null);
            qp.modify(QueuePairState.RTR, QueuePairAttributes.to(QueuePairState.RTR).build(), null);
            qp.modify(QueuePairState.RTS, QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build(), null);
        }

        void post(int opcode) {
            SendWqe w = qp.sends().free(0).begin(1, opcode, SendFlags.SIGNALED);
            w.rkey = 1;
            w.remoteAddress = RawMemory.addressOf(MEMORY) + 16384;
            w.addSge(1, RawMemory.addressOf(MEMORY) + 32768, opcode == SendOpcode.FETCH_ADD
                    ? 8
                    : datagramPath == null ? MESSAGE : DATAGRAM);
            w.path = datagramPath;
            w.remoteQueuePair = datagramTo;
            w.remoteQkey = QKEY;
            qp.post(1);
            transport.flush();
        }

        @Override
        public long local(int lkey, long address, long length, int access) {
            return address;
        }

        @Override
        public long remote(int queuePair, int rkey, long address, long length, int access) {
            return address;
        }

        @Override
        public long remoteAgain(int queuePair, int rkey, long address, long length, int access) {
            return address;
        }

        @Override
        public long invalidate(int queuePair, int rkey, boolean remote) {
            return BAD_KEY;
        }

        @Override
        public long bind(int queuePair, SendWqe wqe) {
            return BAD_KEY;
        }

        @Override
        public @Nullable ReceiveWqe take() {
            return receives[--free];
        }

        @Override
        public void putBack(ReceiveWqe wqe) {
            receives[free++] = wqe;
        }

        @Override
        public boolean isShared() {
            return true;
        }

        @Override
        public Memory memory() {
            return this;
        }

        @Override
        public ReceiveSource receives() {
            return this;
        }

        @Override
        public ReceiveSource sharedReceiveQueue(int number) {
            return this;
        }

        @Override
        public void sent(SendWqe wqe) {
            sent++;
            failed += wqe.status == WcStatus.SUCCESS ? 0 : 1;
        }

        @Override
        public void received(ReceiveSource source, ReceiveWqe wqe) {
            received++;
            putBack(wqe);
        }

        @Override
        public void stateChanged(QueuePairState state, String reason, int event) {
            failed++;
        }

        @Override
        public void event(int type) {
            // not counted
        }

        @Override
        public void count(int samplePoint, long n) {
            // not counted
        }
    }

    private static void work(Quiet a, Quiet b, int[] opcodes, int rounds) {
        for (int i = 0; i < rounds; i++) {
            long done = a.sent + 1;
            a.post(opcodes[i % opcodes.length]);
            do {
                b.transport.progress(64);
                a.transport.progress(64);
                a.transport.nextDeadline();
            } while (a.sent < done);
        }
    }

    private static void assertNothingAllocated(int type, int from, int loseOneOf, int... opcodes) throws Exception {
        Gid here = Gid.parse("::ffff:10.0.0.1");
        Gid there = Gid.parse("::ffff:10.0.0.2");
        LoopWire near = new LoopWire(here);
        LoopWire far = new LoopWire(there);
        LoopWire.join(near, far);
        Quiet a = new Quiet(near, 0x11, from);
        Quiet b = new Quiet(far, 0x12, type);
        if (type == QueuePairType.UD) {
            a.connectDatagrams(near, here, there, 0x12);
            b.connectDatagrams(far, there, here, 0x11);
        } else {
            a.connect(near, here, there, 0x12);
            b.connect(far, there, here, 0x11);
        }
        near.loseOneOf = loseOneOf;
        far.loseOneOf = loseOneOf == 0 ? 0 : loseOneOf + 2;
        work(a, b, opcodes, ROUNDS); // classes are loaded, call sites linked
        long calls = AllocatedBytes.ofThisThread();
        calls = AllocatedBytes.ofThisThread() - calls; // the allocation of the query itself
        long before = AllocatedBytes.ofThisThread();
        work(a, b, opcodes, ROUNDS);
        long bytes = AllocatedBytes.ofThisThread() - before - calls;
        assertThat(bytes).as("bytes in %s operations", ROUNDS).isLessThan(ROUNDS / 10);
        assertThat(a.failed + b.failed).isZero();
        assertThat(a.sent).isEqualTo(2 * ROUNDS);
        assertThat(type != QueuePairType.UD || b.received == 2 * ROUNDS).as("each datagram has arrived").isTrue();
    }

    @Test
    void rc() throws Exception {
        assertNothingAllocated(QueuePairType.RC, QueuePairType.RC, 0, SendOpcode.SEND, SendOpcode.WRITE,
                SendOpcode.WRITE_IMM, SendOpcode.READ, SendOpcode.FETCH_ADD);
    }

    @Test
    void rcWithLosses() throws Exception {
        assertNothingAllocated(QueuePairType.RC, QueuePairType.RC, 7, SendOpcode.SEND, SendOpcode.WRITE,
                SendOpcode.WRITE_IMM, SendOpcode.READ, SendOpcode.FETCH_ADD);
    }

    @Test
    void xrc() throws Exception {
        assertNothingAllocated(QueuePairType.XRC_RECV, QueuePairType.XRC_SEND, 0, SendOpcode.SEND, SendOpcode.READ);
    }

    @Test
    void uc() throws Exception {
        assertNothingAllocated(QueuePairType.UC, QueuePairType.UC, 0, SendOpcode.SEND, SendOpcode.WRITE);
    }

    @Test
    void ud() throws Exception {
        assertNothingAllocated(QueuePairType.UD, QueuePairType.UD, 0, SendOpcode.SEND, SendOpcode.SEND_IMM);
    }
}
