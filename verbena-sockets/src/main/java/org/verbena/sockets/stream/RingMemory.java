// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.MemoryLimit;
import org.verbena.linux.Sys;

/**
 * How much memory the rings of this process may have: what peers write and the program does not read lies in them, and the
 * control group has to have room for the program. An end has its rings in memory that it has allocated itself, so its own
 * group pays for them. The files of the group are read at intervals, when a larger ring is asked for. Thread-safe.
 */
final class RingMemory {
    /** Rings up to this size are granted also when there is little memory. */
    static final int SMALL_RING = 64 << 10;
    /** Of the limit for all rings together, of what is left for one of them; less than that part of the limit is little. */
    static final int PART = 8;

    /** All rings of this process. */
    static final RingMemory OF_PROCESS = new RingMemory(Sys::memoryLimit, Sys::availableMemory, System::nanoTime);

    private static final long FRESH_NANOS = 100_000_000L;
    private static final int REGIONS = 128;
    private static final long SMALLEST_REGION = 64 << 10;
    private static final long LARGEST_REGION = 16 << 20;

    /** What was seen, and how much the rings had by then. */
    private record Look(MemoryLimit limit, long available, long had, long since) {}

    private final Supplier<MemoryLimit> limit;
    private final LongSupplier available;
    private final LongSupplier clock;
    private final AtomicLong taken = new AtomicLong();
    private final LongAdder refused = new LongAdder();
    private volatile @Nullable Look last;

    RingMemory(Supplier<MemoryLimit> limit, LongSupplier available, LongSupplier clock) {
        this.limit = limit;
        this.available = available;
        this.clock = clock;
    }

    private Look look() {
        long now = clock.getAsLong();
        Look seen = last;
        if (seen == null || now - seen.since >= FRESH_NANOS) {
            seen = new Look(limit.get(), available.getAsLong(), taken.get(), now);
            last = seen;
        }
        return seen;
    }

    /**
     * Whether a larger ring may be granted.
     *
     * @param ring its size
     * @param bytes that have to be taken for it
     */
    boolean allows(int ring, long bytes) {
        Look seen = look();
        long all = taken.get();
        long left = seen.available - Math.max(0, all - seen.had);
        long most = seen.limit.bytes() / PART;
        boolean small = ring <= SMALL_RING;
        return bytes <= left / PART && (small || left >= most && all + bytes <= most);
    }

    /** Counts a larger ring that was not granted. */
    void refuse() {
        refused.increment();
    }

    /** Times that was so; each ring is counted once. */
    long refused() {
        return refused.sum();
    }

    /** Bytes of the largest piece in which memory is to be taken. */
    long largestRegion() {
        return Math.clamp(Long.highestOneBit(look().limit.bytes() / REGIONS), SMALLEST_REGION, LARGEST_REGION);
    }

    /** Memory was taken, or given back if negative. */
    void add(long bytes) {
        taken.addAndGet(bytes);
    }

    /** Bytes that the sessions of this process have for rings, and what belongs to them. */
    long taken() {
        return taken.get();
    }

    /** Bytes from which on no ring is granted that is larger than {@link #SMALL_RING}. */
    long most() {
        return look().limit.bytes() / PART;
    }

    /** Whether there is so little memory left that none is, whatever the rings have. */
    boolean isShort() {
        Look seen = look();
        return seen.available < seen.limit.bytes() / PART;
    }

    /** The limit that {@link #most} is a part of. */
    MemoryLimit limit() {
        return look().limit;
    }
}
