// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * What changes in a network namespace, as the kernel tells it: the groups of rtnetlink(7). For one thread at a time.
 *
 * <p>It belongs to the namespace of the thread that opened it. Only messages of the kernel itself are read; every length in
 * them is checked.
 */
public final class NetlinkEvents implements AutoCloseable {
    /** Interfaces: {@code RTNLGRP_LINK}. */
    public static final int LINKS = 1;
    /** Neighbours: {@code RTNLGRP_NEIGH}. */
    public static final int NEIGHBOURS = 1 << 2;
    /** Addresses of IPv4 and IPv6: {@code RTNLGRP_IPV4_IFADDR}, {@code RTNLGRP_IPV6_IFADDR}. */
    public static final int ADDRESSES = 1 << 4 | 1 << 8;
    /**
     * Routes, rules and nexthops of IPv4 and IPv6: {@code RTNLGRP_IPV4_ROUTE}, {@code RTNLGRP_IPV4_RULE}, {@code RTNLGRP_IPV6_ROUTE},
     * {@code RTNLGRP_IPV6_RULE}, {@code RTNLGRP_NEXTHOP}.
     */
    public static final int ROUTES = 1 << 6 | 1 << 7 | 1 << 10 | 1 << 18 | 1 << 31;

    /** All that has changed is read. */
    public static final int COMPLETE = 0;
    /** There may be more. */
    public static final int MORE = 1;
    /** Some messages were lost. */
    public static final int LOST = 2;

    private static final int SOCKADDR_NL_GROUPS = 8;
    private static final int BUFFER_BYTES = 32 << 10;
    private static final int FLAGS = UnixMessage.MSG_TRUNC | Xsk.MSG_DONTWAIT;
    private static final int LENGTH_AT = 16;

    private final Fd fd;
    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES, 8);

    private NetlinkEvents(Fd fd) {
        this.fd = fd;
    }

    /**
     * Hears of changes from now on.
     *
     * @param groups of the constants here
     * @throws LinuxException {@code EMFILE}, {@code ENFILE}, {@code ENOMEM}
     */
    public static NetlinkEvents open(int groups) throws LinuxException {
        Fd fd = Fd.ofResult(Native.call(SyscallNumber.SOCKET, Netlink.AF_NETLINK, Netlink.SOCK_RAW
                | UnixSocket.SOCK_CLOEXEC | UnixSocket.SOCK_NONBLOCK, Netlink.NETLINK_ROUTE),
                "socket(AF_NETLINK, NETLINK_ROUTE)");
        try {
            Native.Scratch scratch = Native.scratch(); // struct sockaddr_nl {short family, pad; int port, groups}
            MemorySegment name = scratch.memory();
            name.set(ValueLayout.JAVA_INT, 0, 0);
            name.set(ValueLayout.JAVA_SHORT, 0, (short) Netlink.AF_NETLINK);
            name.set(ValueLayout.JAVA_INT, Netlink.SOCKADDR_NL_PID, 0);
            name.set(ValueLayout.JAVA_INT, SOCKADDR_NL_GROUPS, groups);
            Args.check(Native.call(SyscallNumber.BIND, fd.value(), scratch.address(), Netlink.SOCKADDR_NL_BYTES),
                    "bind(netlink, groups " + groups + ")");
            return new NetlinkEvents(fd);
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
    }

    /** Readable when something has changed, for {@link Epoll}; owned by this object. */
    public Fd fd() {
        return fd;
    }

    /**
     * Takes what has changed since, without waiting.
     *
     * @param each gets the messages, one after the other
     * @param most packets of messages that are taken now
     * @return {@link #COMPLETE}; {@link #MORE} if there may be more of them; or {@link #LOST} if some were lost, because there were more than fit
     *         ({@code ENOBUFS}): then all is to be asked for anew
     * @throws LinuxException {@code EBADMSG} (a malformed message), {@code EBADF}
     */
    public int read(Consumer<NetlinkReply> each, int most) throws LinuxException {
        boolean complete = true;
        for (int i = 0; i < most; i++) {
            Native.Scratch scratch = Native.scratch(); // struct sockaddr_nl at 0, its length after it
            scratch.memory().set(ValueLayout.JAVA_INT, LENGTH_AT, Netlink.SOCKADDR_NL_BYTES);
            long n = Native.call(buffer, SyscallNumber.RECVFROM, fd.value(), buffer.address(), BUFFER_BYTES, FLAGS,
                    scratch.address(), scratch.address() + LENGTH_AT);
            if (n == -Errno.EAGAIN) {
                return complete ? COMPLETE : LOST;
            }
            if (n == -Errno.EINTR) {
                continue;
            }
            if (n == -Errno.ENOBUFS || n > BUFFER_BYTES) {
                complete = false;
                continue;
            }
            Args.check(n, "recvfrom(netlink)");
            if (scratch.memory().get(ValueLayout.JAVA_INT, Netlink.SOCKADDR_NL_PID) == 0) {
                byte[] copy = new byte[(int) n];
                MemorySegment.copy(buffer, ValueLayout.JAVA_BYTE, 0, copy, 0, copy.length);
                tell(ByteBuffer.wrap(copy).asReadOnlyBuffer().order(ByteOrder.nativeOrder()), each);
            }
        }
        return complete ? MORE : LOST;
    }

    private static void tell(ByteBuffer packet, Consumer<NetlinkReply> each) throws LinuxException {
        while (packet.remaining() >= NetlinkRequest.NLMSG_HDRLEN) {
            ByteBuffer m = Netlink.next(packet, "recvfrom(netlink)");
            int type = Short.toUnsignedInt(m.getShort(4));
            if (type > Netlink.NLMSG_DONE) {
                each.accept(new NetlinkReply(type, m.slice(NetlinkRequest.NLMSG_HDRLEN, m.limit()
                        - NetlinkRequest.NLMSG_HDRLEN).order(ByteOrder.nativeOrder())));
            }
        }
    }

    /** Hears of nothing more. Idempotent. */
    @Override
    public void close() {
        fd.close();
    }
}
