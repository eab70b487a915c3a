// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.SendFrame;

/** IPv4 (RFC 791, RFC 1122). */
final class Ipv4 implements Family {
    /** Less is not believed of a path, as Linux has it ({@code min_pmtu}); packets to where a router tells less are not longer, and routers may cut them. */
    private static final int LEAST_MTU = 552;

    private final Ip ip;
    private final Link link;
    private final Counts counts;
    private final Reassembly reassembly;
    private final Icmp icmp;
    private final SplittableRandom random;
    private final Identifications identifications;
    private final PathMtus mtus;

    Ipv4(Ip ip, Link link) {
        this.ip = ip;
        this.link = link;
        counts = ip.counts;
        reassembly = new Reassembly(counts, Reassembly.IPV4_PATIENCE);
        random = new SplittableRandom(ip.random.nextLong());
        identifications = new Identifications(ip.random);
        mtus = new PathMtus(ip.random);
        icmp = new Icmp(ip, this);
        ip.carryOverIpv4(Ipv4Header.ICMP, icmp);
    }

    @Override
    public void received(ReceivedFrame f, boolean group, long now) throws IOException {
        MemorySegment m = f.memory();
        long at = f.at() + EthernetHeader.BYTES;
        int header = Ipv4Header.check(m, at, f.bytes() - EthernetHeader.BYTES);
        int from = header == 0 ? 0 : Ipv4Header.source(m, at);
        if (header == 0 || header > Ipv4Header.BYTES && !Ipv4Header.areOptionsAcceptable(m, at) || !link.isHost(0,
                IpAddress.mapped(from)) || link.isOwn(0, IpAddress.mapped(from)) && !f.isOwn()) {
            counts.malformed++;
            return;
        }
        int to = Ipv4Header.destination(m, at);
        long mapped = IpAddress.mapped(to);
        boolean toMany = Ipv4Address.isMulticast(to) ? link.isMember(0, mapped) : link.isBroadcast(0, mapped);
        if (toMany ? !group : group || !link.isOwn(0, mapped)) { // one without the other: RFC 1122, 3.3.6
            counts.notForUs++;
            return;
        }
        int total = Ipv4Header.totalBytes(m, at);
        int protocol = Ipv4Header.protocol(m, at);
        int word = Ipv4Header.fragmentWord(m, at);
        boolean fragment = (word & (Ipv4Header.MORE_FRAGMENTS | Ipv4Header.OFFSET)) != 0;
        int ecn = Ipv4Header.ecn(m, at);
        int ttl = Ipv4Header.ttl(m, at);
        ip.place(f, total, protocol == Ipv4Header.TCP && !fragment);
        Datagram d = ip.datagram;
        d.headerBytes = header;
        d.length = total - header;
        d.protocol = protocol;
        d.ecn = ecn;
        d.hopLimit = ttl;
        d.toMany = toMany;
        d.path().set(0, mapped, 0, IpAddress.mapped(from));
        if (!fragment) {
            deliver(now);
        } else if (reassembly.add(d, header, Ipv4Header.identification(m, at), (word & Ipv4Header.OFFSET) * 8, (word
                & Ipv4Header.MORE_FRAGMENTS) != 0, now)) {
            deliver(now);
        }
    }

    private void deliver(long now) throws IOException {
        Datagram d = ip.datagram;
        Protocol p = ip.receiver(d);
        if (p == null) {
            counts.notForUs++;
            icmp.error(d, IcmpMessage.UNREACHABLE, IcmpMessage.PROTOCOL, now);
        } else {
            p.received(d, now);
        }
    }

    @Override
    public Link link() {
        return link;
    }

    @Override
    public int mtu(Path p) {
        int most = link.mtu(p.remoteHigh(), p.remoteLow());
        return Math.min(Math.max(mtus.get(p.remoteHigh(), p.remoteLow(), most), LEAST_MTU), most);
    }

    /** What routers have told of the way to a host; the link's MTU if nothing. */
    private int told(Path p) {
        return mtus.get(p.remoteHigh(), p.remoteLow(), ip.wire.mtu());
    }

    /** A router has told how long packets to a host may be. */
    void shorten(Path p, int mtu, long now) {
        if (mtu < told(p) && !ip.isToMany(p.remoteHigh(), p.remoteLow())) {
            mtus.put(p.remoteHigh(), p.remoteLow(), mtu, now);
        }
    }

    @Override
    public void send(SendFrame f, int protocol, Path p, int tos, int hops, int length, boolean whole, long now)
            throws IOException {
        int word = whole && told(p) >= Math.min(LEAST_MTU, ip.wire.mtu()) ? Ipv4Header.DONT_FRAGMENT : 0;
        int id = word == 0 ? identifications.next(p) : random.nextInt(); // RFC 6864, 4: of what may be cut it must not repeat
        finish(f, protocol, p, tos, hops, length, word, id, now);
    }

    private void finish(SendFrame f, int protocol, Path p, int tos, int hops, int length, int fragmentWord, int id,
            long now) throws IOException {
        int bytes = Ipv4Header.BYTES + length;
        int to = (int) p.remoteLow();
        int ttl = hops > 0 ? hops : Ipv4Address.isMulticast(to) ? 1 : link.hopLimit();
        Ipv4Header.write(f.memory(), f.at() + EthernetHeader.BYTES, tos, bytes, id, fragmentWord, ttl, protocol, (int) p
                .localLow(), to);
        if (p.isToSelf()) {
            ip.loopback.add(f);
        } else {
            link.transmit(f, EthernetHeader.BYTES + bytes, p.remoteHigh(), p.remoteLow(), now);
        }
    }

    @Override
    public int fragments(Path p, int length) {
        int room = ip.room(p);
        return length <= room ? 1 : Math.ceilDiv(length, room & ~7);
    }

    @Override
    public void sendFragments(int protocol, Path p, int hops, MemorySegment payload, int length, long now)
            throws IOException {
        int id = identifications.next(p);
        int room = ip.room(p);
        int most = length <= room ? length : room & ~7;
        int at = 0;
        do {
            SendFrame f = ip.acquire();
            if (f == null) {
                return;
            }
            int n = Math.min(most, length - at);
            MemorySegment.copy(payload, at, f.memory(), Ip.payload(f, p), n);
            int word = at / 8 | (at + n < length ? Ipv4Header.MORE_FRAGMENTS : 0);
            counts.fragmentsOut += word == 0 ? 0 : 1;
            finish(f, protocol, p, 0, hops, n, word, id, now);
            at += n;
        } while (at < length);
    }

    @Override
    public void noPort(Datagram d, long now) throws IOException {
        icmp.error(d, IcmpMessage.UNREACHABLE, IcmpMessage.PORT, now);
    }

    @Override
    public long work(long now) throws IOException {
        Datagram d = ip.datagram;
        while (reassembly.takeLate(d, now)) {
            if (d.headerBytes > 0) { // the first fragment is there (RFC 1122, 3.3.2)
                d.toMany = ip.isToMany(d.path().localHigh(), d.path().localLow());
                icmp.error(d, IcmpMessage.TIME_EXCEEDED, IcmpMessage.REASSEMBLY, now);
            }
        }
        return Math.min(Math.min(reassembly.next(), mtus.work(now)), link.work(now));
    }
}
