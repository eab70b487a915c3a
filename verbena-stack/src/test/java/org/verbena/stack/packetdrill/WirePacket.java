// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * An IPv4 packet as the stack sent it, found whole: lengths and checksums are right.
 *
 * @param ip addresses, type of service and time to live
 * @param protocol of IP
 * @param bytes what the IP header is before
 */
record WirePacket(Packets.Ip ip, int protocol, ByteBuffer bytes) {
    private static final int SHOWN = 60;

    static WirePacket read(byte[] packet) throws Failure {
        ByteBuffer b = ByteBuffer.wrap(packet);
        if (packet.length < Packets.IP_HEADER || b.get(0) >> 4 != 4) {
            throw broken("no IPv4 header", packet);
        }
        int header = (b.get(0) & 0xf) * 4;
        if (header < Packets.IP_HEADER || header > packet.length || (b.getShort(2) & 0xffff) != packet.length) {
            throw broken("lengths in the IPv4 header that do not fit " + packet.length + " bytes", packet);
        }
        if (Packets.fold(Packets.sum(b, 0, header, 0)) != 0xffff) {
            throw broken("a wrong checksum of the IPv4 header", packet);
        }
        Packets.Ip ip = new Packets.Ip(b.getInt(12), b.getInt(16), b.get(1) & 0xff, b.get(8) & 0xff);
        int protocol = b.get(9) & 0xff;
        ByteBuffer bytes = b.slice(header, packet.length - header);
        int least = protocol == Packets.TCP ? Packets.TCP_HEADER : Packets.UDP_HEADER;
        if (bytes.limit() < least || protocol == Packets.TCP && (tcpHeader(bytes) < Packets.TCP_HEADER
                || tcpHeader(bytes) > bytes.limit())) {
            throw broken("a header that is cut short", packet);
        }
        long pseudo = protocol == Packets.ICMP ? 0 : Packets.pseudo(ip, protocol, bytes.limit());
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

    private byte[] part(int from, int to) {
        byte[] b = new byte[to - from];
        bytes.get(from, b);
        return b;
    }
}
