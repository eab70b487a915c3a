// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A descriptor that becomes readable when any process that knows its name rings: a datagram socket with an abstract
 * name, unix(7). Unlike an eventfd(2) that is passed around, nothing is shared but the name: no process can silence a
 * doorbell for others, and a ringing process is never blocked, whatever the owner does. Thread-safe.
 */
public final class Doorbell implements AutoCloseable {
    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MAX_NAME = 107;
    private static final int HEADER = 3;
    private static final int AT_ONCE = 64;

    private final Fd fd;

    private Doorbell(Fd fd) {
        this.fd = fd;
    }

    /**
     * Binds a name and waits for rings.
     *
     * @param abstractName 1 to 107 bytes of UTF-8, without the leading NUL
     * @throws LinuxException {@code EADDRINUSE}, {@code EMFILE}, {@code ENFILE}
     */
    public static Doorbell bind(String abstractName) throws LinuxException {
        return open(SyscallNumber.BIND, abstractName, "bind");
    }

    /**
     * Connects to a doorbell, to ring it.
     *
     * @throws LinuxException {@code ECONNREFUSED} (the name is not bound), {@code EMFILE}, {@code ENFILE}
     */
    public static Doorbell connect(String abstractName) throws LinuxException {
        return open(SyscallNumber.CONNECT, abstractName, "connect");
    }

    private static Doorbell open(int call, String abstractName, String verb) throws LinuxException {
        byte[] name = Args.name(abstractName, MAX_NAME, "the name of a doorbell");
        Fd fd = Fd.ofResult(Native.call(SyscallNumber.SOCKET, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
                "socket(AF_UNIX, SOCK_DGRAM)");
        try {
            MemorySegment memory = Native.scratch().memory();
            memory.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
            memory.set(ValueLayout.JAVA_BYTE, 2, (byte) 0);
            MemorySegment.copy(name, 0, memory, ValueLayout.JAVA_BYTE, HEADER, name.length);
            Args.check(Native.call(call, fd.value(), Native.scratch().address(), HEADER + name.length),
                    verb + "(unix datagram \"@" + abstractName + "\")");
            return new Doorbell(fd);
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
    }

    /**
     * Rings; for the data path: throws nothing, allocates nothing, never blocks.
     *
     * @return 0 if it rings, also when it was rung already and the owner has not polled; or an errno:
     *         {@code ECONNREFUSED} (the owner is gone), {@code EBADF} (closed here)
     */
    public int ring() {
        if (fd.isClosed()) {
            return Errno.EBADF;
        }
        long result;
        do {
            Native.Scratch scratch = Native.scratch();
            result = Native.callRepeatable(SyscallNumber.SENDTO, number(), scratch.address(), 1, MSG_DONTWAIT
                    | MSG_NOSIGNAL, 0, 0);
        } while (result == -Errno.EINTR);
        if (result == -Errno.ENOTCONN) {
            return Errno.ECONNREFUSED; // the first call has found the owner gone, and disconnected
        }
        return result >= 0 || result == -Errno.EAGAIN ? 0 : (int) -result;
    }

    private int number() {
        try {
            return fd.value();
        } catch (IllegalStateException closedMeanwhile) {
            return -1;
        }
    }

    /**
     * Receives the pending rings, without waiting, so that the descriptor is not readable any more; some are left if
     * another process rings continuously.
     */
    public void silence() {
        long result;
        int taken = 0;
        do {
            Native.Scratch scratch = Native.scratch();
            result = Native.callWithoutErrno(MemorySegment.NULL, SyscallNumber.RECVFROM, number(), scratch.address(),
                    Native.SCRATCH_BYTES, MSG_DONTWAIT, 0, 0); // it fails when there are none
        } while (result >= 0 && ++taken < AT_ONCE);
    }

    /** The descriptor, for {@link Poll} or {@link Epoll}. */
    public Fd fd() {
        return fd;
    }

    /** Releases the name, or disconnects. */
    @Override
    public void close() {
        fd.close();
    }
}
