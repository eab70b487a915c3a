// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.roce.header.Bth;
import org.verbena.roce.header.PacketOpcode;

/**
 * A received packet: the address of its bytes, and what the lower layers know about it. One object, which the wire
 * reuses for each packet. GIDs are as in {@link org.verbena.verbs.Gid}, big-endian halves; IPv4 is
 * {@code ::ffff:a.b.c.d}.
 */
public final class ReceivedPacket {
    /** Address of the BTH. */
    public long address;
    /** Bytes from the BTH to the end of the padding, without the ICRC. */
    public int length;
    /** Sender. */
    public long sourceHigh;
    /** Sender. */
    public long sourceLow;
    /** Destination: one of the device's own GIDs, or a multicast group's. */
    public long destinationHigh;
    /** Destination. */
    public long destinationLow;
    /** UDP source port. */
    public int sourcePort;
    /** IPv4 type of service or IPv6 traffic class; the lower two bits are ECN. */
    public int trafficClass;
    /** IPv6 flow label, 0 for IPv4. */
    public int flowLabel;
    /** IPv4 time to live or IPv6 hop limit; 0 if the wire does not know it, or was not asked to report it. */
    public int hopLimit;

    /** For implementations of {@link Wire}. */
    public ReceivedPacket() {}

    /** True if it came by IPv4. */
    public boolean isIpv4() {
        return sourceHigh == 0 && sourceLow >>> 32 == 0xffff;
    }

    /** True if it was sent to a multicast group, as {@link org.verbena.verbs.Gid#isMulticast}. */
    public boolean isToGroup() {
        return destinationHigh >>> 56 == 0xff || destinationHigh == 0 && destinationLow >>> 28 == 0xffff_eL;
    }

    /**
     * Whether its transport acknowledges and retransmits: RC or XRC; {@link #length} is at least that of a base
     * transport header.
     */
    public boolean isReliable() {
        int transport = Bth.opcode(address) & PacketOpcode.TRANSPORT;
        return transport == PacketOpcode.RC || transport == PacketOpcode.XRC;
    }
}
