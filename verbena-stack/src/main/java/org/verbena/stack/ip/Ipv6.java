// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.SendFrame;

/** IPv6 (RFC 8200, RFC 8504). */
final class Ipv6 implements Family {
    static final int HOP_LIMIT = 64;

    private static final long GROUP_MAC = 0x3333_0000_0000L;
    private static final long ALL_NODES_LOW = 1;

    final Ip ip;
    final Ipv6Addresses addresses = new Ipv6Addresses();
    final Ipv6Routes routes = new Ipv6Routes();
    final PathMtus mtus;
    final NeighbourDiscovery neighbours;
    final Icmpv6 icmp;
    final Mld mld;
    /** As routers of the link have told. */
    int linkMtu;
    int hopLimit = HOP_LIMIT;

    private final Ipv6Config config;
    private final RouterDiscovery routers;
    private final ExtensionHeaders extensions;
    private final Reassembly reassembly;
    private final Identifications identifications;
    private final Counts counts;

    Ipv6(Ip ip, Ipv6Config config) {
        this.ip = ip;
        this.config = config;
        counts = ip.counts;
        mtus = new PathMtus(ip.random);
        linkMtu = ip.wire.mtu();
        reassembly = new Reassembly(counts, Reassembly.IPV6_PATIENCE);
        identifications = new Identifications(ip.random);
        neighbours = new NeighbourDiscovery(this);
        mld = new Mld(this);
        routers = new RouterDiscovery(this, config.advertisements());
        icmp = new Icmpv6(this, routers);
        extensions = new ExtensionHeaders(icmp);
        ip.carryOverIpv6(Ipv6Header.ICMP, icmp);
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
    public void received(ReceivedFrame f, boolean group, long now) throws IOException {
        MemorySegment m = f.memory();
        long at = f.at() + EthernetHeader.BYTES;
        if (!Ipv6Header.isValid(m, at, f.bytes() - EthernetHeader.BYTES)) {
            counts.malformed++;
            return;
        }
        long fromHigh = Ipv6Header.sourceHigh(m, at);
        long fromLow = Ipv6Header.sourceLow(m, at);
        long toHigh = Ipv6Header.destinationHigh(m, at);
        long toLow = Ipv6Header.destinationLow(m, at);
        boolean toMany = IpAddress.isMulticast(toHigh, toLow);
        // Mapped addresses are of IPv4 here, and never those of a packet of IPv6. An own address is one that a neighbour has, too, and tells of.
        if (IpAddress.isMulticast(fromHigh, fromLow) || IpAddress.isIpv4(fromHigh, fromLow) || fromHigh == 0
                && fromLow == 1 || isOwn(fromHigh, fromLow) && !f.isOwn() && Ipv6Header.nextHeader(m,
                        at) != Ipv6Header.ICMP) {
            counts.malformed++;
            return;
        }
        if (IpAddress.isIpv4(toHigh, toLow) || group != toMany || !(toMany
                ? isMember(toHigh, toLow)
                : isOwn(toHigh, toLow))) {
            counts.notForUs++;
            return;
        }
        int payload = Ipv6Header.payloadBytes(m, at);
        ip.place(f, Ipv6Header.BYTES + payload, Ipv6Header.nextHeader(m, at) == Ipv4Header.TCP);
        Datagram d = ip.datagram;
        d.headerBytes = Ipv6Header.BYTES;
        d.length = payload;
        d.protocol = Ipv6Header.nextHeader(d.memory, d.header);
        d.ecn = Ipv6Header.ecn(d.memory, d.header);
        d.hopLimit = Ipv6Header.hopLimit(d.memory, d.header);
        d.toMany = toMany;
        d.path().set(toHigh, toLow, fromHigh, fromLow);
        unwrap(d, now);
    }

    /** Takes a packet out of its extension headers, and out of its fragments. */
    private void unwrap(Datagram d, long now) throws IOException {
        int end = extensions.skip(d, true, now);
        if (end == ExtensionHeaders.FRAGMENT) {
            int word = extensions.fragmentWord();
            d.hopLimit = 0; // neighbours do not tell of themselves in fragments (RFC 6980)
            if ((word & (Ipv6Header.OFFSET | Ipv6Header.MORE_FRAGMENTS)) != 0) { // else one that is alone (RFC 6946)
                if (extensions.isFragmentBad(d, now) || !reassembly.add(d, Ipv6Header.BYTES, extensions
                        .identification(), word & Ipv6Header.OFFSET, (word & Ipv6Header.MORE_FRAGMENTS) != 0, now)) {
                    return;
                }
            }
            end = extensions.skip(d, false, now);
        }
        if (end == ExtensionHeaders.PROTOCOL) {
            deliver(d, now);
        }
    }

    private void deliver(Datagram d, long now) throws IOException {
        Path p = d.path();
        Protocol carried = ip.receiver(d);
        if (carried == null) {
            counts.notForUs++;
            icmp.error(d, Icmpv6Message.PARAMETER_PROBLEM, Icmpv6Message.NEXT_HEADER, extensions.pointer(), now);
        } else if (d.protocol != Ipv6Header.ICMP && IpAddress.isUnspecifiedOrLoopback(p.remoteHigh(), p.remoteLow())) {
            counts.malformed++;
        } else {
            carried.received(d, now);
        }
    }

    /** Does without an address of this host. */
    void remove(Ipv6Addresses.Entry e, long now) {
        addresses.remove(e);
        mld.groups().set(e, new IpAddress(IpAddress.linkLocalGroup(), IpAddress.solicitedNode(e.low)),
                SourceFilter.NONE, now);
    }

    private boolean isMember(long high, long low) {
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
    public boolean isBroadcast(long high, long low) {
        return false;
    }

    @Override
    public void route(Path p, long high, long low) {
        Ipv6Addresses.Entry e = addresses.select(high, low);
        p.set(e == null ? 0 : e.high, e == null ? 0 : e.low, high, low);
    }

    @Override
    public Groups groups() {
        return mld.groups();
    }

    @Override
    public int mtu(Path p) {
        return mtus.get(p.remoteHigh(), p.remoteLow(), linkMtu);
    }

    @Override
    public void send(SendFrame f, int protocol, Path p, int tos, int hops, int length, boolean whole, long now)
            throws IOException {
        int usual = IpAddress.isMulticast(p.remoteHigh(), p.remoteLow()) ? 1 : hopLimit;
        finish(f, protocol, p, tos, length, hops > 0 ? hops : usual, false, now);
    }

    /** Sends a message of ICMPv6 to the link only, which is written in its place. */
    void sendNear(SendFrame f, Path p, int length, long now) throws IOException {
        finish(f, Ipv6Header.ICMP, p, 0, length, 255, true, now);
    }

    private void finish(SendFrame f, int protocol, Path p, int tos, int length, int hops, boolean near, long now)
            throws IOException {
        long high = p.remoteHigh();
        long low = p.remoteLow();
        Ipv6Header.write(f.memory(), f.at() + EthernetHeader.BYTES, tos, length, protocol, hops, p.localHigh(), p
                .localLow(), high, low);
        if (p.isToSelf()) {
            ip.loopback.add(f);
            return;
        }
        int bytes = p.headers() + length;
        if (IpAddress.isMulticast(high, low)) {
            neighbours.cache().transmit(f, bytes, GROUP_MAC | low & 0xffff_ffffL); // RFC 2464, 7
            return;
        }
        IpAddress router = near || routes.isNear(high, low) ? null : routes.router();
        if (router != null) {
            neighbours.cache().send(f, bytes, router.high(), router.low(), now);
        } else { // what has no way any more is asked for in vain
            neighbours.cache().send(f, bytes, high, low, now);
        }
    }

    @Override
    public int fragments(Path p, int length) {
        int room = ip.room(p);
        return length <= room ? 1 : Math.ceilDiv(length, room - Ipv6Header.FRAGMENT_BYTES & ~7);
    }

    @Override
    public void sendFragments(int protocol, Path p, int hops, MemorySegment payload, int length, long now)
            throws IOException {
        int room = ip.room(p);
        int id = identifications.next(p);
        boolean one = length <= room;
        int most = one ? length : room - Ipv6Header.FRAGMENT_BYTES & ~7;
        int header = one ? 0 : Ipv6Header.FRAGMENT_BYTES;
        int at = 0;
        do {
            SendFrame f = ip.acquire();
            if (f == null) {
                return;
            }
            int n = Math.min(most, length - at);
            long to = Ip.payload(f, p);
            if (!one) {
                Ipv6Header.writeFragment(f.memory(), to, protocol, at | (at + n < length
                        ? Ipv6Header.MORE_FRAGMENTS
                        : 0), id);
                counts.fragmentsOut++;
            }
            MemorySegment.copy(payload, at, f.memory(), to + header, n);
            send(f, one ? protocol : Ipv6Header.FRAGMENT, p, 0, hops, header + n, false, now);
            at += n;
        } while (at < length);
    }

    @Override
    public void noPort(Datagram d, long now) throws IOException {
        icmp.error(d, Icmpv6Message.UNREACHABLE, Icmpv6Message.PORT, 0, now);
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
        Datagram d = ip.datagram;
        while (reassembly.takeLate(d, now)) {
            if (d.headerBytes > 0) {
                Path p = d.path();
                d.toMany = IpAddress.isMulticast(p.localHigh(), p.localLow());
                icmp.error(d, Icmpv6Message.TIME_EXCEEDED, Icmpv6Message.REASSEMBLY, 0, now);
            }
        }
        return Math.min(Math.min(Math.min(neighbours.work(now), routers.work(now)), mld.groups().work(now)), Math.min(
                Math.min(reassembly.next(), routes
                        .work(now)), mtus.work(now)));
    }
}
