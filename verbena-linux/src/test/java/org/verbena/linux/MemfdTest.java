// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class MemfdTest {
    static void assertErrno(int errno, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(LinuxException.class, e -> {
            assertThat(Errno.name(e.errno())).isEqualTo(Errno.name(errno));
            assertThat(e).hasMessageContaining(e.call()).hasMessageContaining(Errno.describe(errno));
        });
    }

    @Test
    void createsAFileOfTheSize() throws Exception {
        try (Fd fd = Memfd.create("verbena größe", 12345)) {
            assertThat(Memfd.size(fd)).isEqualTo(12345);
            assertThat(Proc.link(Path.of("/proc/self/fd/" + fd.value()))).startsWith("/memfd:verbena");
            String info = Files.readString(Path.of("/proc/self/fdinfo/" + fd.value()));
            String flags = info.lines().filter(l -> l.startsWith("flags:")).findFirst().orElseThrow();
            assertThat(Long.parseLong(flags.replaceAll("\\D+", ""), 8) & 02000000).as("O_CLOEXEC").isNotZero();
        }
    }

    @Test
    void refusesWrongArguments() throws Exception {
        assertThatThrownBy(() -> Memfd.create("x", -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Memfd.create("x".repeat(250), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("249");
        assertThatThrownBy(() -> Memfd.create("a\0b", 1)).isInstanceOf(IllegalArgumentException.class);
        Memfd.create("x".repeat(249), 1).close();
        try (Fd sparse = Memfd.create("sparse", Long.MAX_VALUE)) { // uses no memory
            assertThat(Statx.of(sparse)).isEqualTo(new Statx(Long.MAX_VALUE, 0, true));
            assertErrno(Errno.ENOMEM, () -> Mapping.map(sparse, 0, Long.MAX_VALUE, true));
        }
    }

    @Test
    void allocateReservesPages() throws Exception {
        try (Fd fd = Memfd.create("allocate", 0)) {
            Memfd.allocate(fd, 4096, 1 << 20);
            assertThat(Memfd.size(fd)).isEqualTo(4096 + (1 << 20));
            assertThatThrownBy(() -> Memfd.allocate(fd, -1, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> Memfd.allocate(fd, 0, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> Memfd.allocate(fd, 1, Long.MAX_VALUE))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void allocateRefusesMoreThanTheMachineHas() throws Exception {
        try (Fd fd = Memfd.create("allocate-huge", 4096)) {
            // Never without this seal: if the check were missing, the kernel would return EPERM instead of allocating
            // pages until it kills processes all over the machine.
            Memfd.addSeals(fd, Memfd.SEAL_GROW);
            assertErrno(Errno.ENOMEM, () -> Memfd.allocate(fd, 0, 1L << 62));
            assertErrno(Errno.ENOMEM, () -> Memfd.allocate(fd, 0, Long.MAX_VALUE));
            assertErrno(Errno.ENOMEM, () -> Memfd.allocate(fd, 4096, Sys.availableMemory() * 2));
            assertErrno(Errno.EPERM, () -> Memfd.allocate(fd, 0, 8192));
            Memfd.allocate(fd, 0, 4096);
        }
        Memfd.requireMemory(15, 16, "call");
        Memfd.requireMemory(-5, 0, "call");
        assertErrno(Errno.ENOMEM, () -> Memfd.requireMemory(16, 16, "call"));
        assertErrno(Errno.ENOMEM, () -> Memfd.requireMemory(1, 0, "call"));
        Memfd.requireMemory(1L << 60, Long.MAX_VALUE, "call");
    }

    @Test
    void allocateSpansSlicesAndRepeats() throws Exception {
        long size = 300L << 20;
        try (Fd fd = Memfd.create("slices", 0)) {
            Memfd.allocate(fd, 0, size);
            assertThat(Statx.of(fd).allocated()).isEqualTo(size);
            Memfd.allocate(fd, 0, size);
            assertThat(Statx.of(fd)).isEqualTo(new Statx(size, size, true));
        }
    }

    @Test
    void sealsAreEnforced() throws Exception {
        try (Fd fd = Memfd.create("seals", 4096)) {
            assertThat(Memfd.seals(fd) & 0x1F).isZero();
            Memfd.addSeals(fd, Memfd.SEAL_SHRINK | Memfd.SEAL_GROW);
            assertThat(Memfd.seals(fd) & 0x1F).isEqualTo(Memfd.SEAL_SHRINK | Memfd.SEAL_GROW);
            assertErrno(Errno.EPERM, () -> Memfd.allocate(fd, 0, 8192));
            Mapping kept = Mapping.map(fd, 0, 4096, true);
            assertErrno(Errno.EBUSY, () -> Memfd.addSeals(fd, Memfd.SEAL_WRITE));
            Memfd.addSeals(fd, Memfd.SEAL_FUTURE_WRITE);
            assertErrno(Errno.EPERM, () -> Mapping.map(fd, 0, 4096, true));
            Mapping reader = Mapping.map(fd, 0, 4096, false);
            kept.segment().set(ValueLayout.JAVA_INT, 8, 77);
            assertThat(reader.segment().get(ValueLayout.JAVA_INT, 8)).isEqualTo(77);
            Memfd.addSeals(fd, Memfd.SEAL_SEAL);
            assertErrno(Errno.EPERM, () -> Memfd.addSeals(fd, Memfd.SEAL_GROW));
        }
    }

    @Test
    void sealsOfOtherFilesAreEinval() throws Exception {
        try (Fd fd = Eventfd.create()) {
            assertErrno(Errno.EINVAL, () -> Memfd.seals(fd));
            assertErrno(Errno.EINVAL, () -> Memfd.addSeals(fd, Memfd.SEAL_GROW));
        }
        try (Fd fd = Memfd.create("unknown-seal", 1)) {
            assertErrno(Errno.EINVAL, () -> Memfd.addSeals(fd, 1 << 20));
        }
    }
}
