// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.SharedLibrary;
import org.verbena.testkit.Descriptors;

/** Small bindings, compared with what the kernel reports about itself elsewhere. */
class KernelOffersTest {
    private static long status(String name) throws IOException {
        String line = Files.readAllLines(Path.of("/proc/self/status")).stream().filter(l -> l.startsWith(name + ":"))
                .findFirst().orElseThrow();
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }

    @Test
    void lockedMemoryIsCounted() throws Exception {
        int length = 16 * Sys.pageSize();
        Mapping memory = Mapping.anonymous(length);
        long before = status("VmLck");
        MemoryLock.lock(memory.segment());
        assertThat(status("VmLck") - before).isEqualTo(length / 1024);
        MemoryLock.unlock(memory.segment());
        assertThat(status("VmLck")).isEqualTo(before);
        assertThatThrownBy(() -> MemoryLock.lock(MemorySegment.ofArray(new byte[1]))).isInstanceOf(
                IllegalArgumentException.class);
        memory.discard();
    }

    @Test
    void ioUringIsCreatedUnlessDisabled() throws Exception {
        Path setting = Path.of("/proc/sys/kernel/io_uring_disabled");
        boolean off = Files.exists(setting) && Files.readString(setting).strip().equals("2");
        if (off) {
            assertThatThrownBy(() -> IoUring.setup(5)).isInstanceOf(LinuxException.class).hasMessageContaining("EPERM");
        } else {
            long before = Descriptors.count("io_uring");
            try (IoUring ring = IoUring.setup(5)) {
                assertThat(ring.submissionEntries()).isEqualTo(8);
                assertThat(ring.completionEntries()).isEqualTo(16);
                assertThat(ring.features() & IoUring.IORING_FEAT_SINGLE_MMAP).isNotZero();
                assertThat(Descriptors.count("io_uring")).isEqualTo(before + 1);
            }
            assertThat(Descriptors.count("io_uring")).isEqualTo(before);
        }
        assertThatThrownBy(() -> IoUring.setup(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void smcSocketsExistIfProtocolIsListed() throws Exception {
        boolean works;
        try (Fd socket = Smc.socket(Smc.SMCPROTO_SMC)) {
            works = socket.value() > 0;
        } catch (LinuxException e) {
            assertThat(e.errno()).isEqualTo(Errno.EAFNOSUPPORT);
            works = false;
        }
        boolean listed = Files.readAllLines(Path.of("/proc/net/protocols")).stream().anyMatch(l -> l.startsWith("SMC"));
        assertThat(works).isEqualTo(listed);
        assertThatThrownBy(() -> Smc.socket(2)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void udmabufsAreDmaBufs() throws Exception {
        int page = Sys.pageSize();
        try (Fd file = Memfd.create("udmabuf", 2L * page)) {
            if (!Files.isWritable(Path.of("/dev/udmabuf"))) {
                assertThatThrownBy(() -> UdmaBuf.create(file, 0, page)).isInstanceOf(LinuxException.class)
                        .hasMessageContaining("/dev/udmabuf");
                return;
            }
            assertThatThrownBy(() -> UdmaBuf.create(file, 0, page)).as("not sealed").isInstanceOf(LinuxException.class)
                    .hasMessageContaining("EINVAL");
            Memfd.addSeals(file, Memfd.SEAL_SHRINK);
            try (Fd buffer = UdmaBuf.create(file, page, page)) {
                assertThat(DmaBuf.isDmaBuf(buffer)).isTrue();
                assertThat(DmaBuf.size(buffer)).isEqualTo(page);
            }
        }
    }

    @Test
    void missingLibraryReportsLoaderError() throws Throwable {
        SharedLibrary c = SharedLibrary.open("libc.so.6");
        assertThat((int) c.link("getpid", FunctionDescriptor.of(ValueLayout.JAVA_INT)).invokeExact()).isEqualTo(
                (int) ProcessHandle.current().pid());
        assertThatThrownBy(() -> c.link("no_such_function", FunctionDescriptor.ofVoid())).isInstanceOf(
                IOException.class).hasMessageContaining("no_such_function");
        assertThatThrownBy(() -> SharedLibrary.open("libnosuch.so.9")).isInstanceOf(IOException.class)
                .hasMessage("libnosuch.so.9: cannot open shared object file: No such file or directory");
    }

    @Test
    void processIsDumpableIfItOwnsItsFiles() throws Exception {
        boolean own = Files.getOwner(Path.of("/proc/self/fd")).equals(Files.getOwner(Path.of("/proc/self")));
        assertThat(own).isTrue();
        assertThat(Prctl.isDumpable()).isTrue();
    }
}
