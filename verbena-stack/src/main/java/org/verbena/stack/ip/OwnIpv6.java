// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.SendFrame;

/** Addresses of IPv6 that the stack has for itself, and what neighbours and routers of the link tell it. */
final class OwnIpv6 implements Link, Icmpv6.LinkMessages {
    static final int HOP_LIMIT = 64;

    private static final long ALL_NODES_LOW = 1;

    final Ip ip;
    final Ipv6Addresses addresses = new Ipv6Addresses();
    final Ipv6Routes routes = new Ipv6Routes();
    final Redirects redirects;
    final NeighbourDiscovery neighbours;
    final Mld mld;
    /** As routers of the link have told. */
    int linkMtu;
    int hopLimit = HOP_LIMIT;

    private final Ipv6Config config;
    private final RouterDiscovery routers;

    OwnIpv6(Ip ip, Ipv6Config config) {
        this.ip = ip;
        this.config = config;
        linkMtu = ip.wire.mtu();
        redirects = new Redirects(ip.random);
        neighbours = new NeighbourDiscovery(this);
        mld = new Mld(this);
        routers = new RouterDiscovery(this, config.advertisements());
    }

    @Override
    public void start(long now) {
        long id = ip.mac ^ 1L << 41; // the bit that says who has given it is the other way round (RFC 4291, appendix A)
        long low = id >>> 24 << 40 | 0xff_fe00_0000L | id & 0xff_ffff;
        addresses.add(0xfe80_0000_0000_0000L, low, 64, now);
        for (Ipv6Config.Own o : config.addresses()) {
            IpAddress a = o.address();
            if (addresses.find(a.high(), a.low()) == null) {
                addresses.add(a.high(), a.low(), o.prefix(), now);
            }
            routes.configureSubnet(a, o.prefix());
        }
        IpAddress gateway = config.gateway();
        if (gateway != null) {
            routes.configureRouter(gateway);
        }
        routers.start(low, now);
    }

    @Override
    public boolean received(Datagram d, int type, long now) throws IOException {
        switch (type) {
            case Icmpv6Message.NEIGHBOUR_SOLICITATION -> neighbours.solicited(d, now);
            case Icmpv6Message.NEIGHBOUR_ADVERTISEMENT -> neighbours.advertised(d, now);
            case Icmpv6Message.GROUP_QUERY, Icmpv6Message.GROUP_REPORT -> mld.received(d, type, now);
            case Icmpv6Message.ROUTER_ADVERTISEMENT -> routers.advertised(d, now);
            case Icmpv6Message.REDIRECT -> neighbours.redirected(d, now);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Does without an address of this host. */
    void remove(Ipv6Addresses.Entry e, long now) {
        addresses.remove(e);
        mld.groups().set(e, new IpAddress(IpAddress.linkLocalGroup(), IpAddress.solicitedNode(e.low)),
                SourceFilter.NONE, now);
    }

    @Override
    public boolean isMember(long high, long low) {
        return !IpAddress.isOfHost(high, low) && (low == ALL_NODES_LOW && high == IpAddress.linkLocalGroup()
                || addresses.isSolicitedNode(high, low) || mld.groups().isMember(high, low));
    }

    @Override
    public int way(long high, long low) {
        if (IpAddress.isUnspecifiedOrLoopback(high, low)) {
            return Errno.EINVAL;
        }
        return addresses.size() > 0 && (IpAddress.isMulticast(high, low) || routes.isNear(high, low) || routes
                .router() != null || isOwn(high, low)) ? 0 : Errno.ENETUNREACH;
    }

    @Override
    public boolean isOwn(long high, long low) {
        return addresses.find(high, low) != null;
    }

    @Override
    public boolean isHost(long high, long low) {
        return Ipv6Config.isHost(high, low);
    }

    @Override
    public boolean isBroadcast(long high, long low) {
        return false;
    }

    @Override
    public void route(Path p, long high, long low) {
        Ipv6Addresses.Entry e = addresses.select(high, low);
        p.set(e == null ? 0 : e.high, e == null ? 0 : e.low, high, low);
    }

    @Override
    public int mtu(long high, long low) {
        return linkMtu;
    }

    @Override
    public int hopLimit() {
        return hopLimit;
    }

    /** Sends a frame to the link only, whose payload is in its place. */
    void sendNear(SendFrame f, int protocol, Path p, int hops, int length, long now) throws IOException {
        long high = p.remoteHigh();
        long low = p.remoteLow();
        Ipv6Header.write(f.memory(), f.at() + EthernetHeader.BYTES, 0, length, protocol, hops, p.localHigh(), p
                .localLow(), high, low);
        transmit(f, p.headers() + length, high, low, true, now);
    }

    @Override
    public void transmit(SendFrame f, int bytes, long high, long low, long now) throws IOException {
        transmit(f, bytes, high, low, false, now);
    }

    private void transmit(SendFrame f, int bytes, long high, long low, boolean near, long now) throws IOException {
        if (IpAddress.isMulticast(high, low)) {
            ip.transmit(f, bytes, IpAddress.groupMac(low), EthernetHeader.IPV6);
            return;
        }
        IpAddress router = near || routes.isNear(high, low) ? null : router(high, low);
        if (router != null) {
            neighbours.cache().send(f, bytes, router.high(), router.low(), now);
        } else { // what has no way any more is asked for in vain
            neighbours.cache().send(f, bytes, high, low, now);
        }
    }

    /** The host of this link that packets to one of another subnet go to; null if there is none. */
    private @Nullable IpAddress router(long high, long low) {
        IpAddress r = redirects.get(high, low);
        return r == null ? routes.router() : r;
    }

    @Override
    public boolean redirect(IpAddress from, IpAddress to, IpAddress hop, long now) {
        return !routes.isNear(to.high(), to.low()) && redirects.take(this, router(to.high(), to.low()), from, to, hop,
                now);
    }

    @Override
    public int setFilter(Object owner, int port, IpAddress group, SourceFilter filter, long now) {
        return mld.groups().set(owner, group, filter, now) ? 0 : Errno.ENOBUFS;
    }

    @Override
    public List<IpAddress> addresses() {
        List<IpAddress> all = new ArrayList<>();
        for (int i = 0; i < addresses.size(); i++) {
            all.add(new IpAddress(addresses.get(i).high, addresses.get(i).low));
        }
        all.sort(Comparator.comparing(IpAddress::isLinkLocal)); // it is of use on this link only
        return all;
    }

    @Override
    public long work(long now) throws IOException {
        return Math.min(Math.min(Math.min(neighbours.work(now), routers.work(now)), redirects.work(now)), Math.min(mld
                .groups().work(now), routes.work(now)));
    }
}
