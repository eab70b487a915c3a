// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/**
 * A packet of ARP for IPv4 over Ethernet (RFC 826).
 *
 * @param operation {@link #REQUEST} or {@link #REPLY}
 * @param senderMac sender's Ethernet address
 * @param sender sender's IPv4 address
 * @param targetMac target's Ethernet address, 0 in requests
 * @param target target's IPv4 address
 */
public record ArpPacket(int operation, long senderMac, int sender, long targetMac, int target) {
    /** Length of a packet. */
    public static final int BYTES = 28;
    /** Asks for the Ethernet address of the target. */
    public static final int REQUEST = 1;
    /** Answers. */
    public static final int REPLY = 2;

    private static final int ETHERNET = 1;

    /** Whether there is such a packet in {@code available} bytes. */
    public static boolean isValid(MemorySegment m, long at, long available) {
        return available >= BYTES && Bytes.u16(m, at) == ETHERNET && Bytes.u16(m, at + 2) == EthernetHeader.IPV4
                && Bytes.u8(m, at + 4) == 6 && Bytes.u8(m, at + 5) == 4
                && (operation(m, at) == REQUEST || operation(m, at) == REPLY);
    }

    /** The packet at a place, which was checked. */
    public static ArpPacket of(MemorySegment m, long at) {
        return new ArpPacket(operation(m, at), senderMac(m, at), sender(m, at), Bytes.u48(m, at + 18), target(m, at));
    }

    /** {@link #REQUEST} or {@link #REPLY}. */
    public static int operation(MemorySegment m, long at) {
        return Bytes.u16(m, at + 6);
    }

    /** The sender's Ethernet address. */
    public static long senderMac(MemorySegment m, long at) {
        return Bytes.u48(m, at + 8);
    }

    /** The sender's IPv4 address; 0 in a probe for an address that is in use already (RFC 5227). */
    public static int sender(MemorySegment m, long at) {
        return Bytes.i32(m, at + 14);
    }

    /** The IPv4 address that is asked for, or that of the asker. */
    public static int target(MemorySegment m, long at) {
        return Bytes.i32(m, at + 24);
    }

    /** Writes a packet. */
    public static void write(MemorySegment m, long at, int operation, long senderMac, int sender, long targetMac,
            int target) {
        Bytes.put16(m, at, ETHERNET);
        Bytes.put16(m, at + 2, EthernetHeader.IPV4);
        Bytes.put8(m, at + 4, 6);
        Bytes.put8(m, at + 5, 4);
        Bytes.put16(m, at + 6, operation);
        Bytes.put48(m, at + 8, senderMac);
        Bytes.put32(m, at + 14, sender);
        Bytes.put48(m, at + 18, targetMac);
        Bytes.put32(m, at + 24, target);
    }
}
