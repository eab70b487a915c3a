// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.testkit.Thorough;
import org.verbena.tests.conformance.EndOptions.Memory;
import org.verbena.verbs.WcOpcode;

/** Every operation in many sizes, at aligned and odd addresses, checking the bytes around the message. */
abstract class SizesConformance extends Conformance {
    private static final long[] SMALL = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 56, 63, 64, 65, 87, 88,
        89,
        104, 105, 127, 128, 129, 255, 256, 257, 511, 512, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537};
    private static final long MIB = 1 << 20;
    /** Bytes before and after each message, which it must not touch. */
    private static final int MARGIN = 32;
    private static final byte FILLER = 0x5A;

    SizesConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    private Pair pair(Memory memory, long bytes) throws Exception {
        long size = bytes + 4L * MARGIN;
        return connected(EndOptions.defaults().memory(memory).bytes(size),
                EndOptions.defaults().memory(memory).bytes(size));
    }

    @ParameterizedTest
    @EnumSource(Memory.class)
    void everyOperationTransfersSmallSizes(Memory memory) throws Exception {
        Pair p = pair(memory, SMALL[SMALL.length - 1]);
        for (long n : SMALL) {
            for (int shift : new int[] {0, 1, 3}) {
                everyOperation(p, n, MARGIN + shift, MARGIN + 2L * shift);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Memory.class)
    void everySizeUpToThreeHundredIsTransferred(Memory memory) throws Exception {
        Pair p = pair(memory, 300);
        for (int n = 0; n <= 300; n++) {
            everyOperation(p, n, MARGIN, MARGIN);
        }
    }

    @ParameterizedTest
    @EnumSource(Memory.class)
    void everyOperationTransfersLargeSizes(Memory memory) throws Exception {
        Pair p = pair(memory, 16 * MIB);
        for (long n : new long[] {MIB, MIB + 1, 16 * MIB}) {
            if (n <= fixture.largestTransfer() && n <= p.near.context.queryPort(1).maxMessageSize()) {
                everyOperation(p, n, MARGIN, MARGIN + 1);
            }
        }
    }

    /** Both ways to post; by default one of them, which has to change from message to message. */
    private static List<End.Posting> postings(long message) {
        if (Thorough.ON) {
            return List.of(End.Posting.BATCH, End.Posting.ALONE);
        }
        // neither the even nor the aligned ones alone
        return List.of(Long.bitCount(message) % 2 == 0 ? End.Posting.BATCH : End.Posting.ALONE);
    }

    private void everyOperation(Pair p, long n, long from, long to) throws Exception {
        for (End.Posting posting : postings(n + from)) {
            p.near.posting = posting;
            p.far.act(end -> end.posting = posting);
            everyOperationSo(p, n, from, to);
        }
    }

    private void everyOperationSo(Pair p, long n, long from, long to) throws Exception {
        long seed = n * 8;
        boolean inline = n <= p.near.device.maxInlineData();
        p.near.fill(from, n, seed);
        clear(p, n);
        assertPosted(p.far.postReceives(Op.receive(1).on(to, n)));
        assertPosted(p.near.post(Op.send(2).on(from, n)));
        assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
        assertReceived(1, n, p.far.awaitReceive());
        assertMessage(p, to, n, seed, "SEND");

        clear(p, n);
        assertPosted(p.near.post(Op.write(3, p.farAddress, to).on(from, n)));
        assertDone(WcOpcode.RDMA_WRITE, 3, p.near.awaitSend());
        assertMessage(p, to, n, seed, "WRITE");

        if (inline) {
            clear(p, n);
            assertPosted(p.far.postReceives(Op.receive(4).on(to, n)));
            assertPosted(p.near.post(Op.send(5).inlineFrom(from, n)));
            assertDone(WcOpcode.SEND, 5, p.near.awaitSend());
            assertReceived(4, n, p.far.awaitReceive());
            assertMessage(p, to, n, seed, "inline SEND");
        }

        clear(p, n);
        assertPosted(p.far.postReceives(Op.receive(6)));
        Op write = Op.writeImmediate(7, p.farAddress, to, (int) n);
        assertPosted(p.near.post(inline ? write.inlineFrom(from, n) : write.on(from, n)));
        assertDone(WcOpcode.RDMA_WRITE, 7, p.near.awaitSend());
        Completion c = p.far.awaitReceive();
        assertDone(WcOpcode.RECV_RDMA_WITH_IMM, 6, c);
        assertThat(c.byteLength()).isEqualTo(n);
        assertThat(c.immediate()).isEqualTo((int) n);
        assertMessage(p, to, n, seed, "WRITE with immediate");

        p.near.region.segment().fill(FILLER);
        assertPosted(p.near.post(Op.read(8, p.farAddress, to).on(from, n)));
        assertDone(WcOpcode.RDMA_READ, 8, p.near.awaitSend());
        assertThat(Pattern.mismatch(p.near.at(from, n), seed)).as("READ of " + n).isEqualTo(-1);
        assertThat(beside(p.near, from, n)).as("beside READ of " + n).isTrue();
    }

    private static void clear(Pair p, long n) throws Exception {
        p.far.act(end -> end.at(0, n + 4L * MARGIN).fill(FILLER));
    }

    private static boolean beside(End end, long at, long n) {
        byte[] before = end.bytes(at - MARGIN, MARGIN);
        byte[] after = end.bytes(at + n, MARGIN);
        for (int i = 0; i < MARGIN; i++) {
            if (before[i] != FILLER || after[i] != FILLER) {
                return false;
            }
        }
        return true;
    }

    private static void assertMessage(Pair p, long at, long n, long seed, String what) throws Exception {
        assertThat(p.far.mismatch(at, n, seed)).as(what + " of " + n + ": first wrong byte").isEqualTo(-1);
        boolean untouched = p.far.run(end -> beside(end, at, n));
        assertThat(untouched).as("bytes beside " + what + " of " + n).isTrue();
    }

    /** Messages of all sizes in one stream, so that long and short ones mix. */
    @ParameterizedTest
    @EnumSource(Memory.class)
    void mixedSizesAreTransferredInSequence(Memory memory) throws Exception {
        int slots = 16;
        int slot = 6000;
        Pair p = connected(EndOptions.defaults().memory(memory).bytes((long) slots * slot),
                EndOptions.defaults().memory(memory).bytes((long) slots * slot));
        java.util.Random random = new java.util.Random(42);
        for (int round = 0; round < (Thorough.ON ? 60 : 20); round++) {
            int[] sizes = random.ints(slots, 0, random.nextBoolean() ? 130 : slot).toArray();
            Op[] receives = new Op[slots];
            for (int i = 0; i < slots; i++) {
                receives[i] = Op.receive(i).on((long) i * slot, slot);
            }
            assertPosted(p.far.postReceives(receives));
            for (int i = 0; i < slots; i++) {
                p.near.fill((long) i * slot, sizes[i], round * 100L + i);
                assertPosted(p.near.post(Op.send(i).on((long) i * slot, sizes[i])));
            }
            List<Completion> sent = p.near.awaitSends(slots);
            List<Completion> got = p.far.awaitReceives(slots);
            for (int i = 0; i < slots; i++) {
                assertDone(WcOpcode.SEND, i, sent.get(i));
                assertReceived(i, sizes[i], got.get(i));
                assertThat(p.far.mismatch((long) i * slot, sizes[i], round * 100L + i))
                        .as("round %d, message %d of %d bytes", round, i, sizes[i]).isEqualTo(-1);
            }
        }
    }
}
