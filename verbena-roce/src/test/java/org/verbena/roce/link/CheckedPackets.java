// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.transport.Wire;
import org.verbena.verbs.Gid;

/** Appends the invariant CRC to packets of tests, and checks it, with the code of a port. */
public final class CheckedPackets {
    /** First of the bytes that routers may change, which count as ones in the CRC; there is one. */
    public static final int UNCHECKED = 4;

    private final MemorySegment area = Arena.ofAuto().allocate(Icrc.HEADROOM + Wire.PACKET_ROOM + Icrc.BYTES, 8);
    private final Icrc icrc = new Icrc(area);

    private int crc(Gid from, Gid to, byte[] packet, int length) {
        int withCrc = length + Icrc.BYTES;
        long at = area.address() + Icrc.HEADROOM;
        MemorySegment.copy(packet, 0, area, ValueLayout.JAVA_BYTE, Icrc.HEADROOM, length);
        if (Gids.isIp4(from)) {
            PseudoHeader.put4(at, (int) from.low(), (int) to.low(), UdpWire.ROCE_PORT, UdpWire.ROCE_PORT, withCrc, 0);
            return icrc.of(Icrc.HEADROOM, length, PseudoHeader.BYTES_4);
        }
        PseudoHeader.put6(at, from.high(), from.low(), to.high(), to.low(), UdpWire.ROCE_PORT, UdpWire.ROCE_PORT,
                withCrc);
        return icrc.of(Icrc.HEADROOM, length, PseudoHeader.BYTES_6);
    }

    /** The packet followed by its CRC. */
    public byte[] withCrc(Gid from, Gid to, byte[] packet) {
        int crc = crc(from, to, packet, packet.length);
        byte[] all = Arrays.copyOf(packet, packet.length + Icrc.BYTES);
        RawMemory.putIntUnaligned(area.address(), crc);
        MemorySegment.copy(area, ValueLayout.JAVA_BYTE, 0, all, packet.length, Icrc.BYTES);
        return all;
    }

    /** Whether the received packet equals the one sent. */
    public boolean isIntact(Gid from, Gid to, byte[] withCrc) {
        int length = withCrc.length - Icrc.BYTES;
        int crc = crc(from, to, withCrc, length);
        MemorySegment.copy(withCrc, length, area, ValueLayout.JAVA_BYTE, 0, Icrc.BYTES);
        return RawMemory.getIntUnaligned(area.address()) == crc;
    }
}
