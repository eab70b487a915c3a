// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/** Waiting for one descriptor: ppoll(2). Stateless and thread-safe; a wait pins the carrier of a virtual thread. */
public final class Poll {
    /** Readable. */
    public static final int IN = 0x001;
    /** Writable. */
    public static final int OUT = 0x004;
    /** An error; always reported. */
    public static final int ERR = 0x008;
    /** Hung up; always reported. */
    public static final int HUP = 0x010;
    /** Not an open descriptor; always reported. */
    public static final int NVAL = 0x020;
    /** The peer has shut down writing. */
    public static final int RDHUP = 0x2000;

    private static final int TIMESPEC = 16;

    private Poll() {}

    /**
     * Waits for one of the events. Interrupted calls continue with the remaining time.
     *
     * @param fd the descriptor
     * @param events a union of the constants here, within 16 bits
     * @param timeoutMillis milliseconds; 0 does not wait; -1 waits forever
     * @return the events that occurred, or 0 after the time-out
     * @throws LinuxException {@code ENOMEM}
     */
    public static int await(Fd fd, int events, int timeoutMillis) throws LinuxException {
        Args.requireTimeout(timeoutMillis);
        int number = fd.value();
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory(); // struct pollfd at 0, struct timespec at 16
        long timespec = timeoutMillis < 0 ? 0 : scratch.address() + TIMESPEC;
        memory.set(ValueLayout.JAVA_LONG, TIMESPEC, timeoutMillis / 1000);
        memory.set(ValueLayout.JAVA_LONG, TIMESPEC + 8, timeoutMillis % 1000 * 1_000_000L);
        while (true) {
            memory.set(ValueLayout.JAVA_INT, 0, number);
            memory.set(ValueLayout.JAVA_SHORT, 4, (short) events);
            memory.set(ValueLayout.JAVA_SHORT, 6, (short) 0);
            // the kernel leaves the remaining time in the timespec
            long result = Native.call(SyscallNumber.PPOLL, scratch.address(), 1, timespec, 0, 8, 0);
            if (result != -Errno.EINTR) {
                Args.check(result, "poll(fd ", number);
                return memory.get(ValueLayout.JAVA_SHORT, 6) & 0xFFFF;
            }
        }
    }

    /**
     * The events that a descriptor has now, or errors; allocates nothing, however it is compiled, as it captures no
     * errno.
     *
     * @param fd the number of the descriptor
     * @param events a union of the constants here, within 16 bits
     * @return the events; {@link #NVAL} for a number that is not open; 0 if the call failed
     */
    static int now(int fd, int events) {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory(); // struct pollfd at 0, struct timespec at 16
        memory.set(ValueLayout.JAVA_INT, 0, fd);
        memory.set(ValueLayout.JAVA_INT, 4, events & 0xFFFF); // with no events that occurred
        memory.set(ValueLayout.JAVA_LONG, TIMESPEC, 0);
        memory.set(ValueLayout.JAVA_LONG, TIMESPEC + 8, 0);
        long result = Native.callWithoutErrno(memory, SyscallNumber.PPOLL, scratch.address(), 1, scratch.address()
                + TIMESPEC, 0, 8, 0);
        return result < 0 ? 0 : memory.get(ValueLayout.JAVA_SHORT, 6) & 0xFFFF;
    }
}
