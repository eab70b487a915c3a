// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Memory mapped into this process: mmap(2).
 *
 * <p>The address range stays mapped for as long as this object, {@link #segment()} or any slice of it is reachable, and
 * is unmapped by the garbage collector afterwards. There is no explicit unmap on purpose: no access through the segment
 * can ever fault with SIGSEGV. {@link #discard()} releases the memory at once. (A caller that uses {@link #address()}
 * keeps this object reachable.)
 *
 * <p>One fault remains possible: a file that is <em>truncated</em> below a mapping gives SIGBUS, which the JVM reports
 * as {@link InternalError}. Seal memory files with {@link Memfd#SEAL_SHRINK}, and check the seal of a file that another
 * process sent. Mapping a range beyond the end of a file is rejected here.
 *
 * <p>Thread-safe.
 */
public final class Mapping {
    static final int PROT_READ = 1;
    static final int PROT_WRITE = 2;
    static final int MAP_SHARED = 0x01;
    static final int MAP_PRIVATE = 0x02;
    static final int MAP_FIXED = 0x10;
    static final int MAP_ANONYMOUS = 0x20;
    static final int MAP_NORESERVE = 0x4000;

    private final MemorySegment segment;
    private final long address;
    private final long length;
    private volatile @Nullable ByteBuffer buffer;
    private boolean discarded;

    private Mapping(long address, long length, boolean writable) {
        MemorySegment whole = MemorySegment.ofAddress(address)
                .reinterpret(length, Arena.ofAuto(), range -> unmap(range.address(), length));
        this.segment = writable ? whole : whole.asReadOnly();
        this.address = address;
        this.length = length;
    }

    private static void unmap(long address, long length) {
        Native.call(SyscallNumber.MUNMAP, address, length);
    }

    /**
     * Maps a part of a file, shared with every other process that maps it.
     *
     * @param fd the file; the mapping does not need it afterwards
     * @param offset first byte, a multiple of the {@linkplain Sys#pageSize() page size}
     * @param length bytes, more than 0; need not be a multiple of the page size
     * @param writable false to map read-only
     * @return the mapping
     * @throws IllegalArgumentException for an offset or length that is impossible for a file
     * @throws LinuxException {@code EACCES} (descriptor not open for that), {@code EPERM} (sealed), {@code ENOMEM},
     *         {@code EBADF}, {@code ENODEV}, {@code EINVAL} (also: the range exceeds the end of the file)
     */
    public static Mapping map(Fd fd, long offset, long length, boolean writable) throws LinuxException {
        Args.requireRange(offset, length);
        int page = Sys.pageSize();
        if (offset % page != 0) {
            throw new IllegalArgumentException("offset " + offset + " is not a multiple of the page size, " + page);
        }
        int number = fd.value();
        String call = "mmap(fd " + number + ", offset=" + offset + ", length=" + length + ", MAP_SHARED"
                + (writable ? ")" : ", read-only)");
        Statx file = Statx.of(fd);
        if (file.regularFile() && offset + length - 1 > lastByteOfLastPage(file.size(), page)) {
            throw new LinuxException(
                    call, Errno.EINVAL, "the file has " + file.size()
                            + " bytes only; an access to the rest would fault");
        }
        int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
        return new Mapping(mmap(0, length, protection, MAP_SHARED, number, offset, call), length, writable);
    }

    private static long lastByteOfLastPage(long size, int page) {
        return size == 0 ? -1 : (size - 1) | (page - 1);
    }

    /**
     * Maps new private memory, all zero. Pages are allocated when they are accessed first.
     *
     * @param length bytes, more than 0
     * @return the mapping, writable
     * @throws LinuxException {@code ENOMEM}
     */
    public static Mapping anonymous(long length) throws LinuxException {
        Args.requireRange(0, length);
        String call = "mmap(length=" + length + ", MAP_PRIVATE|MAP_ANONYMOUS)";
        int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        return new Mapping(mmap(0, length, PROT_READ | PROT_WRITE, flags, -1, 0, call), length, true);
    }

    private static long mmap(long at, long length, int protection, int flags, int fd, long offset, String call)
            throws LinuxException {
        return Args.check(Native.call(SyscallNumber.MMAP, at, length, protection, flags, fd, offset), call);
    }

    /**
     * The memory.
     *
     * @return a segment of {@link #length()} bytes, read-only if the mapping is; it and its slices keep the range
     *     mapped
     */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * The memory as a buffer, the same one each time: for accesses by index, which change nothing of it.
     *
     * @return null for memory that is too large for a buffer
     */
    public @Nullable ByteBuffer buffer() {
        ByteBuffer all = buffer;
        if (all == null && length <= Integer.MAX_VALUE) {
            all = segment.asByteBuffer();
            buffer = all;
        }
        return all;
    }

    /**
     * The address of the first byte.
     *
     * @return a multiple of the page size; valid while this object is reachable
     */
    public long address() {
        return address;
    }

    /**
     * The requested length.
     *
     * @return bytes
     */
    public long length() {
        return length;
    }

    /**
     * Replaces the whole range, atomically, by new private memory that reads as zero. The file's pages are no longer
     * reachable through this mapping when the call returns, so they are released as soon as no other mapping or
     * descriptor holds them; stale accesses stay harmless. The new memory is readable, and writable if the mapping is,
     * and costs nothing before it is written. Idempotent.
     *
     * @throws LinuxException {@code ENOMEM} (too many mappings); the range is unchanged then
     */
    public synchronized void discard() throws LinuxException {
        if (discarded) {
            return;
        }
        try {
            int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
            // read-only memory is not counted as committed, in any overcommit mode
            int protection = segment.isReadOnly() ? PROT_READ : PROT_READ | PROT_WRITE;
            mmap(address, length, protection, flags, -1, 0,
                    "mmap(length=" + length + ", MAP_FIXED|MAP_ANONYMOUS)");
            discarded = true;
        } finally {
            Reference.reachabilityFence(segment);
        }
    }

    /**
     * Whether {@link #discard()} was called.
     *
     * @return true if the memory is no longer the file's
     */
    public synchronized boolean isDiscarded() {
        return discarded;
    }

    @Override
    public String toString() {
        return "Mapping[0x" + Long.toHexString(address) + ", " + length + " bytes"
                + (segment.isReadOnly() ? ", read-only" : "") + "]";
    }
}
