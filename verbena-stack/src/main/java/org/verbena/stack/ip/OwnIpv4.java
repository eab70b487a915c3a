// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IgmpMessage;
import org.verbena.stack.wire.SendFrame;

/** An address of IPv4 that the stack has for itself. */
final class OwnIpv4 implements Link {
    private static final int TTL = 64;

    private final Ip ip;
    private final Ipv4Address address;
    private final Arp arp;
    private final Neighbours neighbours;
    private final Igmp igmp;
    private final Redirects redirects;

    OwnIpv4(Ip ip, Ipv4Address address) {
        this.ip = ip;
        this.address = address;
        redirects = new Redirects(ip.random);
        arp = new Arp(ip, address, redirects);
        neighbours = arp.neighbours();
        igmp = new Igmp(ip, address);
        ip.carryOverIpv4(IgmpMessage.PROTOCOL, igmp);
    }

    Arp arp() {
        return arp;
    }

    @Override
    public boolean isOwn(long high, long low) {
        return (int) low == address.address();
    }

    @Override
    public boolean isHost(long high, long low) {
        return address.isHost((int) low);
    }

    @Override
    public boolean isBroadcast(long high, long low) {
        return address.isBroadcast((int) low);
    }

    @Override
    public boolean isMember(long high, long low) {
        return Igmp.isAllHosts((int) low) || igmp.groups().isMember(high, low);
    }

    @Override
    public int way(long high, long low) {
        int to = (int) low;
        if (address.isBroadcast(to) || Ipv4Address.isMulticast(to)) {
            return 0;
        }
        return !address.isHost(to)
                ? Errno.EINVAL
                : address.nextHop(to) == 0 ? Errno.ENETUNREACH : 0;
    }

    @Override
    public void route(Path p, long high, long low) {
        p.set(0, IpAddress.mapped(address.address()), high, low);
    }

    @Override
    public int mtu(long high, long low) {
        return ip.wire.mtu();
    }

    @Override
    public int hopLimit() {
        return TTL;
    }

    @Override
    public void transmit(SendFrame f, int bytes, long high, long low, long now) throws IOException {
        int to = (int) low;
        if (address.isBroadcast(to)) {
            ip.transmit(f, bytes, EthernetHeader.BROADCAST, EthernetHeader.IPV4);
        } else if (Ipv4Address.isMulticast(to)) {
            ip.transmit(f, bytes, Ipv4Address.groupMac(to), EthernetHeader.IPV4);
        } else {
            neighbours.send(f, bytes, 0, IpAddress.mapped(address.isNear(to) ? to : router(to)), now);
        }
    }

    /** The router to a host of another subnet; 0 if there is none. */
    private int router(int to) {
        IpAddress r = redirects.get(0, IpAddress.mapped(to));
        return r == null ? address.gateway() : (int) r.low();
    }

    @Override
    public boolean redirect(IpAddress from, IpAddress to, IpAddress hop, long now) {
        int t = (int) to.low();
        int h = (int) hop.low();
        return !address.isNear(t) && address.isNear(h) && address.isHost(h) && redirects.take(this, IpAddress.ofIpv4(
                router(t)), from, to, hop, now);
    }

    @Override
    public int setFilter(Object owner, int port, IpAddress group, SourceFilter filter, long now) {
        return igmp.groups().set(owner, group, filter, now) ? 0 : Errno.ENOBUFS;
    }

    @Override
    public List<IpAddress> addresses() {
        return List.of(IpAddress.ofIpv4(address.address()));
    }

    @Override
    public void start(long now) {
        arp.announce(now);
    }

    @Override
    public long work(long now) throws IOException {
        return Math.min(Math.min(arp.work(now), igmp.groups().work(now)), redirects.work(now));
    }
}
