// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.header.BigEndian;
import org.verbena.verbs.GlobalRoutingHeader;

/**
 * The 40 bytes in front of a received datagram: the IPv6 header, or 20 bytes of 0 and the IPv4 header (annex A17,
 * 17.4.5). It is rebuilt from what the wire knows about the packet.
 */
final class RoutingHeader {
    private static final int UDP_HEADER = 8;
    private static final int ICRC = 4;
    private static final int IPV4_HEADER = 20;
    private static final int UDP = 17;
    private static final int DONT_FRAGMENT = 0x4000;

    private final MemorySegment memory = Arena.ofAuto().allocate(GlobalRoutingHeader.BYTES, Long.BYTES);
    private final long address = RawMemory.addressOf(memory);

    /** Address of the header; valid until the next call. */
    long of(ReceivedPacket p) {
        int udp = UDP_HEADER + p.length + ICRC;
        if (p.isIpv4()) {
            BigEndian.putLong(address, 0);
            BigEndian.putLong(address + 8, 0);
            BigEndian.putInt(address + 16, 0);
            ipv4(address + GlobalRoutingHeader.BYTES - IPV4_HEADER, p, udp);
        } else {
            BigEndian.putInt(address, 6 << 28 | p.trafficClass << 20 | p.flowLabel);
            BigEndian.putInt(address + 4, udp << 16 | UDP << 8 | p.hopLimit & 0xff);
            BigEndian.putLong(address + 8, p.sourceHigh);
            BigEndian.putLong(address + 16, p.sourceLow);
            BigEndian.putLong(address + 24, p.destinationHigh);
            BigEndian.putLong(address + 32, p.destinationLow);
        }
        return address;
    }

    private static void ipv4(long a, ReceivedPacket p, int udp) {
        BigEndian.putInt(a, 0x45 << 24 | p.trafficClass << 16 | IPV4_HEADER + udp);
        BigEndian.putInt(a + 4, DONT_FRAGMENT);
        BigEndian.putInt(a + 8, p.hopLimit << 24 | UDP << 16);
        BigEndian.putInt(a + 12, (int) p.sourceLow);
        BigEndian.putInt(a + 16, (int) p.destinationLow);
        int sum = 0;
        for (int i = 0; i < IPV4_HEADER; i += 2) {
            sum += BigEndian.getShort(a + i);
        }
        sum = (sum & 0xffff) + (sum >> 16);
        sum = ~(sum + (sum >> 16)) & 0xffff;
        BigEndian.putInt(a + 8, BigEndian.getInt(a + 8) | sum);
    }
}
