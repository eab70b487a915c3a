// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.Memfd;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryAdvice;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.OdpCapabilities;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.ScatterGatherElement;

/** Errors of registration, re-registration and advice, and their effects without a peer. */
abstract class RegistrationErrorConformance extends Conformance {
    private static final int PAGE = 4096;
    private static final int LOCAL = AccessFlags.LOCAL_WRITE;

    RegistrationErrorConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    private ProtectionDomain pd(String feature) throws Exception {
        Context c = open();
        needs(c, feature);
        return c.allocateProtectionDomain();
    }

    private static MemoryRegionAttributes.Builder attributes(int access) {
        return MemoryRegionAttributes.builder(access);
    }

    // ---- attributes

    @Test
    void memoryIsRegisteredByAttributes() throws Exception {
        ProtectionDomain pd = pd(Feature.IOVA);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment s = arena.allocate(PAGE, PAGE);
            try (MemoryRegion r = pd.register(attributes(LOCAL).memory(s).build())) {
                assertThat(r.address()).isEqualTo(s.address());
                assertThat(r.length()).isEqualTo(PAGE);
            }
            try (MemoryRegion r = pd.register(attributes(LOCAL).memory(s.asSlice(16)).iova(PAGE + 16).build())) {
                assertThat(r.address()).isEqualTo(PAGE + 16);
                assertThat(r.segment()).isEqualTo(s.asSlice(16));
            }
        }
    }

    @Test
    void conflictingAttributesAreRefused() throws Exception {
        ProtectionDomain pd = pd(Feature.IOVA);
        try (Arena arena = Arena.ofShared(); Fd fd = Memfd.create("conformance", PAGE)) {
            MemorySegment s = arena.allocate(PAGE, PAGE);
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).build()), "memory or a descriptor");
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).iova(5).build()));
            assertErrno(Errno.EINVAL,
                    () -> pd.register(attributes(LOCAL).memory(s).descriptor(fd.value(), PAGE).build()), "not both");
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).memory(s).descriptorOffset(0).build()),
                    "descriptor");
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).descriptor(fd.value(), PAGE).build()),
                    "iova");
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).memory(s).iova(17).build()), "page");
            assertErrno(Errno.EINVAL,
                    () -> pd.register(attributes(LOCAL | AccessFlags.ZERO_BASED).memory(s).iova(PAGE).build()),
                    "ZERO_BASED");
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).memory(s).iova(-PAGE & Long.MAX_VALUE)
                    .build()), "room");
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(AccessFlags.REMOTE_WRITE).memory(s).build()),
                    "LOCAL_WRITE");
            assertErrno(Errno.EOPNOTSUPP, () -> pd.register(attributes(LOCAL | 1 << 15).memory(s).build()), "0x8000");
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).memory(MemorySegment.ofArray(new byte[64]))
                    .build()), "heap");
        }
    }

    @Test
    void descriptorsOtherThanDmaBufsAreRefused() throws Exception {
        ProtectionDomain pd = pd(Feature.DMABUF);
        try (Fd fd = Memfd.create("conformance", 2 * PAGE)) {
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).descriptor(fd.value(), PAGE).iova(0)
                    .build()), "dma-buf");
            assertErrno(Errno.EBADF, () -> pd.register(attributes(LOCAL).descriptor(-1, PAGE).iova(0).build()));
            assertErrno(Errno.EBADF, () -> pd.register(attributes(LOCAL).descriptor(987_654, PAGE).iova(0).build()));
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).descriptor(fd.value(), 0).iova(0).build()),
                    "size");
            assertErrno(Errno.EINVAL, () -> pd.register(attributes(LOCAL).descriptor(fd.value(), PAGE)
                    .descriptorOffset(-1).iova(0).build()), "range");
            assertThat(Memfd.size(fd)).isEqualTo(2 * PAGE);
        }
        pd.close();
    }

    // ---- changing a region

    @Test
    void invalidReregistrationIsRefusedAndChangesNothing() throws Exception {
        ProtectionDomain pd = pd(Feature.REREGISTER);
        ProtectionDomain foreign = open().allocateProtectionDomain();
        ProtectionDomain closed = pd.context().allocateProtectionDomain();
        closed.close();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment s = arena.allocate(PAGE);
            MemorySegment heap = MemorySegment.ofArray(new byte[64]);
            MemoryRegion r = pd.register(s, LOCAL);
            int key = r.rkey();
            assertErrno(Errno.EINVAL, () -> r.reregister(0, pd, s, LOCAL), "flags");
            assertErrno(Errno.EINVAL, () -> r.reregister(8 | MemoryRegion.CHANGE_ACCESS, pd, s, LOCAL), "flags");
            assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_PD, null, s, LOCAL), "domain");
            assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_PD, foreign, s, LOCAL), "domain");
            assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_PD, closed, s, LOCAL), "closed");
            assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_TRANSLATION, pd, null, LOCAL), "memory");
            assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_TRANSLATION, pd, heap, LOCAL), "heap");
            assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_TRANSLATION, pd, s.asReadOnly(), LOCAL),
                    "read-only");
            assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_ACCESS, pd, s, AccessFlags.REMOTE_WRITE),
                    "LOCAL_WRITE");
            assertErrno(Errno.EOPNOTSUPP, () -> r.reregister(MemoryRegion.CHANGE_ACCESS, pd, s, 1 << 15));
            assertThat(r.rkey()).isEqualTo(key);
            assertThat(r.segment()).isEqualTo(s);
            assertThat(r.access()).isEqualTo(LOCAL);
            assertThat(r.protectionDomain()).isSameAs(pd);
            r.close();
            assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_ACCESS, pd, s, LOCAL), "closed");
            pd.close();
        }
    }

    @Test
    void reregistrationGrantsNoWriteAccessToAReadOnlySegment() throws Exception {
        ProtectionDomain pd = pd(Feature.REREGISTER);
        try (Arena arena = Arena.ofShared();
                MemoryRegion r = pd.register(arena.allocate(PAGE).asReadOnly(), AccessFlags.REMOTE_READ)) {
            assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_ACCESS, null, null, LOCAL), "read-only");
        }
    }

    @Test
    void newProtectionDomainIsBusyAfterReregistration() throws Exception {
        ProtectionDomain pd = pd(Feature.REREGISTER);
        ProtectionDomain other = pd.context().allocateProtectionDomain();
        MemoryRegion r = pd.allocate(PAGE, AccessFlags.ALL);
        r.segment().set(ValueLayout.JAVA_LONG, 8, 4711);
        r.reregister(MemoryRegion.CHANGE_PD, other, null, 0);
        pd.close();
        assertErrno(Errno.EBUSY, other::close);
        assertThat(r.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(4711);
        r.close();
        other.close();
    }

    @Test
    void nullRegionIsEmptyAndKeepsItsDomainBusy() throws Exception {
        ProtectionDomain pd = pd(Feature.NULL_REGION);
        MemoryRegion r = pd.allocateNullRegion();
        assertThat(r.address()).isZero();
        assertThat(r.length()).isEqualTo(Long.MAX_VALUE);
        assertThat(r.segment().byteSize()).isZero();
        assertErrno(Errno.EBUSY, pd::close);
        r.close();
        pd.close();
        assertErrno(Errno.EINVAL, pd::allocateNullRegion, "closed");
    }

    // ---- on demand

    @Test
    void onDemandPagingCapabilitiesAreReported() throws Exception {
        Context c = open();
        needs(c, Feature.ON_DEMAND);
        OdpCapabilities odp = Objects.requireNonNull(c.queryDevice().odpCapabilities());
        assertThat(odp.general() & OdpCapabilities.SUPPORT).isNotZero();
        int needed = OdpCapabilities.SEND | OdpCapabilities.RECEIVE | OdpCapabilities.WRITE | OdpCapabilities.READ;
        assertThat(odp.rc() & needed).isEqualTo(needed);
    }

    @Test
    void implicitOnDemandPagingIsASeparateCapability() throws Exception {
        ProtectionDomain pd = pd(Feature.ON_DEMAND);
        MemorySegment all = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
        int general = Objects.requireNonNull(pd.context().queryDevice().odpCapabilities()).general();
        if ((general & OdpCapabilities.SUPPORT_IMPLICIT) == 0) {
            assertErrno(Errno.EOPNOTSUPP, () -> pd.register(all, LOCAL | AccessFlags.ON_DEMAND), "address space");
        } else {
            pd.register(all, LOCAL | AccessFlags.ON_DEMAND).close();
        }
        assertErrno(Errno.EINVAL, () -> pd.register(all, LOCAL));
    }

    @Test
    void prefetchAdviceChangesNothing() throws Exception {
        ProtectionDomain pd = pd(Feature.ADVISE);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment s = arena.allocate(64 * PAGE);
            Pattern.fill(s, 3);
            MemoryRegion a = pd.register(s, LOCAL | AccessFlags.ON_DEMAND);
            MemoryRegion b = pd.allocate(64 * PAGE, LOCAL | AccessFlags.ON_DEMAND | AccessFlags.ZERO_BASED);
            Pattern.fill(b.segment(), 4);
            for (int advice = MemoryAdvice.PREFETCH; advice <= MemoryAdvice.PREFETCH_NO_FAULT; advice++) {
                for (int flags : new int[] {0, MemoryAdvice.FLUSH}) {
                    pd.advise(advice, flags, List.of(ScatterGatherElement.in(a, 5000, 40 * PAGE),
                            ScatterGatherElement.in(b, 1, 64 * PAGE - 1), ScatterGatherElement.in(a, 7, 0)));
                }
            }
            assertThat(Pattern.mismatch(s, 3)).isEqualTo(-1);
            assertThat(Pattern.mismatch(b.segment(), 4)).isEqualTo(-1);
            a.close();
            b.close();
        }
    }

    @Test
    void invalidAdviceIsRefused() throws Exception {
        ProtectionDomain pd = pd(Feature.ADVISE);
        ProtectionDomain other = pd.context().allocateProtectionDomain();
        int access = LOCAL | AccessFlags.ON_DEMAND;
        MemoryRegion r = pd.allocate(PAGE, access);
        List<ScatterGatherElement> all = List.of(ScatterGatherElement.in(r, 0, PAGE));
        assertErrno(Errno.EINVAL, () -> pd.advise(MemoryAdvice.PREFETCH, 0, List.of()), "no range");
        assertErrno(Errno.EINVAL, () -> pd.advise(MemoryAdvice.PREFETCH, 2, all), "flags");
        assertErrno(Errno.EOPNOTSUPP, () -> pd.advise(77, 0, all), "77");
        for (ScatterGatherElement e : List.of(ScatterGatherElement.in(r, 1, PAGE), ScatterGatherElement.in(r, -1, 1),
                ScatterGatherElement.in(r, 0, -1), ScatterGatherElement.of(r.lkey() ^ 1, r.address(), 1),
                ScatterGatherElement.of(-1, r.address(), 1))) {
            assertErrno(Errno.EFAULT, () -> pd.advise(MemoryAdvice.PREFETCH, 0, List.of(e)));
        }
        assertErrno(Errno.EPERM, () -> other.advise(MemoryAdvice.PREFETCH, 0, all), "domain");
        MemoryRegion readOnly = pd.allocate(PAGE, AccessFlags.REMOTE_READ | AccessFlags.ON_DEMAND);
        assertErrno(Errno.EPERM, () -> pd.advise(MemoryAdvice.PREFETCH_WRITE, 0, List.of(ScatterGatherElement.in(
                readOnly, 0, 1))), "written");
        MemoryRegion pinned = pd.allocate(PAGE, LOCAL);
        assertErrno(Errno.ENOENT, () -> pd.advise(MemoryAdvice.PREFETCH, 0, List.of(ScatterGatherElement.in(pinned, 0,
                1))), "ON_DEMAND");
        Arena arena = Arena.ofShared();
        MemoryRegion gone = pd.register(arena.allocate(PAGE), access);
        arena.close();
        assertErrno(Errno.EFAULT, () -> pd.advise(MemoryAdvice.PREFETCH, 0, List.of(ScatterGatherElement.in(gone, 0,
                1))), "arena");
        r.close();
        assertErrno(Errno.EFAULT, () -> pd.advise(MemoryAdvice.PREFETCH, 0, all), "no such key");
    }
}
