// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The ways of packets, as the kernel of a {@link Netlink#NETLINK_ROUTE} socket's namespace chooses them: rtnetlink(7). Stateless;
 * the socket is used by one thread at a time.
 */
public final class NetworkRoutes {
    static final int RTM_NEWROUTE = 24;
    static final int RTM_DELROUTE = 25;
    static final int RTM_NEWNEXTHOP = 104;
    static final int RTM_DELNEXTHOP = 105;
    static final int RTM_NEWRULE = 32;
    static final int RTM_DELRULE = 33;
    static final int RTM_GETROUTE = 26;
    static final int RTMSG_BYTES = 12;
    static final int RTMSG_TO_BITS = 1;
    static final int RTMSG_TYPE = 7;
    static final int RTA_DST = 1;
    static final int RTA_OIF = 4;
    static final int RTA_GATEWAY = 5;
    static final int RTA_PREFSRC = 7;
    static final int RTA_METRICS = 8;
    static final int RTA_VIA = 18;
    static final int RTAX_MTU = 2;

    /** To one host. */
    public static final int UNICAST = 1;
    /** To this host itself. */
    public static final int LOCAL = 2;
    /** To all hosts of a link. */
    public static final int BROADCAST = 3;
    /** To a group. */
    public static final int MULTICAST = 5;

    private NetworkRoutes() {}

    /** Whether a message of {@link NetlinkEvents} tells of a route, rule or nexthop that is new, has changed or is gone. */
    public static boolean isChange(NetlinkReply m) {
        return switch (m.type()) {
            case RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWRULE, RTM_DELRULE, RTM_NEWNEXTHOP, RTM_DELNEXTHOP -> true;
            default -> false;
        };
    }

    /**
     * The way of packets to a host.
     *
     * @param type one of the constants here; others are of ways that go nowhere
     * @param interfaceIndex the interface that they leave by
     * @param gateway the router that they are given to, maybe of the other version of IP; null if the host is on the link
     * @param source the address that the kernel would send from; null if it says none
     * @param mtu bytes of the longest packet, as the route says; 0 if it does not
     */
    public record Route(int type, int interfaceIndex, @Nullable InetAddress gateway, @Nullable InetAddress source,
            int mtu) {}

    /**
     * Asks the kernel for the way to an address, with all of its tables and rules.
     *
     * @param netlink the namespace
     * @param to IPv4 or IPv6
     * @param interfaceIndex the interface of a link-local address or a group, else 0
     * @throws LinuxException {@code ENETUNREACH}, {@code EHOSTUNREACH}, {@code EACCES} (prohibited), {@code EINVAL} (a
     *         blackhole, or not an address of a host), {@code EBADMSG}, {@code ETIMEDOUT}
     */
    public static Route get(Netlink netlink, InetAddress to, int interfaceIndex) throws LinuxException {
        String call = "netlink RTM_GETROUTE(" + to.getHostAddress() + ")";
        byte[] bytes = to.getAddress();
        boolean ip4 = to instanceof Inet4Address;
        NetlinkRequest request = new NetlinkRequest(RTM_GETROUTE, 0).append(ByteBuffer.allocate(RTMSG_BYTES).put(0,
                (byte) (ip4 ? UdpHeaders.AF_INET : UdpHeaders.AF_INET6)).put(RTMSG_TO_BITS, (byte) (8 * bytes.length))
                .array()).attribute(RTA_DST, bytes);
        if (interfaceIndex != 0) {
            request.attribute(RTA_OIF, interfaceIndex);
        }
        List<NetlinkReply> replies = netlink.request(request, call);
        if (replies.isEmpty() || replies.getFirst().type() != RTM_NEWROUTE || replies.getFirst().payload()
                .remaining() < RTMSG_BYTES) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
        NetlinkReply r = replies.getFirst();
        int oif = 0;
        InetAddress gateway = null;
        InetAddress source = null;
        int mtu = 0;
        for (NetlinkReply.Attribute a : r.attributes(RTMSG_BYTES)) {
            switch (a.type()) {
                case RTA_OIF -> oif = a.integer();
                case RTA_GATEWAY -> gateway = NetworkAddresses.address(a.value(), call);
                case RTA_VIA -> gateway = via(a.value(), call);
                case RTA_PREFSRC -> source = NetworkAddresses.address(a.value(), call);
                case RTA_METRICS -> {
                    for (NetlinkReply.Attribute m : a.nested()) {
                        mtu = m.type() == RTAX_MTU ? m.integer() : mtu;
                    }
                }
                default -> { // not needed
                }
            }
        }
        return new Route(r.payload().get(RTMSG_TYPE), oif, gateway, source, mtu);
    }

    /** struct rtvia {u16 family; u8 address[]}. */
    private static InetAddress via(ByteBuffer value, String call) throws LinuxException {
        if (value.remaining() < 2) {
            throw new LinuxException(call, Errno.EBADMSG);
        }
        return NetworkAddresses.address(value.slice(2, value.remaining() - 2).order(ByteOrder.nativeOrder()), call);
    }
}
