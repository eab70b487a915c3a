// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/**
 * The header of an Ethernet frame (RFC 894). An address is the low 48 bits of a {@code long}, its first byte the highest.
 *
 * @param destination receiver's address
 * @param source sender's address
 * @param type EtherType
 */
public record EthernetHeader(long destination, long source, int type) {
    /** Length of the header. */
    public static final int BYTES = 14;
    /** EtherType of IPv4. */
    public static final int IPV4 = 0x0800;
    /** EtherType of ARP. */
    public static final int ARP = 0x0806;
    /** EtherType of a frame with a tag of a virtual LAN. */
    public static final int VLAN = 0x8100;
    /** Bytes of such a tag: its EtherType, and priority and number of the LAN, in front of the EtherType of the payload. */
    public static final int VLAN_TAG = 4;
    /** EtherType of IPv6. */
    public static final int IPV6 = 0x86dd;
    /** The address of all. */
    public static final long BROADCAST = 0xffff_ffff_ffffL;

    private static final long GROUP = 1L << 40;

    /** The header at a place, of which {@link #BYTES} are there. */
    public static EthernetHeader of(MemorySegment m, long at) {
        return new EthernetHeader(destination(m, at), source(m, at), type(m, at));
    }

    /** The receiver's address. */
    public static long destination(MemorySegment m, long at) {
        return Bytes.u48(m, at);
    }

    /** The sender's address. */
    public static long source(MemorySegment m, long at) {
        return Bytes.u48(m, at + 6);
    }

    /** The EtherType. */
    public static int type(MemorySegment m, long at) {
        return Bytes.u16(m, at + 12);
    }

    /** Whether an address is one of many receivers. */
    public static boolean isGroup(long address) {
        return (address & GROUP) != 0;
    }

    /** Writes a header. */
    public static void write(MemorySegment m, long at, long destination, long source, int type) {
        Bytes.put48(m, at, destination);
        Bytes.put48(m, at + 6, source);
        Bytes.put16(m, at + 12, type);
    }
}
