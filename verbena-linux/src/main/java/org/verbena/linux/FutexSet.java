// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Sleeping on one of several words of shared memory: futex_waitv(2), from Linux 5.16 on. For one thread at a time; nothing but the
 * constructor allocates.
 */
public final class FutexSet {
    /** The most words. */
    public static final int MAX = 128;

    private static final int FUTEX_32 = 2; // and not FUTEX_PRIVATE_FLAG: between processes
    private static final int CLOCK_MONOTONIC = 1;
    private static final int WAITER = 24; // struct futex_waitv: value, address, flags, reserved
    private static final boolean SUPPORTED = Native.call(SyscallNumber.FUTEX_WAITV, 0, 0, 0, 0, 0, 0) == -Errno.EINVAL;

    private final MemorySegment waiters = Arena.ofAuto().allocate((long) MAX * WAITER + 16, 8);
    private final @Nullable MemorySegment[] held = new @Nullable MemorySegment[MAX];
    private int size;

    /** An empty set. */
    public FutexSet() {}

    /** Whether the kernel has the call. */
    public static boolean isSupported() {
        return SUPPORTED;
    }

    /** Takes all words out. */
    public void clear() {
        Arrays.fill(held, 0, size, null);
        size = 0;
    }

    /**
     * Adds a word.
     *
     * @param segment native memory whose arena is not closed before the sleep has ended
     * @param offset of the 4-byte word in it; its address is a multiple of 4
     * @param expected the value to sleep on
     * @throws IllegalArgumentException for heap memory or a misaligned word
     * @throws IndexOutOfBoundsException if the word is not inside the segment, or there are {@value #MAX} words already
     */
    public void add(MemorySegment segment, long offset, int expected) {
        long word = Futex.word(segment, offset);
        if (size == MAX) {
            throw new IndexOutOfBoundsException("a set has " + MAX + " words at most");
        }
        long at = (long) size * WAITER;
        waiters.set(ValueLayout.JAVA_LONG, at, Integer.toUnsignedLong(expected));
        waiters.set(ValueLayout.JAVA_LONG, at + 8, word);
        waiters.set(ValueLayout.JAVA_LONG, at + 16, FUTEX_32);
        held[size++] = segment;
    }

    /**
     * Sleeps while all words have their expected values, until one of them is woken.
     *
     * @param timeoutNanos nanoseconds; negative waits forever
     * @return whether one was woken, perhaps spuriously; false if one has another value, the time is over, or a signal came
     * @throws IllegalStateException if the set is empty
     */
    public boolean awaitWoken(long timeoutNanos) {
        if (size == 0) {
            throw new IllegalStateException("nothing to sleep at");
        }
        long timespec = 0;
        if (timeoutNanos >= 0) {
            long end = System.nanoTime() + timeoutNanos; // of CLOCK_MONOTONIC, which is this call's, too
            if (end < 0) {
                end = Long.MAX_VALUE;
            }
            long at = (long) MAX * WAITER;
            waiters.set(ValueLayout.JAVA_LONG, at, end / 1_000_000_000);
            waiters.set(ValueLayout.JAVA_LONG, at + 8, end % 1_000_000_000);
            timespec = waiters.address() + at;
        }
        try {
            return Native.callWithoutErrno(waiters, SyscallNumber.FUTEX_WAITV, waiters.address(), size, 0, timespec,
                    CLOCK_MONOTONIC, 0) >= 0;
        } finally {
            Reference.reachabilityFence(held);
        }
    }
}
