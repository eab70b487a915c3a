// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * {@link Sys#availableMemory()} for requests. A query takes 0.1 ms, so small requests share one: those that together
 * need less than a thousandth of its result, within a tenth of a second. Thread-safe.
 */
final class MemoryBudget {
    /** The instance of this process. */
    static final MemoryBudget OF_PROCESS = new MemoryBudget(Sys::availableMemory, System::nanoTime);

    private static final long MAX_AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int SHARE = 1024;

    /**
     * The result of a query.
     *
     * @param left bytes that requests may still share; negative if one was too large for that
     */
    private record Query(long available, long since, AtomicLong left) {
        boolean covers(long needed, long now) {
            return now - since < MAX_AGE_NANOS && needed <= left.get() && left.addAndGet(-needed) >= 0;
        }
    }

    private final LongSupplier available;
    private final LongSupplier clock;
    private volatile @Nullable Query last;

    MemoryBudget(LongSupplier available, LongSupplier clock) {
        this.available = available;
        this.clock = clock;
    }

    /**
     * The memory available for a request, which is counted.
     *
     * @param needed bytes, 0 or more
     * @return bytes, less than {@code needed} if that is not available
     */
    long availableFor(long needed) {
        long now = clock.getAsLong();
        Query l = last;
        if (l != null && l.covers(needed, now)) {
            return l.available;
        }
        long bytes = available.getAsLong();
        // after a large request, which may use up the result, the next request queries again
        long left = bytes / SHARE - needed;
        last = left < 0 ? null : new Query(bytes, now, new AtomicLong(left));
        return bytes;
    }
}
