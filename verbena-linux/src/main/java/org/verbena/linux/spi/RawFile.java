// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux.spi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Reads files by address: preadv2(2).
 *
 * <p>For sibling modules only: <strong>callers check bounds</strong>, and keep memory and descriptor. Nothing is thrown, and
 * nothing allocated where bytes are read. Thread-safe.
 */
public final class RawFile {
    static final int RWF_NOWAIT = 8;
    static final int TMPFS_MAGIC = 0x01021994;

    private RawFile() {}

    /**
     * Reads what the page cache has, and so waits for no disk. A file of tmpfs, which the kernel does not read so, is in
     * memory as a whole.
     *
     * @param fd the file's descriptor
     * @param position of the first byte in the file, 0 or more
     * @param address where to write
     * @param length bytes, 1 or more
     * @return bytes read, fewer than {@code length} at the end of the file or of what is cached; 0 at the end of the file; or
     *         minus errno: {@code EAGAIN} (not cached), {@code EOPNOTSUPP} (the file system cannot say, as overlayfs),
     *         {@code EBADF} (not open for reading), {@code ESPIPE}, {@code EFAULT}, …
     */
    public static long readCached(int fd, long position, long address, long length) {
        long n = preadv2(false, fd, position, address, length);
        if (n != -1) {
            return n;
        }
        return isInMemory(fd) // before the errno is asked for, which may allocate
                ? Native.callRepeatable(SyscallNumber.PREAD64, fd, address, length, position, 0, 0)
                : preadv2(true, fd, position, address, length);
    }

    private static long preadv2(boolean errno, int fd, long position, long address, long length) {
        Native.Scratch scratch = Native.scratch();
        MemorySegment iovec = scratch.memory(); // struct iovec {void *base; size_t length;}
        iovec.set(ValueLayout.JAVA_LONG, 0, address);
        iovec.set(ValueLayout.JAVA_LONG, 8, length);
        return errno
                ? Native.call(SyscallNumber.PREADV2, fd, scratch.address(), 1, position, 0, RWF_NOWAIT)
                : Native.callWithoutErrno(MemorySegment.NULL, SyscallNumber.PREADV2, fd, scratch.address(), 1, position,
                        0,
                        RWF_NOWAIT);
    }

    private static boolean isInMemory(int fd) {
        Native.Scratch scratch = Native.scratch();
        return Native.callWithoutErrno(MemorySegment.NULL, SyscallNumber.FSTATFS, fd, scratch.address(), 0, 0, 0,
                0) == 0
                && scratch.memory().get(ValueLayout.JAVA_LONG, 0) == TMPFS_MAGIC;
    }
}
