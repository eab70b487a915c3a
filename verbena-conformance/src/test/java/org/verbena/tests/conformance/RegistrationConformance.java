// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.tests.conformance.EndOptions.Memory;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Feature;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Traffic on regions that were registered with more attributes than address and access. */
abstract class RegistrationConformance extends Conformance {
    private static final int SIZE = 8192;
    private static final long IOVA = 0x7000_0000_0000L;

    RegistrationConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    /** Another region over the memory of an end, known by its key and address. */
    private static long[] again(End end, MemoryRegionAttributes.Builder b) throws Exception {
        return named(end, end.pd.register(b.build()));
    }

    private static long[] named(End end, MemoryRegion r) {
        end.later = end.keep(r);
        return new long[] {r.rkey(), r.address(), r.lkey(), r.length()};
    }

    private static long[] withIova(End end, long iova, int access) throws Exception {
        return again(end, MemoryRegionAttributes.builder(access).memory(end.region.segment()).iova(iova));
    }

    private Pair pair(Memory memory) throws Exception {
        Pair p = connected(EndOptions.defaults().bytes(SIZE).memory(memory),
                EndOptions.defaults().bytes(SIZE).memory(memory));
        p.near.fill(0, SIZE, 1);
        p.far.fill(0, SIZE, 2);
        return p;
    }

    private static Op at(Op op, long[] region, long offset) {
        return op.at((int) region[0], region[1] + offset);
    }

    private static Op on(Op op, long[] region, long offset, long length) {
        return op.onKey((int) region[2], region[1] + offset, length);
    }

    /** Writes, reads and messages with addresses at both ends that differ from those of the memory. */
    private void assertCarries(Pair p, long[] near, long[] far) throws Exception {
        assertPosted(p.near.post(at(on(Op.write(1, p.farAddress, 0), near, 100, 1000), far, 3000)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        assertThat(p.far.bytes(3000, 1000)).isEqualTo(p.near.bytes(100, 1000));
        assertPosted(p.near.post(at(on(on(Op.read(2, p.farAddress, 0), near, 4096, 40), near, 5000, 60), far, 5000)));
        assertDone(WcOpcode.RDMA_READ, 2, p.near.awaitSend());
        assertThat(p.near.bytes(4096, 40)).isEqualTo(p.far.bytes(5000, 40));
        assertThat(p.near.bytes(5000, 60)).isEqualTo(p.far.bytes(5040, 60));
        for (int length : new int[] {1, 48, 64, 65, 2000}) {
            int lkey = (int) far[2];
            long to = far[1] + 1000;
            assertPosted(p.far.run(end -> end.postReceives(Op.receive(3).onKey(lkey, to, 2000))));
            assertPosted(p.near.post(on(Op.send(4), near, 200, length)));
            assertDone(WcOpcode.SEND, 4, p.near.awaitSend());
            assertReceived(3, length, p.far.awaitReceive());
            assertThat(p.far.bytes(1000, length)).isEqualTo(p.near.bytes(200, length));
        }
    }

    private static void assertRefused(Pair p, int status, Op op) throws Exception {
        assertPosted(p.near.post(op));
        assertStatus(status, op.wrId(), p.near.awaitSend());
    }

    @ParameterizedTest
    @EnumSource
    void addressesChosenByTheApplicationWork(Memory memory) throws Exception {
        Pair p = pair(memory);
        needs(p.near.context, Feature.IOVA);
        long[] near = withIova(p.near, IOVA + (p.near.region.address() & 4095), AccessFlags.ALL);
        long[] far = p.far.run(end -> withIova(end, 3 * IOVA + (end.region.address() & 4095), AccessFlags.ALL));
        assertCarries(p, near, far);
        if (memory == Memory.ALLOCATED) {
            p.far.setLong(64, 40);
            assertPosted(p.near.post(at(on(Op.fetchAndAdd(5, p.farAddress, 0, 2), near, 8, 8), far, 64)));
            assertDone(WcOpcode.FETCH_ADD, 5, p.near.awaitSend());
            assertThat(p.near.getLong(8)).isEqualTo(40);
            assertThat(p.far.getLong(64)).isEqualTo(42);
        }
        assertRefused(p, WcStatus.REM_ACCESS_ERR, Op.write(6, p.farAddress, 0).on(0, 8).at((int) far[0],
                p.farAddress.address()));
    }

    @ParameterizedTest
    @EnumSource
    void zeroBasedAddressesWork(Memory memory) throws Exception {
        Pair p = pair(memory);
        needs(p.near.context, Feature.ZERO_BASED);
        int access = AccessFlags.ALL | AccessFlags.ZERO_BASED;
        long[] near = named(p.near, p.near.pd.register(p.near.region.segment(), access));
        long[] far = p.far.run(end -> named(end, end.pd.register(end.region.segment(), access)));
        assertThat(near[1]).isZero();
        assertThat(far[1]).isZero();
        assertCarries(p, near, far);
        assertRefused(p, WcStatus.REM_ACCESS_ERR, at(Op.write(6, p.farAddress, 0).on(0, 8), far, SIZE - 7));
    }

    @Test
    void allocatedMemoryMayBeZeroBased() throws Exception {
        needs(Feature.ZERO_BASED);
        Pair p = connected(EndOptions.defaults().access(AccessFlags.ALL | AccessFlags.ZERO_BASED),
                EndOptions.defaults().access(AccessFlags.ALL | AccessFlags.ZERO_BASED));
        assertThat(p.farAddress.address()).isZero();
        p.near.fill(0, 3000, 7);
        for (End.Posting way : new End.Posting[] {End.Posting.ALONE, End.Posting.BATCH}) {
            p.near.posting = way;
            p.far.act(end -> end.posting = way);
            assertPosted(p.near.post(Op.write(1, p.farAddress, 10).on(5, 2000)));
            assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
            assertThat(p.far.bytes(10, 2000)).isEqualTo(p.near.bytes(5, 2000));
            for (int length : new int[] {20, 500}) {
                assertPosted(p.far.postReceives(Op.receive(2).on(4000, 500)));
                assertPosted(p.near.post(Op.send(3).on(7, length)));
                assertDone(WcOpcode.SEND, 3, p.near.awaitSend());
                assertReceived(2, length, p.far.awaitReceive());
                assertThat(p.far.bytes(4000, length)).isEqualTo(p.near.bytes(7, length));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, SIZE - 7, SIZE, -8, Long.MIN_VALUE, Long.MAX_VALUE})
    void accessOutsideARegionWithChosenAddressIsRefused(long offset) throws Exception {
        for (Memory memory : Memory.values()) {
            Pair p = pair(memory);
            needs(p.near.context, Feature.IOVA);
            long[] far = p.far.run(end -> withIova(end, IOVA + (end.region.address() & 4095), AccessFlags.ALL));
            p.far.remember();
            assertRefused(p, WcStatus.REM_ACCESS_ERR, at(Op.write(1, p.farAddress, 0).on(0, 8), far, offset));
            assertUntouched(p.far);
            Pair q = pair(memory);
            long[] near = withIova(q.near, IOVA + (q.near.region.address() & 4095), AccessFlags.ALL);
            assertRefused(q, WcStatus.LOC_PROT_ERR, on(Op.write(1, q.farAddress, 0), near, offset, 8));
        }
    }

    /** Flags that a provider may ignore, and those for paging, do not change the data. */
    @ParameterizedTest
    @ValueSource(ints = {AccessFlags.RELAXED_ORDERING, AccessFlags.OPTIONAL_RANGE, AccessFlags.ON_DEMAND,
        AccessFlags.ON_DEMAND | AccessFlags.HUGETLB})
    void hintsAndOnDemandPagingAreAccepted(int flags) throws Exception {
        if ((flags & AccessFlags.ON_DEMAND) != 0) {
            needs(Feature.ON_DEMAND);
        }
        for (Memory memory : Memory.values()) {
            EndOptions o = EndOptions.defaults().bytes(SIZE).memory(memory).access(AccessFlags.ALL | flags);
            Pair p = pair(o, o);
            p.connect();
            p.near.fill(0, SIZE, 1);
            p.far.fill(0, SIZE, 2);
            long[] near = {0, p.near.region.address(), p.near.region.lkey()};
            EndAddress f = p.farAddress;
            assertCarries(p, near, new long[] {f.rkey(), f.address(), f.rkey()});
        }
    }

    /** The same for the other types: messages, and writes if the type has them. */
    @ParameterizedTest
    @ValueSource(ints = {QueuePairType.UC, QueuePairType.UD, QueuePairType.XRC_SEND})
    void hintsAndOnDemandPagingWorkForOtherTypes(int type) throws Exception {
        needs(type == QueuePairType.UC ? Feature.UC : type == QueuePairType.UD ? Feature.UD : Feature.XRC,
                Feature.ON_DEMAND);
        for (Memory memory : Memory.values()) {
            for (int flags : new int[] {AccessFlags.RELAXED_ORDERING, AccessFlags.OPTIONAL_RANGE, AccessFlags.ON_DEMAND,
                AccessFlags.ON_DEMAND | AccessFlags.HUGETLB}) {
                EndOptions o = EndOptions.defaults().type(type).bytes(SIZE).memory(memory)
                        .access(AccessFlags.ALL | flags);
                assumeTrue(adapted(o).type == type, "another type is tested");
                Pair p = connected(o, o);
                int header = type == QueuePairType.UD ? GlobalRoutingHeader.BYTES : 0;
                p.near.fill(0, SIZE, 1);
                for (int length : new int[] {8, 1500}) {
                    assertPosted(p.far.postReceives(Op.receive(length).on(0, header + length)));
                    sent(p, Op.send(1).on(100, length));
                    assertReceived(length, header + length, p.far.awaitReceive());
                    assertThat(p.far.bytes(header, length)).isEqualTo(p.near.bytes(100, length));
                }
                if (type != QueuePairType.UD) {
                    assertPosted(p.far.postReceives(Op.receive(5)));
                    sent(p, Op.writeImmediate(2, p.farAddress, 2048, 9).on(200, 1000));
                    assertThat(p.far.awaitReceive().immediate()).isEqualTo(9);
                    assertThat(p.far.bytes(2048, 1000)).isEqualTo(p.near.bytes(200, 1000));
                }
            }
        }
    }

    /** Writes of peers are in the pages of the buffer itself. */
    @Test
    void dmaBufIsRegistered() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        needs(p.near.context, Feature.DMABUF);
        long[] far = p.far.run(end -> {
            SharedBuffer b = SharedBuffer.make(SIZE);
            if (b == null) {
                return new long[0];
            }
            end.later = end.keep(b);
            MemoryRegion r = end.keep(end.pd.register(MemoryRegionAttributes.builder(AccessFlags.ALL)
                    .descriptor(b.fd.value(), SIZE - 4096).descriptorOffset(4096).iova(IOVA).build()));
            return new long[] {r.rkey(), r.address(), r.lkey(), r.length()};
        });
        assumeTrue(far.length > 0, "no shared buffer (dma-buf) can be made here");
        assertPosted(p.near.post(at(Op.write(1, p.farAddress, 0).on(0, 1000), far, 96)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        byte[] got = p.far.run(end -> ((SharedBuffer) Objects.requireNonNull(end.later)).pages.segment()
                .asSlice(4096 + 96, 1000).toArray(ValueLayout.JAVA_BYTE));
        assertThat(got).isEqualTo(p.near.bytes(0, 1000));
        assertPosted(p.near.post(at(Op.fetchAndAdd(2, p.farAddress, 0, 2).on(2048, 8), far, 0)));
        assertDone(WcOpcode.FETCH_ADD, 2, p.near.awaitSend());
        assertRefused(p, WcStatus.REM_ACCESS_ERR, at(Op.write(3, p.farAddress, 0).on(0, 8), far, SIZE - 4096));
    }

    @Test
    void nullRegionReadsZeroAndDiscardsWrites() throws Exception {
        for (Memory memory : Memory.values()) {
            Pair p = pair(memory);
            needs(p.near.context, Feature.NULL_REGION);
            long[] near = named(p.near, p.near.pd.allocateNullRegion());
            long[] far = p.far.run(end -> named(end, end.pd.allocateNullRegion()));
            assertPosted(p.near.post(on(on(Op.write(1, p.farAddress, 100), near, 77, 3000).on(0, 10), near, 0, 5)));
            assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
            assertThat(p.far.bytes(100, 3000)).containsOnly(0);
            assertThat(p.far.bytes(3100, 10)).isEqualTo(p.near.bytes(0, 10));
            assertPosted(p.near.post(on(Op.read(2, p.farAddress, 3100), near, 0, 6).on(600, 4)));
            assertDone(WcOpcode.RDMA_READ, 2, p.near.awaitSend());
            assertThat(p.near.bytes(600, 4)).isEqualTo(p.near.bytes(6, 4));
            int lkey = (int) far[2];
            for (int length : new int[] {20, 2000}) {
                p.far.remember();
                assertPosted(p.far.run(end -> end.postReceives(Op.receive(3).onKey(lkey, 1L << 40, 5000))));
                assertPosted(p.near.post(Op.send(4).on(0, length)));
                assertDone(WcOpcode.SEND, 4, p.near.awaitSend());
                assertReceived(3, length, p.far.awaitReceive());
                assertUntouched(p.far);
                assertPosted(p.far.postReceives(Op.receive(3).on(0, 5000)));
                assertPosted(p.near.post(on(Op.send(4), near, 5, length)));
                assertDone(WcOpcode.SEND, 4, p.near.awaitSend());
                assertReceived(3, length, p.far.awaitReceive());
                assertThat(p.far.bytes(0, length)).containsOnly(0);
            }
            assertRefused(p, WcStatus.REM_ACCESS_ERR, Op.write(5, p.farAddress, 0).on(0, 8).at(lkey, 0));
        }
    }

    // ---- changing a region

    private static long[] changed(End end, int flags, int access, long from, long length) throws Exception {
        MemoryRegion r = (MemoryRegion) Objects.requireNonNull(end.later);
        r.reregister(flags, end.pd, end.region.segment().asSlice(from, length), access);
        return new long[] {r.rkey(), r.address(), r.lkey(), r.length()};
    }

    @ParameterizedTest
    @EnumSource
    void reregistrationChangesMemory(Memory memory) throws Exception {
        Pair p = pair(memory);
        needs(p.near.context, Feature.REREGISTER);
        p.far.run(end -> named(end, end.pd.register(end.region.segment().asSlice(0, 4096), AccessFlags.ALL)));
        long[] first = p.far.run(end -> changed(end, MemoryRegion.CHANGE_TRANSLATION, 0, 0, 4096));
        assertPosted(p.near.post(at(Op.write(1, p.farAddress, 0).on(0, 100), first, 50)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        long[] second = p.far.run(end -> changed(end, MemoryRegion.CHANGE_TRANSLATION, 0, 4096, 2048));
        assertThat(second[3]).isEqualTo(2048);
        assertPosted(p.near.post(at(Op.write(2, p.farAddress, 0).on(100, 100), second, 0)));
        assertDone(WcOpcode.RDMA_WRITE, 2, p.near.awaitSend());
        assertThat(p.far.bytes(50, 100)).isEqualTo(p.near.bytes(0, 100));
        assertThat(p.far.bytes(4096, 100)).isEqualTo(p.near.bytes(100, 100));
        p.far.remember();
        assertRefused(p, WcStatus.REM_ACCESS_ERR, Op.write(3, p.farAddress, 0).on(0, 8).at((int) second[0], first[1]));
        assertUntouched(p.far);
    }

    @Test
    void reregistrationChangesKindOfMemory() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        needs(p.near.context, Feature.REREGISTER);
        long[] far = p.far.run(end -> {
            MemoryRegion r = end.keep(end.pd.allocate(4096, AccessFlags.ALL));
            MemorySegment s = end.keep(Held.of(4096)).segment;
            r.reregister(MemoryRegion.CHANGE_TRANSLATION | MemoryRegion.CHANGE_ACCESS, null, s, AccessFlags.ALL);
            end.later = s;
            assertThat(r.segment()).isEqualTo(s);
            return new long[] {r.rkey(), r.address()};
        });
        assertPosted(p.near.post(at(Op.write(1, p.farAddress, 0).on(0, 100), far, 7)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        byte[] got = p.far.run(end -> ((MemorySegment) Objects.requireNonNull(end.later)).asSlice(7, 100)
                .toArray(ValueLayout.JAVA_BYTE));
        assertThat(got).isEqualTo(p.near.bytes(0, 100));
    }

    /** Memory with the lifetime of an end. */
    private static final class Held implements AutoCloseable {
        final Arena arena = Arena.ofShared();
        final MemorySegment segment;

        private Held(long bytes) {
            segment = arena.allocate(bytes, 8);
        }

        static Held of(long bytes) {
            return new Held(bytes);
        }

        @Override
        public void close() {
            arena.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void reregistrationChangesAccess(Memory memory) throws Exception {
        Pair p = pair(memory);
        needs(p.near.context, Feature.REREGISTER);
        p.far.run(end -> named(end, end.pd.register(end.region.segment(), AccessFlags.REMOTE_READ)));
        long[] all = p.far.run(end -> changed(end, MemoryRegion.CHANGE_ACCESS, AccessFlags.ALL, 0, 1));
        assertThat(all[3]).isEqualTo(SIZE);
        assertPosted(p.near.post(at(Op.write(1, p.farAddress, 0).on(0, 100), all, 0)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        long[] read = p.far.run(end -> changed(end, MemoryRegion.CHANGE_ACCESS, AccessFlags.REMOTE_READ, 0, 1));
        assertPosted(p.near.post(at(Op.read(2, p.farAddress, 0).on(200, 100), read, 0)));
        assertDone(WcOpcode.RDMA_READ, 2, p.near.awaitSend());
        p.far.remember();
        assertRefused(p, WcStatus.REM_ACCESS_ERR, at(Op.write(3, p.farAddress, 0).on(0, 8), read, 0));
        assertUntouched(p.far);
    }

    @ParameterizedTest
    @EnumSource
    void reregistrationChangesProtectionDomain(Memory memory) throws Exception {
        Pair p = pair(memory);
        needs(p.near.context, Feature.REREGISTER);
        long[] there = p.far.run(end -> {
            var third = end.keep(end.context.allocateProtectionDomain());
            var other = end.keep(end.context.allocateProtectionDomain());
            MemoryRegion r = end.keep(memory == Memory.ALLOCATED
                    ? other.allocate(4096, AccessFlags.ALL)
                    : other.register(end.region.segment(), AccessFlags.ALL));
            r.reregister(MemoryRegion.CHANGE_PD, end.pd, null, 0);
            assertThat(r.protectionDomain()).isSameAs(end.pd);
            other.close();
            end.later = new Object[] {r, third};
            return new long[] {r.rkey(), r.address()};
        });
        assertPosted(p.near.post(at(Op.write(1, p.farAddress, 0).on(0, 100), there, 0)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        byte[] got = p.far.run(end -> region(end).segment().asSlice(0, 100).toArray(ValueLayout.JAVA_BYTE));
        assertThat(got).isEqualTo(p.near.bytes(0, 100));
        p.far.act(end -> region(end).reregister(MemoryRegion.CHANGE_PD, third(end), null, 0));
        assertRefused(p, WcStatus.REM_ACCESS_ERR, at(Op.write(2, p.farAddress, 0).on(0, 8), there, 0));
    }

    private static MemoryRegion region(End end) {
        return (MemoryRegion) ((Object[]) Objects.requireNonNull(end.later))[0];
    }

    private static ProtectionDomain third(End end) {
        return (ProtectionDomain) ((Object[]) Objects.requireNonNull(end.later))[1];
    }

    /** A receive that was posted before has the same key, and uses the new memory. */
    @Test
    void postedReceiveUsesTheNewMemory() throws Exception {
        Pair p = pair(Memory.ALLOCATED);
        needs(p.near.context, Feature.REREGISTER);
        for (int length : new int[] {30, 300}) {
            p.far.act(end -> {
                MemoryRegion r = end.keep(end.pd.register(end.region.segment().asSlice(0, 4096), AccessFlags.ALL));
                assertPosted(end.postReceives(Op.receive(1).onKey(r.lkey(), r.address() + 2048, 1000)));
                int before = r.lkey();
                r.reregister(MemoryRegion.CHANGE_TRANSLATION, null, end.region.segment().asSlice(2048, 4096), 0);
                assertThat(r.lkey()).isEqualTo(before);
            });
            assertPosted(p.near.post(Op.send(2).on(0, length)));
            assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
            assertReceived(1, length, p.far.awaitReceive());
            assertThat(p.far.bytes(2048, length)).isEqualTo(p.near.bytes(0, length));
        }
    }
}
