// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Events as descriptors: eventfd(2). A counter that is readable while it is above zero.
 *
 * <p>Stateless and thread-safe. "Non-blocking" is a property of the open file description, which is shared with every
 * process that the descriptor was sent to: a hostile one can clear it.
 */
public final class Eventfd {
    static final int EFD_CLOEXEC = 0x80000;
    static final int EFD_NONBLOCK = 0x800;

    private Eventfd() {}

    /**
     * Creates an event counter of zero, non-blocking, closed on exec.
     *
     * @return the descriptor
     * @throws LinuxException {@code EMFILE}, {@code ENFILE}, {@code ENOMEM}
     */
    public static Fd create() throws LinuxException {
        return Fd.ofResult(Native.call(SyscallNumber.EVENTFD2, 0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd()");
    }

    /**
     * Adds 1 to the counter. A counter that is full ({@code EAGAIN}) is signaled already, so that is no error.
     *
     * @param fd an event descriptor
     * @throws LinuxException {@code EBADF}, {@code EINVAL} (not an event descriptor)
     */
    public static void signal(Fd fd) throws LinuxException {
        int number = fd.value();
        Args.check(-(long) signalQuietly(number), "write(eventfd ", number);
    }

    /**
     * As {@link #signal(Fd)} for the data path: throws nothing and allocates nothing (but the calling thread's scratch
     * memory at its first call).
     *
     * @param fd the descriptor's number
     * @return 0, or an errno
     */
    public static int signalQuietly(int fd) {
        Native.Scratch scratch = Native.scratch();
        long result;
        do {
            scratch.memory().set(ValueLayout.JAVA_LONG, 0, 1);
            result = Native.callRepeatable(SyscallNumber.WRITE, fd, scratch.address(), Long.BYTES);
        } while (result == -Errno.EINTR);
        return result >= 0 || result == -Errno.EAGAIN ? 0 : (int) -result;
    }

    /**
     * Reads the counter and sets it to zero, without waiting.
     *
     * @param fd an event descriptor
     * @return the value of the counter; 0 when nothing was pending
     * @throws LinuxException {@code EBADF}, {@code EINVAL}
     */
    public static long drain(Fd fd) throws LinuxException {
        int number = fd.value();
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_LONG, 0, 0);
        long result;
        do {
            result = Native.callRepeatable(SyscallNumber.READ, number, scratch.address(), Long.BYTES);
        } while (result == -Errno.EINTR);
        if (result == -Errno.EAGAIN) {
            return 0;
        }
        Args.check(result, "read(eventfd ", number);
        return scratch.memory().get(ValueLayout.JAVA_LONG, 0);
    }
}
