// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.SendFrame;

/**
 * Neighbour discovery (RFC 4861, 7): asks for the Ethernet addresses of hosts, tells that of this one, and finds out whether another host has an
 * address of this one (RFC 4862, 5.4).
 */
final class NeighbourDiscovery {
    /** The address that a message is about is behind its header. */
    private static final int TARGET = 8;
    private static final int MESSAGE = TARGET + IpAddress.BYTES;
    private static final int REDIRECT = MESSAGE + IpAddress.BYTES;
    private static final int SOURCE_LINK_ADDRESS = 1;
    private static final int TARGET_LINK_ADDRESS = 2;
    private static final int ROUTER = 1 << 31;
    private static final int SOLICITED = 1 << 30;
    private static final int OVERRIDE = 1 << 29;
    /** DELAY_FIRST_PROBE_TIME: mostly the answer to a packet tells that the neighbour is there. */
    private static final long DELAY = 5_000_000_000L;
    private static final long RETRANSMIT = 1_000_000_000L;
    private static final long ALL_NODES = 1;
    private static final int MAX_HOPS = 255;

    private final OwnIpv6 host;
    private final Ip ip;
    private final Counts counts;
    private final Neighbours cache;
    private final Path path = new Path();

    NeighbourDiscovery(OwnIpv6 host) {
        this.host = host;
        ip = host.ip;
        counts = ip.counts;
        cache = new Neighbours(ip, EthernetHeader.IPV6, DELAY, new Neighbours.Question() {
            @Override
            public void ask(long mac, long high, long low, long now) throws IOException {
                solicit(mac != 0, high, low, now);
            }

            @Override
            public void failed(long high, long low, long now) {
                host.routes.unreachable(high, low, now);
                host.redirects.forget(high, low);
            }
        });
    }

    Neighbours cache() {
        return cache;
    }

    private void solicit(boolean known, long high, long low, long now) throws IOException {
        Ipv6Addresses.Entry own = host.addresses.select(high, low);
        if (own != null) {
            if (known) {
                path.set(own.high, own.low, high, low);
            } else {
                path.set(own.high, own.low, IpAddress.linkLocalGroup(), IpAddress.solicitedNode(low));
            }
            // An answer to an optimistic address must not change what others know of its owner (RFC 4429, 3.2).
            send(Icmpv6Message.NEIGHBOUR_SOLICITATION, 0, high, low, own.optimistic ? 0 : SOURCE_LINK_ADDRESS, now);
        }
    }

    /** Sends a message about an address along the {@link #path}; {@code option} with the own Ethernet address, unless 0. */
    private void send(int type, int flags, long high, long low, int option, long now) throws IOException {
        SendFrame f = ip.acquire();
        if (f == null) {
            return;
        }
        MemorySegment m = f.memory();
        long at = Ip.payload(f, path);
        Bytes.put64(m, at + TARGET, high);
        Bytes.put64(m, at + TARGET + 8, low);
        int length = MESSAGE;
        if (option != 0) {
            writeLinkAddress(m, at + MESSAGE, option, ip.mac);
            length += NeighbourOptions.UNIT;
        }
        Icmpv6Message.write(m, at, length, type, 0, flags, path.sum());
        host.sendNear(f, Ipv6Header.ICMP, path, 255, length, now);
    }

    static void writeLinkAddress(MemorySegment m, long at, int option, long mac) {
        Bytes.put8(m, at, option);
        Bytes.put8(m, at + 1, 1);
        Bytes.put48(m, at + 2, mac);
    }

    /** Whether a message has come from this link, and may be what it says (RFC 4861, 7.1). */
    static boolean isValid(Datagram d, int length) {
        return d.hopLimit == MAX_HOPS && d.length() >= length && Icmpv6Message.code(d.memory(), d.at()) == 0
                && NeighbourOptions.areValid(d, length);
    }

    /** Another host asks for an address. */
    void solicited(Datagram d, long now) throws IOException {
        MemorySegment m = d.memory();
        if (!isValid(d, MESSAGE)) {
            counts.malformed++;
            return;
        }
        long high = Bytes.i64(m, d.at() + TARGET);
        long low = Bytes.i64(m, d.at() + TARGET + 8);
        Path p = d.path();
        long mac = NeighbourOptions.linkAddress(d, MESSAGE, SOURCE_LINK_ADDRESS);
        boolean unspecified = p.remoteHigh() == 0 && p.remoteLow() == 0;
        if (IpAddress.isMulticast(high, low) || unspecified && (mac != 0 || p.localHigh() != IpAddress
                .linkLocalGroup())) {
            counts.malformed++;
            return;
        }
        Ipv6Addresses.Entry own = host.addresses.find(high, low);
        if (own == null) {
            return; // one of many hosts whose addresses end alike
        }
        if (unspecified) {
            if (own.optimistic) { // both find out whether they may have it: neither may
                giveUp(own, now);
            } else {
                path.set(own.high, own.low, IpAddress.linkLocalGroup(), ALL_NODES);
                send(Icmpv6Message.NEIGHBOUR_ADVERTISEMENT, OVERRIDE, high, low, TARGET_LINK_ADDRESS, now);
            }
            return;
        }
        if (mac != 0) {
            cache.met(p.remoteHigh(), p.remoteLow(), mac, false, now);
        }
        path.set(own.high, own.low, p.remoteHigh(), p.remoteLow());
        send(Icmpv6Message.NEIGHBOUR_ADVERTISEMENT, SOLICITED | (own.optimistic ? 0 : OVERRIDE), high, low,
                TARGET_LINK_ADDRESS, now);
    }

    private void giveUp(Ipv6Addresses.Entry own, long now) {
        counts.conflicts++;
        host.addresses.fail(own);
        host.remove(own, now);
    }

    /** A host tells its address. */
    void advertised(Datagram d, long now) throws IOException {
        MemorySegment m = d.memory();
        int flags = d.length() < MESSAGE ? 0 : Icmpv6Message.word(m, d.at());
        boolean solicited = (flags & SOLICITED) != 0;
        if (!isValid(d, MESSAGE) || solicited && d.isToMany()) {
            counts.malformed++;
            return;
        }
        long high = Bytes.i64(m, d.at() + TARGET);
        long low = Bytes.i64(m, d.at() + TARGET + 8);
        if (IpAddress.isMulticast(high, low)) {
            counts.malformed++;
            return;
        }
        Ipv6Addresses.@Nullable Entry own = host.addresses.find(high, low);
        if (own != null) {
            if (own.optimistic) {
                giveUp(own, now);
            } else {
                counts.conflicts++;
            }
            return;
        }
        long mac = NeighbourOptions.linkAddress(d, MESSAGE, TARGET_LINK_ADDRESS);
        if (mac != 0) {
            cache.heard(high, low, mac, solicited, (flags & OVERRIDE) != 0, now);
        } else if (solicited) {
            cache.confirmed(high, low, now);
        }
        if ((flags & ROUTER) == 0) {
            host.routes.removeRouter(high, low);
            host.redirects.forgetRouter(high, low);
        }
    }

    /** The router that a packet went to tells that another one, or the receiver itself, is a better way to there (RFC 4861, 8). */
    void redirected(Datagram d, long now) throws IOException {
        Path p = d.path();
        IpAddress hop = null;
        IpAddress to = null;
        if (isValid(d, REDIRECT) && IpAddress.isLinkLocal(p.remoteHigh()) && !d.isToMany()) {
            MemorySegment m = d.memory();
            hop = new IpAddress(Bytes.i64(m, d.at() + TARGET), Bytes.i64(m, d.at() + TARGET + 8));
            to = new IpAddress(Bytes.i64(m, d.at() + MESSAGE), Bytes.i64(m, d.at() + MESSAGE + 8));
        }
        if (hop == null || to == null || IpAddress.isMulticast(to.high(), to.low()) || !hop.isLinkLocal() && !hop
                .equals(to)) {
            counts.malformed++;
            return;
        }
        if (!host.redirect(p.remote(), to, hop, now)) {
            counts.notForUs++;
            return;
        }
        counts.errorsIn++;
        long mac = NeighbourOptions.linkAddress(d, REDIRECT, TARGET_LINK_ADDRESS);
        if (mac != 0) {
            cache.met(hop.high(), hop.low(), mac, false, now);
        }
    }

    /** Asks whether another host has a new address, and asks again what was not answered; answers when to call again. */
    long work(long now) throws IOException {
        long next = cache.work(now);
        for (int i = 0; i < host.addresses.size(); i++) {
            Ipv6Addresses.Entry e = host.addresses.get(i);
            if (!e.optimistic) {
                continue;
            }
            if (now - e.due >= 0) {
                if (e.asked) {
                    e.optimistic = false;
                    if (IpAddress.isLinkLocal(e.high)) { // from no address routers do not take reports (RFC 3590)
                        host.mld.groups().asked(IpAddress.UNSPECIFIED, List.of(), 0, now);
                    }
                    continue;
                }
                e.asked = true;
                host.mld.groups().set(e, new IpAddress(IpAddress.linkLocalGroup(), IpAddress.solicitedNode(e.low)),
                        SourceFilter.ALL, now);
                host.mld.groups().work(now); // before: a switch has to know where the answer goes
                e.due = now + RETRANSMIT;
                path.set(0, 0, IpAddress.linkLocalGroup(), IpAddress.solicitedNode(e.low));
                send(Icmpv6Message.NEIGHBOUR_SOLICITATION, 0, e.high, e.low, 0, now);
            }
            next = Math.min(next, e.due);
        }
        return next;
    }
}
