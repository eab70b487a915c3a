// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.SendFrame;

/** What the routers of the link tell (RFC 4861, 6): ways to other links, subnets, and with these addresses of this host's own (RFC 4862, 5.5). */
final class RouterDiscovery {
    private static final int MOST_SOLICITATIONS = 3;
    private static final long SOLICITATION_INTERVAL = 4_000_000_000L;
    private static final int SOLICITATION = 8;
    private static final int ADVERTISEMENT = 16;
    private static final int LINK_ADDRESS = 1;
    private static final int PREFIX = 3;
    private static final int PREFIX_BYTES = 32;
    private static final int MTU = 5;
    private static final int MTU_BYTES = 8;
    private static final int ON_LINK = 0x80;
    private static final int AUTONOMOUS = 0x40;
    private static final long ALL_ROUTERS = 2;
    private static final long SECOND = 1_000_000_000L;
    /** A shorter time of validity is not believed of who may not be a router (RFC 4862, 5.5.3). */
    private static final long TWO_HOURS = 7200 * SECOND;
    private static final long INFINITE = 0xffff_ffffL;

    private final OwnIpv6 host;
    private final Ip ip;
    private final Counts counts;
    private final boolean enabled;
    private final Path path = new Path();
    /** The second half of addresses of this host. */
    private long identifier;
    private int solicitations;
    private long due;

    RouterDiscovery(OwnIpv6 host, boolean enabled) {
        this.host = host;
        ip = host.ip;
        counts = ip.counts;
        this.enabled = enabled;
    }

    /** Asks routers from now on. */
    void start(long low, long now) {
        identifier = low;
        solicitations = enabled ? MOST_SOLICITATIONS : 0;
        due = now;
    }

    /** Does what is due; answers when to call again. */
    long work(long now) throws IOException {
        long next = Ipv6Addresses.FOREVER;
        if (solicitations > 0) {
            if (now - due >= 0) {
                solicitations--;
                due = now + SOLICITATION_INTERVAL;
                solicit(now);
            }
            next = solicitations > 0 ? due : next;
        }
        for (int i = host.addresses.size() - 1; i >= 0; i--) {
            Ipv6Addresses.Entry e = host.addresses.get(i);
            if (e.validUntil != Ipv6Addresses.FOREVER && now - e.validUntil >= 0) {
                host.remove(e, now);
                continue;
            }
            e.deprecated = e.preferredUntil != Ipv6Addresses.FOREVER && now - e.preferredUntil >= 0;
            next = Math.min(next, e.deprecated ? e.validUntil : Math.min(e.preferredUntil, e.validUntil));
        }
        return next;
    }

    private void solicit(long now) throws IOException {
        Ipv6Addresses.Entry own = host.addresses.select(IpAddress.linkLocalGroup(), ALL_ROUTERS);
        SendFrame f = own == null ? null : ip.acquire();
        if (own == null || f == null) {
            return;
        }
        path.set(own.high, own.low, IpAddress.linkLocalGroup(), ALL_ROUTERS);
        long at = Ip.payload(f, path);
        int length = SOLICITATION;
        if (!own.optimistic) { // RFC 4429, 3.2
            NeighbourDiscovery.writeLinkAddress(f.memory(), at + length, LINK_ADDRESS, ip.mac);
            length += NeighbourOptions.UNIT;
        }
        Icmpv6Message.write(f.memory(), at, length, Icmpv6Message.ROUTER_SOLICITATION, 0, 0, path.sum());
        host.sendNear(f, Ipv6Header.ICMP, path, 255, length, now);
    }

    /** A router tells of itself and the link. */
    void advertised(Datagram d, long now) throws IOException {
        Path p = d.path();
        if (!NeighbourDiscovery.isValid(d, ADVERTISEMENT) || !IpAddress.isLinkLocal(p.remoteHigh())) {
            counts.malformed++;
            return;
        }
        if (!enabled) {
            counts.notForUs++;
            return;
        }
        MemorySegment m = d.memory();
        long at = d.at();
        int hops = Bytes.u8(m, at + 4);
        host.hopLimit = hops == 0 ? host.hopLimit : hops;
        int preference = Bytes.u8(m, at + 5) >>> 3 & 3;
        long lifetime = Bytes.u16(m, at + 6) * SECOND;
        host.routes.addRouter(p.remoteHigh(), p.remoteLow(), preference == 1 ? 1 : preference == 3 ? -1 : 0, now
                + lifetime, now);
        solicitations = lifetime > 0 ? 0 : solicitations;
        long mac = NeighbourOptions.linkAddress(d, ADVERTISEMENT, LINK_ADDRESS);
        if (mac != 0) {
            host.neighbours.cache().met(p.remoteHigh(), p.remoteLow(), mac, false, now);
        }
        int mtu = NeighbourOptions.find(d, ADVERTISEMENT, MTU, MTU_BYTES);
        if (mtu >= 0) {
            long told = Bytes.i32(m, at + mtu + 4) & 0xffff_ffffL;
            if (told >= Ipv6Header.LEAST_MTU && told <= ip.wire.mtu()) {
                host.linkMtu = (int) told;
            }
        }
        for (int i = NeighbourOptions.find(d, ADVERTISEMENT, PREFIX, PREFIX_BYTES); i >= 0; i = NeighbourOptions.find(d,
                NeighbourOptions.after(d, i), PREFIX, PREFIX_BYTES)) {
            subnet(m, at + i, now);
        }
    }

    private void subnet(MemorySegment m, long at, long now) {
        int bits = Bytes.u8(m, at + 2);
        int flags = Bytes.u8(m, at + 3);
        long valid = Bytes.i32(m, at + 4) & 0xffff_ffffL;
        long preferred = Bytes.i32(m, at + 8) & 0xffff_ffffL;
        IpAddress prefix = new IpAddress(Bytes.i64(m, at + 16), Bytes.i64(m, at + 24));
        if (bits > 128 || preferred > valid || IpAddress.isLinkLocal(prefix.high()) || !Ipv6Config.isHost(prefix)) {
            counts.malformed++;
            return;
        }
        if ((flags & ON_LINK) != 0) {
            host.routes.addSubnet(prefix, bits, until(valid, now));
        }
        if ((flags & AUTONOMOUS) != 0 && bits == 64) {
            address(prefix.high(), valid, preferred, now);
        }
    }

    private static long until(long seconds, long now) {
        return seconds == INFINITE ? Ipv6Addresses.FOREVER : now + seconds * SECOND;
    }

    private void address(long high, long valid, long preferred, long now) {
        Ipv6Addresses.Entry e = host.addresses.find(high, identifier);
        if (e == null) {
            e = valid == 0 ? null : host.addresses.add(high, identifier, 64, now);
            if (e != null) {
                e.told = true;
                e.validUntil = until(valid, now);
                e.preferredUntil = until(preferred, now);
            }
            return;
        }
        if (!e.told) {
            return;
        }
        e.preferredUntil = until(preferred, now);
        long left = e.validUntil == Ipv6Addresses.FOREVER ? Ipv6Addresses.FOREVER : e.validUntil - now;
        long told = valid == INFINITE ? Ipv6Addresses.FOREVER : valid * SECOND;
        if (told > TWO_HOURS || told > left) {
            e.validUntil = until(valid, now);
        } else if (left > TWO_HOURS) {
            e.validUntil = now + TWO_HOURS;
        }
    }
}
