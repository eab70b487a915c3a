// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Buffers that drivers share by descriptor: dma-buf. Their size never changes, so that a mapping of one cannot fault.
 * Stateless and thread-safe.
 */
public final class DmaBuf {
    static final int DMA_BUF_SYNC_READ = 1;
    static final int DMA_BUF_SYNC_WRITE = 2;
    static final int DMA_BUF_SYNC_RW = DMA_BUF_SYNC_READ | DMA_BUF_SYNC_WRITE;
    static final int DMA_BUF_SYNC_START = 0;
    static final int DMA_BUF_SYNC_END = 4;
    static final long DMA_BUF_IOCTL_SYNC = 0x4008_6200L;
    static final long DMA_BUF_MAGIC = 0x444d_4142L;
    static final int SEEK_END = 2;

    private DmaBuf() {}

    /**
     * Whether a descriptor refers to such a buffer, by the file system that the kernel keeps them in: no other file can
     * pass for one.
     *
     * @param fd any descriptor
     * @return true if it does
     * @throws LinuxException {@code EBADF}
     */
    public static boolean isDmaBuf(Fd fd) throws LinuxException {
        int number = fd.value();
        Native.Scratch scratch = Native.scratch();
        long result = Native.call(SyscallNumber.FSTATFS, number, scratch.address());
        if (result == -Errno.ENOSYS) {
            return false;
        }
        Args.check(result, "fstatfs(fd " + number + ")");
        return scratch.memory().get(ValueLayout.JAVA_LONG, 0) == DMA_BUF_MAGIC;
    }

    /**
     * The buffer's size.
     *
     * @param fd a buffer
     * @return bytes
     * @throws LinuxException {@code EBADF}, {@code ESPIPE}
     */
    public static long size(Fd fd) throws LinuxException {
        int number = fd.value();
        return Args.check(Native.call(SyscallNumber.LSEEK, number, 0, SEEK_END), "lseek(fd " + number + ", SEEK_END)");
    }

    /**
     * Begins CPU access to the buffer through a mapping; nests.
     *
     * @param fd a buffer
     * @throws LinuxException {@code EBADF}, {@code ENOTTY} (not a buffer), or the exporter's error
     */
    public static void beginAccess(Fd fd) throws LinuxException {
        sync(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
    }

    /**
     * Ends CPU access, so that devices see what was written.
     *
     * @param fd a buffer
     * @throws LinuxException as {@link #beginAccess}
     */
    public static void endAccess(Fd fd) throws LinuxException {
        sync(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
    }

    private static void sync(Fd fd, long flags) throws LinuxException {
        int number = fd.value();
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_LONG, 0, flags); // struct dma_buf_sync {u64 flags;}
        long result;
        do {
            result = Native.call(SyscallNumber.IOCTL, number, DMA_BUF_IOCTL_SYNC, scratch.address());
        } while (result == -Errno.EINTR || result == -Errno.EAGAIN);
        Args.check(result, "ioctl(fd " + number + ", DMA_BUF_IOCTL_SYNC, " + flags + ")");
    }
}
