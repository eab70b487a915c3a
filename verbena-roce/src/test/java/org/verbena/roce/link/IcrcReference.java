// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import java.util.Arrays;

/** The invariant CRC by its definition: masks a copy of the real headers, then divides bit by bit. */
final class IcrcReference {
    private IcrcReference() {}

    /**
     * Of a packet.
     *
     * @param packet from the IP header to the end of the padding, without the CRC
     */
    static int of(byte[] packet) {
        byte[] masked = new byte[8 + packet.length];
        Arrays.fill(masked, 0, 8, (byte) 0xFF);
        System.arraycopy(packet, 0, masked, 8, packet.length);
        boolean four = packet[0] >>> 4 == 4;
        int bth = four ? 28 : 48;
        for (int i : four ? new int[] {1, 8, 10, 11, 26, 27, bth + 4} : new int[] {1, 2, 3, 7, 46, 47, bth + 4}) {
            masked[8 + i] = (byte) 0xFF;
        }
        if (!four) {
            masked[8] |= 0x0F;
        }
        int crc = -1;
        for (byte b : masked) {
            crc ^= b & 0xFF;
            for (int bit = 0; bit < 8; bit++) {
                crc = crc >>> 1 ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
            }
        }
        return ~crc;
    }
}
