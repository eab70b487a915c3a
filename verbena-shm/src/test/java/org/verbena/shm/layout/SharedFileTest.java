// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.RawMemory;
import org.verbena.linux.spi.SyscallNumber;

/** A peer can read a file of ours, and do nothing else with it. */
class SharedFileTest {
    private static final long SIZE = 1 << 20;
    private static final long VALUE = 0x0123_4567_89ab_cdefL;
    private static final boolean X86 = "amd64".equals(System.getProperty("os.arch"));
    private static final int MPROTECT = X86 ? 10 : 226;
    private static final int FTRUNCATE = X86 ? 77 : 46;
    private static final int MADVISE = X86 ? 28 : 233;
    private static final int READ_AND_WRITE = 3;
    private static final int KEEP_SIZE_PUNCH_HOLE = 3;
    private static final int ZERO_RANGE = 16;
    private static final int COLLAPSE_RANGE = 8;
    private static final int MADV_REMOVE = 9;

    private SharedFile file;
    private Mapping peer;

    @BeforeEach
    void open() throws Exception {
        file = new SharedFile("test", SIZE, 4096);
        file.reserve(0, 16384);
        peer = SharedFile.mapPeer(file.fd(), SIZE);
        RawMemory.putLong(file.address() + 4096, VALUE);
    }

    @AfterEach
    void stillOurs() throws Exception {
        assertThat(RawMemory.getLong(file.address() + 4096)).isEqualTo(VALUE);
        assertThat(RawMemory.getLong(peer.address() + 4096)).isEqualTo(VALUE);
        RawMemory.putLong(file.address() + 8192, VALUE);
        assertThat(RawMemory.getLong(peer.address() + 8192)).as("the owner writes on").isEqualTo(VALUE);
        assertThat(Memfd.size(file.fd())).isEqualTo(SIZE);
        file.close();
    }

    private static void assertRefused(int errno, long result) {
        assertThat(result).as("-errno").isEqualTo(-errno);
    }

    @Test
    void peerMappingIsReadOnlyAndCannotBeMadeWritable() {
        assertThat(peer.segment().isReadOnly()).isTrue();
        assertRefused(Errno.EACCES, Native.call(MPROTECT, peer.address(), SIZE, READ_AND_WRITE));
        assertRefused(Errno.EACCES, Native.call(MPROTECT, peer.address() + 4096, 4096, READ_AND_WRITE));
    }

    @Test
    void secondWritableMappingIsRefusedAlsoThroughProc() throws Exception {
        assertThatThrownBy(() -> Mapping.map(file.fd(), 0, SIZE, true)).isInstanceOfSatisfying(LinuxException.class,
                e -> assertThat(e.errno()).isEqualTo(Errno.EPERM));
        try (FileChannel again = reopened()) {
            assertThatThrownBy(() -> again.map(FileChannel.MapMode.READ_WRITE, 0, SIZE)).isInstanceOf(
                    IOException.class);
        }
    }

    @Test
    void writingIsRefusedAlsoThroughProc() throws Exception {
        try (FileChannel again = reopened()) {
            assertThatThrownBy(() -> again.write(ByteBuffer.allocate(8), 4096)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> again.truncate(4096)).isInstanceOf(IOException.class);
        }
    }

    private FileChannel reopened() throws IOException {
        return FileChannel.open(Path.of("/proc/self/fd/" + file.fd().value()), StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    @Test
    void sizeAndPagesCannotChange() {
        int fd = file.fd().value();
        assertRefused(Errno.EPERM, Native.call(FTRUNCATE, fd, 0));
        assertRefused(Errno.EPERM, Native.call(FTRUNCATE, fd, 2 * SIZE));
        assertRefused(Errno.EPERM, Native.call(SyscallNumber.FALLOCATE, fd, KEEP_SIZE_PUNCH_HOLE, 4096, 4096));
        assertThat(Native.call(SyscallNumber.FALLOCATE, fd, ZERO_RANGE, 4096, 4096)).isNegative();
        assertThat(Native.call(SyscallNumber.FALLOCATE, fd, COLLAPSE_RANGE, 4096, 4096)).isNegative();
        assertThat(Native.call(MADVISE, peer.address(), SIZE, MADV_REMOVE)).isNegative();
    }

    @Test
    void sealsCannotBeRemovedOrAdded() throws Exception {
        assertThatThrownBy(() -> Memfd.addSeals(file.fd(), Memfd.SEAL_WRITE)).isInstanceOf(LinuxException.class);
        assertThat(Memfd.seals(file.fd()) & (Memfd.SEAL_SEAL | Memfd.SEAL_SHRINK | Memfd.SEAL_GROW
                | Memfd.SEAL_FUTURE_WRITE)).isEqualTo(Memfd.SEAL_SEAL | Memfd.SEAL_SHRINK | Memfd.SEAL_GROW
                        | Memfd.SEAL_FUTURE_WRITE);
    }

    @Test
    void peerFileThatCouldShrinkOrHasAnotherSizeIsRefused() throws Exception {
        try (Fd bare = Memfd.create("bare", SIZE); Fd half = Memfd.create("half", SIZE)) {
            assertThatThrownBy(() -> SharedFile.mapPeer(bare, SIZE)).isInstanceOf(ProtocolException.class);
            Memfd.addSeals(half, Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_FUTURE_WRITE);
            assertThatThrownBy(() -> SharedFile.mapPeer(half, SIZE)).isInstanceOf(ProtocolException.class);
            assertThatThrownBy(() -> SharedFile.mapPeer(file.fd(), SIZE + 4096)).isInstanceOf(ProtocolException.class);
        }
    }

    @Test
    void overlappingReservationsSucceed() throws Exception {
        file.reserve(8192, 100_000);
        file.reserve(4096, 4096);
        file.reserve(0, SIZE);
        file.reserve(SIZE - 1, 1);
    }
}
