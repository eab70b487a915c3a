// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A UDP socket, udp(7), of IPv4 or of IPv6 only, which never blocks and is not connected. {@link UdpSendBatch} and
 * {@link UdpReceiveBatch} move its datagrams, many in a call.
 *
 * <p>Datagrams are never fragmented ({@code IP_PMTUDISC_PROBE}): one that is longer than the interface allows is
 * refused with {@code EMSGSIZE}. On a socket that is not connected, Linux then sends IPv4 with an identification of 0.
 * Received datagrams report their traffic class, their destination if the socket is bound to all addresses, and their
 * hop limit on request ({@link #tellHopLimit}).
 *
 * <p>Any thread may call the methods here; one at a time sends, one receives.
 */
public final class UdpSocket implements AutoCloseable {
    static final int SOCK_DGRAM = 2;
    static final int SO_REUSEADDR = 2;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_ATTACH_FILTER = 26;
    static final int SO_SNDBUFFORCE = 32;
    static final int SO_RCVBUFFORCE = 33;
    static final int IP_TTL = 2;
    static final int IP_MTU_DISCOVER = 10;
    static final int IP_PMTUDISC_PROBE = 3;
    static final int IP_RECVTTL = 12;
    static final int IP_RECVTOS = 13;
    static final int IP_MULTICAST_LOOP = 34;
    static final int IP_ADD_MEMBERSHIP = 35;
    static final int IP_DROP_MEMBERSHIP = 36;
    static final int IP_MULTICAST_ALL = 49;
    static final int MCAST_JOIN_SOURCE_GROUP = 46;
    static final int MCAST_MSFILTER = 48;
    static final int SOCKADDR_STORAGE_BYTES = 128;
    static final int GROUP_FILTER_BYTES = 16 + SOCKADDR_STORAGE_BYTES;
    static final int IPV6_UNICAST_HOPS = 16;
    static final int IPV6_MULTICAST_LOOP = 19;
    static final int IPV6_ADD_MEMBERSHIP = 20;
    static final int IPV6_DROP_MEMBERSHIP = 21;
    static final int IPV6_MTU_DISCOVER = 23;
    static final int IPV6_PMTUDISC_PROBE = 3;
    static final int IPV6_V6ONLY = 26;
    static final int IPV6_MULTICAST_ALL = 29;
    static final int IPV6_RECVPKTINFO = 49;
    static final int IPV6_RECVHOPLIMIT = 51;
    static final int IPV6_RECVTCLASS = 66;

    private final Fd fd;
    private final boolean ip4;
    private final int level;
    /** The single destination address of its datagrams; {@code ::} if it is bound to all. */
    private final long localHigh;
    private final long localLow;
    private volatile int trafficClass;

    private UdpSocket(Fd fd, InetAddress address) {
        this.fd = fd;
        ip4 = address instanceof Inet4Address;
        level = ip4 ? UdpHeaders.IPPROTO_IP : UdpHeaders.IPPROTO_IPV6;
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        boolean all = address.isAnyLocalAddress();
        localHigh = all || ip4 ? 0 : bytes.getLong(0);
        localLow = all ? 0 : ip4 ? UdpHeaders.MAPPED | bytes.getInt(0) & 0xFFFF_FFFFL : bytes.getLong(8);
    }

    /**
     * Opens a socket at an address.
     *
     * @param address one of the machine's, a multicast group's, or the wildcard address; decides the family
     * @param interfaceIndex the interface of a link-local address, else 0
     * @param port 0 to 65535; the system chooses for 0
     * @return the socket
     * @throws LinuxException {@code EADDRINUSE} (another socket is there), {@code EADDRNOTAVAIL} (not an address of
     *         this machine), {@code EAFNOSUPPORT} (the kernel has no IPv6), {@code EACCES}, {@code EMFILE},
     *         {@code ENFILE}
     */
    public static UdpSocket bind(InetAddress address, int interfaceIndex, int port) throws LinuxException {
        boolean ip4 = address instanceof Inet4Address;
        Args.requireBetween(interfaceIndex, 0, Integer.MAX_VALUE, "the index of an interface, or 0,");
        Args.requireBetween(port, 0, 0xFFFF, "a port");
        UdpSocket socket = new UdpSocket(Fd.ofResult(Native.call(SyscallNumber.SOCKET, ip4
                ? UdpHeaders.AF_INET
                : UdpHeaders.AF_INET6, SOCK_DGRAM | UnixSocket.SOCK_CLOEXEC | UnixSocket.SOCK_NONBLOCK, 0),
                "socket(" + (ip4 ? "AF_INET" : "AF_INET6") + ", SOCK_DGRAM)"), address);
        try {
            socket.prepare(address.isAnyLocalAddress());
            if (address.isMulticastAddress()) {
                socket.set(UnixSocket.SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR"); // others may join the group, too
            }
            Native.Scratch scratch = Native.scratch();
            int length = UdpHeaders.putName(scratch.address(), address, interfaceIndex, port);
            Args.check(Native.call(SyscallNumber.BIND, socket.fd.value(), scratch.address(), length), "bind(udp "
                    + address.getHostAddress() + ", port " + port + ")");
            return socket;
        } catch (LinuxException e) {
            socket.close();
            throw e;
        }
    }

    private void prepare(boolean anyAddress) throws LinuxException {
        if (ip4) {
            set(level, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, "IP_MTU_DISCOVER");
            set(level, IP_RECVTOS, 1, "IP_RECVTOS");
            set(level, UdpHeaders.IP_PKTINFO, anyAddress ? 1 : 0, "IP_PKTINFO");
            set(level, IP_MULTICAST_ALL, 0, "IP_MULTICAST_ALL"); // receive no groups that this socket has not joined
        } else {
            set(level, IPV6_V6ONLY, 1, "IPV6_V6ONLY");
            set(level, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE, "IPV6_MTU_DISCOVER");
            set(level, IPV6_RECVTCLASS, 1, "IPV6_RECVTCLASS");
            set(level, IPV6_RECVPKTINFO, anyAddress ? 1 : 0, "IPV6_RECVPKTINFO");
            set(level, IPV6_MULTICAST_ALL, 0, "IPV6_MULTICAST_ALL");
        }
    }

    /**
     * Accepts datagrams over IPv6 without a UDP checksum, for protocols with a checksum of their own:
     * {@code UDP_NO_CHECK6_RX} (RFC 6936). Over IPv4 they are accepted in any case.
     *
     * @throws LinuxException {@code ENOPROTOOPT}: before Linux 3.16
     */
    public void takeUnchecked() throws LinuxException {
        if (!ip4) {
            set(UdpHeaders.SOL_UDP, UdpHeaders.UDP_NO_CHECK6_RX, 1, "UDP_NO_CHECK6_RX");
        }
    }

    /**
     * Sets the default traffic class: for datagrams of {@link UdpSendBatch#add} with this class no control message is
     * needed.
     *
     * @param value IPv4's type of service or IPv6's traffic class, 0 to 255; 0 at first
     * @throws LinuxException {@code EPERM}: a class with a high precedence, without CAP_NET_ADMIN
     */
    public void setTrafficClass(int value) throws LinuxException {
        Args.requireBetween(value, 0, 255, "a traffic class");
        set(level, ip4 ? UdpHeaders.IP_TOS : UdpHeaders.IPV6_TCLASS, value, ip4 ? "IP_TOS" : "IPV6_TCLASS");
        trafficClass = value;
    }

    int trafficClass() {
        return trafficClass;
    }

    long localHigh() {
        return localHigh;
    }

    long localLow() {
        return localLow;
    }

    /**
     * Sets the default hop limit of datagrams to destinations without their own, except multicast groups.
     *
     * @param value 1 to 255; the system's at first
     * @throws LinuxException {@code EBADF}
     */
    public void setHopLimit(int value) throws LinuxException {
        Args.requireBetween(value, 1, 255, "a hop limit");
        set(level, ip4 ? IP_TTL : IPV6_UNICAST_HOPS, value, ip4 ? "IP_TTL" : "IPV6_UNICAST_HOPS");
    }

    /**
     * Has datagrams from now on report their hop limit ({@link UdpReceiveBatch#hopLimit}), at a small cost for each.
     *
     * @throws LinuxException {@code EBADF}
     */
    public void tellHopLimit() throws LinuxException {
        set(level, ip4 ? IP_RECVTTL : IPV6_RECVHOPLIMIT, 1, ip4 ? "IP_RECVTTL" : "IPV6_RECVHOPLIMIT");
    }

    private void set(int level, int option, int value, String name) throws LinuxException {
        Args.check(trySet(level, option, value), "setsockopt(" + name + ", " + value + ")");
    }

    private long trySet(int level, int option, int value) {
        Native.Scratch scratch = Native.scratch();
        scratch.memory().set(ValueLayout.JAVA_INT, 0, value);
        return Native.call(SyscallNumber.SETSOCKOPT, fd.value(), level, option, scratch.address(), Integer.BYTES, 0);
    }

    private int get(int level, int option, String name) throws LinuxException {
        Native.Scratch scratch = Native.scratch(); // the value at 0, its length after it
        scratch.memory().set(ValueLayout.JAVA_INT, Integer.BYTES, Integer.BYTES);
        Args.check(Native.call(SyscallNumber.GETSOCKOPT, fd.value(), level, option, scratch.address(), scratch.address()
                + Integer.BYTES, 0), "getsockopt(" + name + ")");
        return scratch.memory().get(ValueLayout.JAVA_INT, 0);
    }

    /**
     * Checks that there is a route: connect(2), on a separate socket that sends nothing.
     *
     * @param from source address of the datagrams, one of this machine
     * @param interfaceIndex the interface of {@code from} if it is link-local, else 0
     * @param to the destination
     * @throws LinuxException {@code ENETUNREACH}, {@code EHOSTUNREACH}, {@code EADDRNOTAVAIL} (not an address of this
     *         machine), {@code EACCES} (a broadcast address), {@code EINVAL} (no interface for a link-local address)
     */
    public static void checkRoute(InetAddress from, int interfaceIndex, UdpDestination to) throws LinuxException {
        try (UdpSocket socket = bind(from, interfaceIndex, 0)) {
            Args.check(Native.call(to.memory(), SyscallNumber.CONNECT, socket.fd.value(), to.name(), to.nameBytes(), 0,
                    0, 0), "connect(udp " + from.getHostAddress() + " to " + to + ")");
        }
    }

    /** Whether it sends and receives IPv4, and not IPv6. */
    public boolean isIp4() {
        return ip4;
    }

    /**
     * The port that the socket is bound to: getsockname(2).
     *
     * @return 1 to 65535
     * @throws LinuxException {@code ENOBUFS}
     */
    public int port() throws LinuxException {
        Native.Scratch scratch = Native.scratch(); // the address at 0, its length after it
        scratch.memory().set(ValueLayout.JAVA_INT, UdpHeaders.NAME_BYTES, UdpHeaders.NAME_BYTES);
        Args.check(Native.call(SyscallNumber.GETSOCKNAME, fd.value(), scratch.address(), scratch.address()
                + UdpHeaders.NAME_BYTES), "getsockname(udp)");
        return UdpHeaders.port(scratch.address());
    }

    /**
     * Sets the sizes of the kernel's buffers: {@code SO_SNDBUF} and {@code SO_RCVBUF}, beyond the system's limit
     * (sysctl {@code net.core.rmem_max}, {@code wmem_max}) if the process has CAP_NET_ADMIN.
     *
     * @param sendBytes 1 or more
     * @param receiveBytes 1 or more
     * @return the resulting receive size, which includes the kernel's overhead
     * @throws LinuxException {@code EBADF}
     */
    public int setBuffers(int sendBytes, int receiveBytes) throws LinuxException {
        Args.requireBetween(sendBytes, 1, 1 << 30, "a buffer's size");
        Args.requireBetween(receiveBytes, 1, 1 << 30, "a buffer's size");
        if (trySet(UnixSocket.SOL_SOCKET, SO_SNDBUFFORCE, sendBytes) < 0) {
            set(UnixSocket.SOL_SOCKET, SO_SNDBUF, sendBytes, "SO_SNDBUF");
        }
        if (trySet(UnixSocket.SOL_SOCKET, SO_RCVBUFFORCE, receiveBytes) < 0) {
            set(UnixSocket.SOL_SOCKET, SO_RCVBUF, receiveBytes, "SO_RCVBUF");
        }
        return get(UnixSocket.SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF");
    }

    /**
     * Lets the kernel deliver several datagrams of one sender and one length as one: {@code UDP_GRO}. A
     * {@link UdpReceiveBatch} then needs 64 KiB for each, and reports the segment length.
     *
     * @return false if the kernel does not support it: before Linux 5.0
     */
    public boolean coalesce() {
        return trySet(UdpHeaders.SOL_UDP, UdpHeaders.UDP_GRO, 1) == 0;
    }

    /**
     * Drops all incoming datagrams, so that a socket that only sends uses no memory: a filter that accepts no packet,
     * {@code SO_ATTACH_FILTER}.
     *
     * @throws LinuxException {@code ENOMEM}
     */
    public void refuseAll() throws LinuxException {
        Native.Scratch scratch = Native.scratch(); // struct sock_fprog {short length, instructions at 8}, BPF_RET 0
        MemorySegment memory = scratch.memory();
        memory.set(ValueLayout.JAVA_LONG, 0, 1);
        memory.set(ValueLayout.JAVA_LONG, 8, scratch.address() + 16);
        memory.set(ValueLayout.JAVA_LONG, 16, 0x06); // struct sock_filter {short code = BPF_RET | BPF_K, …, int k = 0}
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd.value(), UnixSocket.SOL_SOCKET, SO_ATTACH_FILTER, scratch
                .address(), 16, 0), "setsockopt(SO_ATTACH_FILTER)");
    }

    /**
     * Joins a multicast group: its datagrams are received here if the socket is bound to it, or to all addresses.
     *
     * @param group of the socket's family
     * @param interfaceIndex the interface to join on
     * @throws LinuxException {@code EADDRINUSE} (joined already), {@code ENODEV}, {@code ENOBUFS} (too many groups)
     */
    public void join(InetAddress group, int interfaceIndex) throws LinuxException {
        membership(group, interfaceIndex, ip4 ? IP_ADD_MEMBERSHIP : IPV6_ADD_MEMBERSHIP, "join");
    }

    /**
     * Leaves a multicast group.
     *
     * @param group as it was joined
     * @param interfaceIndex the interface that it was joined on
     * @throws LinuxException {@code EADDRNOTAVAIL} (not joined)
     */
    public void leave(InetAddress group, int interfaceIndex) throws LinuxException {
        membership(group, interfaceIndex, ip4 ? IP_DROP_MEMBERSHIP : IPV6_DROP_MEMBERSHIP, "leave");
    }

    /**
     * Joins a multicast group for what one sender sends: {@code MCAST_JOIN_SOURCE_GROUP}.
     *
     * @param group of the socket's family, as the sender's
     * @throws LinuxException as of the other, {@code EINVAL} (joined for all)
     */
    public void join(InetAddress group, int interfaceIndex, InetAddress sender) throws LinuxException {
        int length = 8 + 2 * SOCKADDR_STORAGE_BYTES;
        try (Arena arena = Arena.ofConfined()) { // struct group_source_req {u32 interface; sockaddr group, sender}
            MemorySegment m = arena.allocate(length, 8);
            m.set(ValueLayout.JAVA_INT, 0, interfaceIndex);
            UdpHeaders.putName(m.address() + 8, group, 0, 0);
            UdpHeaders.putName(m.address() + 8 + SOCKADDR_STORAGE_BYTES, sender, 0, 0);
            Args.check(Native.call(m, SyscallNumber.SETSOCKOPT, fd.value(), level, MCAST_JOIN_SOURCE_GROUP, m.address(),
                    length, 0), "join(multicast group " + group.getHostAddress() + ", interface " + interfaceIndex
                            + ", sender " + sender.getHostAddress() + ")");
        }
    }

    /**
     * Sets from which senders a group is received that was {@linkplain #join joined}: {@code MCAST_MSFILTER}.
     *
     * @param exclude whether from all but these; else from these alone, and from none if there are none
     * @param senders of the group's version of IP, 64 at most
     * @throws LinuxException {@code EINVAL} (not joined), {@code ENOBUFS} (more than {@code igmp_max_msf})
     */
    public void setSourceFilter(InetAddress group, int interfaceIndex, boolean exclude, List<InetAddress> senders)
            throws LinuxException {
        Args.requireBetween(senders.size(), 0, 64, "the number of senders");
        int length = GROUP_FILTER_BYTES + senders.size() * SOCKADDR_STORAGE_BYTES;
        try (Arena arena = Arena.ofConfined()) { // struct group_filter {u32 interface; sockaddr group; u32 mode, count; sockaddr senders[]}
            MemorySegment m = arena.allocate(length, 8);
            m.set(ValueLayout.JAVA_INT, 0, interfaceIndex);
            UdpHeaders.putName(m.address() + 8, group, 0, 0);
            m.set(ValueLayout.JAVA_INT, 8 + SOCKADDR_STORAGE_BYTES, exclude ? 0 : 1);
            m.set(ValueLayout.JAVA_INT, 12 + SOCKADDR_STORAGE_BYTES, senders.size());
            long at = m.address() + GROUP_FILTER_BYTES;
            for (InetAddress sender : senders) {
                UdpHeaders.putName(at, sender, 0, 0);
                at += SOCKADDR_STORAGE_BYTES;
            }
            Args.check(Native.call(m, SyscallNumber.SETSOCKOPT, fd.value(), level, MCAST_MSFILTER, m.address(), length,
                    0), "filter(multicast group " + group.getHostAddress() + ", interface " + interfaceIndex + ")");
        }
    }

    private void membership(InetAddress group, int interfaceIndex, int option, String verb) throws LinuxException {
        if (!group.isMulticastAddress() || group instanceof Inet4Address != ip4) {
            throw new IllegalArgumentException("not an " + (ip4 ? "IPv4" : "IPv6") + " multicast group: " + group
                    .getHostAddress());
        }
        Args.requireBetween(interfaceIndex, 1, Integer.MAX_VALUE, "the index of an interface");
        Native.Scratch scratch = Native.scratch();
        UdpHeaders.putBytes(scratch.address(), group.getAddress());
        int length;
        if (ip4) { // struct ip_mreqn {group, address, interface}
            scratch.memory().set(ValueLayout.JAVA_INT, 4, 0);
            scratch.memory().set(ValueLayout.JAVA_INT, 8, interfaceIndex);
            length = 12;
        } else { // struct ipv6_mreq {group, interface}
            scratch.memory().set(ValueLayout.JAVA_INT, 16, interfaceIndex);
            length = 20;
        }
        Args.check(Native.call(SyscallNumber.SETSOCKOPT, fd.value(), level, option, scratch.address(), length, 0),
                verb + "(multicast group " + group.getHostAddress() + ", interface " + interfaceIndex + ")");
    }

    /**
     * Sets whether the machine's own multicast datagrams are looped back; on by default.
     *
     * @throws LinuxException {@code EBADF}
     */
    public void setMulticastLoop(boolean on) throws LinuxException {
        set(level, ip4 ? IP_MULTICAST_LOOP : IPV6_MULTICAST_LOOP, on ? 1 : 0, "IP_MULTICAST_LOOP");
    }

    /** The descriptor, for {@link Poll} or {@link Epoll}; owned by this object. */
    public Fd fd() {
        return fd;
    }

    /** Closes the socket. Idempotent. */
    @Override
    public void close() {
        fd.close();
    }
}
