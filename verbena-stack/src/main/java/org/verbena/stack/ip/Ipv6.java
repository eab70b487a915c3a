// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.SendFrame;

/** IPv6 (RFC 8200, RFC 8504). */
final class Ipv6 implements Family {
    private final Ip ip;
    private final Link link;
    private final PathMtus mtus;
    private final Icmpv6 icmp;
    private final ExtensionHeaders extensions;
    private final Reassembly reassembly;
    private final Identifications identifications;
    private final Counts counts;

    Ipv6(Ip ip, Link link, Icmpv6.LinkMessages messages) {
        this.ip = ip;
        this.link = link;
        counts = ip.counts;
        mtus = new PathMtus(ip.random);
        reassembly = new Reassembly(counts, Reassembly.IPV6_PATIENCE);
        identifications = new Identifications(ip.random);
        icmp = new Icmpv6(ip, this, messages);
        extensions = new ExtensionHeaders(icmp);
        ip.carryOverIpv6(Ipv6Header.ICMP, icmp);
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
                && fromLow == 1 || link.isOwn(fromHigh, fromLow) && !f.isOwn() && Ipv6Header.nextHeader(m,
                        at) != Ipv6Header.ICMP) {
            counts.malformed++;
            return;
        }
        if (IpAddress.isIpv4(toHigh, toLow) || group != toMany || !(toMany
                ? link.isMember(toHigh, toLow)
                : link.isOwn(toHigh, toLow))) {
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

    @Override
    public Link link() {
        return link;
    }

    /** A router has told how long packets to a host may be. */
    void shorten(Path p, int mtu, long now) {
        if (mtu < mtu(p)) {
            mtus.put(p.remoteHigh(), p.remoteLow(), mtu, now);
        }
    }

    @Override
    public int mtu(Path p) {
        return mtus.get(p.remoteHigh(), p.remoteLow(), link.mtu(p.remoteHigh(), p.remoteLow()));
    }

    @Override
    public void send(SendFrame f, int protocol, Path p, int tos, int hops, int length, boolean whole, long now)
            throws IOException {
        long high = p.remoteHigh();
        long low = p.remoteLow();
        int ttl = hops > 0 ? hops : IpAddress.isMulticast(high, low) ? 1 : link.hopLimit();
        Ipv6Header.write(f.memory(), f.at() + EthernetHeader.BYTES, tos, length, protocol, ttl, p.localHigh(), p
                .localLow(), high, low);
        if (p.isToSelf()) {
            ip.loopback.add(f);
        } else {
            link.transmit(f, p.headers() + length, high, low, now);
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
    public long work(long now) throws IOException {
        Datagram d = ip.datagram;
        while (reassembly.takeLate(d, now)) {
            if (d.headerBytes > 0) {
                Path p = d.path();
                d.toMany = IpAddress.isMulticast(p.localHigh(), p.localLow());
                icmp.error(d, Icmpv6Message.TIME_EXCEEDED, Icmpv6Message.REASSEMBLY, 0, now);
            }
        }
        return Math.min(Math.min(reassembly.next(), mtus.work(now)), link.work(now));
    }
}
