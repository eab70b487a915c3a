// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.RawMemory;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Places in memory that one call reads into or writes from, one after the other: {@code struct iovec}[], with room for a
 * {@link VnetHeader} of its own.
 *
 * <p>Each place is checked when it is added. The caller keeps the memory of the places allocated until the call has
 * returned; memory of an arena that is closed earlier may make the call fail with {@code EFAULT}, or read what is there
 * then. Nothing allocates after the constructor. One thread at a time.
 */
@SuppressWarnings("ReachabilityFenceUsage") // a call that throws touches nothing any more
public final class IoVectors {
    private static final int IOVEC_BYTES = 16;
    /** Of the kernel: UIO_MAXIOV. */
    private static final int MOST = 1024;

    private final MemorySegment memory;
    private final MemorySegment header;
    private final int capacity;
    private int count;
    private long bytes;

    /**
     * Room for places.
     *
     * @param capacity 1 to 1024
     */
    public IoVectors(int capacity) {
        Args.requireBetween(capacity, 1, MOST, "the number of places");
        this.capacity = capacity;
        Arena arena = Arena.ofAuto();
        memory = arena.allocate((long) capacity * IOVEC_BYTES, 16);
        header = arena.allocate(VnetHeader.BYTES, 8);
    }

    /** Memory of its own, {@link VnetHeader#BYTES} long, for the header of one packet. */
    public MemorySegment header() {
        return header;
    }

    /** Removes all places. */
    public IoVectors clear() {
        count = 0;
        bytes = 0;
        return this;
    }

    /**
     * Adds a place.
     *
     * @throws IndexOutOfBoundsException outside the segment, or for more places than there is room for
     * @throws IllegalArgumentException for heap memory
     */
    public IoVectors add(MemorySegment segment, long offset, long length) {
        if (count == capacity) {
            throw new IndexOutOfBoundsException("there is room for " + capacity + " places");
        }
        long at = memory.address() + (long) count * IOVEC_BYTES;
        RawMemory.putLong(at, Args.address(segment, offset, length, "the memory"));
        RawMemory.putLong(at + 8, length);
        count++;
        bytes += length;
        return this;
    }

    /** Bytes of all places. */
    public long byteSize() {
        return bytes;
    }

    /** readv(2); the result, or minus errno. */
    long read(Fd fd) {
        long result = Native.call(memory, SyscallNumber.READV, fd.valueOrNegative(), memory.address(), count, 0, 0, 0);
        Reference.reachabilityFence(header);
        return result;
    }

    /** writev(2); the result, or minus errno. A call that fails has written nothing, so it can be repeated for its errno. */
    long write(Fd fd) {
        long result = Native.callRepeatable(memory, SyscallNumber.WRITEV, fd.valueOrNegative(), memory.address(), count,
                0, 0, 0);
        Reference.reachabilityFence(header);
        return result;
    }
}
