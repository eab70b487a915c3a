// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Checksum;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;

/** Frames of IPv6 that another host of the link sends, and what is read of those that come back. */
final class Ipv6Frames {
    static final long PEER_MAC = 0x0200_0000_0063L;
    static final IpAddress PEER = new IpAddress(Host.SUBNET_6, 0x63);
    static final IpAddress PEER_NEAR = new IpAddress(0xfe80L << 48, 0x63);
    static final IpAddress NONE = IpAddress.UNSPECIFIED;
    static final IpAddress ALL_NODES = new IpAddress(0xff02L << 48, 1);
    /** Where the packet begins, and its payload. */
    static final int IP = EthernetHeader.BYTES;
    static final int PAYLOAD = IP + Ipv6Header.BYTES;

    private Ipv6Frames() {}

    static long mac(Host h, IpAddress to) {
        return IpAddress.isMulticast(to.high(), to.low()) ? 0x3333_0000_0000L | to.low() & 0xffff_ffffL : h.mac;
    }

    static IpAddress solicitedNode(IpAddress a) {
        return new IpAddress(IpAddress.linkLocalGroup(), IpAddress.solicitedNode(a.low()));
    }

    static byte[] frame(Host h, IpAddress from, IpAddress to, int next, int hops, byte[] payload) {
        byte[] f = new byte[PAYLOAD + payload.length];
        MemorySegment m = MemorySegment.ofArray(f);
        EthernetHeader.write(m, 0, mac(h, to), PEER_MAC, EthernetHeader.IPV6);
        Ipv6Header.write(m, IP, 0, payload.length, next, hops, from.high(), from.low(), to.high(), to.low());
        System.arraycopy(payload, 0, f, PAYLOAD, payload.length);
        return f;
    }

    static long sum(IpAddress a, IpAddress b) {
        return Checksum.sumOf(a.high(), a.low()) + Checksum.sumOf(b.high(), b.low());
    }

    /** A message of ICMPv6; {@code data} follows its word. */
    static byte[] icmp(Host h, IpAddress from, IpAddress to, int hops, int type, int code, int word, byte... data) {
        byte[] p = new byte[Icmpv6Message.BYTES + data.length];
        System.arraycopy(data, 0, p, Icmpv6Message.BYTES, data.length);
        Icmpv6Message.write(MemorySegment.ofArray(p), 0, p.length, type, code, word, sum(from, to));
        return frame(h, from, to, Ipv6Header.ICMP, hops, p);
    }

    /** An address, and an option with an Ethernet address unless that is 0. */
    static byte[] about(IpAddress target, int option, long mac) {
        byte[] b = new byte[16 + (mac == 0 ? 0 : 8)];
        MemorySegment m = MemorySegment.ofArray(b);
        Bytes.put64(m, 0, target.high());
        Bytes.put64(m, 8, target.low());
        if (mac != 0) {
            NeighbourDiscovery.writeLinkAddress(m, 16, option, mac);
        }
        return b;
    }

    static byte[] solicitation(Host h, IpAddress from, IpAddress to, IpAddress target, long mac) {
        return icmp(h, from, to, 255, Icmpv6Message.NEIGHBOUR_SOLICITATION, 0, 0, about(target, 1, mac));
    }

    static byte[] advertisement(Host h, IpAddress from, IpAddress to, int flags, IpAddress target, long mac) {
        return icmp(h, from, to, 255, Icmpv6Message.NEIGHBOUR_ADVERTISEMENT, 0, flags, about(target, 2, mac));
    }

    /** The header of a frame. */
    static Ipv6Header header(byte[] f) {
        return Ipv6Header.of(MemorySegment.ofArray(f), IP);
    }

    /** The message of a frame, whose checksum has to be right. */
    static Icmpv6Message message(byte[] f) {
        MemorySegment m = MemorySegment.ofArray(f);
        Ipv6Header h = header(f);
        assertThat(h.nextHeader()).isEqualTo(Ipv6Header.ICMP);
        assertThat(Icmpv6Message.isValid(m, PAYLOAD, h.payloadBytes(), Checksum.sumOf(h.sourceHigh(), h.sourceLow())
                + Checksum.sumOf(h.destinationHigh(), h.destinationLow()))).isTrue();
        return Icmpv6Message.of(m, PAYLOAD);
    }

    /** The address that a message is about. */
    static IpAddress target(byte[] f) {
        MemorySegment m = MemorySegment.ofArray(f);
        return new IpAddress(Bytes.i64(m, PAYLOAD + 8), Bytes.i64(m, PAYLOAD + 16));
    }

    /** A host that has asked for its addresses, and nobody had them. */
    static Host settled(int number) throws Exception {
        Host h = Host.ofIpv6(number);
        for (int i = 0; i < 20; i++) {
            h.pass(1_000_000_000L);
        }
        h.wire.takeSent();
        return h;
    }

    /** The only frame that was sent. */
    static byte[] sent(Host h) {
        List<byte[]> all = h.wire.takeSent();
        assertThat(all).hasSize(1);
        return all.getFirst();
    }
}
