// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.SendFrame;
import org.verbena.stack.wire.Wire;

/** IP of both versions on one link: takes frames apart for the protocols above, and packs theirs. */
public final class Ip {
    /** The most fragments of a datagram: more frames are not held for it. */
    public static final int MOST_FRAGMENTS = 160;
    /** What is looked at in a received frame where it is. */
    private static final int LOOKED_AT = EthernetHeader.BYTES + 60;

    final Wire wire;
    long mac;
    final Counts counts;
    final RandomGenerator random;
    final Datagram datagram = new Datagram();
    private final PortClaims claims;
    final Loopback loopback;
    private final @Nullable Arp arp;
    private final Family ipv4;
    private final Family ipv6;
    private final @Nullable Protocol[] overIpv4 = new @Nullable Protocol[256];
    private final @Nullable Protocol[] overIpv6 = new @Nullable Protocol[256];
    /** Holds packets that came in several parts. */
    private final MemorySegment whole = Arena.ofAuto().allocate(Ipv6Header.BYTES + Ipv6Header.MOST_PAYLOAD);

    /**
     * An end of a link.
     *
     * @param mac its Ethernet address
     * @param ipv4 its address of IPv4, or null if it has none
     * @param ipv6 its addresses of IPv6, or null if it has none
     * @param random for what others should not guess
     */
    public Ip(Wire wire, long mac, @Nullable Ipv4Address ipv4, @Nullable Ipv6Config ipv6, Counts counts,
            RandomGenerator random) {
        this.wire = wire;
        this.mac = mac;
        this.counts = counts;
        this.random = random;
        claims = PortClaims.NONE;
        loopback = new Loopback(wire);
        OwnIpv4 own4 = ipv4 == null ? null : new OwnIpv4(this, ipv4);
        OwnIpv6 own6 = ipv6 == null ? null : new OwnIpv6(this, ipv6);
        arp = own4 == null ? null : own4.arp();
        this.ipv4 = own4 == null ? new NoFamily(counts) : new Ipv4(this, own4);
        this.ipv6 = own6 == null ? new NoFamily(counts) : new Ipv6(this, own6, own6);
    }

    /**
     * A host whose addresses and neighbours others look after, as the kernel: what tells of these does not come here.
     *
     * @param mac the link's Ethernet address
     * @param links what the host is with either version of IP, IPv4 before
     * @param claims which ports it may have
     */
    public Ip(Wire wire, long mac, Counts counts, RandomGenerator random, List<Function<Ip, Link>> links,
            PortClaims claims) {
        this.wire = wire;
        this.mac = mac;
        this.counts = counts;
        this.random = random;
        this.claims = claims;
        loopback = new Loopback(wire);
        arp = null;
        ipv4 = new Ipv4(this, links.get(0).apply(this));
        ipv6 = new Ipv6(this, links.get(1).apply(this), (d, type, now) -> false);
    }

    private Family family(Path p) {
        return p.isIpv4() ? ipv4 : ipv6;
    }

    private Family family(long high, long low) {
        return IpAddress.isIpv4(high, low) ? ipv4 : ipv6;
    }

    /** Has datagrams of a protocol go to {@code p}. */
    public void carry(int protocol, Protocol p) {
        overIpv4[protocol] = p;
        overIpv6[protocol] = p;
    }

    void carryOverIpv4(int protocol, Protocol p) {
        overIpv4[protocol] = p;
    }

    void carryOverIpv6(int protocol, Protocol p) {
        overIpv6[protocol] = p;
    }

    /** The protocol of a number along a path, or null. */
    @Nullable
    Protocol carried(Path p, int protocol) {
        return (p.isIpv4() ? overIpv4 : overIpv6)[protocol];
    }

    /** Takes a frame, which its caller releases afterwards. */
    public void input(ReceivedFrame f, long now) throws IOException {
        counts.framesIn++;
        MemorySegment m = f.memory();
        long at = f.at();
        if (f.bytes() < EthernetHeader.BYTES || f.first() < Math.min(f.bytes(), LOOKED_AT)) {
            counts.malformed++;
            return;
        }
        long to = EthernetHeader.destination(m, at);
        boolean group = EthernetHeader.isGroup(to);
        if (!group && to != mac || EthernetHeader.source(m, at) == mac) { // one of our own may come back
            counts.notForUs++;
            return;
        }
        switch (EthernetHeader.type(m, at)) {
            case EthernetHeader.ARP -> {
                if (arp != null) {
                    arp.received(m, at + EthernetHeader.BYTES, f.first() - EthernetHeader.BYTES, now);
                } else {
                    counts.notForUs++;
                }
            }
            case EthernetHeader.IPV4 -> ipv4.received(f, group, now);
            case EthernetHeader.IPV6 -> ipv6.received(f, group, now);
            default -> counts.notForUs++;
        }
    }

    /** Takes what this host has sent to itself until now. */
    public void takeOwn(long now) throws IOException {
        for (int i = loopback.size(); i > 0; i--) {
            ReceivedFrame f = loopback.take();
            try {
                (Loopback.isIpv4(f.memory(), f.at()) ? ipv4 : ipv6).received(f, false, now);
            } finally {
                f.release();
            }
        }
    }

    /** Whether there is something for {@link #takeOwn}. */
    public boolean hasOwn() {
        return loopback.size() > 0;
    }

    /** Describes the packet of a frame in the {@link #datagram}, in one piece unless it is a segment of TCP, which is copied from where its parts are. */
    void place(ReceivedFrame f, int bytes, boolean segment) {
        Datagram d = datagram;
        d.checked = f.isChecked();
        d.memory = f.memory();
        d.header = f.at() + EthernetHeader.BYTES;
        d.parts = EthernetHeader.BYTES + bytes > f.first() ? f : null;
        if (d.parts != null && !(segment && d.checked && f.first() >= Datagram.LEAST_FIRST)) {
            gather(d, bytes);
        }
    }

    private void gather(Datagram d, int bytes) {
        ReceivedFrame f = d.parts;
        if (f != null) {
            f.copyTo(EthernetHeader.BYTES, whole, 0, bytes);
            d.memory = whole;
            d.header = 0;
            d.parts = null;
        }
    }

    /** The protocol that a datagram goes to; null if nobody has it, and then the datagram is in one piece. */
    @Nullable
    Protocol receiver(Datagram d) {
        Protocol p = carried(d.path(), d.protocol);
        if (p == null) {
            gather(d, d.headerBytes + d.length);
        }
        return p;
    }

    /**
     * 0 if there is a way to an address; else {@code ENETUNREACH}, or {@code EINVAL} for an address that none can be sent to. What is for an own address
     * never comes to the link: {@link #takeOwn} takes it.
     */
    public int way(long high, long low) {
        return family(high, low).link().way(high, low);
    }

    /** Has another Ethernet address from now on. */
    public void setMac(long address) {
        mac = address;
    }

    /** Whether an address is one of this host's. */
    public boolean isOwn(long high, long low) {
        return family(high, low).link().isOwn(high, low);
    }

    /** Whether an address is all hosts of the link, or a group of hosts. */
    public boolean isToMany(long high, long low) {
        return IpAddress.isMulticast(high, low) || family(high, low).link().isBroadcast(high, low);
    }

    /** Has packets to an address that there is a {@link #way} to go from the address of this host that fits. */
    public void route(Path p, long high, long low) {
        family(high, low).link().route(p, high, low);
    }

    /**
     * Has an owner take packets to a group from now on, of the senders of a filter; {@link SourceFilter#NONE} for none any more.
     *
     * @param port where the owner takes them
     * @return 0, {@code ENETUNREACH} without an address of that version of IP, or {@code ENOBUFS} if there are too many groups
     */
    public int setFilter(Object owner, int port, IpAddress group, SourceFilter filter, long now) {
        return family(group.high(), group.low()).link().setFilter(owner, port, group, filter, now);
    }

    /** The longest payload that is sent in one packet. */
    public int room(Path p) {
        return family(p).mtu(p) - p.headerBytes();
    }

    /** A frame whose payload of up to {@link #room} bytes is to be written at {@link #payload}; null if there is none. */
    public @Nullable SendFrame acquire() throws IOException {
        SendFrame f = wire.acquire();
        if (f == null) {
            counts.noBuffer++;
        }
        return f;
    }

    /** How long a payload with {@link SendFrame#cut} may be; 0 if the wire cuts none. */
    public int mostCut(Path p) {
        return Math.max(wire.mostCut() - p.headerBytes(), 0);
    }

    /** A frame whose payload of up to {@link #mostCut} bytes is to be written at {@link #payload}; null if there is none. */
    public @Nullable SendFrame acquireLong() throws IOException {
        return wire.acquireLong();
    }

    /** Where the payload of a frame begins. */
    public static long payload(SendFrame f, Path p) {
        return f.at() + p.headers();
    }

    /** Sends a frame whose payload is in its place, to an address with a {@link #way}. */
    public void send(SendFrame f, int protocol, Path p, int length, long now) throws IOException {
        family(p).send(f, protocol, p, 0, 0, length, false, now);
    }

    /**
     * As the other, of bytes that no router may cut into fragments: one that would have to tells how long packets may be.
     *
     * @param tos type of service, whose low two bits are {@link Ipv4Header#ecn}
     * @param hops hop limit; 0 for the usual one, which is 1 to a group of hosts
     */
    public void sendWhole(SendFrame f, int protocol, Path p, int tos, int hops, int length, long now)
            throws IOException {
        family(p).send(f, protocol, p, tos, hops, length, true, now);
    }

    /** Into how many fragments a payload is cut. */
    public int fragments(Path p, int length) {
        return family(p).fragments(p, length);
    }

    /**
     * Sends a frame whose packet is in its place to an Ethernet address.
     *
     * @param type of the packet, as the Ethernet header has it
     */
    public void transmit(SendFrame f, int bytes, long to, int type) throws IOException {
        EthernetHeader.write(f.memory(), f.at(), to, mac, type);
        counts.framesOut++;
        wire.send(f, bytes);
    }

    /** Takes back a frame that nobody is there for. */
    public void dropUnresolved(SendFrame f) {
        counts.unresolved++;
        wire.giveBack(f);
    }

    /** The ports of this host. */
    public PortClaims claims() {
        return claims;
    }

    /** Takes back a frame that is not sent. */
    public void giveBack(SendFrame f) {
        wire.giveBack(f);
    }

    /** Sends a payload in up to {@link #MOST_FRAGMENTS}; false, and nothing is sent, if there are too few buffers. */
    public boolean send(int protocol, Path p, MemorySegment payload, int length, long now) throws IOException {
        return send(protocol, p, 0, payload, length, now);
    }

    /** As the other, with a hop limit; 0 for the usual one. */
    public boolean send(int protocol, Path p, int hops, MemorySegment payload, int length, long now)
            throws IOException {
        if (!wire.hasFree(fragments(p, length))) {
            counts.noBuffer++;
            return false;
        }
        family(p).sendFragments(protocol, p, hops, payload, length, now);
        return true;
    }

    /** Tells the sender of a datagram that nobody is at its port. */
    public void noPort(Datagram d, long now) throws IOException {
        family(d.path()).noPort(d, now);
    }

    /** The addresses of this host: that of IPv4, then those of IPv6. */
    public List<IpAddress> addresses() {
        List<IpAddress> all = new ArrayList<>(ipv4.link().addresses());
        all.addAll(ipv6.link().addresses());
        return all;
    }

    /** Tells the link of the addresses, with the next {@link #work}. */
    public void start(long now) {
        ipv4.link().start(now);
        ipv6.link().start(now);
    }

    /** Does what is due; answers when to call again. */
    public long work(long now) throws IOException {
        return Math.min(ipv4.work(now), ipv6.work(now));
    }
}
