// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import java.net.InetAddress;
import java.util.concurrent.Callable;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetlinkRequest;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;

/** Two network namespaces with a veth pair between them, each of which the test may act in; both end with the test. */
final class VethWires {
    static final String IP4_A = "10.47.91.1";
    static final String IP4_B = "10.47.91.2";
    static final String IP6_A = "fd00:4791::1";
    static final String IP6_B = "fd00:4791::2";

    private static final int RTM_NEWLINK = 16;
    private static final int IFLA_GSO_MAX_SEGS = 40;
    private static final int IFLA_IFNAME = 3;

    /** The test's action. */
    @FunctionalInterface
    interface Action {
        void run(UdpWire a, UdpWire b, RawCapture capture) throws Exception;
    }

    private VethWires() {}

    /**
     * Makes both ends, with addresses of both families, opens a wire at each, and captures packets at the second one's.
     * The action runs in the first end's namespace.
     */
    static void with(boolean segmenting, int mostSegments, Action action) throws Exception {
        NetworkNamespace.callInNew(() -> {
            try (Fd first = NetworkNamespace.open()) {
                End other = NetworkNamespace.callInNew((Callable<End>) () -> {
                    try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                        NetworkLinks.createVeth(netlink, "roceb", "rocea");
                        NetworkLinks.move(netlink, NetworkLinks.index(netlink, "rocea"), first);
                        return end(netlink, "roceb", IP4_B, IP6_B, segmenting, mostSegments);
                    }
                });
                try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
                        UdpWire b = other.wire;
                        RawCapture capture = other.capture) {
                    End own = end(netlink, "rocea", IP4_A, IP6_A, segmenting, mostSegments);
                    own.capture.close();
                    try (UdpWire a = own.wire) {
                        action.run(a, b, capture);
                    }
                }
            }
            return 0;
        });
    }

    private record End(UdpWire wire, RawCapture capture) {}

    private static End end(Netlink netlink, String name, String ip4, String ip6, boolean segmenting, int mostSegments)
            throws Exception {
        int index = NetworkLinks.index(netlink, name);
        NetworkAddresses.add(netlink, index, InetAddress.getByName(ip4), 24);
        setMostSegments(netlink, name, mostSegments);
        NetworkLinks.setUp(netlink, index);
        NetworkAddresses.add(netlink, index, InetAddress.getByName(ip6), 64); // not before: IPv6 discards it
        UdpWire wire = UdpWire.open(java.util.List.of(
                new PortAddress(Gids.of(InetAddress.getByName(ip4)), index),
                new PortAddress(Gids.of(InetAddress.getByName(ip6)), index)), 1500, segmenting);
        return new End(wire, RawCapture.open(index));
    }

    /** With 1, the kernel splits a segmented message before it is sent, as it does without hardware support. */
    private static void setMostSegments(Netlink netlink, String name, int most) throws LinuxException {
        netlink.request(new NetlinkRequest(RTM_NEWLINK, 0).append(new byte[16]).attribute(IFLA_IFNAME, name).attribute(
                IFLA_GSO_MAX_SEGS, most), "set gso_max_segs of " + name);
    }
}
