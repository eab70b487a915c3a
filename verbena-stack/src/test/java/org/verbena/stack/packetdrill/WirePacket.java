// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;

import org.verbena.stack.ip.IpAddress;

/**
 * A packet of IP as the stack sent it, found whole: lengths and checksums are right.
 *
 * @param ip what its header says
 * @param protocol of IP
 * @param bytes what the IP header is before
 */
record WirePacket(Packets.Ip ip, int protocol, ByteBuffer bytes) {
    private static final int SHOWN = 60;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;

    static WirePacket read(byte[] packet) throws Failure {
        return packet.length > 0 && packet[0] >> 4 == 6 ? ipv6(packet) : ipv4(packet);
    }

    private static WirePacket ipv6(byte[] packet) throws Failure {
        ByteBuffer b = ByteBuffer.wrap(packet);
        if (packet.length < IPV6_HEADER || (b.getShort(4) & 0xffff) != packet.length - IPV6_HEADER) {
            throw broken("lengths in the IPv6 header that do not fit " + packet.length + " bytes", packet);
        }
        int word = b.getInt(0);
        IpAddress source = new IpAddress(b.getLong(8), b.getLong(16));
        if (source.isIpv4()) {
            throw broken("an address of IPv4 in an IPv6 header", packet);
        }
        Packets.Ip ip = new Packets.Ip(source, new IpAddress(b.getLong(24), b.getLong(32)), word >>> 20 & 0xff,
                b.get(7) & 0xff, word & 0xf_ffff);
        return read(ip, b.get(6) & 0xff, b.slice(IPV6_HEADER, packet.length - IPV6_HEADER), packet);
    }

    private static WirePacket ipv4(byte[] packet) throws Failure {
        ByteBuffer b = ByteBuffer.wrap(packet);
        if (packet.length < IPV4_HEADER || b.get(0) >> 4 != 4) {
            throw broken("no IPv4 header", packet);
        }
        int header = (b.get(0) & 0xf) * 4;
        if (header < IPV4_HEADER || header > packet.length || (b.getShort(2) & 0xffff) != packet.length) {
            throw broken("lengths in the IPv4 header that do not fit " + packet.length + " bytes", packet);
        }
        if (Packets.fold(Packets.sum(b, 0, header, 0)) != 0xffff) {
            throw broken("a wrong checksum of the IPv4 header", packet);
        }
        Packets.Ip ip = new Packets.Ip(IpAddress.ofIpv4(b.getInt(12)), IpAddress.ofIpv4(b.getInt(16)), b.get(1)
                & 0xff, b.get(8) & 0xff, 0);
        return read(ip, b.get(9) & 0xff, b.slice(header, packet.length - header), packet);
    }

    private static WirePacket read(Packets.Ip ip, int protocol, ByteBuffer bytes, byte[] packet) throws Failure {
        int least = protocol == Packets.TCP ? Packets.TCP_HEADER : Packets.UDP_HEADER;
        if (bytes.limit() < least || protocol == Packets.TCP && (tcpHeader(bytes) < Packets.TCP_HEADER
                || tcpHeader(bytes) > bytes.limit())) {
            throw broken("a header that is cut short", packet);
        }
        long pseudo = Packets.pseudo(ip, protocol, bytes.limit());
        if (Packets.fold(Packets.sum(bytes, 0, bytes.limit(), pseudo)) != 0xffff) {
            throw broken("a wrong checksum of protocol " + protocol, packet);
        }
        return new WirePacket(ip, protocol, bytes);
    }

    private static Failure broken(String what, byte[] packet) {
        return new Failure(Failure.Kind.PACKET, "a packet was sent with " + what + ": "
                + HexFormat.of().formatHex(Arrays.copyOf(packet, Math.min(packet.length, SHOWN))));
    }

    private static int tcpHeader(ByteBuffer b) {
        return (b.get(12) >> 4 & 0xf) * 4;
    }

    int sourcePort() {
        return bytes.getShort(0) & 0xffff;
    }

    int destinationPort() {
        return bytes.getShort(2) & 0xffff;
    }

    long sequence() {
        return bytes.getInt(4) & 0xffff_ffffL;
    }

    long ack() {
        return bytes.getInt(8) & 0xffff_ffffL;
    }

    int flags() {
        return bytes.getShort(12) & 0x1ff;
    }

    int window() {
        return bytes.getShort(14) & 0xffff;
    }

    int urgent() {
        return bytes.getShort(18) & 0xffff;
    }

    byte[] options() {
        return part(Packets.TCP_HEADER, tcpHeader(bytes));
    }

    byte[] payload() {
        return part(protocol == Packets.TCP ? tcpHeader(bytes) : Packets.UDP_HEADER, bytes.limit());
    }

    /** Whether another segment of TCP goes on where this one ends. */
    boolean isFollowedBy(WirePacket next) {
        return next.protocol == Packets.TCP && next.sourcePort() == sourcePort() && next
                .destinationPort() == destinationPort() && next.sequence() == (sequence() + payload().length
                        & 0xffff_ffffL) && next.payload().length > 0;
    }

    /** This segment and the one that follows it as one, with what the header of the second says. */
    WirePacket joined(WirePacket next) {
        int header = tcpHeader(next.bytes);
        byte[] first = payload();
        byte[] second = next.payload();
        ByteBuffer b = ByteBuffer.allocate(header + first.length + second.length);
        b.put(next.bytes.slice(0, header)).put(first).put(second);
        b.putInt(4, (int) sequence()).putShort(12, (short) (b.getShort(12) | flags()));
        return new WirePacket(ip, protocol, b);
    }

    private byte[] part(int from, int to) {
        byte[] b = new byte[to - from];
        bytes.get(from, b);
        return b;
    }
}
