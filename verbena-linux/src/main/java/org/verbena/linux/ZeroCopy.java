// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.verbena.linux.UnixMessage.CMSG_DATA;
import static org.verbena.linux.UnixMessage.MSGHDR_BYTES;
import static org.verbena.linux.UnixMessage.MSGHDR_CONTROL;
import static org.verbena.linux.UnixMessage.MSGHDR_CONTROLLEN;
import static org.verbena.linux.UnixMessage.MSG_DONTWAIT;
import static org.verbena.linux.UnixMessage.MSG_NOSIGNAL;
import static org.verbena.linux.UnixSocket.SOL_SOCKET;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Sending from the program's memory without a copy into the kernel's: {@code MSG_ZEROCOPY}, described in the kernel's
 * Documentation/networking/msg_zerocopy.rst. Sent data must not be changed before a notification reports that the
 * kernel has released them; notifications arrive on the socket's error queue, and a poll of the socket reports
 * {@code POLLERR} until they are taken. Stateless and thread-safe.
 */
public final class ZeroCopy {
    /** A bit of the result of {@link #takeNotice}: the kernel had to copy nevertheless. */
    public static final long COPIED = 1L << 62;

    static final int SO_ZEROCOPY = 60;
    static final int MSG_ERRQUEUE = 0x2000;
    static final int MSG_ZEROCOPY = 0x400_0000;

    // struct sock_extended_err
    static final int EE_ORIGIN = 4;
    static final int EE_CODE = 6;
    static final int EE_INFO = 8;
    static final int EE_DATA = 12;
    static final int EE_BYTES = 16;
    static final int SO_EE_ORIGIN_ZEROCOPY = 5;
    static final int SO_EE_CODE_ZEROCOPY_COPIED = 1;

    /** Offset of the control messages, after a struct msghdr. */
    private static final int CONTROL = 64;
    private static final int CONTROL_BYTES = 128;
    /** The error, in the first control message. */
    private static final int ERROR = CONTROL + CMSG_DATA;

    private ZeroCopy() {}

    /**
     * Enables or disables {@link #send} on a socket: {@code SO_ZEROCOPY}.
     *
     * @param fd a TCP socket, which the caller keeps and closes
     * @throws LinuxException {@code EOPNOTSUPP} for unsupported sockets; {@code ENOPROTOOPT} before Linux 4.14
     */
    public static void set(int fd, boolean on) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_INT, 0, on ? 1 : 0);
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd, SOL_SOCKET, SO_ZEROCOPY, scratch.address(), Integer.BYTES,
                0), "setsockopt(SO_ZEROCOPY)");
    }

    /**
     * Whether {@link #send} is enabled on a socket.
     *
     * @param fd a socket, which the caller keeps and closes
     * @throws LinuxException {@code EBADF}, {@code ENOTSOCK}
     */
    public static boolean get(int fd) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory(); // the value at 0, its length after it
        memory.set(ValueLayout.JAVA_INT, Integer.BYTES, Integer.BYTES);
        Args.check(Native.call(SyscallNumber.GETSOCKOPT, fd, SOL_SOCKET, SO_ZEROCOPY, scratch.address(),
                scratch.address() + Integer.BYTES, 0), "getsockopt(SO_ZEROCOPY)");
        return memory.get(ValueLayout.JAVA_INT, 0) != 0;
    }

    /**
     * Sends as many bytes as there is space for; does not wait, and raises no SIGPIPE. Each call that sends something
     * is followed by a notification, see {@link #takeNotice}.
     *
     * @param fd a connected TCP socket, which the caller keeps and closes
     * @param data native memory, not to be changed until the notification
     * @param length bytes, 1 or more
     * @return bytes, or minus errno: {@code -EAGAIN} (no space), {@code -ENOBUFS} (no memory for another notification;
     *         take some), {@code -EPIPE}, {@code -ECONNRESET}
     * @throws IllegalArgumentException for heap memory or no bytes
     * @throws IndexOutOfBoundsException if the range is not inside the segment
     */
    public static int send(int fd, MemorySegment data, long offset, long length) {
        long address = Args.address(data, offset, length, "the data to send");
        if (length == 0) {
            throw new IllegalArgumentException("nothing to send: no notification would follow");
        }
        long result;
        do {
            result = Native.call(data, SyscallNumber.SENDTO, fd, address, Math.min(length, Integer.MAX_VALUE),
                    MSG_ZEROCOPY | MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
        } while (result == -Errno.EINTR);
        return (int) result;
    }

    /**
     * Takes one notification; does not wait.
     *
     * @param fd a TCP socket, which the caller keeps and closes
     * @return the number of sends that the kernel has released, with {@link #COPIED} if it had copied; 0 if there is no
     *         notification
     * @throws LinuxException {@code EBADF}, {@code ENOTSOCK}
     */
    public static long takeNotice(int fd) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory();
        long result;
        do {
            memory.asSlice(0, MSGHDR_BYTES).fill((byte) 0);
            memory.set(ValueLayout.JAVA_LONG, MSGHDR_CONTROL, scratch.address() + CONTROL);
            memory.set(ValueLayout.JAVA_LONG, MSGHDR_CONTROLLEN, CONTROL_BYTES);
            result = Native.call(SyscallNumber.RECVMSG, fd, scratch.address(), MSG_ERRQUEUE | MSG_DONTWAIT, 0, 0, 0);
        } while (result == -Errno.EINTR);
        if (result == -Errno.EAGAIN) {
            return 0;
        }
        Args.check(result, "recvmsg(MSG_ERRQUEUE)");
        if (memory.get(ValueLayout.JAVA_LONG, MSGHDR_CONTROLLEN) < CMSG_DATA + EE_BYTES
                || memory.get(ValueLayout.JAVA_BYTE, ERROR + EE_ORIGIN) != SO_EE_ORIGIN_ZEROCOPY) {
            return 0; // of another origin, and consumed now
        }
        int first = memory.get(ValueLayout.JAVA_INT, ERROR + EE_INFO);
        int last = memory.get(ValueLayout.JAVA_INT, ERROR + EE_DATA); // the numbers wrap to 0 after 2^32 sends
        long sends = Integer.toUnsignedLong(last - first) + 1;
        boolean copied = memory.get(ValueLayout.JAVA_BYTE, ERROR + EE_CODE) == SO_EE_CODE_ZEROCOPY_COPIED;
        return copied ? sends | COPIED : sends;
    }
}
