// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;

import org.verbena.linux.spi.RawMemory;

/**
 * The invariant CRC of RoCEv2 (InfiniBand Architecture Specification, volume 1, 7.8.1, and its annex A17): CRC-32 of
 * Ethernet over eight bytes of ones, which stand for a masked local route header, then IP, UDP and the whole packet
 * except the CRC itself. Fields that routers change count as ones.
 *
 * <p>Packets lie in one area of memory, each with {@value #HEADROOM} bytes before it that belong to this class: the
 * masked headers are written there, so that one call of the JDK's intrinsic covers everything. Used by one thread at a
 * time; allocates nothing.
 */
final class Icrc {
    /** Bytes in front of a packet's base transport header: ones, IPv6 and UDP. */
    static final int HEADROOM = PseudoHeader.BYTES_6;
    /** Bytes of the CRC at a packet's end. */
    static final int BYTES = 4;

    /** FECN, BECN and reserved bits, which count as ones. */
    private static final int BTH_MASKED = 4;
    private static final int BTH_BYTES = 12;

    private final ByteBuffer area;
    private final long base;
    private final CRC32 crc = new CRC32();

    /**
     * For the packets in an area.
     *
     * @param area native memory, less than 2 GiB
     */
    Icrc(MemorySegment area) {
        this.area = area.asByteBuffer();
        base = RawMemory.addressOf(area);
    }

    /**
     * The CRC of a packet; the headroom must hold its pseudo header.
     *
     * @param packet offset of the base transport header in the area
     * @param length bytes from there to the CRC, without it; 12 or more
     * @param headerBytes bytes of the pseudo header, which ends where the packet begins
     * @return as it is on the wire, the first byte being the lowest
     * @throws IllegalArgumentException if that exceeds the area
     */
    int of(int packet, int length, int headerBytes) {
        if (length < BTH_BYTES) {
            throw new IllegalArgumentException("a packet of " + length + " bytes has no base transport header");
        }
        area.limit(packet + length).position(packet - headerBytes); // also checks the bounds
        long masked = base + packet + BTH_MASKED;
        byte congestion = RawMemory.getByte(masked);
        RawMemory.putByte(masked, (byte) 0xFF);
        crc.reset();
        crc.update(area);
        RawMemory.putByte(masked, congestion);
        return (int) crc.getValue();
    }
}
