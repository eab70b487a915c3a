package org.verbena.shm;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;

/**
 * What the data path knows of a memory region of this process: bounds, rights, and how to reach it. Immutable but for
 * {@link #valid}.
 */
final class Region {
    /** The table that the region stands in: one for each context. */
    final KeyTable table;
    final int key;
    final int pd;
    final int access;
    final long address;
    final long length;
    final MemorySegment segment;
    /** The allocation that the memory belongs to; null if it was only registered. */
    final @Nullable Allocation allocation;
    /** False once deregistration has begun. */
    volatile boolean valid = true;

    Region(KeyTable table, int key, int pd, int access, MemorySegment segment, @Nullable Allocation allocation) {
        this.table = table;
        this.key = key;
        this.pd = pd;
        this.access = access;
        this.address = segment.address();
        this.length = segment.byteSize();
        this.segment = segment;
        this.allocation = allocation;
    }

    /** True if the memory stays mapped whatever happens, so that it may be touched by address. */
    boolean isRaw() {
        return allocation != null;
    }

    /** True if {@code bytes} from {@code at} lie within the region; safe against overflow. */
    boolean covers(long at, long bytes) {
        long offset = at - address;
        return offset >= 0 && bytes >= 0 && offset <= length && bytes <= length - offset;
    }

    /**
     * Copies out of the region. Registered memory may be gone, or not be this thread's: then nothing is copied.
     *
     * @return false if the memory cannot be read
     */
    boolean copyOut(long at, long to, long bytes) {
        if (isRaw()) {
            Copy.bytes(at, to, bytes);
            return true;
        }
        try {
            MemorySegment.copy(segment, at - address, RawMemory.segment(to, bytes), 0, bytes);
            return true;
        } catch (IllegalStateException | WrongThreadException | InternalError e) {
            return false;
        }
    }

    /** Copies into the region; as {@link #copyOut}. */
    boolean copyIn(long from, long at, long bytes) {
        if (isRaw()) {
            Copy.bytes(from, at, bytes);
            return true;
        }
        try {
            MemorySegment.copy(RawMemory.segment(from, bytes), 0, segment, at - address, bytes);
            return true;
        } catch (IllegalStateException | WrongThreadException | InternalError | UnsupportedOperationException
                | IllegalArgumentException e) {
            return false;
        }
    }
}
