// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/** Advice to the kernel about memory of this process: madvise(2). Stateless and thread-safe. */
public final class Madvise {
    static final int MADV_WILLNEED = 3;
    static final int MADV_HUGEPAGE = 14;
    static final int MADV_POPULATE_READ = 22;
    static final int MADV_POPULATE_WRITE = 23;

    private Madvise() {}

    /**
     * Populates the pages of a range, as if it were read, or written without changing a byte. On kernels before 5.14
     * this only advises the kernel that the range will be needed.
     *
     * @param segment native memory; all pages that it overlaps are populated
     * @param write true to make the pages writable as well
     * @throws LinuxException {@code EFAULT}: a page cannot be populated; {@code ENOMEM}: a part of the range is not
     *         mapped, or memory is short
     */
    public static void populate(MemorySegment segment, boolean write) throws LinuxException {
        if (advise(segment, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == Errno.EINVAL) {
            willNeed(segment);
        }
    }

    /**
     * Advises that a range will be needed soon: pages in swap or in a file may be read ahead.
     *
     * @param segment native memory
     * @throws LinuxException {@code ENOMEM}: a part of the range is not mapped
     */
    public static void willNeed(MemorySegment segment) throws LinuxException {
        int errno = advise(segment, MADV_WILLNEED);
        if (errno != 0) {
            throw new LinuxException(name(segment, MADV_WILLNEED), errno);
        }
    }

    /**
     * Asks for huge pages, a hint.
     *
     * @param segment native memory
     * @return true if the kernel has accepted the hint
     */
    public static boolean preferHugePages(MemorySegment segment) {
        Args.requireNative(segment, "memory to advise on");
        return call(segment, MADV_HUGEPAGE) == 0;
    }

    private static int advise(MemorySegment segment, int advice) throws LinuxException {
        Args.requireNative(segment, "memory to advise on");
        int errno = call(segment, advice);
        if (errno != 0 && errno != Errno.EINVAL) {
            throw new LinuxException(name(segment, advice), errno);
        }
        return errno;
    }

    private static int call(MemorySegment segment, int advice) {
        long page = Sys.pageSize();
        long from = segment.address() & -page;
        long length = segment.address() + segment.byteSize() - from;
        long result;
        do {
            // held: if an arena were closed meanwhile, the call could reach memory that another thread has mapped since
            result = Native.call(segment, SyscallNumber.MADVISE, from, length, advice, 0, 0, 0);
        } while (result == -Errno.EINTR || result == -Errno.EAGAIN);
        return (int) -result;
    }

    private static String name(MemorySegment segment, int advice) {
        return "madvise(0x" + Long.toHexString(segment.address()) + ", " + segment.byteSize() + ", " + advice + ")";
    }
}
