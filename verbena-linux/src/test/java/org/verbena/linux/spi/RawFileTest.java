// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.PosixFile;

/** Files are read as far as they are in memory. */
class RawFileTest {
    private static final int FADVISE64 = SyscallNumber.AARCH64 ? 223 : 221;
    private static final int POSIX_FADV_DONTNEED = 4;
    private static final int SIZE = 1 << 20;
    private static final byte[] BYTES = new byte[SIZE];

    static {
        new Random(1).nextBytes(BYTES);
    }

    @TempDir private Path dir;
    private final MemorySegment to = Arena.ofAuto().allocate(SIZE, 8);

    private long read(Fd fd, long position, long length) throws Exception {
        return RawFile.readCached(fd.value(), position, to.address(), length);
    }

    private void assertRead(Path file) throws Exception {
        try (Fd fd = PosixFile.open(file, PosixFile.O_RDONLY, 0)) {
            assertThat(read(fd, 5, 1000)).isEqualTo(1000);
            assertThat(to.asSlice(0, 1000).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(Arrays.copyOfRange(BYTES, 5,
                    1005));
            assertThat(read(fd, SIZE - 7, 1000)).isEqualTo(7);
            assertThat(read(fd, SIZE, 1000)).isZero();
            assertThat(read(fd, 1L << 40, 1000)).isZero();
            assertThat(RawFile.readCached(fd.value(), 0, 8, 1000)).isEqualTo(-Errno.EFAULT);
        }
    }

    @Test
    void cachedBytesAreRead() throws Exception {
        List<String> without = new ArrayList<>();
        for (Path folder : List.of(dir, Path.of("").toAbsolutePath(), Path.of("/var/tmp"))) { // of different file systems, perhaps
            if (!Files.isWritable(folder)) {
                without.add(folder + " is not writable");
                continue;
            }
            Path file = Files.createTempFile(folder, "verbena-test", null);
            try {
                Files.write(file, BYTES);
                if (saysWhatIsCached(file)) {
                    assertRead(file);
                    return;
                }
                without.add(folder + " is of " + Files.getFileStore(folder).type());
            } finally {
                Files.delete(file);
            }
        }
        System.out.println("SKIPPED: no file system here reads with RWF_NOWAIT: " + without);
        Assumptions.abort("no file system with RWF_NOWAIT");
    }

    private boolean saysWhatIsCached(Path file) throws Exception {
        try (Fd fd = PosixFile.open(file, PosixFile.O_RDONLY, 0)) {
            return read(fd, 0, 1) != -Errno.EOPNOTSUPP;
        }
    }

    @Test
    void tmpfsIsAlwaysInMemory() throws Exception {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "verbena-test", null);
        try {
            Files.write(file, BYTES);
            assertRead(file);
        } finally {
            Files.delete(file);
        }
    }

    /** Either nothing is read, or the kernel has read ahead. */
    @Test
    void whatIsOnDiskIsNotWaitedFor() throws Exception {
        Path file = Files.write(dir.resolve("uncached"), BYTES, StandardOpenOption.CREATE, StandardOpenOption.SYNC);
        try (Fd fd = PosixFile.open(file, PosixFile.O_RDONLY, 0)) {
            assertThat(Native.call(FADVISE64, fd.value(), 0, 0, POSIX_FADV_DONTNEED)).isZero();
            long n = read(fd, 0, SIZE);
            if (n > 0) {
                assertThat(to.asSlice(0, n).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(Arrays.copyOf(BYTES, (int) n));
            } else {
                assertThat(n).isIn((long) -Errno.EAGAIN, (long) -Errno.EOPNOTSUPP);
            }
            assertThat(PosixFile.read(fd, 0, to)).isEqualTo(SIZE);
        }
    }

    @Test
    void errorsAreErrnos() throws Exception {
        Path file = Files.write(dir.resolve("file"), BYTES);
        try (Fd fd = PosixFile.open(file, PosixFile.O_WRONLY, 0)) {
            assertThat(read(fd, 0, 1)).isEqualTo(-Errno.EBADF);
        }
        assertThat(RawFile.readCached(-1, 0, to.address(), 1)).isEqualTo(-Errno.EBADF);
        try (Fd fd = PosixFile.open(dir, PosixFile.O_RDONLY, 0)) {
            assertThat(read(fd, 0, 1)).isNegative();
        }
    }
}
