// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Files by descriptor, for operations that {@link java.nio.channels.FileChannel} does not offer: openat(2), flock(2),
 * pread(2) of a file that was checked after it was opened, and pwrite(2) of a descriptor of the JDK's. With {@link Memfd#allocate} the space of a file can be
 * reserved. Stateless and thread-safe.
 */
public final class PosixFile {
    /** Open for reading. */
    public static final int O_RDONLY = 0;
    /** Open for writing. */
    public static final int O_WRONLY = 1;
    /** Open for both. */
    public static final int O_RDWR = 2;
    /** Create the file if there is none. */
    public static final int O_CREAT = 0x40;
    /** Fail with {@code EEXIST} if there is one. */
    public static final int O_EXCL = 0x80;
    /** Truncate the file. */
    public static final int O_TRUNC = 0x200;
    /** Do not block, for instance for the other end of a pipe. */
    public static final int O_NONBLOCK = 0x800;
    /** Fail with {@code ELOOP} if the last name is a symbolic link. */
    public static final int O_NOFOLLOW = SyscallNumber.AARCH64 ? 0x8000 : 0x20000;

    static final int O_CLOEXEC = 0x80000;
    static final int AT_FDCWD = -100;
    static final int OPENAT = SyscallNumber.AARCH64 ? 56 : 257;

    private static final int ACCESS_MODE = 3;
    private static final int KNOWN_FLAGS = ACCESS_MODE | O_CREAT | O_EXCL | O_TRUNC | O_NONBLOCK | O_NOFOLLOW;
    private static final int LOCK_EX = 2;
    private static final int LOCK_NB = 4;
    private static final int LOCK_UN = 8;

    private PosixFile() {}

    /**
     * Opens a file; it is not inherited by exec.
     *
     * @param path a path of the default file system
     * @param flags a union of the constants of this class
     * @param mode permission bits of a new file, minus the process's umask; 0 to 0777
     * @return the descriptor
     * @throws LinuxException {@code ENOENT}, {@code EACCES}, {@code EEXIST}, {@code ELOOP}, {@code ENOSPC}, …
     */
    public static Fd open(Path path, int flags, int mode) throws LinuxException {
        if ((flags & ~KNOWN_FLAGS) != 0 || (flags & ACCESS_MODE) == ACCESS_MODE) {
            throw new IllegalArgumentException("unknown flags 0x" + Integer.toHexString(flags));
        }
        if (mode < 0 || mode > 0777) {
            throw new IllegalArgumentException("not permission bits: 0" + Integer.toOctalString(mode));
        }
        byte[] bytes = PathBytes.of(path);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(bytes.length + 1L);
            MemorySegment.copy(bytes, 0, name, ValueLayout.JAVA_BYTE, 0, bytes.length);
            long result;
            do {
                result = Native.call(name, OPENAT, AT_FDCWD, name.address(), flags | O_CLOEXEC, mode, 0, 0);
            } while (result == -Errno.EINTR);
            return Fd.ofResult(result, "open(\"" + path + "\", 0x" + Integer.toHexString(flags) + ")");
        }
    }

    /**
     * Locks a file for this open file description alone, without waiting: flock(2). The lock ends with the
     * description's last descriptor, so the death of the process releases it.
     *
     * @return false if another one has it
     * @throws LinuxException {@code EBADF}, {@code ENOLCK}
     */
    public static boolean tryLock(Fd fd) throws LinuxException {
        int number = fd.value();
        long result;
        do {
            result = Native.call(SyscallNumber.FLOCK, number, LOCK_EX | LOCK_NB);
        } while (result == -Errno.EINTR);
        if (result == -Errno.EWOULDBLOCK) {
            return false;
        }
        Args.check(result, "flock(fd " + number + ", LOCK_EX|LOCK_NB)");
        return true;
    }

    /**
     * Ends what {@link #tryLock} began.
     *
     * @throws LinuxException {@code EBADF}
     */
    public static void unlock(Fd fd) throws LinuxException {
        int number = fd.value();
        Args.check(Native.call(SyscallNumber.FLOCK, number, LOCK_UN), "flock(fd " + number + ", LOCK_UN)");
    }

    /**
     * Reads at an offset of a file: pread(2). A file that was truncated is read up to its end.
     *
     * @param to native memory
     * @param offset byte in the file, 0 or more
     * @return bytes read; fewer than fit into {@code to} only at the end of the file
     * @throws LinuxException {@code EBADF}, {@code EISDIR}, {@code EIO}
     */
    public static long read(Fd fd, long offset, MemorySegment to) throws LinuxException {
        int number = fd.value();
        Args.requireWritable(to, "the memory to read into");
        long address = Args.address(to, 0, to.byteSize(), "the memory to read into");
        long done = 0;
        while (done < to.byteSize()) {
            long n = Native.call(to, SyscallNumber.PREAD64, number, address + done, to.byteSize() - done,
                    offset + done, 0, 0);
            if (n == 0) {
                break;
            }
            if (n != -Errno.EINTR) {
                done += Args.check(n, "pread(fd " + number + ", " + to.byteSize() + " bytes at " + offset + ")");
            }
        }
        return done;
    }

    /**
     * Writes at an offset of a file, once: pwrite(2). Waits as the file system does; allocates nothing where bytes are written.
     *
     * @param fd open for writing; the caller keeps and closes it
     * @param offset byte in the file, of which one that appends takes no notice
     * @param from native memory
     * @param length bytes of it from {@code start} on
     * @return bytes written, fewer than {@code length} where there is no room for more; or minus errno: {@code ENOSPC},
     *         {@code EFBIG}, {@code EBADF}, {@code ESPIPE}, {@code EINTR}, …
     * @throws IllegalArgumentException for heap memory
     * @throws IndexOutOfBoundsException if the range is not inside the segment
     */
    public static long write(int fd, long offset, MemorySegment from, long start, long length) {
        long address = Args.address(from, start, length, "the bytes to write");
        return Native.callRepeatable(from, SyscallNumber.PWRITE64, fd, address, length, offset, 0, 0);
    }
}
