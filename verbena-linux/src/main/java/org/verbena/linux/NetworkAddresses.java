// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Addresses of network interfaces, in the namespace of a {@link Netlink#NETLINK_ROUTE} socket: rtnetlink(7). Adding one
 * needs CAP_NET_ADMIN there. Stateless; the socket is used by one thread at a time.
 */
public final class NetworkAddresses {
    static final int RTM_NEWADDR = 20;
    static final int RTM_DELADDR = 21;
    static final int RTM_GETADDR = 22;
    static final int IFA_ADDRESS = 1;
    static final int IFA_LOCAL = 2;
    static final int IFA_FLAGS = 8;
    static final int IFA_F_NODAD = 0x02;
    static final int IFA_F_DADFAILED = 0x08;
    static final int IFA_F_TENTATIVE = 0x40;
    static final int IFADDRMSG_BYTES = 8;
    static final int IFADDRMSG_PREFIX = 1;
    static final int IFADDRMSG_INDEX = 4;

    private NetworkAddresses() {}

    /** Whether a message of {@link NetlinkEvents} tells of an address that is new, has changed or is gone. */
    public static boolean isChange(NetlinkReply m) {
        return m.type() == RTM_NEWADDR || m.type() == RTM_DELADDR;
    }

    /**
     * An address of an interface.
     *
     * @param interfaceIndex its interface
     * @param address IPv4 or IPv6
     * @param prefixLength length of the network prefix, bits
     */
    public record Entry(int interfaceIndex, InetAddress address, int prefixLength) {
        /** Whether it is valid on this interface only. */
        public boolean isLinkLocal() {
            return address.isLinkLocalAddress() && !(address instanceof Inet4Address);
        }
    }

    /**
     * The addresses that can be used now: without tentative ones, and duplicates (duplicate address detection, RFC
     * 4862, 5.4).
     *
     * @param netlink the namespace
     * @return in the kernel's order, of all interfaces
     * @throws LinuxException {@code EBADMSG}, {@code ETIMEDOUT}
     */
    public static List<Entry> list(Netlink netlink) throws LinuxException {
        String call = "netlink RTM_GETADDR";
        List<Entry> all = new ArrayList<>();
        for (NetlinkReply reply : netlink.request(new NetlinkRequest(RTM_GETADDR, NetlinkRequest.NLM_F_DUMP).append(
                header(0, 0, 0)), call)) {
            ByteBuffer fixed = reply.payload();
            if (reply.type() != RTM_NEWADDR || fixed.remaining() < IFADDRMSG_BYTES) {
                throw new LinuxException(call, Errno.EBADMSG);
            }
            ByteBuffer value = null;
            int flags = 0;
            for (NetlinkReply.Attribute a : reply.attributes(IFADDRMSG_BYTES)) {
                // on point-to-point links the address is the peer's, and the local one is reported, too
                if (a.type() == IFA_LOCAL || a.type() == IFA_ADDRESS && value == null) {
                    value = a.value();
                } else if (a.type() == IFA_FLAGS) {
                    flags = a.integer();
                }
            }
            if (value != null && (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) == 0) {
                all.add(new Entry(fixed.getInt(IFADDRMSG_INDEX), address(value, call), fixed.get(IFADDRMSG_PREFIX)
                        & 0xFF));
            }
        }
        return all;
    }

    static InetAddress address(ByteBuffer value, String call) throws LinuxException {
        byte[] bytes = new byte[value.remaining()];
        value.duplicate().get(bytes);
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException neither4Nor16Bytes) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
    }

    /**
     * Adds an address to an interface, usable at once: without duplicate address detection.
     *
     * @param netlink the namespace
     * @param interfaceIndex the interface
     * @param address IPv4 or IPv6
     * @param prefixLength length of the network prefix, bits
     * @throws LinuxException {@code EPERM}, {@code EEXIST}, {@code ENODEV}
     */
    public static void add(Netlink netlink, int interfaceIndex, InetAddress address, int prefixLength)
            throws LinuxException {
        byte[] bytes = address.getAddress();
        Args.requireBetween(interfaceIndex, 1, Integer.MAX_VALUE, "the index of an interface");
        Args.requireBetween(prefixLength, 0, 8L * bytes.length, "the length of a prefix");
        netlink.request(new NetlinkRequest(RTM_NEWADDR, NetlinkRequest.NLM_F_CREATE | NetlinkRequest.NLM_F_EXCL).append(
                header(bytes.length == 4 ? UdpHeaders.AF_INET : UdpHeaders.AF_INET6, prefixLength, interfaceIndex))
                .attribute(IFA_LOCAL, bytes).attribute(IFA_ADDRESS, bytes).attribute(IFA_FLAGS, IFA_F_NODAD),
                "netlink RTM_NEWADDR(" + address.getHostAddress() + "/" + prefixLength + ", interface "
                        + interfaceIndex + ")");
    }

    /** struct ifaddrmsg {u8 family, u8 prefix, u8 flags, u8 scope, u32 index}. */
    private static byte[] header(int family, int prefix, int index) {
        return ByteBuffer.allocate(IFADDRMSG_BYTES).order(ByteOrder.nativeOrder()).put(0, (byte) family)
                .put(IFADDRMSG_PREFIX, (byte) prefix).putInt(IFADDRMSG_INDEX, index).array();
    }
}
