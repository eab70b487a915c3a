// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;

import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawProcessVm;
import org.verbena.testkit.Descriptors;

/** ProcessVm, Pidfd, Prctl, CpuAffinity, Membarrier and Sys. */
class ProcessTest {
    @Test
    void pageSizeIsThatOfGetconf() throws Exception {
        Process getconf = new ProcessBuilder("getconf", "PAGESIZE").start();
        assertThat(new String(getconf.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip()).isEqualTo(
                String.valueOf(Sys.pageSize()));
    }

    @Test
    void processVmReachesAChild() throws Exception {
        Process child = Proc.waiting();
        int pid = Math.toIntExact(child.pid());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment local = arena.allocate(4096, 8);
            long image = Proc.mapping(pid, Proc.program(pid))[0];
            assertThat(ProcessVm.read(pid, local, 0, image, 64)).isEqualTo(64);
            assertThat(local.get(ValueLayout.JAVA_INT, 0)).isEqualTo(0x464C457F); // 7F 'E' 'L' 'F'
            long[] stack = Proc.mapping(pid, "[stack]");
            local.set(ValueLayout.JAVA_LONG, 8, 0x1122334455667788L);
            assertThat(ProcessVm.write(pid, local, 8, stack[0], 8)).isEqualTo(8);
            local.fill((byte) 0);
            assertThat(ProcessVm.read(pid, local, 16, stack[0], 8)).isEqualTo(8);
            assertThat(local.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(0x1122334455667788L);
            assertThat(ProcessVm.write(pid, local, 0, image, 8)).as("read-only in the child").isEqualTo(-Errno.EFAULT);
            assertThat(ProcessVm.read(pid, local, 0, 64, 8)).isEqualTo(-Errno.EFAULT);
            assertThat(ProcessVm.read(pid, local, 0, -8, 8)).isEqualTo(-Errno.EFAULT);
            assertThat(ProcessVm.read(pid, local, 0, stack[1] - 64, 4096)).as("the mapped part").isEqualTo(64);
            assertThat(ProcessVm.read(pid, local, 0, stack[0], 0)).isZero();
        } finally {
            Proc.kill(child);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment local = arena.allocate(8);
            assertThat(ProcessVm.read(pid, local, 0, 4096, 8)).isEqualTo(-Errno.ESRCH);
        }
    }

    @Test
    void processVmReachesThisProcess() throws Exception {
        Mapping from = Mapping.anonymous(1 << 20);
        Mapping to = Mapping.anonymous(1 << 20);
        from.segment().fill((byte) 0x5A);
        assertThat(ProcessVm.write(Sys.pid(), from.segment(), 100, to.address() + 200, 1_000_000)).isEqualTo(1_000_000);
        assertThat(to.segment().get(ValueLayout.JAVA_BYTE, 199)).isZero();
        assertThat(to.segment().get(ValueLayout.JAVA_BYTE, 200)).isEqualTo((byte) 0x5A);
        assertThat(to.segment().get(ValueLayout.JAVA_BYTE, 1_000_199)).isEqualTo((byte) 0x5A);
        assertThat(to.segment().get(ValueLayout.JAVA_BYTE, 1_000_200)).isZero();
        assertThat(RawProcessVm.read(Sys.pid(), from.address(), to.address(), 64)).isEqualTo(64);
        assertThat(from.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
        assertThat(RawProcessVm.write(Sys.pid(), 64, to.address(), 8)).isEqualTo(-Errno.EFAULT);
        assertThat(RawProcessVm.write(Sys.pid(), from.address(), to.address(), -1)).isEqualTo(-Errno.EINVAL);
        assertThat(from.segment().byteSize() + to.segment().byteSize()).isEqualTo(2 << 20);
    }

    @Test
    void processVmRefusesWrongArguments() throws Exception {
        MemorySegment local = Mapping.anonymous(64).segment();
        long[][] wrong = {{-1, 1}, {0, -1}, {0, 65}, {64, 1}, {1, Long.MAX_VALUE}, {Long.MAX_VALUE, 1}};
        for (long[] range : wrong) {
            assertThatThrownBy(() -> ProcessVm.read(Sys.pid(), local, range[0], 0, range[1]))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        MemorySegment heap = MemorySegment.ofArray(new byte[64]);
        assertThatThrownBy(() -> ProcessVm.write(Sys.pid(), heap, 0, 0, 1)).isInstanceOf(
                IllegalArgumentException.class);
        assertThatThrownBy(() -> ProcessVm.read(Sys.pid(), local.asReadOnly(), 0, 0, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("read-only");
        assertThat(ProcessVm.read(0, local, 0, local.address(), 8)).isEqualTo(-Errno.ESRCH);
        assertThat(ProcessVm.read(-1, local, 0, local.address(), 8)).isEqualTo(-Errno.ESRCH);
    }

    @Test
    void pidfdReportsExit() throws Exception {
        Process child = Proc.waiting();
        try (Fd fd = Pidfd.open(Math.toIntExact(child.pid()))) {
            assertThat(Pidfd.isAlive(fd)).isTrue();
            Pidfd.sendSignal(fd, 0);
            MemfdTest.assertErrno(Errno.EINVAL, () -> Pidfd.sendSignal(fd, 1000));
            Pidfd.sendSignal(fd, 9);
            assertThat(Poll.await(fd, Poll.IN, 60_000)).isNotZero();
            assertThat(Pidfd.isAlive(fd)).isFalse();
            child.waitFor();
            MemfdTest.assertErrno(Errno.ESRCH, () -> Pidfd.sendSignal(fd, 0));
        } finally {
            Proc.kill(child);
        }
        MemfdTest.assertErrno(Errno.EINVAL, () -> Pidfd.open(0));
        MemfdTest.assertErrno(Errno.EINVAL, () -> Pidfd.open(-5));
        MemfdTest.assertErrno(Errno.ESRCH, () -> Pidfd.open(Integer.MAX_VALUE));
    }

    @Test
    void ptracer() throws Exception {
        int result = Prctl.setPtracer(Prctl.PTRACER_ANY);
        if (Files.exists(Path.of("/proc/sys/kernel/yama/ptrace_scope"))) {
            assertThat(Prctl.yamaScope()).isBetween(0, 3);
            assertThat(result).isZero();
            assertThat(Prctl.setPtracer(Sys.pid())).isZero();
        } else {
            assertThat(Prctl.yamaScope()).isEqualTo(-1);
            assertThat(result).isEqualTo(Errno.EINVAL);
        }
        assertThatThrownBy(() -> Prctl.setPtracer(-2)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void affinity() throws Exception {
        Throwable[] failure = new Throwable[1];
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                BitSet all = CpuAffinity.get();
                assertThat(all.cardinality()).isPositive();
                BitSet one = new BitSet();
                one.set(all.length() - 1);
                CpuAffinity.set(one);
                assertThat(CpuAffinity.get()).isEqualTo(one);
                CpuAffinity.set(all);
                assertThat(CpuAffinity.get()).isEqualTo(all);
                BitSet absent = new BitSet();
                absent.set(8191);
                MemfdTest.assertErrno(Errno.EINVAL, () -> CpuAffinity.set(absent));
                BitSet huge = new BitSet();
                huge.set(8192);
                assertThatThrownBy(() -> CpuAffinity.set(huge)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> CpuAffinity.set(new BitSet())).isInstanceOf(IllegalArgumentException.class);
            } catch (Throwable t) {
                failure[0] = t;
            }
        });
        thread.join();
        assertThat(failure[0]).isNull();
    }

    @Test
    void membarrier() throws Exception {
        assumeTrue(Membarrier.isSupported());
        Membarrier.register();
        Membarrier.register();
        for (int i = 0; i < 1000; i++) {
            Membarrier.ownProcess();
        }
    }

    @Test
    void sysFacts() throws Exception {
        assertThat(Sys.pid()).isEqualTo((int) ProcessHandle.current().pid());
        assertThat(Sys.uid()).isEqualTo(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        assertThat(Sys.pageSize()).isGreaterThanOrEqualTo(4096).matches(size -> Integer.bitCount(size) == 1);
        assertThat(Files.exists(Path.of("/proc/self/task/" + Sys.tid()))).isTrue();
        long before = System.nanoTime(); // HotSpot uses the same clock
        long now = Sys.monotonicNanos();
        assertThat(now).isBetween(before, System.nanoTime());
        assertThat(Sys.availableMemory()).isBetween(1L << 20, 1L << 50);
        Sys.requireNativeAccess();
    }

    @Test
    void randomBitsDifferAndUseNoDescriptor() throws Exception {
        long before = Descriptors.count("random");
        Set<Long> all = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            all.add(Sys.random());
        }
        assertThat(all).hasSize(1000);
        assertThat(Descriptors.count("random")).isEqualTo(before);
    }
}
