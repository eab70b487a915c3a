// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.nio.ByteBuffer;

/** Writes IPv4 packets, by code of its own, so that it checks that of the stack. */
final class Packets {
    static final int IP_HEADER = 20;
    static final int TCP_HEADER = 20;
    static final int UDP_HEADER = 8;
    static final int ICMP = 1;
    static final int TCP = 6;
    static final int UDP = 17;
    static final int DEFAULT_TTL = 255;

    private Packets() {}

    /** The addresses, and what a script can say of the header. */
    record Ip(int source, int destination, int tos, int ttl) {
        Ip back() {
            return new Ip(/* source= */destination, /* destination= */source, tos, ttl);
        }
    }

    static byte[] tcp(Ip ip, int sourcePort, int destinationPort, long sequence, long ack, int flags, int window,
            int urgent, byte[] options, byte[] payload) {
        ByteBuffer b = ip(ip, TCP, TCP_HEADER + options.length + payload.length);
        b.putShort((short) sourcePort).putShort((short) destinationPort).putInt((int) sequence).putInt((int) ack);
        b.putShort((short) ((TCP_HEADER + options.length) / 4 << 12 | flags)).putShort((short) window);
        b.putShort((short) 0).putShort((short) urgent).put(options).put(payload);
        return withChecksum(b, IP_HEADER + 16, pseudo(ip, TCP, b.limit() - IP_HEADER));
    }

    static byte[] udp(Ip ip, int sourcePort, int destinationPort, byte[] payload) {
        ByteBuffer b = ip(ip, UDP, UDP_HEADER + payload.length);
        b.putShort((short) sourcePort).putShort((short) destinationPort).putShort(
                (short) (UDP_HEADER + payload.length));
        b.putShort((short) 0).put(payload);
        return withChecksum(b, IP_HEADER + 6, pseudo(ip, UDP, b.limit() - IP_HEADER));
    }

    static byte[] icmp(Ip ip, int type, int code, int rest, byte[] about) {
        ByteBuffer b = ip(ip, ICMP, 8 + about.length);
        b.put((byte) type).put((byte) code).putShort((short) 0).putInt(rest).put(about);
        return withChecksum(b, IP_HEADER + 2, 0);
    }

    private static ByteBuffer ip(Ip ip, int protocol, int length) {
        ByteBuffer b = ByteBuffer.allocate(IP_HEADER + length);
        b.put((byte) 0x45).put((byte) ip.tos()).putShort((short) b.limit()).putInt(0);
        b.put((byte) ip.ttl()).put((byte) protocol).putShort((short) 0).putInt(ip.source()).putInt(ip.destination());
        b.putShort(10, (short) ~fold(sum(b, 0, IP_HEADER, 0)));
        return b;
    }

    private static byte[] withChecksum(ByteBuffer b, int at, long pseudo) {
        b.putShort(at, (short) ~fold(sum(b, IP_HEADER, b.limit(), pseudo)));
        byte[] packet = new byte[b.limit()];
        b.get(0, packet);
        return packet;
    }

    static long pseudo(Ip ip, int protocol, int length) {
        return 0L + (ip.source() >>> 16) + (ip.source() & 0xffff) + (ip.destination() >>> 16)
                + (ip.destination() & 0xffff) + protocol + length;
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
