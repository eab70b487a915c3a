// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import org.verbena.testkit.InternetChecksum;

/** Ethernet frames with a UDP datagram over IPv4, from {@link VethPair#RAW} to {@link VethPair#KERNEL}. */
final class UdpFrame {
    static final int HEADERS = 14 + 20 + 8;

    private UdpFrame() {}

    /** Writes a frame whose payload is there already; the UDP checksum is that of the pseudo-header alone, or right. */
    static int put(MemorySegment memory, long at, byte[] to, byte[] from, int port, int payload, boolean whole) {
        ByteBuffer b = memory.asSlice(at, HEADERS + payload).asByteBuffer();
        b.put(0, to).put(6, from).putShort(12, (short) 0x0800);
        b.put(14, (byte) 0x45).put(15, (byte) 0).putShort(16, (short) (28 + payload)).putInt(18, 0)
                .putShort(22, (short) (64 << 8 | 17)).putShort(24, (short) 0).putInt(26, 0x0a4d0002).putInt(30,
                        0x0a4d0001);
        b.putShort(24, (short) ~InternetChecksum.fold(InternetChecksum.sum(b, 14, 20)));
        b.putShort(34, (short) 7).putShort(36, (short) port).putShort(38, (short) (8 + payload)).putShort(40,
                (short) 0);
        long pseudo = InternetChecksum.sum(b, 26, 8) + 17 + 8 + payload;
        b.putShort(40, (short) InternetChecksum.fold(pseudo));
        if (whole) {
            b.putShort(40, (short) ~InternetChecksum.fold(InternetChecksum.sum(b, 34, 8 + payload)));
        }
        return HEADERS + payload;
    }
}
