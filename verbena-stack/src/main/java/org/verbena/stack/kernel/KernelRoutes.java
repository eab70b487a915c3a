// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.NetworkRoutes;
import org.verbena.stack.ip.AddressMap;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.Ipv4Address;

/**
 * The kernel's routes to hosts. The kernel is queried once for each host, so that all of its routing tables and its rules by destination apply; again after a
 * change that may affect the route; and periodically, since the kernel reports no expiry of its cached exceptions.
 */
final class KernelRoutes {
    private static final int MOST = 1 << 14;
    private static final long LIFETIME = 60_000_000_000L;
    /** The least MTU of a link: RFC 791, 3.2, and RFC 8200, 5. */
    private static final int LEAST_IPV4 = 68;
    private static final int LEAST_IPV6 = 1280;

    int linkMtu;

    private final KernelHost host;
    private AddressMap<Way> ways;

    /** The route to a host. */
    static final class Way {
        final long high;
        final long low;
        /** The errno if there is no route, else 0. */
        int errno;
        /** The next hop; null for multicast, broadcast and local destinations. */
        KernelNeighbours.@Nullable Neighbour next;
        long sourceHigh;
        long sourceLow;
        int mtu;
        private long generation;
        private long asked;

        Way(long high, long low) {
            this.high = high;
            this.low = low;
        }
    }

    KernelRoutes(KernelHost host) {
        this.host = host;
        ways = new AddressMap<>(host.random);
    }

    void forgetAll() {
        ways = new AddressMap<>(host.random);
    }

    Way get(long high, long low) {
        Way w = ways.get(high, low);
        if (w == null) {
            if (ways.size() >= MOST) {
                forgetAll();
            }
            w = new Way(high, low);
            w.errno = Errno.ENETUNREACH;
            ways.put(high, low, w);
            ask(w);
        } else if (w.generation != host.generation || host.now - w.asked >= LIFETIME) {
            ask(w);
        }
        return w;
    }

    private void ask(Way w) {
        w.generation = host.generation;
        w.asked = host.now;
        IpAddress to = new IpAddress(w.high, w.low);
        if (!isAddressable(to)) {
            w.errno = Errno.EINVAL;
            return;
        }
        boolean many = IpAddress.isMulticast(w.high, w.low) || to.isIpv4() && host.addresses.isBroadcast((int) w.low);
        boolean near = many || to.isLinkLocal();
        try {
            take(w, to, many, NetworkRoutes.get(host.netlink, to.toInetAddress(), near ? host.interfaceIndex : 0));
        } catch (LinuxException e) {
            switch (e.errno()) {
                case Errno.ENETUNREACH, Errno.EHOSTUNREACH, Errno.EACCES, Errno.EINVAL, Errno.ENETDOWN,
                        Errno.ENODEV -> w.errno = Errno.ENETUNREACH;
                default -> w.asked = host.now - LIFETIME; // the query failed, so that the route stays as it was
            }
        }
    }

    private void take(Way w, IpAddress to, boolean many, NetworkRoutes.Route r) {
        int most = r.mtu() == 0 ? linkMtu : Math.min(r.mtu(), linkMtu);
        w.mtu = Math.max(most, to.isIpv4() ? LEAST_IPV4 : LEAST_IPV6);
        w.next = null;
        w.errno = 0;
        if (host.addresses.isOwn(w.high, w.low)) { // such packets are not sent on the link
            w.sourceHigh = w.high;
            w.sourceLow = w.low;
            return;
        }
        boolean usable = r.type() == NetworkRoutes.UNICAST || many;
        IpAddress source = r.source() == null ? host.addresses.first(to.isIpv4()) : IpAddress.of(r.source());
        if (!usable || r.interfaceIndex() != host.interfaceIndex || source == null || !host.addresses.isOwn(source
                .high(), source.low())) {
            w.errno = Errno.ENETUNREACH;
            return;
        }
        w.sourceHigh = source.high();
        w.sourceLow = source.low();
        if (!many) {
            w.next = host.neighbours.get(r.gateway() == null ? to : IpAddress.of(r.gateway()));
        }
    }

    private static boolean isAddressable(IpAddress a) {
        int ipv4 = (int) a.low();
        return a.isIpv4()
                ? Ipv4Address.isUnicast(ipv4) || Ipv4Address.isMulticast(ipv4) || ipv4 == Ipv4Address.LIMITED_BROADCAST
                : !a.isUnspecifiedOrLoopback();
    }
}
