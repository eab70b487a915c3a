// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Mapping;
import org.verbena.tests.conformance.EndOptions.Memory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcStatus;

/** Errors of the local side of a request: wrong keys, ranges and rights, and receives that do not fit. */
abstract class LocalErrorConformance extends Conformance {
    private static final long SIZE = 8192;
    /** The largest payload of a packet. */
    private static final long PACKET = 4096;

    LocalErrorConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    private static EndOptions options(Memory memory) {
        return EndOptions.defaults().memory(memory).bytes(SIZE);
    }

    private Pair pair(Memory memory) throws Exception {
        Pair p = connected(options(memory), options(memory));
        p.far.fill(0, SIZE, 1);
        p.near.fill(0, SIZE, 2);
        p.far.remember();
        p.near.remember();
        return p;
    }

    /** The request fails with a local protection error, the next is flushed, and no byte has moved anywhere. */
    private static void assertLocalProtection(Pair p, Op bad) throws Exception {
        assertFails(p, bad, WcStatus.LOC_PROT_ERR);
    }

    private static void assertFails(Pair p, Op bad, int status) throws Exception {
        assertPosted(p.near.post(bad, Op.write(1002, p.farAddress, 0).on(0, 8)));
        assertFailed(p, bad, status);
        assertUntouched(p.near);
        assertUntouched(p.far);
    }

    private static void assertFailed(Pair p, Op bad, int status) throws Exception {
        assertStatus(status, bad.wrId(), p.near.awaitSend());
        assertStatus(WcStatus.WR_FLUSH_ERR, 1002, p.near.awaitSend());
        p.near.awaitState(QueuePairState.ERR);
    }

    /**
     * The same for a request that is wrong behind its beginning or at its end: if it is not checked first, a part of it
     * is done.
     */
    private void assertFailsBehindItsBeginning(Pair p, Op bad) throws Exception {
        if (fixture.looksFirst()) {
            assertLocalProtection(p, bad);
        } else {
            assertPosted(p.near.post(bad, Op.write(1002, p.farAddress, 0).on(0, 8)));
            assertFailed(p, bad, WcStatus.LOC_PROT_ERR);
        }
    }

    /** Creates a request that must fail, and its prerequisites at the peer. */
    private interface Request {
        Op of(Pair p) throws Exception;
    }

    /**
     * The same with the request in a batch with another one, and alone, where by default one topology has the one and the other
     * the other; its range may begin validly.
     */
    private void assertLocalProtection(Memory memory, long offset, long length, Request bad) throws Exception {
        boolean nothingMoves = fixture.looksFirst() || offset < 0 || offset + Math.min(length, PACKET) > SIZE;
        boolean first = (topology == Topology.ONE_CONTEXT) == (memory == Memory.ALLOCATED);
        for (boolean batch : Topologies.EVERY ? new boolean[] {true, false} : new boolean[] {first}) {
            Pair p = pair(memory);
            Op op = bad.of(p);
            Op next = Op.write(1002, p.farAddress, 0).on(0, 8);
            if (batch) {
                assertPosted(p.near.post(op, next));
            } else {
                p.near.posting = End.Posting.ALONE;
                assertPosted(p.near.post(op));
                // posted while the queue pair fails or after it has failed, so it is flushed either way
                assertPosted(p.near.post(next));
            }
            // a message that is too long here is too long there
            boolean thePeerSaysSo = !nothingMoves && op.kind() == Op.Kind.WRITE;
            assertFailed(p, op, thePeerSaysSo ? WcStatus.REM_ACCESS_ERR : WcStatus.LOC_PROT_ERR);
            assertUntouched(p.near);
            if (nothingMoves || thePeerSaysSo) {
                assertUntouched(p.far);
            }
        }
    }

    static Stream<Arguments> ranges() {
        return Stream.of(Memory.values()).flatMap(m -> Stream.of(List.of(SIZE, 1L), List.of(0L, SIZE + 1),
                List.of(SIZE - 4, 8L), List.of(-1L, 8L), List.of(-8L, 8L), List.of(SIZE + 100, 8L), List.of(-SIZE, SIZE
                        * 2),
                List.of(Long.MIN_VALUE, 8L), List.of(1L << 40, 64L), List.of(8L, 1L << 30))
                .map(r -> Arguments.of(m, r.get(0), r.get(1))));
    }

    @ParameterizedTest
    @MethodSource("ranges")
    void sendFromOutsideTheRegionFails(Memory memory, long offset, long length) throws Exception {
        assertLocalProtection(memory, offset, length, p -> {
            assertPosted(p.far.postReceives(Op.receive(1).on(0, SIZE)));
            return Op.send(1001).on(offset, length);
        });
    }

    @ParameterizedTest
    @MethodSource("ranges")
    void writeFromOutsideTheRegionFails(Memory memory, long offset, long length) throws Exception {
        assertLocalProtection(memory, offset, length, p -> Op.write(1001, p.farAddress, 0).on(offset, length));
    }

    /** Lengths that lie inside the region of the peer, so that only the local side is wrong. */
    static Stream<Arguments> readRanges() {
        return ranges().filter(a -> (long) a.get()[2] <= SIZE);
    }

    @ParameterizedTest
    @MethodSource("readRanges")
    void readToOutsideTheRegionFails(Memory memory, long offset, long length) throws Exception {
        assertLocalProtection(memory, offset, length, p -> Op.read(1001, p.farAddress, 0).on(offset, length));
    }

    /** Address and length at the very ends of 64 bits, so that sums overflow. */
    @ParameterizedTest
    @EnumSource(Memory.class)
    void overflowingAddressesFail(Memory memory) throws Exception {
        for (long address : new long[] {0, -1, -8, Long.MAX_VALUE, Long.MIN_VALUE}) {
            for (long length : new long[] {8, 4096}) {
                Pair p = pair(memory);
                assertLocalProtection(p, Op.write(1001, p.farAddress, 0).onKey(p.near.region.lkey(), address, length));
            }
        }
    }

    /** A length that no message can have is refused when posted, or fails locally; either way nothing moves. */
    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 62})
    void impossibleLengthsFail(long length) throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        int r = p.near.post(Op.write(1, p.farAddress, 0).on(0, length));
        if (r == 0) {
            assertThat(p.near.awaitSend().status()).isIn(WcStatus.LOC_PROT_ERR, WcStatus.LOC_LEN_ERR);
        } else {
            assertRefused(org.verbena.linux.Errno.EINVAL, r);
        }
        assertUntouched(p.near);
        assertUntouched(p.far);
    }

    @Test
    void atomicResultOutsideTheRegionFails() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        needs(p.near.context, org.verbena.verbs.Feature.ATOMICS);
        assertFailsBehindItsBeginning(p, Op.fetchAndAdd(1001, p.farAddress, 0, 1).on(SIZE - 4, 8));
    }

    @Test
    void unknownKeyFails() throws Exception {
        for (int key : new int[] {0, -1, 0x12345678}) {
            Pair p = pair(Memory.ALLOCATED);
            assertFails(p, Op.write(1001, p.farAddress, 0).onKey(key, p.near.region.address(), 8), fixture
                    .wrongLocalKey());
        }
        for (int bit : bitsOfAKey()) {
            Pair p = pair(Memory.ALLOCATED);
            int key = p.near.region.lkey() ^ 1 << bit;
            assertFails(p, Op.write(1001, p.farAddress, 0).onKey(key, p.near.region.address(), 8), fixture
                    .wrongLocalKey());
        }
    }

    @Test
    void wrongSecondBufferFails() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        assertLocalProtection(p, Op.write(1001, p.farAddress, 0).on(0, 100).on(SIZE, 1));
        p = pair(Memory.ALLOCATED);
        assertFailsBehindItsBeginning(p, Op.read(1001, p.farAddress, 0).on(0, 100).on(SIZE, 1));
        p = pair(Memory.ALLOCATED);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, SIZE)));
        assertLocalProtection(p, Op.send(1001).on(0, 20).on(SIZE, 1));
    }

    @Test
    void readIntoARegionWithoutLocalWriteFails() throws Exception {
        for (Memory memory : Memory.values()) {
            Pair p = connected(options(memory).access(AccessFlags.REMOTE_READ), options(memory));
            p.far.fill(0, SIZE, 1);
            p.near.remember();
            p.far.remember();
            assertLocalProtection(p, Op.read(1001, p.farAddress, 0).on(0, 8));
        }
    }

    @Test
    void atomicResultIntoARegionWithoutLocalWriteFails() throws Exception {
        Pair p = connected(options(Memory.ALLOCATED).access(0), options(Memory.ALLOCATED));
        needs(p.near.context, org.verbena.verbs.Feature.ATOMICS);
        p.near.remember();
        p.far.remember();
        assertFailsBehindItsBeginning(p, Op.fetchAndAdd(1001, p.farAddress, 0, 1).on(0, 8));
    }

    @Test
    void sendNeedsNoAccessRight() throws Exception {
        Pair p = connected(options(Memory.ALLOCATED).access(0), options(Memory.ALLOCATED));
        p.near.fill(0, 100, 1);
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 100)));
        assertDone(org.verbena.verbs.WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        assertThat(p.far.mismatch(0, 100, 1)).isEqualTo(-1);
    }

    @Test
    void closedRegionFails() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        MemoryRegion r = p.near.pd.allocate(4096, AccessFlags.ALL);
        Op op = Op.write(1001, p.farAddress, 0).onKey(r.lkey(), r.address(), 8);
        r.close();
        assertFails(p, op, fixture.wrongLocalKey());
    }

    @Test
    void regionOfAClosedArenaFails() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        Arena arena = Arena.ofShared();
        MemoryRegion r = p.near.keep(p.near.pd.register(arena.allocate(1 << 20), AccessFlags.ALL));
        Op op = Op.write(1001, p.farAddress, 0).onKey(r.lkey(), r.address(), 4096);
        arena.close();
        assertLocalProtection(p, op);
    }

    @Test
    void regionOfAnotherProtectionDomainFails() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        var pd = p.near.context.allocateProtectionDomain();
        try (MemoryRegion r = pd.allocate(4096, AccessFlags.ALL)) {
            assertFails(p, Op.write(1001, p.farAddress, 0).onKey(r.lkey(), r.address(), 8), fixture.wrongLocalKey());
        }
        pd.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 20, 64, 65, 4000})
    void messageLongerThanTheReceiveFails(int length) throws Exception {
        for (Memory memory : Memory.values()) {
            Pair p = pair(memory);
            assertPosted(p.far.postReceives(Op.receive(1).on(0, length - 1), Op.receive(2).on(0, SIZE)));
            assertPosted(p.near.post(Op.send(3).on(0, length), Op.send(4).on(0, 8)));
            assertStatus(fixture.receiveTooShort(false), 3, p.near.awaitSend());
            assertStatus(WcStatus.WR_FLUSH_ERR, 4, p.near.awaitSend());
            assertStatus(fixture.receiveTooShort(true), 1, p.far.awaitReceive());
            assertReceivesFlushed(p.far, 2);
            p.near.awaitState(QueuePairState.ERR);
            p.far.awaitResponder(QueuePairState.ERR);
            long changed = p.far.changed();
            assertThat(changed < 0 || changed < length - 1).as("a byte outside the receive's buffer: %d", changed)
                    .isTrue();
        }
    }

    /** One byte more than the port limit, in pieces of one buffer that is not accessed. */
    @Test
    void messageLongerThanThePortLimitFails() throws Exception {
        for (int kind = 0; kind < 3; kind++) {
            int pieces = 16;
            Pair p = connected(options(Memory.ALLOCATED).maxSge(pieces), options(Memory.ALLOCATED).maxSge(pieces));
            long most = p.near.context.queryPort(1).maxMessageSize();
            long piece = most / pieces;
            p.far.fill(0, SIZE, 1);
            p.far.remember();
            assertPosted(p.far.postReceives(Op.receive(9).on(0, SIZE)));
            MemoryRegion region = p.near.pd.register(Mapping.anonymous(piece + pieces).segment(),
                    AccessFlags.LOCAL_WRITE);
            End near = p.near;
            SendQueue q = near.qp.sendQueue().start();
            switch (kind) {
                case 0 -> q.send(1, SendFlags.SIGNALED);
                case 1 -> q.write(1, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress.address());
                default -> q.read(1, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress.address());
            }
            for (int i = 1; i < pieces; i++) {
                q.sge(region, 0, piece);
            }
            q.sge(region, 0, most + 1 - piece * (pieces - 1));
            near.name(near.qp, q).send(2, SendFlags.SIGNALED).sge(near.region, 0, 8);
            assertPosted(near.name(near.qp, q).complete());
            assertStatus(WcStatus.LOC_LEN_ERR, 1, p.near.awaitSend());
            assertStatus(WcStatus.WR_FLUSH_ERR, 2, p.near.awaitSend());
            p.near.awaitState(QueuePairState.ERR);
            assertUntouched(p.far);
            region.close();
        }
    }

    @Test
    void inlineMessageLongerThanTheReceiveFails() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        org.junit.jupiter.api.Assumptions.assumeTrue(p.near.device.maxInlineData() >= 8, "no inline data");
        assertPosted(p.far.postReceives(Op.receive(1)));
        assertPosted(p.near.post(Op.send(3).inlineFrom(0, 8)));
        assertStatus(fixture.receiveTooShort(false), 3, p.near.awaitSend());
        assertStatus(fixture.receiveTooShort(true), 1, p.far.awaitReceive());
        assertUntouched(p.far);
    }

    /**
     * The buffer of the receiver is wrong: the receiver gets the error, and the sender learns that the peer could not
     * do it.
     */
    private void assertBadReceive(Pair p, Op receive, int length) throws Exception {
        assertPosted(p.far.postReceives(receive, Op.receive(78).on(0, SIZE)));
        assertPosted(p.near.post(Op.send(79).on(0, length), Op.send(80).on(0, 8)));
        assertStatus(fixture.wrongReceive(), receive.wrId(), p.far.awaitReceive());
        assertReceivesFlushed(p.far, 78);
        assertStatus(WcStatus.REM_OP_ERR, 79, p.near.awaitSend());
        assertStatus(WcStatus.WR_FLUSH_ERR, 80, p.near.awaitSend());
        p.far.awaitResponder(QueuePairState.ERR);
        p.near.awaitState(QueuePairState.ERR);
        assertUntouched(p.far);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4000})
    void receiveOutsideItsRegionFails(int length) throws Exception {
        for (Memory memory : Memory.values()) {
            for (long offset : new long[] {SIZE, SIZE - 4, -1, -8, Long.MIN_VALUE, 1L << 40}) {
                assertBadReceive(pair(memory), Op.receive(77).on(offset, length), length);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4000})
    void receiveWithAnUnknownKeyFails(int length) throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        int key = p.far.run(end -> end.region.lkey() ^ 1 << 20);
        assertBadReceive(p, Op.receive(77).onKey(key, p.farAddress.address(), length), length);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4000})
    void receiveWithoutLocalWriteFails(int length) throws Exception {
        for (Memory memory : Memory.values()) {
            Pair p = connected(options(memory), options(memory).access(AccessFlags.REMOTE_READ));
            p.far.remember();
            assertBadReceive(p, Op.receive(77).on(0, length), length);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4000})
    void receiveOfAClosedRegionFails(int length) throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        assertPosted(p.far.run(end -> {
            MemoryRegion r = end.pd.allocate(4096, AccessFlags.ALL);
            int result = end.postReceives(Op.receive(77).onKey(r.lkey(), r.address(), 4096));
            r.close();
            return result;
        }));
        assertPosted(p.near.post(Op.send(79).on(0, length)));
        assertStatus(fixture.wrongReceive(), 77, p.far.awaitReceive());
        Completion sent = p.near.awaitSend(); // a short message may have left before the receiver checks its buffer
        assertThat(sent.statusName()).isIn(length == 8 ? List.of("REM_OP_ERR", "SUCCESS") : List.of("REM_OP_ERR"));
        assertUntouched(p.far);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4000})
    void receiveOfAnotherProtectionDomainFails(int length) throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        assertPosted(p.far.run(end -> {
            var pd = end.keep(end.context.allocateProtectionDomain());
            MemoryRegion r = end.keep(pd.allocate(4096, AccessFlags.ALL));
            return end.postReceives(Op.receive(77).onKey(r.lkey(), r.address(), 4096));
        }));
        assertPosted(p.near.post(Op.send(79).on(0, length)));
        assertStatus(fixture.wrongReceive(), 77, p.far.awaitReceive());
        assertStatus(WcStatus.REM_OP_ERR, 79, p.near.awaitSend());
        assertUntouched(p.far);
    }
}
