// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Sys;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.Copy;

/**
 * A memory region of this process for the data path: bounds, rights, and access. Immutable but for
 * {@link #valid}.
 */
public final class Region {
    /** The table that holds the region: one for each context. */
    public final KeyTable table;
    public final int key;
    public final int pd;
    public final int access;
    /** The address of the first byte in this process. */
    public final long address;
    /** The first byte as work requests name it. */
    public final long iova;
    /** {@link #address} less {@link #iova}. */
    private final long shift;
    public final long length;
    public final MemorySegment segment;
    /** The allocation that the memory belongs to; null if it was only registered. */
    final @Nullable public Allocation allocation;
    /** True if there is no memory: it reads as zero, and writes are discarded. */
    public final boolean nullRegion;
    private final AtomicInteger windows = new AtomicInteger();
    /** False once deregistration has begun. */
    public volatile boolean valid = true;

    Region(KeyTable table, int key, int pd, int access, Backing backing) {
        this.table = table;
        this.key = key;
        this.pd = pd;
        this.access = access;
        this.address = backing.segment().address();
        this.iova = backing.iova();
        this.shift = address - iova;
        this.length = backing.length();
        this.segment = backing.segment();
        this.allocation = backing.allocation();
        this.nullRegion = backing.nullRegion();
    }

    /** Counts a memory window that is bound to it; false if the region is being closed. */
    boolean bind() {
        int n;
        do {
            n = windows.get();
        } while (n >= 0 && !windows.compareAndSet(n, n + 1));
        return n >= 0;
    }

    /** Undoes {@link #bind}. */
    void unbind() {
        windows.decrementAndGet();
    }

    /** Lets no window be bound any more; false if one is. */
    boolean refuseWindows() {
        return windows.compareAndSet(0, -1) || windows.get() < 0;
    }

    /** Lets windows be bound again. */
    void allowWindows() {
        windows.compareAndSet(-1, 0);
    }

    /** The address in this process of the address {@code at} of work requests. */
    public long local(long at) {
        return at + shift;
    }

    /** True if the memory stays mapped whatever happens, so that it may be accessed by address. */
    public boolean isRaw() {
        return allocation != null;
    }

    /** True if {@code bytes} from {@code at} lie within the region; safe against overflow. */
    boolean covers(long at, long bytes) {
        long offset = at - iova;
        return offset >= 0 && bytes >= 0 && offset <= length && bytes <= length - offset;
    }

    /** True if each page of a range can be read. */
    boolean isReadable(long at, long bytes) {
        if (isRaw() || nullRegion) {
            return true;
        }
        try (Arena arena = Arena.ofConfined()) {
            long to = arena.allocate(1).address();
            long page = Sys.pageSize();
            for (long i = at; i < at + bytes; i += page) {
                if (!copyOut(i, to, 1)) {
                    return false;
                }
            }
            return copyOut(at + bytes - 1, to, 1);
        }
    }

    /**
     * Copies out of the region. Registered memory may be gone, or not be this thread's: then nothing is copied.
     *
     * @return false if the memory cannot be read
     */
    public boolean copyOut(long at, long to, long bytes) {
        if (isRaw()) {
            Copy.bytes(at + shift, to, bytes);
            return true;
        }
        if (nullRegion) {
            RawMemory.fill(to, bytes, (byte) 0);
            return true;
        }
        try {
            RawMemory.copyOut(segment, at - iova, to, bytes);
            return true;
        } catch (IllegalStateException | WrongThreadException | InternalError e) {
            return false;
        }
    }

    /** Copies into the region; as {@link #copyOut}. */
    boolean copyIn(long from, long at, long bytes) {
        if (isRaw()) {
            Copy.bytes(from, at + shift, bytes);
            return true;
        }
        if (nullRegion) {
            return true;
        }
        try {
            RawMemory.copyIn(from, segment, at - iova, bytes);
            return true;
        } catch (IllegalStateException | WrongThreadException | InternalError | UnsupportedOperationException
                | IllegalArgumentException e) {
            return false;
        }
    }
}
