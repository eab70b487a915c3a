// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Files in memory without a name in any directory: memfd_create(2), ftruncate(2), fallocate(2), and seals, fcntl(2).
 *
 * <p>Such a file disappears with its last descriptor and mapping, also when its processes are killed. Stateless and
 * thread-safe.
 */
public final class Memfd {
    /** No more seals can be added. */
    public static final int SEAL_SEAL = 1;
    /** The file cannot become shorter, so that a mapping of it cannot fault. */
    public static final int SEAL_SHRINK = 2;
    /** The file cannot become longer. */
    public static final int SEAL_GROW = 4;
    /** The contents cannot change; refused with {@code EBUSY} while a writable shared mapping exists. */
    public static final int SEAL_WRITE = 8;
    /** No new writable mapping and no write(2); existing writable mappings stay writable. */
    public static final int SEAL_FUTURE_WRITE = 16;

    static final int MFD_CLOEXEC = 1;
    static final int MFD_ALLOW_SEALING = 2;
    static final int MFD_NOEXEC_SEAL = 8;
    static final int F_ADD_SEALS = 1033;
    static final int F_GET_SEALS = 1034;
    static final int MAX_NAME = 249;

    private static final long SLICE = 256L << 20;

    private Memfd() {}

    /**
     * Creates a file that can be sealed and is not inherited by exec. Its bytes are zero; no memory is used before they
     * are accessed or {@linkplain #allocate allocated}.
     *
     * @param name what /proc/PID/maps shows, at most 249 bytes of UTF-8; names need not be unique
     * @param size bytes, 0 or more
     * @return the descriptor
     * @throws LinuxException {@code EMFILE}, {@code ENFILE}, {@code ENOMEM}, {@code EFBIG}, {@code EINVAL}
     */
    public static Fd create(String name, long size) throws LinuxException {
        byte[] bytes = Args.name(name, MAX_NAME, "the name of a memory file");
        if (size < 0) {
            throw new IllegalArgumentException("negative size: " + size);
        }
        Native.Scratch scratch = Native.scratch();
        MemorySegment.copy(bytes, 0, scratch.memory(), ValueLayout.JAVA_BYTE, 0, bytes.length);
        scratch.memory().set(ValueLayout.JAVA_BYTE, bytes.length, (byte) 0);
        int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
        long result = Native.call(SyscallNumber.MEMFD_CREATE, scratch.address(), flags | MFD_NOEXEC_SEAL);
        if (result == -Errno.EINVAL) { // a kernel before 6.3
            result = Native.call(SyscallNumber.MEMFD_CREATE, scratch.address(), flags);
        }
        Fd fd = Fd.ofResult(result, "memfd_create(\"" + name + "\")");
        long truncated = Native.call(SyscallNumber.FTRUNCATE, fd.value(), size);
        if (truncated < 0) {
            fd.close();
            throw new LinuxException("ftruncate(memfd \"" + name + "\", " + size + ")", (int) -truncated);
        }
        return fd;
    }

    /**
     * Reserves the pages of a range now, so that accesses later cannot fail (SIGBUS). Extends the file if the range
     * exceeds its end.
     *
     * <p>The kernel itself does not reject a range that does not fit into memory: it allocates page after page until
     * the out-of-memory killer ends processes, this one or others. So for a file in memory the length is compared with
     * {@link Sys#availableMemory()} first, and again between slices of 256 MiB; a request that would leave less than a
     * sixteenth of it free fails with {@code ENOMEM} here. If memory runs short meanwhile, a part of the range may stay
     * reserved.
     *
     * @param fd a memory file, or any file of a file system that supports it
     * @param offset first byte, 0 or more
     * @param length bytes, more than 0
     * @throws LinuxException {@code ENOSPC}, {@code ENOMEM}, {@code EFBIG}, {@code EPERM} (sealed), {@code EBADF},
     *         {@code EOPNOTSUPP}
     */
    public static void allocate(Fd fd, long offset, long length) throws LinuxException {
        Args.requireRange(offset, length);
        int number = fd.value();
        String call = "fallocate(fd " + number + ", offset=" + offset + ", length=" + length + ")";
        boolean inMemory = Native.call(SyscallNumber.FCNTL, number, F_GET_SEALS) >= 0; // tmpfs and hugetlbfs only
        long slice = inMemory ? SLICE : length;
        for (long done = 0; done < length; done += slice) {
            if (inMemory) {
                // existing pages of the file may be elsewhere in it: this is the least that is still needed
                long needed = length - done - (done == 0 ? Statx.of(fd).allocated() : 0);
                requireMemory(needed, MemoryBudget.OF_PROCESS.availableFor(Math.max(0, needed)), call);
            }
            long part = Math.min(slice, length - done);
            long result;
            do {
                result = Native.call(SyscallNumber.FALLOCATE, number, 0, offset + done, part);
            } while (result == -Errno.EINTR);
            Args.check(result, call);
        }
    }

    /** Rejects a request that would leave less than a sixteenth of the available memory. */
    static void requireMemory(long needed, long available, String call) throws LinuxException {
        if (needed > available - available / 16) {
            throw new LinuxException(call, Errno.ENOMEM, "only " + available + " bytes of memory are available");
        }
    }

    /**
     * The length of the file.
     *
     * @param fd any file
     * @return bytes
     * @throws LinuxException {@code EBADF}
     */
    public static long size(Fd fd) throws LinuxException {
        return Statx.of(fd).size();
    }

    /**
     * Adds seals; they cannot be removed again.
     *
     * @param fd a memory file
     * @param seals a union of {@code SEAL_} constants
     * @throws LinuxException {@code EBUSY} ({@link #SEAL_WRITE} while mapped writable), {@code EPERM} (sealed against
     *         seals), {@code EINVAL} (unknown seals, or not a memory file)
     */
    public static void addSeals(Fd fd, int seals) throws LinuxException {
        int number = fd.value();
        Args.check(
                Native.call(SyscallNumber.FCNTL, number, F_ADD_SEALS, seals),
                "fcntl(fd " + number + ", F_ADD_SEALS, 0x" + Integer.toHexString(seals) + ")");
    }

    /**
     * The seals that are set.
     *
     * @param fd a memory file
     * @return a union of {@code SEAL_} constants, and of others that the kernel knows (0x20 is {@code F_SEAL_EXEC},
     *     set at creation since Linux 6.3)
     * @throws LinuxException {@code EINVAL} if the file cannot have seals
     */
    public static int seals(Fd fd) throws LinuxException {
        int number = fd.value();
        return (int) Args.check(
                Native.call(SyscallNumber.FCNTL, number, F_GET_SEALS), "fcntl(fd " + number + ", F_GET_SEALS)");
    }
}
