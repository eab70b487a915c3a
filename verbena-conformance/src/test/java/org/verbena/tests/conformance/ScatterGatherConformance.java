// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.linux.Errno;
import org.verbena.tests.conformance.EndOptions.Memory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.WcOpcode;

/** Messages from and into several buffers. */
abstract class ScatterGatherConformance extends Conformance {
    private static final int BYTES = 1 << 16;

    ScatterGatherConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    /** The largest number of elements of send and of receive requests. */
    private int elements(DeviceAttributes d) {
        return adapted(EndOptions.defaults()).sharedReceives ? Math.min(d.maxSge(), d.maxSrqSge()) : d.maxSge();
    }

    private Pair pair(Memory memory) throws Exception {
        int max;
        try (var c = fixture.open()) {
            max = elements(c.queryDevice());
        }
        return connected(EndOptions.defaults().memory(memory).bytes(BYTES).maxSge(max),
                EndOptions.defaults().memory(memory).bytes(BYTES).maxSge(max));
    }

    /** A piece of a message in the region of an end. */
    private record Piece(int at, int length) implements java.io.Serializable {}

    /** Pieces that do not overlap, not in the order of their addresses. */
    private static List<Piece> pieces(Random random, int count, int total) {
        List<Piece> pieces = new ArrayList<>();
        int left = total;
        int at = 1;
        for (int i = 0; i < count; i++) {
            int length = i == count - 1 ? left : random.nextInt(left + 1);
            pieces.add(new Piece(at, length));
            at += length + 1 + random.nextInt(9);
            left -= length;
        }
        java.util.Collections.shuffle(pieces, random);
        return pieces;
    }

    private static Op with(Op op, List<Piece> pieces) {
        Op o = op;
        for (Piece piece : pieces) {
            o = o.on(piece.at, piece.length);
        }
        return o;
    }

    private static byte[] gather(byte[] memory, List<Piece> pieces) {
        byte[] message = new byte[pieces.stream().mapToInt(Piece::length).sum()];
        int n = 0;
        for (Piece p : pieces) {
            System.arraycopy(memory, p.at, message, n, p.length);
            n += p.length;
        }
        return message;
    }

    private static byte[] scatter(byte[] memory, List<Piece> pieces, byte[] message) {
        byte[] after = memory.clone();
        int n = 0;
        for (Piece p : pieces) {
            int length = Math.min(p.length, message.length - n);
            System.arraycopy(message, n, after, p.at, length);
            n += length;
        }
        return after;
    }

    private static byte[] memory(Far far) throws Exception {
        return far.bytes(0, BYTES);
    }

    private static int count(Random random, int max) {
        return switch (random.nextInt(3)) {
            case 0 -> max;
            case 1 -> 1;
            default -> 1 + random.nextInt(max);
        };
    }

    @ParameterizedTest
    @EnumSource(Memory.class)
    void messagesAreGatheredAndScattered(Memory memory) throws Exception {
        Pair p = pair(memory);
        int max = elements(p.near.device);
        Random random = new Random(7);
        p.near.fill(0, BYTES, 1);
        byte[] near = p.near.bytes(0, BYTES);
        for (int round = 0; round < 80; round++) {
            int total = random.nextInt(new int[] {1, 20, 70, 300, 5000, 40_000}[round % 6]) + round % 2;
            int spare = random.nextInt(3) * 11;
            List<Piece> from = pieces(random, count(random, max), total);
            List<Piece> to = pieces(random, count(random, max), total + spare);
            byte[] message = gather(near, from);

            p.far.fill(0, BYTES, 1000 + round);
            byte[] expected = scatter(memory(p.far), to, message);
            assertPosted(p.far.postReceives(with(Op.receive(round), to)));
            assertPosted(p.near.post(with(Op.send(round), from)));
            assertDone(WcOpcode.SEND, round, p.near.awaitSend());
            assertReceived(round, total, p.far.awaitReceive());
            assertSame(memory(p.far), expected, "SEND from " + from + " to " + to);

            p.far.fill(0, BYTES, 2000 + round);
            expected = scatter(memory(p.far), List.of(new Piece(round, total)), message);
            assertPosted(p.near.post(with(Op.write(round, p.farAddress, round), from)));
            assertDone(WcOpcode.RDMA_WRITE, round, p.near.awaitSend());
            assertSame(memory(p.far), expected, "WRITE from " + from);
        }
    }

    @ParameterizedTest
    @EnumSource(Memory.class)
    void readsAreScattered(Memory memory) throws Exception {
        Pair p = pair(memory);
        int max = elements(p.near.device);
        Random random = new Random(8);
        p.far.fill(0, BYTES, 3);
        byte[] far = memory(p.far);
        for (int round = 0; round < 80; round++) {
            int total = random.nextInt(new int[] {1, 20, 300, 40_000}[round % 4]) + 1;
            List<Piece> to = pieces(random, count(random, max), total);
            p.near.fill(0, BYTES, round);
            byte[] expected = scatter(p.near.bytes(0, BYTES), to, Arrays.copyOfRange(far, round, round + total));
            assertPosted(p.near.post(with(Op.read(round, p.farAddress, round), to)));
            Completion c = p.near.awaitSend();
            assertDone(WcOpcode.RDMA_READ, round, c);
            assertThat(c.byteLength()).isEqualTo(total);
            assertSame(p.near.bytes(0, BYTES), expected, "READ to " + to);
        }
    }

    private static void assertSame(byte[] actual, byte[] expected, String what) {
        assertThat(Arrays.mismatch(actual, expected)).as("first wrong byte of " + what).isEqualTo(-1);
    }

    @Test
    void buffersMayBeInDifferentRegions() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        MemoryRegion second = p.near.keep(p.near.pd.allocate(100, AccessFlags.LOCAL_WRITE));
        Pattern.fill(second.segment(), 5);
        p.near.fill(0, 50, 6);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 1000)));
        assertPosted(p.near.post(Op.send(2).on(0, 50).onKey(second.lkey(), second.address() + 10, 90)));
        assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
        assertReceived(1, 140, p.far.awaitReceive());
        assertThat(p.far.mismatch(0, 50, 6)).isEqualTo(-1);
        assertThat(p.far.bytes(50, 90)).isEqualTo(Arrays.copyOfRange(Pattern.bytes(100, 5), 10, 100));
    }

    /**
     * Buffers that together are larger than any message. The same memory is used repeatedly, since nothing writes that
     * much.
     */
    @Test
    void receiveMayBeLongerThanAnyMessage() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        int elements = elements(p.near.device);
        org.junit.jupiter.api.Assumptions.assumeTrue(elements >= 8, "too few elements");
        p.near.fill(0, 5000, 1);
        p.far.act(end -> {
            long length = (1L << 31) / elements + 4096;
            MemoryRegion large = end.keep(end.pd.allocate(length, AccessFlags.LOCAL_WRITE));
            end.later = large;
            Op receive = Op.receive(1);
            for (int i = 0; i < elements; i++) {
                receive = receive.onKey(large.lkey(), large.address(), length);
            }
            assertPosted(end.postReceives(receive));
        });
        assertPosted(p.near.post(Op.send(2).on(0, 5000)));
        assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
        assertReceived(1, 5000, p.far.awaitReceive());
        long wrong = p.far.run(end -> Pattern.mismatch(((MemoryRegion) end.later).segment().asSlice(0, 5000), 1));
        assertThat(wrong).isEqualTo(-1);
    }

    @Test
    void sameBufferMayBeGatheredTwice() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        p.near.fill(0, 30, 1);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 60)));
        assertPosted(p.near.post(Op.send(2).on(0, 30).on(0, 30)));
        assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
        assertReceived(1, 60, p.far.awaitReceive());
        assertThat(p.far.mismatch(0, 30, 1)).isEqualTo(-1);
        assertThat(p.far.mismatch(30, 30, 1)).isEqualTo(-1);
    }

    @Test
    void emptyBuffersAreSkipped() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        org.junit.jupiter.api.Assumptions.assumeTrue(p.near.device.maxSge() >= 4, "too few elements");
        p.near.fill(0, 30, 1);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 0).on(0, 10).on(500, 0).on(10, 20)));
        assertPosted(p.near.post(Op.send(2).on(9, 0).on(0, 7).on(0, 0).on(7, 23)));
        assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
        assertReceived(1, 30, p.far.awaitReceive());
        assertThat(p.far.mismatch(0, 30, 1)).isEqualTo(-1);
    }

    @Test
    void tooManyBuffersAreRefused() throws Exception {
        Pair p = connected(EndOptions.defaults().maxSge(2), EndOptions.defaults().maxSge(2));
        int send = p.near.qp.initAttributes().maxSendSge();
        int receive = p.near.srq == null ? p.near.qp.initAttributes().maxReceiveSge() : p.near.srq.query().maxSge();
        Op tooMany = Op.send(1);
        for (int i = 0; i <= send; i++) {
            tooMany = tooMany.on(i, 1);
        }
        assertRefused(Errno.EINVAL, p.near.post(tooMany));
        Op tooManyToo = Op.receive(1);
        for (int i = 0; i <= receive; i++) {
            tooManyToo = tooManyToo.on(i, 1);
        }
        assertRefused(Errno.EINVAL, p.near.postReceives(tooManyToo));
        p.near.expectNoCompletion();
    }
}
