// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * The kernel's state of a TCP connection, without reading or writing a byte: {@code TCP_INFO} of tcp(7), and its error,
 * {@code SO_ERROR} of socket(7). Stateless and thread-safe.
 */
public final class TcpConnection {
    private static final long FIONREAD = 0x541b;
    private static final int SOL_SOCKET = 1;
    private static final int SO_ERROR = 4;
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_INFO = 11;
    private static final int TIME_WAIT = 6;
    private static final int CLOSE = 7;
    private static final int CLOSE_WAIT = 8;
    private static final int LAST_ACK = 9;
    private static final int CLOSING = 11;

    private TcpConnection() {}

    /**
     * Whether no more data arrive: the other end has shut down sending, or the connection is closed.
     *
     * @param fd a connected TCP socket, which the caller keeps and closes
     * @throws LinuxException {@code EBADF}, {@code ENOTSOCK}, {@code EOPNOTSUPP} for a socket that is not TCP's
     */
    public static boolean hasEnded(int fd) throws LinuxException {
        int state = get(fd, IPPROTO_TCP, TCP_INFO, 1, "getsockopt(TCP_INFO)") & 0xff;
        return state == CLOSE_WAIT || state == LAST_ACK || state == CLOSING || state == TIME_WAIT || state == CLOSE;
    }

    /**
     * Takes the error that the connection has failed with: the kernel reports it once, to a read, a write or this
     * query.
     *
     * @param fd a socket, which the caller keeps and closes
     * @return errno; 0 if there is none, or it was reported before
     * @throws LinuxException {@code EBADF}, {@code ENOTSOCK}
     */
    public static int takeError(int fd) throws LinuxException {
        return get(fd, SOL_SOCKET, SO_ERROR, Integer.BYTES, "getsockopt(SO_ERROR)");
    }

    /**
     * Number of bytes that wait to be read, even if the input was shut down: {@code FIONREAD}, ioctl_tty(2).
     *
     * @param fd a connected TCP socket, which the caller keeps and closes
     * @throws LinuxException {@code EBADF}, {@code EINVAL} for one that listens
     */
    public static int unread(int fd) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        Args.check(Native.call(SyscallNumber.IOCTL, fd, FIONREAD, scratch.address(), 0, 0, 0), "ioctl(FIONREAD)");
        return scratch.memory().get(ValueLayout.JAVA_INT, 0);
    }

    private static int get(int fd, int level, int option, int length, String call) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory(); // the value at 0, its length after it
        memory.set(ValueLayout.JAVA_INT, 0, 0);
        memory.set(ValueLayout.JAVA_INT, Integer.BYTES, length);
        Args.check(Native.call(SyscallNumber.GETSOCKOPT, fd, level, option, scratch.address(),
                scratch.address() + Integer.BYTES, 0), call);
        return memory.get(ValueLayout.JAVA_INT, 0);
    }
}
