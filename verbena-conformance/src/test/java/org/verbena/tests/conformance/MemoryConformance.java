// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;

/** Memory regions. */
abstract class MemoryConformance extends Conformance {
    private static final int PAGE = 4096;

    MemoryConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    private ProtectionDomain pd() throws Exception {
        return open().allocateProtectionDomain();
    }

    @Test
    void allocatedMemoryIsZeroedAlignedAndWritable() throws Exception {
        try (MemoryRegion r = pd().allocate(3 * PAGE + 5, AccessFlags.ALL)) {
            MemorySegment s = r.segment();
            assertThat(s.byteSize()).isEqualTo(3 * PAGE + 5).isEqualTo(r.length());
            assertThat(s.address() % PAGE).isZero();
            assertThat(s.address()).isEqualTo(r.address());
            assertThat(s.isReadOnly()).isFalse();
            assertThat(s.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
            Pattern.fill(s, 1);
            assertThat(Pattern.mismatch(s, 1)).isEqualTo(-1);
        }
    }

    @Test
    void allocatedMemoryIsAccessibleFromEveryThread() throws Exception {
        try (MemoryRegion r = pd().allocate(PAGE, AccessFlags.ALL)) {
            Thread t = Thread.ofPlatform().start(() -> r.segment().set(ValueLayout.JAVA_INT, 0, 42));
            t.join();
            assertThat(r.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(42);
        }
    }

    @Test
    void regionReturnsItsAddressLengthAndDomain() throws Exception {
        ProtectionDomain pd = pd();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment s = arena.allocate(100).asSlice(3, 90);
            int access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ;
            try (MemoryRegion r = pd.register(s, access)) {
                assertThat(r.address()).isEqualTo(s.address());
                assertThat(r.length()).isEqualTo(90);
                assertThat(r.access()).isEqualTo(access);
                assertThat(r.protectionDomain()).isSameAs(pd);
                assertThat(r.segment().address()).isEqualTo(s.address());
                assertThat(r.describe()).isNotBlank();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void invalidSizeIsRefused(long bytes) throws Exception {
        ProtectionDomain pd = pd();
        assertErrno(Errno.EINVAL, () -> pd.allocate(bytes, AccessFlags.ALL), Long.toString(bytes));
    }

    @Test
    void sizeBeyondTheLimitIsRefused() throws Exception {
        ProtectionDomain pd = pd();
        long max = pd.context().queryDevice().maxMrSize();
        if (max == Long.MAX_VALUE) { // no size is beyond the limit; there is not that much memory
            assertErrno(Errno.ENOMEM, () -> pd.allocate(max, AccessFlags.ALL), Long.toString(max));
            return;
        }
        assertErrno(Errno.EINVAL, () -> pd.allocate(Long.MAX_VALUE, AccessFlags.ALL), Long.toString(max));
        assertErrno(Errno.EINVAL, () -> pd.allocate(max + 1, AccessFlags.ALL), Long.toString(max));
        assertErrno(Errno.EINVAL,
                () -> pd.register(MemorySegment.ofAddress(PAGE).reinterpret(max + 1), AccessFlags.LOCAL_WRITE),
                Long.toString(max));
    }

    @Test
    void emptySegmentIsRefused() throws Exception {
        ProtectionDomain pd = pd();
        assertErrno(Errno.EINVAL, () -> pd.register(MemorySegment.NULL, AccessFlags.LOCAL_WRITE));
        assertErrno(Errno.EINVAL, () -> pd.register(MemorySegment.ofAddress(PAGE), 0));
    }

    @Test
    void allocationBeyondAvailableMemoryIsEnomem() throws Exception {
        ProtectionDomain pd = pd();
        long max = pd.context().queryDevice().maxMrSize();
        long twice = 2 * ((com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory
                .getOperatingSystemMXBean()).getTotalMemorySize();
        org.junit.jupiter.api.Assumptions.assumeTrue(max >= twice, "the largest region may well fit");
        assertErrno(Errno.ENOMEM, () -> pd.allocate(twice, AccessFlags.ALL));
        assertErrno(Errno.ENOMEM, () -> pd.allocate(max, AccessFlags.ALL));
        pd.allocate(PAGE, AccessFlags.ALL).close();
    }

    @Test
    void sizesAroundAByteAndAPageAreAccepted() throws Exception {
        ProtectionDomain pd = pd();
        for (long n : new long[] {1, 2, PAGE - 1, PAGE, PAGE + 1, 1 << 20}) {
            try (MemoryRegion r = pd.allocate(n, AccessFlags.ALL)) {
                assertThat(r.segment().byteSize()).isEqualTo(n);
                r.segment().set(ValueLayout.JAVA_BYTE, n - 1, (byte) 1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {AccessFlags.REMOTE_WRITE, AccessFlags.REMOTE_ATOMIC,
        AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ,
        AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC | AccessFlags.REMOTE_READ})
    void remoteWriteNeedsLocalWrite(int access) throws Exception {
        ProtectionDomain pd = pd();
        assertErrno(Errno.EINVAL, () -> pd.allocate(PAGE, access), "LOCAL_WRITE");
        try (Arena arena = Arena.ofShared()) {
            MemorySegment s = arena.allocate(PAGE);
            assertErrno(Errno.EINVAL, () -> pd.register(s, access), "LOCAL_WRITE");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, AccessFlags.LOCAL_WRITE, AccessFlags.REMOTE_READ, AccessFlags.ALL,
        AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_ATOMIC,
        AccessFlags.ALL | AccessFlags.RELAXED_ORDERING, AccessFlags.LOCAL_WRITE | 1 << 25})
    void validAccessIsAcceptedAndOptionalFlagsAreHints(int access) throws Exception {
        ProtectionDomain pd = pd();
        pd.allocate(PAGE, access).close();
        try (Arena arena = Arena.ofShared()) {
            pd.register(arena.allocate(PAGE), access).close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1 << 10, 1 << 15, 1 << 19, 1 << 30, Integer.MIN_VALUE})
    void unknownAccessIsNotSupported(int access) throws Exception {
        ProtectionDomain pd = pd();
        assertErrno(Errno.EOPNOTSUPP, () -> pd.allocate(PAGE, AccessFlags.LOCAL_WRITE | access), "0x");
    }

    /** Requests are executed on other threads than the one that alone may access it. */
    @Test
    void confinedMemoryIsRefusedWithAReason() throws Exception {
        ProtectionDomain pd = pd();
        try (Arena confined = Arena.ofConfined(); Arena shared = Arena.ofShared()) {
            MemorySegment s = confined.allocate(PAGE);
            assertErrno(Errno.EINVAL, () -> pd.register(s, AccessFlags.LOCAL_WRITE), "Arena.ofShared");
            try (MemoryRegion r = pd.register(shared.allocate(PAGE), AccessFlags.LOCAL_WRITE)) {
                if (pd.context().supports(Feature.REREGISTER)) {
                    assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_TRANSLATION, null, s, 0),
                            "Arena.ofShared");
                }
            }
        }
    }

    @Test
    void heapMemoryIsRefusedWithAReason() throws Exception {
        ProtectionDomain pd = pd();
        for (MemorySegment s : new MemorySegment[] {MemorySegment.ofArray(new byte[64]),
            MemorySegment.ofArray(new long[8]), MemorySegment.ofBuffer(ByteBuffer.allocate(64)),
            MemorySegment.ofArray(new byte[0])}) {
            assertErrno(Errno.EINVAL, () -> pd.register(s, AccessFlags.LOCAL_WRITE), "heap memory", "allocate");
        }
    }

    @Test
    void directBufferIsAccepted() throws Exception {
        ProtectionDomain pd = pd();
        ByteBuffer b = ByteBuffer.allocateDirect(100);
        try (MemoryRegion r = pd.register(MemorySegment.ofBuffer(b), AccessFlags.ALL)) {
            assertThat(r.length()).isEqualTo(100);
        }
    }

    @Test
    void readOnlySegmentGivesNoWriteAccess() throws Exception {
        ProtectionDomain pd = pd();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment s = arena.allocate(64).asReadOnly();
            assertErrno(Errno.EINVAL, () -> pd.register(s, AccessFlags.LOCAL_WRITE), "read-only");
            assertErrno(Errno.EINVAL, () -> pd.register(s, AccessFlags.ALL), "read-only");
            pd.register(s, AccessFlags.REMOTE_READ).close();
        }
    }

    @Test
    void memoryOfAClosedArenaIsRefused() throws Exception {
        ProtectionDomain pd = pd();
        Arena arena = Arena.ofShared();
        MemorySegment s = arena.allocate(64);
        arena.close();
        assertErrno(Errno.EINVAL, () -> pd.register(s, AccessFlags.LOCAL_WRITE), "closed");
    }

    @Test
    void liveKeysAreUnique() throws Exception {
        ProtectionDomain pd = pd();
        Set<Integer> lkeys = new HashSet<>();
        Set<Integer> rkeys = new HashSet<>();
        List<MemoryRegion> regions = new ArrayList<>();
        int n = Math.min(200, pd.context().queryDevice().maxMr());
        for (int i = 0; i < n; i++) {
            MemoryRegion r = pd.allocate(PAGE, AccessFlags.ALL);
            regions.add(r);
            lkeys.add(r.lkey());
            rkeys.add(r.rkey());
        }
        assertThat(lkeys).hasSize(n);
        assertThat(rkeys).hasSize(n);
        for (MemoryRegion r : regions) {
            r.close();
        }
    }

    @Test
    void keyIsNotReusedImmediately() throws Exception {
        ProtectionDomain pd = pd();
        int last = 0;
        for (int i = 0; i < 100; i++) {
            try (MemoryRegion r = pd.allocate(PAGE, AccessFlags.ALL)) {
                assertThat(r.rkey()).isNotEqualTo(last);
                last = r.rkey();
            }
        }
    }

    @Test
    void closedRegionsReleaseMemory() throws Exception {
        ProtectionDomain pd = pd();
        long piece = 256L << 20;
        long before = availableMemory();
        for (int i = 0; i < 16; i++) { // 4 GiB in total
            try (MemoryRegion r = pd.allocate(piece, AccessFlags.ALL)) {
                r.segment().set(ValueLayout.JAVA_LONG, piece - 8, i);
            }
        }
        assertThat(availableMemory()).isGreaterThan(before - (2L << 30));
        pd.close();
    }

    private static long availableMemory() throws Exception {
        try (var lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(s -> s.startsWith("MemAvailable:")).mapToLong(s -> Long.parseLong(s.replaceAll("\\D",
                    "")))
                    .findFirst().orElseThrow() * 1024;
        }
    }

    /** The segment outlives its region without harm: reading it may throw, but never crash. */
    @Test
    void segmentOfAClosedRegionIsSafeToAccess() throws Exception {
        ProtectionDomain pd = pd();
        MemoryRegion r = pd.allocate(PAGE, AccessFlags.ALL);
        MemorySegment s = r.segment();
        s.set(ValueLayout.JAVA_LONG, 0, 77);
        r.close();
        try {
            s.set(ValueLayout.JAVA_LONG, 0, 78);
            assertThat(s.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(78);
        } catch (IllegalStateException closed) {
            assertThat(closed).hasMessageContaining("closed");
        }
    }

    @Test
    void regionOfAClosedArenaCanBeClosed() throws Exception {
        ProtectionDomain pd = pd();
        Arena arena = Arena.ofShared();
        MemoryRegion r = pd.register(arena.allocate(64), AccessFlags.ALL);
        arena.close();
        r.close();
        pd.close();
    }

    @Test
    void sameMemoryMayBeRegisteredTwice() throws Exception {
        ProtectionDomain pd = pd();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment s = arena.allocate(64);
            MemoryRegion a = pd.register(s, AccessFlags.ALL);
            MemoryRegion b = pd.register(s.asSlice(8), AccessFlags.REMOTE_READ);
            assertThat(a.rkey()).isNotEqualTo(b.rkey());
            a.close();
            b.close();
        }
    }
}
