// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Waiting for many descriptors: epoll_create1(2), epoll_ctl(2), epoll_pwait(2).
 *
 * <p>Descriptors may be added and removed by any thread, also during a wait. One thread at a time waits and reads the
 * events of that wait. A wait blocks in the kernel and pins the carrier of a virtual thread.
 *
 * <p>{@code struct epoll_event} is packed on x86-64 only:
 * <pre>
 *            x86-64 (12 bytes)    AArch64 (16 bytes)
 * events     0                    0
 * data       4                    8
 * </pre>
 */
public final class Epoll implements AutoCloseable {
    /** Readable. */
    public static final int IN = 0x001;
    /** Writable. */
    public static final int OUT = 0x004;
    /** An error; always reported. */
    public static final int ERR = 0x008;
    /** Hung up; always reported. */
    public static final int HUP = 0x010;
    /** The peer has shut down writing. */
    public static final int RDHUP = 0x2000;
    /** Report once, then not again until {@link #modify}. */
    public static final int ONESHOT = 1 << 30;
    /** Report changes, not states. */
    public static final int ET = 1 << 31;

    static final int EPOLL_CLOEXEC = 0x80000;
    static final int CTL_ADD = 1;
    static final int CTL_DEL = 2;
    static final int CTL_MOD = 3;
    static final int EVENT_BYTES = SyscallNumber.AARCH64 ? 16 : 12;
    static final int DATA_OFFSET = SyscallNumber.AARCH64 ? 8 : 4;
    static final int MAX_EVENTS = 256;

    private final Fd fd;
    private final MemorySegment buffer = Arena.ofAuto().allocate((long) MAX_EVENTS * EVENT_BYTES, 16);
    private int count;

    private Epoll(Fd fd) {
        this.fd = fd;
    }

    /**
     * Creates an empty set.
     *
     * @return the set
     * @throws LinuxException {@code EMFILE}, {@code ENFILE}, {@code ENOMEM}
     */
    public static Epoll create() throws LinuxException {
        return new Epoll(Fd.ofResult(Native.call(SyscallNumber.EPOLL_CREATE1, EPOLL_CLOEXEC), "epoll_create1()"));
    }

    /**
     * Adds a descriptor.
     *
     * @param target the descriptor
     * @param events a union of the constants here
     * @param token any number; returned with the events
     * @throws LinuxException {@code EEXIST} (already there), {@code EBADF}, {@code EPERM} (cannot be waited for: a
     *         regular file), {@code ENOSPC}, {@code ELOOP}
     */
    public void add(Fd target, int events, long token) throws LinuxException {
        control(CTL_ADD, "epoll_ctl(EPOLL_CTL_ADD, fd ", target, events, token);
    }

    /**
     * Changes the events and the token of a descriptor.
     *
     * @param target the descriptor
     * @param events a union of the constants here
     * @param token any number
     * @throws LinuxException {@code ENOENT} (not there), {@code EBADF}
     */
    public void modify(Fd target, int events, long token) throws LinuxException {
        control(CTL_MOD, "epoll_ctl(EPOLL_CTL_MOD, fd ", target, events, token);
    }

    /**
     * Removes a descriptor. (A descriptor whose last duplicate is closed is removed by the kernel.)
     *
     * @param target the descriptor
     * @throws LinuxException {@code ENOENT} (not there), {@code EBADF}
     */
    public void remove(Fd target) throws LinuxException {
        control(CTL_DEL, "epoll_ctl(EPOLL_CTL_DEL, fd ", target, 0, 0);
    }

    private void control(int operation, String call, Fd target, int events, long token) throws LinuxException {
        int number = target.value();
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_INT, 0, events);
        scratch.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, DATA_OFFSET, token);
        long result = Native.callRepeatable(SyscallNumber.EPOLL_CTL, fd.value(), operation, number, scratch.address(),
                0,
                0);
        Args.check(result, call, number);
    }

    /**
     * Waits for events. Interrupted calls ({@code EINTR}) continue with the remaining time.
     *
     * @param timeoutMillis milliseconds; 0 does not wait; -1 waits forever
     * @return the number of events, at most 256; 0 after the time-out
     * @throws LinuxException {@code EBADF}
     * @throws IllegalStateException if this is closed
     */
    public int await(int timeoutMillis) throws LinuxException {
        Args.requireTimeout(timeoutMillis);
        count = 0;
        long deadline = timeoutMillis > 0 ? System.nanoTime() + timeoutMillis * 1_000_000L : 0;
        int left = timeoutMillis;
        while (true) {
            int number = fd.value();
            long result = Native.callWithoutErrno(buffer, SyscallNumber.EPOLL_PWAIT, number, buffer.address(),
                    MAX_EVENTS,
                    left, 0, 8);
            if (result < 0) { // the reason is known when the call is repeated, with the remaining time
                left = left(timeoutMillis, deadline);
                result = Native.call(buffer, SyscallNumber.EPOLL_PWAIT, number, buffer.address(), MAX_EVENTS, left, 0,
                        8);
            }
            if (result >= 0) {
                count = (int) result;
                return count;
            }
            if (result != -Errno.EINTR) {
                throw new LinuxException("epoll_wait(fd " + number + ")", (int) -result);
            }
            left = left(timeoutMillis, deadline);
        }
    }

    private static int left(int timeoutMillis, long deadline) {
        return timeoutMillis <= 0
                ? timeoutMillis
                : (int) ((Math.max(0, deadline - System.nanoTime()) + 999_999) / 1_000_000);
    }

    /**
     * The events of one descriptor in the last wait.
     *
     * @param i from 0 to below what {@link #await} returned
     * @return a union of the constants here
     */
    public int events(int i) {
        Objects.checkIndex(i, count);
        return buffer.get(ValueLayout.JAVA_INT, (long) i * EVENT_BYTES);
    }

    /**
     * The token of one descriptor in the last wait.
     *
     * @param i from 0 to below what {@link #await} returned
     * @return the token that was passed with the descriptor
     */
    public long token(int i) {
        Objects.checkIndex(i, count);
        return buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, (long) i * EVENT_BYTES + DATA_OFFSET);
    }

    /**
     * The set's own descriptor, readable while events are pending.
     *
     * @return the descriptor, owned by this object
     */
    public Fd fd() {
        return fd;
    }

    /** Closes the set, not the descriptors in it. Does not wake a thread that waits. Idempotent. */
    @Override
    public void close() {
        fd.close();
    }
}
