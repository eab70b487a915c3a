// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream.memory;

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
public final class RingMemory {
    /** Rings up to this size are granted also when there is little memory. */
    public static final int SMALL_RING = 64 << 10;
    /** Of the limit for all rings together, of what is left for one of them; less than that part of the limit is little. */
    public static final int PART = 8;

    /** All rings of this process. */
    public static final RingMemory OF_PROCESS = new RingMemory(Sys::memoryLimit, Sys::availableMemory,
            System::nanoTime);

    private static final long FRESH_NANOS = 100_000_000L;
    private static final int REGIONS = 128;
    private static final long SMALLEST_REGION = 64 << 10;
    private static final long LARGEST_REGION = 16 << 20;

    /** The state of the system's memory, and how much the rings had by then. */
    private record Sample(MemoryLimit limit, long available, long had, long since) {}

    private final Supplier<MemoryLimit> limit;
    private final LongSupplier available;
    private final LongSupplier clock;
    private final AtomicLong taken = new AtomicLong();
    private final LongAdder refused = new LongAdder();
    private volatile @Nullable Sample last;

    public RingMemory(Supplier<MemoryLimit> limit, LongSupplier available, LongSupplier clock) {
        this.limit = limit;
        this.available = available;
        this.clock = clock;
    }

    private Sample sample() {
        long now = clock.getAsLong();
        Sample latest = last;
        if (latest == null || now - latest.since >= FRESH_NANOS) {
            latest = new Sample(limit.get(), available.getAsLong(), taken.get(), now);
            last = latest;
        }
        return latest;
    }

    /**
     * Whether a larger ring may be granted.
     *
     * @param ring its size
     * @param bytes that have to be taken for it
     */
    public boolean allows(int ring, long bytes) {
        Sample latest = sample();
        long all = taken.get();
        long left = latest.available - Math.max(0, all - latest.had);
        long most = latest.limit.bytes() / PART;
        boolean small = ring <= SMALL_RING;
        return bytes <= left / PART && (small || left >= most && all + bytes <= most);
    }

    /** Counts a larger ring that was not granted. */
    public void refuse() {
        refused.increment();
    }

    /** Times that was so; each ring is counted once. */
    public long refused() {
        return refused.sum();
    }

    /** Bytes of the largest piece in which memory is to be taken. */
    public long largestRegion() {
        return Math.clamp(Long.highestOneBit(sample().limit.bytes() / REGIONS), SMALLEST_REGION, LARGEST_REGION);
    }

    /** Memory was taken, or given back if negative. */
    public void add(long bytes) {
        taken.addAndGet(bytes);
    }

    /** Bytes that the sessions of this process have for rings, and what belongs to them. */
    public long taken() {
        return taken.get();
    }

    /** Bytes from which on no ring is granted that is larger than {@link #SMALL_RING}. */
    public long most() {
        return sample().limit.bytes() / PART;
    }

    /** Whether there is so little memory left that none is, whatever the rings have. */
    public boolean isShort() {
        Sample latest = sample();
        return latest.available < latest.limit.bytes() / PART;
    }

    /** The limit that {@link #most} is a part of. */
    public MemoryLimit limit() {
        return sample().limit;
    }
}
