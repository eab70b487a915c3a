// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Sleeping on a word of shared memory: futex(2), in the form that works between processes.
 *
 * <p>Stateless and thread-safe; throws for wrong arguments only. A wait pins the carrier of a virtual thread.
 */
public final class Futex {
    static final int FUTEX_WAIT = 0;
    static final int FUTEX_WAKE = 1;

    private Futex() {}

    /**
     * Sleeps while the word has the expected value, until it is woken.
     *
     * @param segment native memory
     * @param offset of the 4-byte word in it; its address is a multiple of 4
     * @param expected the value to sleep on
     * @param timeoutNanos nanoseconds; negative waits forever
     * @return 0 when woken (perhaps spuriously), {@code EAGAIN} when the word has another value, {@code ETIMEDOUT},
     *         {@code EINTR}; {@code EFAULT} for memory that cannot be shared
     * @throws IllegalArgumentException for heap memory or a misaligned word
     * @throws IndexOutOfBoundsException if the word is not inside the segment
     */
    public static int await(MemorySegment segment, long offset, int expected, long timeoutNanos) {
        long word = word(segment, offset);
        return (int) -Native.call(segment, SyscallNumber.FUTEX, word, FUTEX_WAIT, expected, timespec(timeoutNanos), 0,
                0);
    }

    /**
     * Sleeps as {@link #await} does, where it does not matter why that ended; never allocates.
     *
     * @return whether it was woken, perhaps spuriously; false for all that {@code await} has an errno for
     */
    public static boolean awaitWoken(MemorySegment segment, long offset, int expected, long timeoutNanos) {
        long word = word(segment, offset);
        return Native.callWithoutErrno(segment, SyscallNumber.FUTEX, word, FUTEX_WAIT, expected, timespec(timeoutNanos),
                0, 0) == 0;
    }

    /**
     * Whether the kernel lets threads sleep at a word, which memory that cannot be shared or a sandbox may prevent: for a
     * sleep that ended and has no reason of its own. Asks by a wait that takes no time.
     *
     * @throws IllegalArgumentException for heap memory or a misaligned word
     * @throws IndexOutOfBoundsException if the word is not inside the segment
     */
    public static boolean canSleep(MemorySegment segment, long offset) {
        int error = await(segment, offset, 0, 0);
        return error == 0 || error == Errno.EAGAIN || error == Errno.ETIMEDOUT || error == Errno.EINTR;
    }

    /** The address of a struct timespec of this thread's; null for a negative time. */
    private static long timespec(long nanos) {
        if (nanos < 0) {
            return 0;
        }
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_LONG, 0, nanos / 1_000_000_000);
        scratch.memory().set(ValueLayout.JAVA_LONG, 8, nanos % 1_000_000_000);
        return scratch.address();
    }

    /**
     * Wakes sleepers.
     *
     * @param segment native memory
     * @param offset of the 4-byte word in it; its address is a multiple of 4
     * @param count the largest number to wake, 0 or more
     * @return the number woken, or minus errno
     * @throws IllegalArgumentException for heap memory, a misaligned word or a negative count
     * @throws IndexOutOfBoundsException if the word is not inside the segment
     */
    public static int wake(MemorySegment segment, long offset, int count) {
        if (count < 0) {
            throw new IllegalArgumentException("negative count: " + count);
        }
        long word = word(segment, offset);
        // the kernel wakes one waiter for a count of 0
        return count == 0
                ? 0
                : (int) Native.callRepeatable(segment, SyscallNumber.FUTEX, word, FUTEX_WAKE, count, 0, 0,
                        0);
    }

    static long word(MemorySegment segment, long offset) {
        long address = Args.address(segment, offset, Integer.BYTES, "the futex's segment");
        if ((address & 3) != 0) {
            throw new IllegalArgumentException("a futex word lies at a multiple of 4, not at offset " + offset + " of "
                    + segment);
        }
        return address;
    }
}
