// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Unix sockets for messages and descriptors: {@code SOCK_SEQPACKET}, unix(7), with abstract names, which belong to the
 * network namespace and disappear with their last socket.
 *
 * <p>A message keeps its bounds and is delivered whole, in order, or not at all. Different threads may send on and
 * receive from one socket; one thread at a time receives. A blocking call pins the carrier of a virtual thread.
 */
public final class UnixSocket implements AutoCloseable {
    /** The most descriptors that one message may carry here. */
    public static final int MAX_FDS = 28;
    /** The most bytes of an abstract name, in UTF-8. */
    public static final int MAX_NAME = 107;

    static final int AF_UNIX = 1;
    static final int SOCK_SEQPACKET = 5;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOL_SOCKET = 1;
    static final int SO_PEERCRED = 17;
    static final int SO_PEERPIDFD = 77;
    static final int SHUT_RDWR = 2;
    static final int F_GETFL = 3;
    static final int F_SETFL = 4;
    static final int O_NONBLOCK = 0x800;

    private final Fd fd;
    private int receivedFds;
    private boolean lostFds;
    private int excessFds;

    private UnixSocket(Fd fd) {
        this.fd = fd;
    }

    /**
     * Listens for connections to a name.
     *
     * @param abstractName 1 to 107 bytes of UTF-8, without the leading NUL
     * @param backlog the largest number of connections that wait to be accepted, 1 or more; limited by the system
     * @return the listening socket, blocking
     * @throws LinuxException {@code EADDRINUSE} (the name is in use), {@code EMFILE}, {@code ENFILE}
     */
    public static UnixSocket listen(String abstractName, int backlog) throws LinuxException {
        byte[] name = abstractName(abstractName);
        if (backlog < 1) {
            throw new IllegalArgumentException("a backlog is 1 or more: " + backlog);
        }
        Fd fd = open(0);
        try {
            int length = putAddress(name);
            Args.check(
                    Native.call(SyscallNumber.BIND, fd.value(), Native.scratch().address(), length),
                    "bind(unix \"@" + abstractName + "\")");
            Args.check(
                    Native.call(SyscallNumber.LISTEN, fd.value(), backlog), "listen(unix \"@" + abstractName + "\")");
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
        return new UnixSocket(fd);
    }

    /**
     * Connects to a name; does not wait for the other end to accept.
     *
     * @param abstractName 1 to 107 bytes of UTF-8, without the leading NUL
     * @return the connected socket, blocking
     * @throws LinuxException {@code ECONNREFUSED} (there is no listener), {@code EAGAIN} (the backlog is full; try
     *         later), {@code EPROTOTYPE} (a socket of another kind has the name), {@code EMFILE}, {@code ENFILE}
     */
    public static UnixSocket connect(String abstractName) throws LinuxException {
        byte[] name = abstractName(abstractName);
        Fd fd = open(SOCK_NONBLOCK); // a blocking connect would sleep while the backlog is full
        try {
            int length = putAddress(name);
            Args.check(
                    Native.call(SyscallNumber.CONNECT, fd.value(), Native.scratch().address(), length),
                    "connect(unix \"@" + abstractName + "\")");
            UnixSocket socket = new UnixSocket(fd);
            socket.setNonBlocking(false);
            return socket;
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
    }

    /**
     * Two sockets that are connected to each other.
     *
     * @return the two ends, blocking
     * @throws LinuxException {@code EMFILE}, {@code ENFILE}
     */
    public static UnixSocket[] pair() throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        long result = Native.call(
                SyscallNumber.SOCKETPAIR, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, scratch.address());
        int first = result < 0 ? (int) result : scratch.memory().get(ValueLayout.JAVA_INT, 0);
        int second = scratch.memory().get(ValueLayout.JAVA_INT, 4);
        UnixSocket one = new UnixSocket(Fd.ofResult(first, "socketpair(AF_UNIX)"));
        return new UnixSocket[] {one, new UnixSocket(Fd.of(second))};
    }

    private static Fd open(int flags) throws LinuxException {
        return Fd.ofResult(
                Native.call(SyscallNumber.SOCKET, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0),
                "socket(AF_UNIX, SOCK_SEQPACKET)");
    }

    private static byte[] abstractName(String name) {
        byte[] bytes = Args.name(name, MAX_NAME, "the name of a socket");
        if (bytes.length == 0) {
            throw new IllegalArgumentException("the name of a socket is empty");
        }
        return bytes;
    }

    /** Puts {@code struct sockaddr_un} {family, NUL, name} into the scratch memory and returns its length. */
    private static int putAddress(byte[] name) {
        MemorySegment memory = Native.scratch().memory();
        memory.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
        memory.set(ValueLayout.JAVA_BYTE, 2, (byte) 0);
        MemorySegment.copy(name, 0, memory, ValueLayout.JAVA_BYTE, 3, name.length);
        return 3 + name.length;
    }

    /**
     * Takes the next connection of a listening socket.
     *
     * @return the connected socket, blocking; null if this socket is non-blocking and no connection waits
     * @throws LinuxException {@code EINVAL} (not listening, or shut down), {@code EMFILE}, {@code ENFILE}
     */
    public @Nullable UnixSocket accept() throws LinuxException {
        long result;
        do {
            result = Native.call(SyscallNumber.ACCEPT4, fd.value(), 0, 0, SOCK_CLOEXEC);
        } while (result == -Errno.EINTR);
        return result == -Errno.EAGAIN ? null : new UnixSocket(Fd.ofResult(result, "accept(unix)"));
    }

    /**
     * Sets whether the calls of this socket block.
     *
     * @param nonBlocking true: a call that would block returns {@code EAGAIN} (accept: null)
     * @throws LinuxException {@code EBADF}
     */
    public void setNonBlocking(boolean nonBlocking) throws LinuxException {
        fd.setNonBlocking(nonBlocking);
    }

    /**
     * Sends one message, whole or not at all. SIGPIPE is not raised.
     *
     * @param data native memory
     * @param offset first byte
     * @param length bytes, 1 or more (an empty message would look like the end of file)
     * @param fds descriptors that the receiver gets copies of, at most {@link #MAX_FDS}; they stay open here
     * @return 0, or an errno: {@code EAGAIN} (non-blocking, the peer's queue is full), {@code EPIPE} and
     *         {@code ECONNRESET} (the peer is gone), {@code EMSGSIZE} (longer than the send buffer), {@code EBADF} (one
     *         of fds), {@code ETOOMANYREFS} (too many descriptors in flight), {@code ENOTCONN}, {@code ENOBUFS}
     * @throws IllegalArgumentException for heap memory, an empty message, too many or negative descriptors
     * @throws IndexOutOfBoundsException if the range is not inside the segment
     * @throws IllegalStateException if the socket or the segment's arena is closed
     */
    public int send(MemorySegment data, long offset, long length, int[] fds) {
        long address = Args.address(data, offset, length, "the data to send");
        if (length == 0) {
            throw new IllegalArgumentException("an empty message would look like the end of file to the receiver");
        }
        if (fds.length > MAX_FDS) {
            throw new IllegalArgumentException(fds.length + " descriptors; a message carries at most " + MAX_FDS);
        }
        Native.Scratch scratch = Native.scratch();
        UnixMessage.prepareSend(scratch, address, length, fds);
        long result;
        do {
            result = Native.call(
                    data, SyscallNumber.SENDMSG, fd.value(), scratch.address(), UnixMessage.MSG_NOSIGNAL, 0, 0, 0);
        } while (result == -Errno.EINTR);
        return result >= 0 ? 0 : (int) -result;
    }

    /**
     * Receives one message. Descriptors in it are new ones of this process, closed on exec, and belong to the caller.
     *
     * @param into native memory for the longest message
     * @param fdsOut receives the descriptors; {@link #receivedFds()} has their number. Further ones are closed
     *        ({@link #excessFds()} counts them). If the kernel could not install all of them in this process, as when
     *        it has too many open, there are none, and {@link #lostFds()} is true
     * @return bytes, or 0 at the end of file (the peer has closed), or minus errno: {@code -EAGAIN} (non-blocking, no
     *         message), {@code -ECONNRESET}, {@code -EMSGSIZE} (the message was longer than {@code into}: it is lost
     *         and its descriptors are closed)
     * @throws IllegalArgumentException for heap, read-only or empty memory
     * @throws IllegalStateException if the socket or the segment's arena is closed
     */
    public int receive(MemorySegment into, int[] fdsOut) {
        receivedFds = 0;
        excessFds = 0;
        lostFds = false;
        long capacity = Math.min(into.byteSize(), Integer.MAX_VALUE);
        long address = Args.address(into, 0, capacity, "the memory to receive into");
        Args.requireWritable(into, "the memory to receive into");
        if (capacity == 0) {
            throw new IllegalArgumentException("the memory to receive into is empty");
        }
        Native.Scratch scratch = Native.scratch();
        long result = receive(scratch, into, address, capacity, 0);
        if (result == 0) {
            // The kernel checks for a message first and for the end afterwards, and so misses one that arrived in
            // between; after the end none arrives. If it is the end because this socket was closed here, there is an
            // error or nothing to find.
            result = Math.max(0, receive(scratch, into, address, capacity, UnixMessage.MSG_DONTWAIT));
        }
        if (result < 0) {
            return (int) result;
        }
        boolean truncated = UnixMessage.truncated(scratch);
        boolean lost = UnixMessage.fdsLost(scratch);
        int keep = truncated || lost ? 0 : fdsOut.length;
        int count = UnixMessage.takeFds(scratch, keep, fdsOut);
        if (truncated) {
            return -Errno.EMSGSIZE;
        }
        lostFds = lost;
        receivedFds = Math.min(count, keep);
        excessFds = lost ? 0 : count - receivedFds;
        return (int) result;
    }

    private long receive(Native.Scratch scratch, MemorySegment into, long address, long capacity, int flags) {
        long result;
        do {
            UnixMessage.prepareReceive(scratch, address, capacity);
            result = Native.call(into, SyscallNumber.RECVMSG, flags == 0 ? fd.value() : fd.valueOrNegative(),
                    scratch.address(), UnixMessage.MSG_CMSG_CLOEXEC | flags, 0, 0, 0);
        } while (result == -Errno.EINTR);
        return result;
    }

    /**
     * Number of descriptors that the last {@link #receive} has put into its array. For the receiving thread.
     *
     * @return the number
     */
    public int receivedFds() {
        return receivedFds;
    }

    /**
     * Number of descriptors that the last {@link #receive} has closed because the array was too short.
     *
     * @return the number
     */
    public int excessFds() {
        return excessFds;
    }

    /**
     * Whether the last {@link #receive} returned a message without its descriptors because the kernel could not install
     * them, usually because the process has reached its limit ({@code EMFILE}). The message itself is whole. For the
     * receiving thread.
     *
     * @return true if descriptors were lost
     */
    public boolean lostFds() {
        return lostFds;
    }

    /**
     * The process at the other end, as the kernel recorded it when the connection was made (for the connecting side:
     * the one that called listen).
     *
     * @return process, user and group
     * @throws LinuxException {@code EBADF}, {@code ENOTSOCK}
     */
    public PeerCredentials peerCredentials() throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory(); // struct ucred at 0, its length at 16
        memory.set(ValueLayout.JAVA_INT, 16, 12);
        long result = Native.call(
                SyscallNumber.GETSOCKOPT, fd.value(), SOL_SOCKET, SO_PEERCRED, scratch.address(),
                scratch.address() + 16, 0);
        Args.check(result, "getsockopt(SO_PEERCRED)");
        return new PeerCredentials(
                memory.get(ValueLayout.JAVA_INT, 0),
                memory.get(ValueLayout.JAVA_INT, 4),
                memory.get(ValueLayout.JAVA_INT, 8));
    }

    /**
     * Whether the process of {@link #peerCredentials} still runs, so that its id does not mean another process by now.
     * The socket may live on in a child of it.
     *
     * @return true also if it is not known: the kernel reports it from version 6.5 on, and to a process with a free
     *         descriptor
     */
    boolean isPeerAlive() {
        Native.Scratch scratch = Native.scratch();
        MemorySegment memory = scratch.memory(); // int at 0, its length at 16
        memory.set(ValueLayout.JAVA_INT, 16, Integer.BYTES);
        long result = Native.call(SyscallNumber.GETSOCKOPT, fd.value(), SOL_SOCKET, SO_PEERPIDFD, scratch.address(),
                scratch.address() + 16, 0);
        if (result < 0) { // a process that was reaped has none
            return result != -Errno.ESRCH && result != -Errno.EINVAL;
        }
        try (Fd process = Fd.of(memory.get(ValueLayout.JAVA_INT, 0))) {
            return Pidfd.isAlive(process);
        } catch (LinuxException e) {
            return true;
        }
    }

    /**
     * The socket's descriptor.
     *
     * @return owned by this object
     */
    public Fd fd() {
        return fd;
    }

    /**
     * Ends both directions, which wakes threads that wait in this socket, here and at the peer. No error is reported.
     */
    public void shutdown() {
        Native.call(SyscallNumber.SHUTDOWN, fd.valueOrNegative(), SHUT_RDWR); // EBADF if closed, which is harmless
    }

    /** Shuts the socket down, then closes it. Messages already sent can still be received by the peer. Idempotent. */
    @Override
    public void close() {
        fd.close(true);
    }

    @Override
    public String toString() {
        return "UnixSocket[" + fd + "]";
    }
}
