// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
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
    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();
    private static final boolean SUPPORTED = Native.call(SyscallNumber.FUTEX_WAITV, 0, 0, 0, 0, 0, 0) == -Errno.EINVAL;

    private final MemorySegment waiters = Arena.ofAuto().allocate((long) MAX * WAITER + 16, 8);
    private final @Nullable MemorySegment[] held = new @Nullable MemorySegment[MAX];
    private final long[] offsets = new long[MAX];
    private final int[] values = new int[MAX];
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
        offsets[size] = offset;
        values[size] = expected;
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

    /** Whether a word has another value than the expected one. */
    public boolean isChanged() {
        for (int i = 0; i < size; i++) {
            MemorySegment segment = held[i];
            if (segment != null && (int) WORD.getAcquire(segment, offsets[i]) != values[i]) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the kernel lets threads sleep at these words, as {@link Futex#canSleep} says of one. Asks by a wait that takes no time.
     *
     * @throws IllegalStateException if the set is empty
     */
    public boolean canSleep() {
        if (size == 0) {
            throw new IllegalStateException("nothing to sleep at");
        }
        long at = (long) MAX * WAITER;
        waiters.set(ValueLayout.JAVA_LONG, at, 0); // a time that is over
        waiters.set(ValueLayout.JAVA_LONG, at + 8, 0);
        try {
            long result = Native.call(waiters, SyscallNumber.FUTEX_WAITV, waiters.address(), size, 0, waiters.address()
                    + at, CLOCK_MONOTONIC, 0);
            return result >= 0 || result == -Errno.EAGAIN || result == -Errno.ETIMEDOUT || result == -Errno.EINTR;
        } finally {
            Reference.reachabilityFence(held);
        }
    }
}
