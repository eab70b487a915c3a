// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;

/**
 * The Ethernet addresses of the hosts of a link, as the kernel of a {@link Netlink#NETLINK_ROUTE} socket's namespace knows them: rtnetlink(7),
 * arp(7). Stateless; the socket is used by one thread at a time.
 */
public final class NetworkNeighbours {
    static final int RTM_NEWNEIGH = 28;
    static final int RTM_DELNEIGH = 29;
    static final int RTM_GETNEIGH = 30;
    static final int NDMSG_BYTES = 12;
    static final int NDMSG_INDEX = 4;
    static final int NDMSG_STATE = 8;
    static final int NDMSG_FLAGS = 10;
    static final int NTF_USE = 1;
    static final int NDA_DST = 1;
    static final int NDA_LLADDR = 2;
    private static final int ETHERNET_BYTES = 6;

    /** It was asked for, and has not answered yet. */
    public static final int INCOMPLETE = 0x01;
    /** It was there not long ago. */
    public static final int REACHABLE = 0x02;
    /** It was there once. */
    public static final int STALE = 0x04;
    /** It is used, and will be asked for. */
    public static final int DELAY = 0x08;
    /** It is asked for. */
    public static final int PROBE = 0x10;
    /** It does not answer. */
    public static final int FAILED = 0x20;
    /** There is nothing to ask for. */
    public static final int NOARP = 0x40;
    /** It was configured. */
    public static final int PERMANENT = 0x80;

    private static final int WITH_ADDRESS = REACHABLE | STALE | DELAY | PROBE | NOARP | PERMANENT;

    private NetworkNeighbours() {}

    /**
     * A host of a link.
     *
     * @param interfaceIndex the interface to the link
     * @param address IPv4 or IPv6
     * @param state one of the constants here; 0 of one that the kernel has forgotten
     * @param ethernetAddress in the low 48 bits; -1 if it is not known
     */
    public record Neighbour(int interfaceIndex, InetAddress address, int state, long ethernetAddress) {
        /** Whether packets can be sent to it. */
        public boolean isKnown() {
            return ethernetAddress >= 0 && (state & WITH_ADDRESS) != 0;
        }
    }

    /**
     * What a message of {@link NetlinkEvents#NEIGHBOURS} says; empty if it is none of those, or of no address of IP.
     *
     * @throws LinuxException {@code EBADMSG}
     */
    public static Optional<Neighbour> of(NetlinkReply m) throws LinuxException {
        if (m.type() != RTM_NEWNEIGH && m.type() != RTM_DELNEIGH) {
            return Optional.empty();
        }
        String call = "netlink RTM_NEWNEIGH";
        ByteBuffer fixed = m.payload();
        if (fixed.remaining() < NDMSG_BYTES) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
        int family = fixed.get(0);
        if (family != UdpHeaders.AF_INET && family != UdpHeaders.AF_INET6) {
            return Optional.empty(); // of a bridge
        }
        InetAddress address = null;
        long mac = -1;
        for (NetlinkReply.Attribute a : m.attributes(NDMSG_BYTES)) {
            if (a.type() == NDA_DST) {
                address = NetworkAddresses.address(a.value(), call);
            } else if (a.type() == NDA_LLADDR && a.value().remaining() == ETHERNET_BYTES) {
                ByteBuffer b = a.value().duplicate().order(ByteOrder.BIG_ENDIAN);
                mac = Integer.toUnsignedLong(b.getInt()) << 16 | Short.toUnsignedInt(b.getShort());
            }
        }
        int state = m.type() == RTM_DELNEIGH ? 0 : Short.toUnsignedInt(fixed.getShort(NDMSG_STATE));
        return address == null
                ? Optional.empty()
                : Optional.of(new Neighbour(fixed.getInt(NDMSG_INDEX), address, state, mac));
    }

    /**
     * What the kernel knows of a host.
     *
     * @param netlink the namespace
     * @param interfaceIndex the interface to the link
     * @param address IPv4 or IPv6
     * @return empty if it knows nothing
     * @throws LinuxException {@code ENODEV}, {@code EBADMSG}, {@code ETIMEDOUT}, {@code EOPNOTSUPP} (before Linux 5.0)
     */
    public static Optional<Neighbour> find(Netlink netlink, int interfaceIndex, InetAddress address)
            throws LinuxException {
        try {
            List<NetlinkReply> all = netlink.request(request(RTM_GETNEIGH, 0, 0, interfaceIndex, address),
                    "netlink RTM_GETNEIGH(" + address.getHostAddress() + ", interface " + interfaceIndex + ")");
            return all.isEmpty() ? Optional.empty() : of(all.getFirst());
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * Tells the kernel that a host is sent to: it asks for one that it does not know, and whether one is there still that
     * it has not heard of for a while. What comes of that, {@link NetlinkEvents} tells.
     *
     * @param netlink the namespace
     * @param interfaceIndex the interface to the link
     * @param address IPv4 or IPv6
     * @throws LinuxException {@code EPERM} (without CAP_NET_ADMIN), {@code ENODEV}, {@code ENETDOWN}, {@code ENOBUFS} (the kernel knows too many
     *         hosts)
     */
    public static void use(Netlink netlink, int interfaceIndex, InetAddress address) throws LinuxException {
        netlink.request(request(RTM_NEWNEIGH, NetlinkRequest.NLM_F_CREATE, NTF_USE, interfaceIndex, address),
                "netlink RTM_NEWNEIGH(" + address.getHostAddress() + ", interface " + interfaceIndex + ", NTF_USE)");
    }

    /** struct ndmsg {u8 family, pad[3]; u32 index; u16 state; u8 flags, type}. */
    private static NetlinkRequest request(int type, int flags, int use, int interfaceIndex, InetAddress address) {
        Args.requireBetween(interfaceIndex, 1, Integer.MAX_VALUE, "the index of an interface");
        return new NetlinkRequest(type, flags).append(ByteBuffer.allocate(NDMSG_BYTES).order(ByteOrder.nativeOrder())
                .put(0, (byte) (address instanceof Inet4Address ? UdpHeaders.AF_INET : UdpHeaders.AF_INET6)).putInt(
                        NDMSG_INDEX, interfaceIndex).put(NDMSG_FLAGS, (byte) use).array()).attribute(NDA_DST, address
                                .getAddress());
    }
}
