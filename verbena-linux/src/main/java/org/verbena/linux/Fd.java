// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * An owned file descriptor, which is closed exactly once: close(2).
 *
 * <p>{@link #close()} is idempotent and thread-safe: of several calls exactly one reaches the kernel, so a number that
 * was reused is never closed by mistake. A number that {@link #value()} returned is valid only until another thread
 * closes the object; threads that share an {@code Fd} have to order uses before the close. There is no cleaner: an
 * {@code Fd} that is dropped stays open until the process ends.
 */
public final class Fd implements AutoCloseable {
    static final int F_DUPFD_CLOEXEC = 1030;

    private final AtomicInteger number;

    private Fd(int number) {
        this.number = new AtomicInteger(number);
    }

    /**
     * Takes ownership of an open descriptor.
     *
     * @param number the descriptor, 0 or more
     * @return its owner
     * @throws IllegalArgumentException if the number is negative
     */
    public static Fd of(int number) {
        if (number < 0) {
            throw new IllegalArgumentException("not a file descriptor: " + number);
        }
        return new Fd(number);
    }

    /**
     * Duplicates a descriptor: fcntl(2), {@code F_DUPFD_CLOEXEC}.
     *
     * @param number an open descriptor, which the caller keeps and closes
     * @return the new one, not inherited by exec
     * @throws LinuxException {@code EBADF} if the number is not open, {@code EMFILE}
     */
    public static Fd duplicate(int number) throws LinuxException {
        return ofResult(Native.call(SyscallNumber.FCNTL, number, F_DUPFD_CLOEXEC, 0),
                "fcntl(fd " + number + ", F_DUPFD_CLOEXEC)");
    }

    /**
     * Sets whether calls on the open file description return {@code EAGAIN} in place of blocking: fcntl(2),
     * {@code F_SETFL}. It applies to all descriptors of the description.
     *
     * @throws LinuxException {@code EBADF}
     */
    public void setNonBlocking(boolean nonBlocking) throws LinuxException {
        long flags = Args.check(Native.call(SyscallNumber.FCNTL, value(), UnixSocket.F_GETFL, 0), "fcntl(F_GETFL)");
        long wanted = nonBlocking ? flags | UnixSocket.O_NONBLOCK : flags & ~UnixSocket.O_NONBLOCK;
        Args.check(Native.call(SyscallNumber.FCNTL, value(), UnixSocket.F_SETFL, wanted), "fcntl(F_SETFL)");
    }

    /** The new descriptor that a call returned, or the call's exception. */
    static Fd ofResult(long result, String call) throws LinuxException {
        if (result == -Errno.EMFILE || result == -Errno.ENFILE) {
            throw new LinuxException(call, (int) -result, "raise the limit of open files (ulimit -n)");
        }
        return new Fd((int) Args.check(result, call));
    }

    /**
     * The descriptor's number.
     *
     * @return 0 or more
     * @throws IllegalStateException if it is closed
     */
    public int value() {
        int fd = number.get();
        if (fd < 0) {
            throw new IllegalStateException("the file descriptor is closed");
        }
        return fd;
    }

    /** The number, or -1 if it is closed. */
    int valueOrNegative() {
        return number.get();
    }

    /**
     * Whether {@link #close()} was called.
     *
     * @return true if closed
     */
    public boolean isClosed() {
        return number.get() < 0;
    }

    /** Closes the descriptor. An error of close(2) is not reported: the number is free again in any case on Linux. */
    @Override
    public void close() {
        close(false);
    }

    /** Closes once, and shuts a socket down before if requested. */
    void close(boolean shutdown) {
        int fd = number.getAndSet(-1);
        if (fd >= 0) {
            if (shutdown) {
                Native.call(SyscallNumber.SHUTDOWN, fd, UnixSocket.SHUT_RDWR);
            }
            Native.call(SyscallNumber.CLOSE, fd);
        }
    }

    @Override
    public String toString() {
        int fd = number.get();
        return fd < 0 ? "Fd[closed]" : "Fd[" + fd + "]";
    }
}
