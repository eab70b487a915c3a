// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.roce.header.Bth;
import org.verbena.roce.header.Opcode;

/**
 * A packet that has arrived: where its bytes are, and what the layers below said of it. One object, which the wire fills
 * anew for each packet. GIDs are as in {@link org.verbena.verbs.Gid}, big-endian halves; IPv4 is {@code ::ffff:a.b.c.d}.
 */
public final class ReceivedPacket {
    /** Address of the BTH. */
    public long address;
    /** Bytes from the BTH to the padding's end, without the ICRC. */
    public int length;
    /** Sender. */
    public long sourceHigh;
    /** Sender. */
    public long sourceLow;
    /** What the packet was sent to: one of the device's own GIDs, or a multicast group's. */
    public long destinationHigh;
    /** What the packet was sent to. */
    public long destinationLow;
    /** UDP source port. */
    public int sourcePort;
    /** IPv4 type of service or IPv6 traffic class; the lower two bits are ECN. */
    public int trafficClass;
    /** IPv6 flow label, 0 for IPv4. */
    public int flowLabel;
    /** IPv4 time to live or IPv6 hop limit; 0 if the wire cannot know, or was not asked to tell. */
    public int hopLimit;

    /** For wires, which make one. */
    public ReceivedPacket() {}

    /** True if it came by IPv4. */
    public boolean isIpv4() {
        return sourceHigh == 0 && sourceLow >>> 32 == 0xffff;
    }

    /** True if it was sent to a multicast group, as {@link org.verbena.verbs.Gid#isMulticast}. */
    public boolean isToGroup() {
        return destinationHigh >>> 56 == 0xff || destinationHigh == 0 && destinationLow >>> 28 == 0xffff_eL;
    }

    /** Whether its transport acknowledges and repeats: RC or XRC; {@link #length} is at least a base transport header's. */
    public boolean isReliable() {
        int transport = Bth.opcode(address) & Opcode.TRANSPORT;
        return transport == Opcode.RC || transport == Opcode.XRC;
    }
}
