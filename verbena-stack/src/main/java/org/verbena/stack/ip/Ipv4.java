// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.header.ArpPacket;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.SendFrame;
import org.verbena.stack.wire.Wire;

/** IPv4 (RFC 791, RFC 1122) on one link: takes frames apart for the protocols above, and packs theirs. */
public final class Ipv4 {
    /** What is in front of a payload in a frame to send. */
    public static final int HEADERS = EthernetHeader.BYTES + Ipv4Header.BYTES;
    /** What is looked at in a received frame where it is. */
    private static final int LOOKED_AT = EthernetHeader.BYTES + 60;
    private static final int TTL = 64;
    /** Into so many fragments a datagram is cut at most, for so many frames are not held for anything else. */
    public static final int MOST_FRAGMENTS = 160;
    private static final int COUNTERS = 256;

    private final Wire wire;
    private final long mac;
    private final Ipv4Address address;
    private final Counts counts;
    private final Neighbours neighbours;
    private final Reassembly reassembly;
    private final Icmp icmp;
    private final @Nullable Protocol[] protocols = new @Nullable Protocol[256];
    private final Datagram datagram = new Datagram();
    /** Holds packets that came in several parts. */
    private final MemorySegment whole = Arena.ofAuto().allocate(Ipv4Header.MOST);
    private final SplittableRandom random;
    /** Numbers of datagrams that go in fragments, by a hash of the receiver that others cannot compute (RFC 7739, 5.3). */
    private final int[] identifications = new int[COUNTERS];
    private final int key;

    /**
     * An end of a link.
     *
     * @param mac its Ethernet address
     * @param random for what others should not guess
     */
    public Ipv4(Wire wire, long mac, Ipv4Address address, Counts counts, RandomGenerator random) {
        this.wire = wire;
        this.mac = mac;
        this.address = address;
        this.counts = counts;
        neighbours = new Neighbours(wire, mac, address, counts);
        reassembly = new Reassembly(counts);
        this.random = new SplittableRandom(random.nextLong());
        key = random.nextInt() | 1;
        for (int i = 0; i < COUNTERS; i++) {
            identifications[i] = random.nextInt();
        }
        icmp = new Icmp(this, counts);
        protocols[Ipv4Header.ICMP] = icmp;
    }

    /** Has datagrams of a protocol go to {@code p}. */
    public void carry(int protocol, Protocol p) {
        protocols[protocol] = p;
    }

    /** What carries a protocol, or null. */
    @Nullable
    Protocol carried(int protocol) {
        return protocols[protocol];
    }

    /** The address of this end. */
    public Ipv4Address address() {
        return address;
    }

    /** ICMP, for errors. */
    public Icmp icmp() {
        return icmp;
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
        if (!group && to != mac) {
            counts.notForUs++;
            return;
        }
        switch (EthernetHeader.type(m, at)) {
            case EthernetHeader.ARP -> {
                if (ArpPacket.isValid(m, at + EthernetHeader.BYTES, f.first() - EthernetHeader.BYTES)) {
                    neighbours.heard(m, at + EthernetHeader.BYTES, now);
                } else {
                    counts.malformed++;
                }
            }
            case EthernetHeader.IPV4 -> packet(f, group, now);
            default -> counts.notForUs++;
        }
    }

    private void packet(ReceivedFrame f, boolean group, long now) throws IOException {
        MemorySegment m = f.memory();
        long at = f.at() + EthernetHeader.BYTES;
        int header = Ipv4Header.check(m, at, f.bytes() - EthernetHeader.BYTES);
        if (header == 0 || header > Ipv4Header.BYTES && !Ipv4Header.areOptionsAcceptable(m, at)
                || !address.isHost(Ipv4Header.source(m, at)) || Ipv4Header.source(m, at) == address.address()) {
            counts.malformed++;
            return;
        }
        int to = Ipv4Header.destination(m, at);
        boolean broadcast = address.isBroadcast(to);
        if (broadcast ? !group : group || to != address.address()) { // one without the other: RFC 1122, 3.3.6
            counts.notForUs++;
            return;
        }
        int total = Ipv4Header.totalBytes(m, at);
        if (EthernetHeader.BYTES + total > f.first()) {
            f.copyTo(EthernetHeader.BYTES, whole, 0, total);
            m = whole;
            at = 0;
        }
        Datagram d = datagram;
        d.checked = f.isChecked();
        d.ecn = Ipv4Header.ecn(m, at);
        d.toMany = broadcast;
        if ((Ipv4Header.fragmentWord(m, at) & (Ipv4Header.MORE_FRAGMENTS | Ipv4Header.OFFSET)) == 0) {
            deliver(m, at, header, total - header, now);
            return;
        }
        Reassembly.Partial p = reassembly.add(m, at, now);
        if (p != null) {
            d.checked = false;
            d.ecn = 0;
            deliver(p.memory, p.at(), p.headerBytes(), p.payloadBytes(), now);
        }
    }

    private void deliver(MemorySegment m, long at, int header, int length, long now) throws IOException {
        describe(m, at, header, length);
        Datagram d = datagram;
        Protocol p = protocols[d.protocol];
        if (p == null) {
            counts.notForUs++;
            icmp.error(d, IcmpMessage.UNREACHABLE, IcmpMessage.PROTOCOL, now);
        } else {
            p.received(d, now);
        }
    }

    private void describe(MemorySegment m, long at, int header, int length) {
        Datagram d = datagram;
        d.memory = m;
        d.header = at;
        d.headerBytes = header;
        d.length = length;
        d.protocol = Ipv4Header.protocol(m, at);
        d.source = Ipv4Header.source(m, at);
        d.destination = Ipv4Header.destination(m, at);
    }

    /** The longest payload that is sent in one packet. */
    public int room() {
        return wire.mtu() - Ipv4Header.BYTES;
    }

    /**
     * 0 if there is a way to an address; else {@code ENETUNREACH}, or {@code EINVAL} for an address that none can be sent to. What is for the own address
     * never comes to the link, and is not for {@link #send}.
     */
    public int way(int to) {
        if (address.isBroadcast(to) || Ipv4Address.isMulticast(to)) {
            return 0;
        }
        return !address.isHost(to)
                ? Errno.EINVAL
                : address.nextHop(to) == 0 ? Errno.ENETUNREACH : 0;
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
    public int mostCut() {
        return Math.max(wire.mostCut() - Ipv4Header.BYTES, 0);
    }

    /** A frame whose payload of up to {@link #mostCut} bytes is to be written at {@link #payload}; null if there is none. */
    public @Nullable SendFrame acquireLong() throws IOException {
        return wire.acquireLong();
    }

    /** Where the payload of a frame begins. */
    public static long payload(SendFrame f) {
        return f.at() + HEADERS;
    }

    /** Sends a frame whose payload is in its place, to an address with a {@link #way}. */
    public void send(SendFrame f, int protocol, int to, int length, long now) throws IOException {
        finish(f, protocol, to, 0, length, 0, random.nextInt(), now);
    }

    /** As the other, of bytes that no router may cut into fragments, with a type of service whose low two bits are {@link Ipv4Header#ecn}. */
    public void sendWhole(SendFrame f, int protocol, int to, int tos, int length, long now) throws IOException {
        finish(f, protocol, to, tos, length, Ipv4Header.DONT_FRAGMENT, random.nextInt(), now);
    }

    private void finish(SendFrame f, int protocol, int to, int tos, int length, int fragmentWord, int id, long now)
            throws IOException {
        int bytes = Ipv4Header.BYTES + length;
        Ipv4Header.write(f.memory(), f.at() + EthernetHeader.BYTES, tos, bytes, id, fragmentWord, Ipv4Address
                .isMulticast(to)
                        ? 1
                        : TTL,
                protocol, address.address(), to);
        if (address.isBroadcast(to)) {
            neighbours.transmit(f, EthernetHeader.BYTES + bytes, EthernetHeader.BROADCAST);
        } else if (Ipv4Address.isMulticast(to)) {
            neighbours.transmit(f, EthernetHeader.BYTES + bytes, 0x0100_5e00_0000L | to & 0x7f_ffff); // RFC 1112, 6.4
        } else {
            neighbours.send(f, EthernetHeader.BYTES + bytes, address.nextHop(to), now);
        }
    }

    /** Into how many fragments a payload is cut. */
    public int fragments(int length) {
        return length <= room() ? 1 : Math.ceilDiv(length, room() & ~7);
    }

    /** Takes back a frame that is not sent. */
    public void giveBack(SendFrame f) {
        wire.giveBack(f);
    }

    /** Sends a payload in up to {@link #MOST_FRAGMENTS}; false, and nothing is sent, if there are too few buffers. */
    public boolean send(int protocol, int to, MemorySegment payload, int length, long now) throws IOException {
        if (!wire.hasFree(fragments(length))) {
            counts.noBuffer++;
            return false;
        }
        int id = identifications[to * key >>> 24]++;
        int most = length <= room() ? length : room() & ~7;
        int at = 0;
        do {
            SendFrame f = acquire();
            if (f == null) {
                return false;
            }
            int n = Math.min(most, length - at);
            MemorySegment.copy(payload, at, f.memory(), payload(f), n);
            int word = at / 8 | (at + n < length ? Ipv4Header.MORE_FRAGMENTS : 0);
            counts.fragmentsOut += word == 0 ? 0 : 1;
            finish(f, protocol, to, 0, n, word, id, now);
            at += n;
        } while (at < length);
        return true;
    }

    /** Tells the link of the address, with the next {@link #work}. */
    public void announce(long now) {
        neighbours.announce(now);
    }

    /** Does what is due; answers when to call again. */
    public long work(long now) throws IOException {
        for (Reassembly.Partial late = reassembly.late(now); late != null; late = reassembly.late(now)) {
            if (late.headerBytes() > 0) { // the first fragment is there (RFC 1122, 3.3.2)
                datagram.toMany = address.isBroadcast(late.destination());
                describe(late.memory, late.at(), late.headerBytes(), late.beginBytes());
                icmp.error(datagram, IcmpMessage.TIME_EXCEEDED, IcmpMessage.REASSEMBLY, now);
            }
        }
        return Math.min(neighbours.work(now), reassembly.next());
    }
}
