// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.nio.ByteBuffer;

import org.verbena.stack.ip.IpAddress;

/** Writes packets of IP, by code of its own, so that it checks that of the stack. */
final class Packets {
    static final int TCP_HEADER = 20;
    static final int UDP_HEADER = 8;
    static final int TCP = 6;
    static final int UDP = 17;
    static final int DEFAULT_TTL = 255;
    private static final int ICMP_CHECKSUM = 2;
    private static final int UDP_CHECKSUM = 6;
    private static final int TCP_CHECKSUM = 16;

    private Packets() {}

    /** The addresses, and what a script can say of the header; both addresses are of the same version. */
    record Ip(IpAddress source, IpAddress destination, int tos, int ttl, int flowLabel) {
        private static final int IPV4_HEADER = 20;
        private static final int IPV6_HEADER = 40;
        private static final int ICMP = 1;
        private static final int ICMPV6 = 58;

        Ip back() {
            return new Ip(/* source= */destination, /* destination= */source, tos, ttl, flowLabel);
        }

        boolean isIpv4() {
            return source.isIpv4();
        }

        int headerBytes() {
            return isIpv4() ? IPV4_HEADER : IPV6_HEADER;
        }

        int icmp() {
            return isIpv4() ? ICMP : ICMPV6;
        }
    }

    static byte[] tcp(Ip ip, int sourcePort, int destinationPort, long sequence, long ack, int flags, int window,
            int urgent, byte[] options, byte[] payload) {
        ByteBuffer b = ip(ip, TCP, TCP_HEADER + options.length + payload.length);
        b.putShort((short) sourcePort).putShort((short) destinationPort).putInt((int) sequence).putInt((int) ack);
        b.putShort((short) ((TCP_HEADER + options.length) / 4 << 12 | flags)).putShort((short) window);
        b.putShort((short) 0).putShort((short) urgent).put(options).put(payload);
        return withChecksum(b, ip, TCP, TCP_CHECKSUM);
    }

    static byte[] udp(Ip ip, int sourcePort, int destinationPort, byte[] payload) {
        ByteBuffer b = ip(ip, UDP, UDP_HEADER + payload.length);
        b.putShort((short) sourcePort).putShort((short) destinationPort).putShort(
                (short) (UDP_HEADER + payload.length));
        b.putShort((short) 0).put(payload);
        return withChecksum(b, ip, UDP, UDP_CHECKSUM);
    }

    static byte[] icmp(Ip ip, int type, int code, int rest, byte[] about) {
        ByteBuffer b = ip(ip, ip.icmp(), 8 + about.length);
        b.put((byte) type).put((byte) code).putShort((short) 0).putInt(rest).put(about);
        return withChecksum(b, ip, ip.icmp(), ICMP_CHECKSUM);
    }

    private static ByteBuffer ip(Ip ip, int protocol, int length) {
        ByteBuffer b = ByteBuffer.allocate(ip.headerBytes() + length);
        if (!ip.isIpv4()) {
            b.putInt(6 << 28 | ip.tos() << 20 | ip.flowLabel()).putShort((short) length);
            b.put((byte) protocol).put((byte) ip.ttl());
            b.putLong(ip.source().high()).putLong(ip.source().low());
            return b.putLong(ip.destination().high()).putLong(ip.destination().low());
        }
        b.put((byte) 0x45).put((byte) ip.tos()).putShort((short) b.limit()).putInt(0);
        b.put((byte) ip.ttl()).put((byte) protocol).putShort((short) 0);
        b.putInt((int) ip.source().low()).putInt((int) ip.destination().low());
        b.putShort(10, (short) ~fold(sum(b, 0, ip.headerBytes(), 0)));
        return b;
    }

    private static byte[] withChecksum(ByteBuffer b, Ip ip, int protocol, int at) {
        int header = ip.headerBytes();
        long pseudo = pseudo(ip, protocol, b.limit() - header);
        b.putShort(header + at, (short) ~fold(sum(b, header, b.limit(), pseudo)));
        byte[] packet = new byte[b.limit()];
        b.get(0, packet);
        return packet;
    }

    /** The part of the header of IP in a checksum: of IPv4's ICMP there is none. */
    static long pseudo(Ip ip, int protocol, int length) {
        return ip.isIpv4() && protocol == ip.icmp()
                ? 0
                : sumOf(ip.source()) + sumOf(ip.destination()) + protocol + length;
    }

    private static long sumOf(IpAddress a) {
        ByteBuffer b = ByteBuffer.allocate(IpAddress.BYTES).putLong(a.high()).putLong(a.low());
        return sum(b, a.isIpv4() ? IpAddress.BYTES - Integer.BYTES : 0, IpAddress.BYTES, 0);
    }

    static long sum(ByteBuffer b, int from, int to, long start) {
        long sum = start;
        for (int i = from; i < to; i += 2) {
            sum += (b.get(i) & 0xff) << 8 | (i + 1 < to ? b.get(i + 1) & 0xff : 0);
        }
        return sum;
    }

    static int fold(long sum) {
        long s = sum;
        while (s > 0xffff) {
            s = (s & 0xffff) + (s >>> 16);
        }
        return (int) s;
    }
}
