// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32;

import org.jspecify.annotations.Nullable;

/**
 * The contents of an Ethernet frame with a packet of RoCEv2, InfiniBand specification 1.7, annex A17; written only for
 * the lab, so that it checks packets of others independently.
 *
 * @param icrcRight whether the invariant CRC at its end is right
 */
record RocePacket(int opcode, int destinationQp, int psn, boolean icrcRight) {
    /** The UDP port of RoCEv2. */
    static final int PORT = 4791;
    private static final int ETHERNET = 14;
    private static final int IPV4 = 20;
    private static final int IPV6 = 40;
    private static final int UDP = 8;
    private static final int BTH = 12;
    private static final int ICRC = 4;
    private static final String[] TRANSPORTS = {"RC", "UC", "RD", "UD", "CNP", "XRC", "", ""};
    private static final String[] OPERATIONS = {"SEND", "SEND", "SEND", "SEND", "SEND", "SEND", "WRITE", "WRITE",
        "WRITE", "WRITE", "WRITE", "WRITE", "READ", "READ response", "READ response", "READ response",
        "READ response", "ACK", "atomic response", "CMP_SWAP", "FETCH_ADD", "", "SEND", "SEND"};

    /** The packet, or null if the frame holds none. */
    static @Nullable RocePacket of(byte[] frame) {
        ByteBuffer b = ByteBuffer.wrap(frame);
        if (frame.length < ETHERNET + IPV4 + UDP) {
            return null;
        }
        int ip = switch (b.getShort(12) & 0xffff) {
            case 0x0800 -> b.get(ETHERNET) == 0x45 && b.get(ETHERNET + 9) == 17 ? IPV4 : 0;
            case 0x86dd -> b.get(ETHERNET + 6) == 17 ? IPV6 : 0;
            default -> 0;
        };
        int udp = ETHERNET + ip;
        if (ip == 0 || frame.length < udp + UDP || (b.getShort(udp + 2) & 0xffff) != PORT) {
            return null;
        }
        int length = b.getShort(udp + 4) & 0xffff;
        if (length < UDP + BTH + ICRC || frame.length < udp + length) {
            return new RocePacket(-1, 0, 0, false);
        }
        int bth = udp + UDP;
        return new RocePacket(b.get(bth) & 0xff, b.getInt(bth + 4) & 0xffffff, b.getInt(bth + 8) & 0xffffff, icrc(frame,
                ip, length) == Integer.reverseBytes(b.getInt(udp + length - ICRC)));
    }

    /** The ICRC of what a UDP socket sends, from an IPv4 socket with identification 0 and not to be fragmented. */
    static int icrc(InetAddress from, InetAddress to, byte[] payload) {
        boolean v4 = from instanceof Inet4Address;
        int udp = UDP + payload.length;
        ByteBuffer b = ByteBuffer.allocate(ETHERNET + (v4 ? IPV4 : IPV6) + udp).position(ETHERNET);
        if (v4) {
            b.put((byte) 0x45).put((byte) 0).putShort((short) (IPV4 + udp)).putInt(0x4000).put((byte) 64).put((byte) 17)
                    .putShort((short) 0);
        } else {
            b.putInt(0x60000000).putShort((short) udp).put((byte) 17).put((byte) 64);
        }
        b.put(from.getAddress()).put(to.getAddress());
        b.putShort((short) PORT).putShort((short) PORT).putShort((short) udp).putShort((short) 0).put(payload);
        return icrc(b.array(), v4 ? IPV4 : IPV6, udp);
    }

    /** InfiniBand 7.8.1, annex A17.3.3: fields that may change on the way count as ones. */
    private static int icrc(byte[] frame, int ip, int length) {
        byte[] p = Arrays.copyOfRange(frame, ETHERNET, ETHERNET + ip + length - ICRC);
        byte ones = (byte) 0xff;
        if (ip == IPV4) {
            p[1] = ones; // type of service
            p[8] = ones; // time to live
            p[10] = ones; // check sum
            p[11] = ones;
        } else {
            p[0] |= 0x0f; // traffic class, flow label
            p[1] = ones;
            p[2] = ones;
            p[3] = ones;
            p[7] = ones; // hop limit
        }
        p[ip + 6] = ones; // check sum
        p[ip + 7] = ones;
        p[ip + UDP + 4] = ones; // FECN, BECN, reserved
        CRC32 crc = new CRC32();
        crc.update(new byte[] {ones, ones, ones, ones, ones, ones, ones, ones}); // no local route header
        crc.update(p);
        return (int) crc.getValue();
    }

    /** Transport and operation, "RC WRITE". */
    String operation() {
        if (opcode < 0) {
            return "malformed";
        }
        int o = opcode & 0x1f;
        String operation = o < OPERATIONS.length ? OPERATIONS[o] : "";
        return operation.isEmpty() ? String.format("opcode 0x%02x", opcode) : TRANSPORTS[opcode >> 5] + " " + operation;
    }
}
