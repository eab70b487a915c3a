// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * Reserves a TCP port in the kernel, for a program that has a TCP implementation of its own on one interface. The kernel silently drops segments to the
 * port that arrive on that interface, and never answers them with a reset. It accepts connections that arrive any other way, such as from this host;
 * {@link #refuse} resets those.
 *
 * <p>Behind it is a socket that listens, with a filter. Thread-safe but for {@link #close}.
 */
public final class TcpPortReservation implements AutoCloseable {
    private static final int SOCK_STREAM = 1;
    private static final int SO_LINGER = 13;
    private static final int IPV6_V6ONLY = 26;
    private static final int BACKLOG = 8;
    private static final int ANY6_BYTES = 28;
    private static final int ANY4_BYTES = 16;

    private final Fd fd;

    private TcpPortReservation(Fd fd) {
        this.fd = fd;
    }

    /**
     * Reserves a port of all addresses, of IPv4 and IPv6.
     *
     * @param port 1 to 65535
     * @param interfaceIndex the interface whose segments are dropped
     * @throws LinuxException {@code EADDRINUSE} (a socket uses the port, or a connection that ended less than a minute ago),
     *         {@code EACCES} (below {@code ip_unprivileged_port_start}), {@code EMFILE}, {@code ENFILE}
     */
    public static TcpPortReservation open(int port, int interfaceIndex) throws LinuxException {
        Args.requireBetween(port, 1, 0xFFFF, "a port");
        Args.requireBetween(interfaceIndex, 1, Integer.MAX_VALUE, "the index of an interface");
        long result = socket(UdpHeaders.AF_INET6);
        boolean six = result != -Errno.EAFNOSUPPORT;
        Fd fd = Fd.ofResult(six ? result : socket(UdpHeaders.AF_INET), "socket(SOCK_STREAM)");
        try {
            String call = "bind(tcp port " + port + ")";
            if (six) {
                set(fd, UdpHeaders.IPPROTO_IPV6, IPV6_V6ONLY, 0);
            }
            dropFrom(fd, interfaceIndex);
            Native.Scratch scratch = Native.scratch();
            MemorySegment m = scratch.memory();
            m.asSlice(0, ANY6_BYTES).fill((byte) 0);
            m.set(ValueLayout.JAVA_SHORT, 0, (short) (six ? UdpHeaders.AF_INET6 : UdpHeaders.AF_INET));
            m.set(ValueLayout.JAVA_BYTE, UdpHeaders.SOCKADDR_PORT, (byte) (port >>> 8));
            m.set(ValueLayout.JAVA_BYTE, UdpHeaders.SOCKADDR_PORT + 1, (byte) port);
            Args.check(Native.call(SyscallNumber.BIND, fd.value(), scratch.address(), six ? ANY6_BYTES : ANY4_BYTES),
                    call);
            Args.check(Native.call(SyscallNumber.LISTEN, fd.value(), BACKLOG), call);
            return new TcpPortReservation(fd);
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
    }

    private static long socket(int family) {
        return Native.call(SyscallNumber.SOCKET, family, SOCK_STREAM | UnixSocket.SOCK_CLOEXEC
                | UnixSocket.SOCK_NONBLOCK, 0);
    }

    private static void set(Fd fd, int level, int option, int value) throws LinuxException {
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_INT, 0, value);
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd.value(), level, option, scratch.address(), 4, 0),
                "setsockopt(" + level + ", " + option + ")");
    }

    /** A filter: {@code ld ifindex; jeq interfaceIndex, drop; ret all; drop: ret 0}. */
    private static void dropFrom(Fd fd, int interfaceIndex) throws LinuxException {
        Native.Scratch scratch = Native.scratch(); // struct sock_fprog {short length, instructions at 8}
        MemorySegment m = scratch.memory();
        m.set(ValueLayout.JAVA_LONG, 0, 4);
        m.set(ValueLayout.JAVA_LONG, 8, scratch.address() + 16);
        instruction(m, 0, 0x20, 0, 0, -0x1000 + 8); // SKF_AD_OFF + SKF_AD_IFINDEX
        instruction(m, 1, 0x15, 1, 0, interfaceIndex);
        instruction(m, 2, 0x06, 0, 0, -1);
        instruction(m, 3, 0x06, 0, 0, 0);
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd.value(), UnixSocket.SOL_SOCKET, UdpSocket.SO_ATTACH_FILTER,
                scratch.address(), 16, 0), "setsockopt(SO_ATTACH_FILTER)");
    }

    /** struct sock_filter {u16 code; u8 jt, jf; u32 k}. */
    private static void instruction(MemorySegment m, int i, int code, int whenTrue, int whenFalse, int k) {
        int at = 16 + 8 * i;
        m.set(ValueLayout.JAVA_SHORT, at, (short) code);
        m.set(ValueLayout.JAVA_BYTE, at + 2, (byte) whenTrue);
        m.set(ValueLayout.JAVA_BYTE, at + 3, (byte) whenFalse);
        m.set(ValueLayout.JAVA_INT, at + 4, k);
    }

    /** The listening socket, for {@link Epoll}: readable when a connection waits to be refused; owned by this object. */
    public Fd fd() {
        return fd;
    }

    /**
     * Resets some of the connections that have come another way than from the interface.
     *
     * @return how many, 0 if there is none; or minus an errno: {@code EMFILE}, {@code ENFILE} (there is no descriptor to take one), {@code EBADF}
     */
    public int refuse() {
        for (int refused = 0;; refused++) {
            long accepted = refused == BACKLOG
                    ? -Errno.EAGAIN
                    : Native.call(SyscallNumber.ACCEPT4, fd.value(), 0, 0, UnixSocket.SOCK_CLOEXEC);
            if (accepted < 0) {
                boolean none = accepted == -Errno.EAGAIN || accepted == -Errno.EINTR || accepted == -Errno.ECONNABORTED;
                return none ? refused : (int) accepted;
            }
            Native.Scratch scratch = Native.scratch(); // struct linger {int on, seconds}
            scratch.memory().set(ValueLayout.JAVA_INT, 0, 1);
            scratch.memory().set(ValueLayout.JAVA_INT, 4, 0);
            Native.call(SyscallNumber.SETSOCKOPT, accepted, UnixSocket.SOL_SOCKET, SO_LINGER, scratch.address(), 8, 0);
            Native.call(SyscallNumber.CLOSE, accepted);
        }
    }

    /** Gives the port back. Idempotent. */
    @Override
    public void close() {
        fd.close();
    }
}
