// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.nio.ByteBuffer;

import org.verbena.testkit.InternetChecksum;

/** Frames that the tests send and take apart, byte by byte and independent of the code under test. */
final class Frames {
    static final int UDP_HEADERS = 14 + 20 + 8;
    private static final int RAW = 0x0a4d0002;
    private static final int KERNEL = 0x0a4d0001;

    private Frames() {}

    private static ByteBuffer ip(byte[] frame, byte[] to, byte[] from, int protocol) {
        ByteBuffer b = ByteBuffer.wrap(frame);
        int length = frame.length - 34;
        b.put(0, to).put(6, from).putShort(12, (short) 0x0800);
        b.put(14, (byte) 0x45).putShort(16, (short) (20 + length)).putShort(22, (short) (64 << 8 | protocol)).putInt(26,
                RAW).putInt(30, KERNEL);
        b.putShort(24, (short) ~InternetChecksum.fold(InternetChecksum.sum(b, 14, 20)));
        return b;
    }

    /** A datagram to the kernel's address, with its checksum or 0 in its place. */
    static byte[] udp(byte[] to, byte[] from, int port, byte[] payload, boolean checksum) {
        byte[] frame = new byte[UDP_HEADERS + payload.length];
        ByteBuffer b = ip(frame, to, from, 17);
        b.putShort(34, (short) 7).putShort(36, (short) port).putShort(38, (short) (8 + payload.length)).put(
                UDP_HEADERS, payload);
        if (checksum) {
            int sum = ~InternetChecksum.fold(InternetChecksum.sum(b, 26, 8) + 17 + 8 + payload.length + InternetChecksum
                    .sum(b, 34, 8 + payload.length)) & 0xffff;
            b.putShort(40, (short) (sum == 0 ? 0xffff : sum));
        }
        return frame;
    }

    /** A TCP segment without data, with its checksum; a SYN has a window scale of 1. */
    static byte[] tcp(byte[] to, byte[] from, int sourcePort, int port, int sequence, int acknowledged, int flags) {
        boolean syn = (flags & 2) != 0;
        byte[] frame = new byte[34 + (syn ? 28 : 20)];
        ByteBuffer b = ip(frame, to, from, 6);
        b.putShort(34, (short) sourcePort).putShort(36, (short) port).putInt(38, sequence).putInt(42, acknowledged)
                .putShort(46, (short) ((syn ? 7 : 5) << 12 | flags)).putShort(48, (short) 0xffff);
        if (syn) {
            b.putInt(54, 0x020405b4).putInt(58, 0x01030301); // MSS 1460, window scale 1: 128 KiB
        }
        int length = b.capacity() - 34;
        b.putShort(50, (short) ~InternetChecksum.fold(InternetChecksum.sum(b, 26, 8) + 6 + length + InternetChecksum
                .sum(b, 34, length)));
        return frame;
    }
}
