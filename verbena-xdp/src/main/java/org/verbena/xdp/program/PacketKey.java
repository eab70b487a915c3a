// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The {@link FlowKey} of a packet, made in Java as the XDP program makes it: for devices whose packets no program sees.
 * For an ICMP error there is a second one, of the packet in the error. One object for one thread; nothing allocates, and
 * what a sender wrote is checked against the packet's length.
 */
public final class PacketKey {
    private static final int ETHERNET = 14;
    private static final int TAG = 4;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    private static final int TCP_HEADER = 20;
    private static final int UDP_HEADER = 8;
    private static final int ICMP_HEADER = 8;
    private static final int QUOTED = 8;
    private static final int TYPE_VLAN = 0x8100;
    private static final int TYPE_SERVICE_VLAN = 0x88a8;
    private static final int TYPE_IPV4 = 0x0800;
    private static final int TYPE_IPV6 = 0x86dd;
    private static final int MORE_OR_OFFSET = 0x3fff;
    private static final int OFFSET = 0x1fff;
    private static final int ICMP = 1;
    private static final int TCP = 6;
    private static final int UDP = 17;
    private static final int FRAGMENT = 44;
    private static final int ICMPV6 = 58;
    private static final int KIND_SHIFT = 8;
    private static final int PROTOCOL_SHIFT = 16;
    private static final int TOS_SHIFT = 24;
    private static final int PORTS_SHIFT = 32;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(
            ByteOrder.LITTLE_ENDIAN);

    /** The words of the packet's key, little-endian. */
    final long[] words = new long[FlowKey.WORDS];
    /** Those of the packet in an ICMP error. */
    final long[] quoted = new long[FlowKey.WORDS];
    private MemorySegment memory = MemorySegment.NULL;
    private long at;
    private int end;
    private boolean error;

    /** For use again and again. */
    public PacketKey() {}

    /**
     * Makes the key.
     *
     * @param available bytes of the packet that are there in one piece
     * @return false if there is not even an Ethernet header
     */
    public boolean read(MemorySegment packet, long from, int available) {
        memory = packet;
        at = from;
        end = available;
        error = false;
        if (available < ETHERNET) {
            return false;
        }
        words[0] = packet.get(LONG, from) << 16 >>> 16;
        words[1] = packet.get(LONG, from + 6);
        for (int i = 2; i < words.length; i++) {
            words[i] = 0;
        }
        int network = ETHERNET;
        int type = number(12);
        for (int tags = 0; tags < 2 && (type == TYPE_VLAN || type == TYPE_SERVICE_VLAN); tags++) {
            if (end < network + TAG) {
                return true;
            }
            if (tags == 0) {
                words[0] |= raw(network) << 48;
                kind(FlowKey.VLAN);
            }
            words[1] = words[1] << 16 >>> 16 | raw(network + 2) << 48;
            type = number(network + 2);
            network += TAG;
        }
        if (type == TYPE_IPV4) {
            ipv4(network);
        } else if (type == TYPE_IPV6) {
            ipv6(network);
        }
        return true;
    }

    /** Whether it is an ICMP error about TCP or UDP. */
    boolean isError() {
        return error;
    }

    private int octet(int offset) {
        return memory.get(ValueLayout.JAVA_BYTE, at + offset) & 0xff;
    }

    /** Two bytes in network order. */
    private int number(int offset) {
        return Short.reverseBytes(memory.get(SHORT, at + offset)) & 0xffff;
    }

    /** Two bytes as they are in a word of a key. */
    private long raw(int offset) {
        return memory.get(SHORT, at + offset) & 0xffffL;
    }

    private long address(int offset) {
        return memory.get(INT, at + offset) & 0xffff_ffffL;
    }

    private void kind(int bits) {
        words[6] |= (long) bits << KIND_SHIFT;
    }

    /** The length of the IPv4 header there, or 0. */
    private int headerLength(int network) {
        int first = octet(network);
        int length = (first & 15) << 2;
        return first >> 4 == 4 && length >= IPV4_HEADER ? length : 0;
    }

    private void ipv4(int network) {
        int header = end < network + IPV4_HEADER ? 0 : headerLength(network);
        if (header == 0 || number(network + 2) < header || end < network + header) {
            return;
        }
        words[2] = address(network + 12);
        words[4] = address(network + 16);
        kind(FlowKey.IPV4);
        int protocol = octet(network + 9);
        words[6] |= (long) octet(network + 1) << TOS_SHIFT | (long) protocol << PROTOCOL_SHIFT;
        if ((number(network + 6) & MORE_OR_OFFSET) != 0) {
            kind(FlowKey.FRAGMENT);
            return;
        }
        int payload = number(network + 2) - header;
        if (protocol == ICMP) {
            quotedIpv4(network + header, payload);
        } else {
            transport(protocol, network + header, payload);
        }
    }

    private void ipv6(int network) {
        if (end < network + IPV6_HEADER || octet(network) >> 4 != 6) {
            return;
        }
        for (int i = 0; i < 4; i++) {
            words[2 + i] = memory.get(LONG, at + network + 8 + 8L * i);
        }
        kind(FlowKey.IPV6);
        int protocol = octet(network + 6);
        words[6] |= (long) (number(network) >> 4 & 0xff) << TOS_SHIFT | (long) protocol << PROTOCOL_SHIFT;
        int payload = number(network + 4);
        if (protocol == FRAGMENT) {
            kind(FlowKey.FRAGMENT);
        } else if (protocol == ICMPV6) {
            quotedIpv6(network + IPV6_HEADER, payload);
        } else {
            transport(protocol, network + IPV6_HEADER, payload);
        }
    }

    private void transport(int protocol, int transport, int payload) {
        int header = protocol == TCP ? TCP_HEADER : protocol == UDP ? UDP_HEADER : Integer.MAX_VALUE;
        if (payload >= header && end - transport >= header) {
            words[6] |= address(transport) << PORTS_SHIFT;
            kind(FlowKey.PORTS);
        }
    }

    /** RFC 792: destination unreachable, time exceeded, parameter problem. */
    private void quotedIpv4(int icmp, int payload) {
        int network = icmp + ICMP_HEADER;
        if (payload < ICMP_HEADER + IPV4_HEADER + QUOTED || end < network + IPV4_HEADER + QUOTED) {
            return;
        }
        int type = octet(icmp);
        int header = headerLength(network);
        if (type != 3 && type != 11 && type != 12 || header == 0 || payload < ICMP_HEADER + header + QUOTED
                || end < network + header + QUOTED || (number(network + 6) & OFFSET) != 0) {
            return;
        }
        quoted[2] = address(network + 16);
        quoted[3] = 0;
        quoted[4] = address(network + 12);
        quoted[5] = 0;
        quoted(octet(network + 9), network + header, FlowKey.IPV4);
    }

    /** RFC 4443: destination unreachable, packet too big, time exceeded, parameter problem: 1 to 4. */
    private void quotedIpv6(int icmp, int payload) {
        int whole = ICMP_HEADER + IPV6_HEADER + QUOTED;
        if (payload < whole || end < icmp + whole) {
            return;
        }
        int type = octet(icmp);
        int network = icmp + ICMP_HEADER;
        if (type < 1 || type > 4 || octet(network) >> 4 != 6) {
            return;
        }
        for (int i = 0; i < 4; i++) { // the destination first
            quoted[2 + i] = memory.get(LONG, at + network + 8 + 8L * ((i + 2) % 4));
        }
        quoted(octet(network + 6), network + IPV6_HEADER, FlowKey.IPV6);
    }

    /** The rest of the second key: source and destination exchanged. */
    private void quoted(int protocol, int transport, int family) {
        if (protocol != TCP && protocol != UDP) {
            return;
        }
        quoted[0] = words[0];
        quoted[1] = words[1];
        quoted[6] = words[6] & (0xFFL << TOS_SHIFT | FlowKey.VLAN << KIND_SHIFT) | (long) (family | FlowKey.PORTS
                | FlowKey.ICMP_ERROR) << KIND_SHIFT | (long) protocol << PROTOCOL_SHIFT | raw(transport
                        + 2) << PORTS_SHIFT | raw(transport) << PORTS_SHIFT + 16;
        error = true;
    }
}
