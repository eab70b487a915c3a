// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.tests.conformance.EndOptions.Memory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Accesses that the peer refuses, and that must not change a byte of its memory. */
abstract class RemoteErrorConformance extends Conformance {
    private static final long SIZE = 8192;
    private static final int LOCAL = AccessFlags.LOCAL_WRITE;

    RemoteErrorConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    private static EndOptions options(Memory memory) {
        return EndOptions.defaults().memory(memory).bytes(SIZE);
    }

    private Pair pair(EndOptions far) throws Exception {
        Pair p = connected(options(Memory.ALLOCATED), far);
        p.far.fill(0, SIZE, 1);
        p.near.fill(0, SIZE, 2);
        p.far.remember();
        p.near.remember();
        return p;
    }

    private Pair pair(Memory memory) throws Exception {
        return pair(options(memory));
    }

    /**
     * The request fails with this status at the requester, the next is flushed, both ends are in ERR, and no byte has
     * moved.
     */
    private static void assertRefusedThere(Pair p, int status, Op bad) throws Exception {
        Op next = Op.write(1002, p.farAddress, 0).on(0, 8);
        if (p.near.posting == End.Posting.ALONE) {
            assertPosted(p.near.post(bad));
            assertPosted(p.near.post(next));
        } else {
            assertPosted(p.near.post(bad, next));
        }
        assertStatus(status, bad.wrId(), p.near.awaitSend());
        assertStatus(WcStatus.WR_FLUSH_ERR, 1002, p.near.awaitSend());
        p.near.awaitState(QueuePairState.ERR);
        p.far.awaitResponder(QueuePairState.ERR);
        assertUntouched(p.far);
        assertUntouched(p.near);
    }

    /** The operations that access memory of the peer, at an offset of its region. */
    private static List<Op> accesses(Pair p, long offset, int length) {
        List<Op> ops = new ArrayList<>(List.of(Op.write(1001, p.farAddress, offset).on(0, length),
                Op.read(1001, p.farAddress, offset).on(0, length)));
        if (length == 8 && offset % 8 == 0 && p.near.context.supports(Feature.ATOMICS)) {
            ops.add(Op.compareAndSwap(1001, p.farAddress, offset, 0, 1).on(0, 8));
            ops.add(Op.fetchAndAdd(1001, p.farAddress, offset, 1).on(0, 8));
        }
        return ops;
    }

    private int kinds() throws Exception {
        try (var c = fixture.open()) {
            return c.supports(Feature.ATOMICS) ? 4 : 2;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {SIZE, SIZE - 7, -8, -1, SIZE + 4096, -4096, 1L << 40, Long.MIN_VALUE})
    void accessOutsideTheRegionIsRefused(long offset) throws Exception {
        for (Memory memory : Memory.values()) {
            for (int length : new int[] {8, 4096}) {
                int n = accesses(pair(memory), offset, length).size();
                boolean batchFirst = (length == 8) == (memory == Memory.ALLOCATED);
                for (int i = 0; i < (Thorough.ON ? 2 * n : n); i++) {
                    Pair p = pair(memory);
                    boolean batch = Thorough.ON ? i < n : batchFirst == (i % 2 == 0);
                    p.near.posting = batch ? End.Posting.BATCH : End.Posting.ALONE;
                    assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, accesses(p, offset, length).get(i % n));
                }
            }
        }
    }

    /** Raw addresses at the ends of 64 bits. */
    @ParameterizedTest
    @ValueSource(longs = {0, -8, Long.MAX_VALUE - 7, Long.MIN_VALUE})
    void overflowingAddressesAreRefused(long address) throws Exception {
        for (int i = 0; i < kinds(); i++) {
            Pair p = pair(Memory.ALLOCATED);
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR,
                    accesses(p, 0, 8).get(i).at(p.farAddress.rkey(), address));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 0x12345678})
    void unknownKeyIsRefused(int key) throws Exception {
        for (int i = 0; i < kinds(); i++) {
            Pair p = pair(Memory.ALLOCATED);
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, accesses(p, 0, 8).get(i).at(key, p.farAddress.address()));
        }
    }

    /** No other key gives access to a region. */
    @Test
    void keyWithAnyBitChangedIsRefused() throws Exception {
        for (int bit : bitsOfAKey()) {
            Pair p = pair(Memory.ALLOCATED);
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR,
                    Op.write(1001, p.farAddress, 0).on(0, 8).at(p.farAddress.rkey() ^ 1 << bit, p.farAddress
                            .address()));
        }
    }

    @ParameterizedTest
    @EnumSource(Memory.class)
    void writeNeedsRemoteWriteAccess(Memory memory) throws Exception {
        int allButWrite = LOCAL | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
        for (int access : new int[] {0, LOCAL, allButWrite}) {
            Pair p = pair(options(memory).access(access));
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, Op.write(1001, p.farAddress, 0).on(0, 8));
            p = pair(options(memory).access(access));
            p.near.posting = End.Posting.ALONE;
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, Op.write(1001, p.farAddress, 0).on(0, 8));
        }
    }

    @ParameterizedTest
    @EnumSource(Memory.class)
    void readNeedsRemoteReadAccess(Memory memory) throws Exception {
        int allButRead = LOCAL | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;
        for (int access : new int[] {0, LOCAL, allButRead}) {
            Pair p = pair(options(memory).access(access));
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, Op.read(1001, p.farAddress, 0).on(0, 8));
        }
    }

    @Test
    void atomicNeedsRemoteAtomicAccess() throws Exception {
        int allButAtomic = LOCAL | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;
        for (int access : new int[] {0, LOCAL, allButAtomic}) {
            Pair p = pair(options(Memory.ALLOCATED).access(access));
            needs(p.near.context, Feature.ATOMICS);
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, Op.fetchAndAdd(1001, p.farAddress, 0, 1).on(0, 8));
            p = pair(options(Memory.ALLOCATED).access(access));
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, Op.compareAndSwap(1001, p.farAddress, 0, 0, 1).on(0, 8));
        }
    }

    @Test
    void oneAccessRightSufficesForItsOperation() throws Exception {
        Pair p = pair(options(Memory.ALLOCATED).access(AccessFlags.REMOTE_READ));
        assertPosted(p.near.post(Op.read(1, p.farAddress, 0).on(0, 8)));
        assertDone(WcOpcode.RDMA_READ, 1, p.near.awaitSend());
        p = pair(options(Memory.ALLOCATED).access(LOCAL | AccessFlags.REMOTE_WRITE));
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        needs(p.near.context, Feature.ATOMICS);
        p = pair(options(Memory.ALLOCATED).access(LOCAL | AccessFlags.REMOTE_ATOMIC));
        assertPosted(p.near.post(Op.fetchAndAdd(1, p.farAddress, 0, 1).on(0, 8)));
        assertDone(WcOpcode.FETCH_ADD, 1, p.near.awaitSend());
    }

    /** The right of a region does not suffice if the queue pair has none: the responder reports an invalid request. */
    @Test
    void queuePairNeedsTheAccessRightToo() throws Exception {
        int[] rights = {AccessFlags.REMOTE_WRITE, AccessFlags.REMOTE_READ, AccessFlags.REMOTE_ATOMIC,
            AccessFlags.REMOTE_ATOMIC};
        for (int i = 0; i < kinds(); i++) {
            Pair p = pair(options(Memory.ALLOCATED).queuePairAccess(AccessFlags.ALL & ~rights[i]));
            List<Op> ops = accesses(p, 0, 8);
            Op op = ops.get(i);
            assertRefusedThere(p, WcStatus.REM_INV_REQ_ERR, op);
        }
    }

    @Test
    void accessRightRemovedFromTheQueuePairIsGoneAtOnce() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        assertPosted(p.near.post(Op.read(1, p.farAddress, 0).on(0, 8)));
        assertDone(WcOpcode.RDMA_READ, 1, p.near.awaitSend());
        p.near.fill(0, SIZE, 2);
        p.far.act(end -> end.responder().modify(QueuePairAttributes.builder()
                .accessFlags(AccessFlags.REMOTE_WRITE).build()));
        assertRefusedThere(p, WcStatus.REM_INV_REQ_ERR, Op.read(1001, p.farAddress, 0).on(0, 8));
    }

    @Test
    void closedRegionIsRefused() throws Exception {
        for (int i = 0; i < kinds(); i++) {
            Pair p = pair(Memory.ALLOCATED);
            EndAddress gone = p.far.run(end -> {
                MemoryRegion r = end.pd.allocate(4096, AccessFlags.ALL);
                EndAddress a = end.address();
                EndAddress of = new EndAddress(a.gid(), a.queuePairNumber(), a.psn(), r.rkey(), r.address(), r
                        .length());
                r.close();
                return of;
            });
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, accesses(p, 0, 8).get(i).at(gone.rkey(), gone.address()));
        }
    }

    /** A peer that has just used a region loses it at once, and a new region is not reached by the old key. */
    @ParameterizedTest
    @EnumSource(Memory.class)
    void regionClosedAfterUseIsRefused(Memory memory) throws Exception {
        Pair p = pair(memory);
        assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 8), Op.read(2, p.farAddress, 0).on(0, 8)));
        assertThat(p.near.awaitSends(2)).extracting(Completion::statusName).containsOnly("SUCCESS");
        p.far.act(end -> {
            end.region.close();
            end.keep(end.pd.allocate(SIZE, AccessFlags.ALL));
        });
        assertPosted(p.near.post(Op.write(3, p.farAddress, 0).on(0, 8)));
        assertStatus(WcStatus.REM_ACCESS_ERR, 3, p.near.awaitSend());
    }

    /** Regions are registered and closed while the peer writes: each write lands in a live region or is refused. */
    @Test
    void deregistrationStopsAWritingPeer() throws Exception {
        int rounds = fixture.rounds(Thorough.ON ? 20 : 8);
        for (int round = 0; round < rounds; round++) {
            Pair p = connected(EndOptions.defaults().bytes(1 << 20), EndOptions.defaults().bytes(1 << 20));
            long wait = round * 2_000_000L / rounds;
            p.far.start(end -> {
                long until = System.nanoTime() + wait;
                Await.until("its moment", () -> System.nanoTime() - until > 0, end::describe);
                end.region.close();
                return true;
            });
            Completion c;
            do {
                assertPosted(p.near.post(Op.write(1, p.farAddress, 0).on(0, 1 << 20)));
                c = p.near.awaitSend();
            } while (c.status() == WcStatus.SUCCESS);
            assertStatus(WcStatus.REM_ACCESS_ERR, 1, c);
            p.far.join();
        }
    }

    @Test
    void regionOfAnotherProtectionDomainIsRefused() throws Exception {
        for (int i = 0; i < kinds(); i++) {
            Pair p = pair(Memory.ALLOCATED);
            long[] other = p.far.run(end -> {
                var pd = end.keep(end.context.allocateProtectionDomain());
                MemoryRegion r = end.keep(pd.allocate(4096, AccessFlags.ALL));
                return new long[] {r.rkey(), r.address()};
            });
            assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, accesses(p, 0, 8).get(i).at((int) other[0], other[1]));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 4, 7, 12, SIZE - 9})
    void misalignedAtomicIsAnInvalidRequest(long offset) throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        needs(p.near.context, Feature.ATOMICS);
        Op add = Op.fetchAndAdd(1001, p.farAddress, offset, 1).on(0, 8);
        if (fixture.looksAtPostedAtomics()) {
            assertRefused(Errno.EINVAL, p.near.post(add));
            assertRefused(Errno.EINVAL, p.near.post(Op.compareAndSwap(1001, p.farAddress, offset, 0, 1).on(0, 8)));
            return;
        }
        assertRefusedThere(p, WcStatus.REM_INV_REQ_ERR, add);
        assertThat(p.near.qp.errorReason()).contains("0x" + Long.toHexString(p.farAddress.address() + offset),
                "not aligned to 8 bytes");
        p = pair(Memory.ALLOCATED);
        assertRefusedThere(p, WcStatus.REM_INV_REQ_ERR, Op.compareAndSwap(1001, p.farAddress, offset, 0, 1).on(0, 8));
    }

    @Test
    void responderReportsAnAccessError() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, Op.write(1001, p.farAddress, SIZE).on(0, 8));
        p.far.awaitAsyncEvent(AsyncEventType.QP_ACCESS_ERR);
    }

    @Test
    void responderReportsAnInvalidRequest() throws Exception {
        Pair p = pair(options(Memory.ALLOCATED).queuePairAccess(AccessFlags.REMOTE_WRITE));
        assertRefusedThere(p, WcStatus.REM_INV_REQ_ERR, Op.read(1001, p.farAddress, 0).on(0, 8));
        p.far.awaitAsyncEvent(AsyncEventType.QP_REQ_ERR);
    }

    @Test
    void responderFlushesItsReceives() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8), Op.receive(2).on(0, 8)));
        assertPosted(p.near.postReceives(Op.receive(3).on(0, 8)));
        assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, Op.write(1001, p.farAddress, SIZE).on(0, 8));
        assertReceivesFlushed(p.far, 1, 2);
        assertReceivesFlushed(p.near, 3);
    }

    @Test
    void refusedWriteWithImmediateCompletesNoReceiveSuccessfully() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8)));
        assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, Op.writeImmediate(1001, p.farAddress, SIZE, 1).on(0, 8));
        p.far.act(end -> {
            if (end.srq == null) {
                assertThat(end.awaitReceive().status()).isNotEqualTo(WcStatus.SUCCESS);
            } else {
                end.expectNoCompletion();
            }
        });
    }

    /** An error of one queue pair does not affect others of the same ends. */
    @Test
    void otherQueuePairsContinue() throws Exception {
        Pair healthy = pair(Memory.ALLOCATED);
        Pair p = pair(Memory.ALLOCATED);
        assertRefusedThere(p, WcStatus.REM_ACCESS_ERR, Op.write(1001, p.farAddress, SIZE).on(0, 8));
        assertPosted(healthy.near.post(Op.write(1, healthy.farAddress, 0).on(0, 8)));
        assertDone(WcOpcode.RDMA_WRITE, 1, healthy.near.awaitSend());
    }
}
