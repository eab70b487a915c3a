// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

/**
 * The key of a flow, as the program makes it of a packet: 48 bytes, six words. Addresses, ports and EtherType are in
 * network order, all else is little-endian; what a packet does not have is 0.
 */
final class Fields {
    static final int BYTES = 48;
    static final int WORDS = BYTES / 8;
    static final int ADDRESS_BYTES = 16;

    /** 16 bytes, of IPv4 the first four. */
    static final int SOURCE = 0;
    static final int DESTINATION = 16;
    static final int SOURCE_PORT = 32;
    static final int DESTINATION_PORT = 34;
    /** The number of the outermost VLAN tag, 2 bytes. */
    static final int VLAN = 36;
    /** Behind the tags. */
    static final int ETHER_TYPE = 38;
    /** Of IPv4, or the first next header of IPv6, 1 byte. */
    static final int PROTOCOL = 40;
    /** Which headers there are, 1 byte: the constants below. */
    static final int KIND = 41;
    /** 0 for a packet that was received, 1 for one that was sent; 1 byte. */
    static final int DIRECTION = 42;

    static final int IPV4 = 1;
    static final int IPV6 = 2;
    static final int PORTS = 4;
    static final int TAGGED = 8;
    static final int FRAGMENT = 16;

    static final int TYPE_IPV4 = 0x0800;
    static final int TYPE_ARP = 0x0806;
    static final int TYPE_IPV6 = 0x86dd;
    static final int PROTOCOL_ICMP = 1;
    static final int PROTOCOL_TCP = 6;
    static final int PROTOCOL_UDP = 17;
    static final int PROTOCOL_FRAGMENT = 44;
    static final int PROTOCOL_ICMPV6 = 58;

    private Fields() {}
}
