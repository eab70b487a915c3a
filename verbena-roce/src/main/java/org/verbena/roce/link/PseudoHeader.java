// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import java.nio.ByteOrder;

import org.verbena.linux.spi.RawMemory;

/**
 * The pseudo header of a packet for its invariant CRC: eight bytes of ones, then IP and UDP with ones in the fields
 * that routers change.
 *
 * <pre>
 *              IPv4 (36 bytes)                                      IPv6 (56 bytes)
 *  0           ones                                                 ones
 *  8           0x45, ones, total length 10, identification 12,      0x6, ones (class and flow), payload length 12,
 *              DF 14, ones 16, 17 (UDP), ones 18,                   17 (UDP) 14, ones 15,
 *              source 20, destination 24                            source 16, destination 32
 * 28 or 48     UDP: source port 0, destination port 2, length 4, ones 6
 * </pre>
 *
 * <p>Addresses are those of GIDs, as two words in network order: an IPv4 address is the lower half of the second word.
 * Stateless; writes to bare addresses that the caller has checked.
 */
final class PseudoHeader {
    static final int BYTES_4 = 36;
    static final int BYTES_6 = 56;

    private static final int UDP_BYTES = 8;
    private static final int IP4_BYTES = 20;
    /** Upper half of the second word of an IPv4 address: {@code ::ffff:a.b.c.d}, RFC 4291, 2.5.5.2. */
    private static final long MAPPED = 0xFFFFL;
    private static final long ONES = -1;

    private PseudoHeader() {}

    /** Whether a GID is an IPv4 address. */
    static boolean isIp4(long high, long low) {
        return high == 0 && low >>> 32 == MAPPED;
    }

    /**
     * Writes the header of an IPv4 packet.
     *
     * @param end where the packet begins, {@value #BYTES_4} bytes after the first byte to write
     * @param source address, the first byte being the highest
     * @param destination likewise
     * @param sourcePort of UDP
     * @param destinationPort of UDP
     * @param length bytes of the packet with its CRC
     * @param identification of IP, 0 if the kernel sends 0
     */
    static void put4(long end, int source, int destination, int sourcePort, int destinationPort, int length,
            int identification) {
        long at = end - BYTES_4;
        int udp = UDP_BYTES + length;
        putLong(at, ONES);
        putLong(at + 8, 0x45FF_0000_0000_4000L | (long) (IP4_BYTES + udp) << 32 | (long) identification << 16);
        putLong(at + 16, 0xFF11_FFFF_0000_0000L | source & 0xFFFF_FFFFL);
        putInt(at + 24, destination);
        putUdp(end - UDP_BYTES, sourcePort, destinationPort, udp);
    }

    /** Writes the header of an IPv6 packet, {@value #BYTES_6} bytes; as {@link #put4}. */
    static void put6(long end, long sourceHigh, long sourceLow, long destinationHigh, long destinationLow,
            int sourcePort, int destinationPort, int length) {
        long at = end - BYTES_6;
        int udp = UDP_BYTES + length;
        putLong(at, ONES);
        putLong(at + 8, 0x6FFF_FFFF_0000_11FFL | (long) udp << 16);
        putLong(at + 16, sourceHigh);
        putLong(at + 24, sourceLow);
        putLong(at + 32, destinationHigh);
        putLong(at + 40, destinationLow);
        putUdp(end - UDP_BYTES, sourcePort, destinationPort, udp);
    }

    private static void putUdp(long at, int sourcePort, int destinationPort, int length) {
        putLong(at, (long) sourcePort << 48 | (long) destinationPort << 32 | (long) length << 16 | 0xFFFF);
    }

    private static void putLong(long at, long bigEndian) {
        RawMemory.putLongUnaligned(at, ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
                ? bigEndian
                : Long.reverseBytes(bigEndian));
    }

    private static void putInt(long at, int bigEndian) {
        RawMemory.putIntUnaligned(at, ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
                ? bigEndian
                : Integer.reverseBytes(bigEndian));
    }
}
