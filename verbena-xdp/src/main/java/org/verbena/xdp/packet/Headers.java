// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.packet;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.verbs.spi.InternetSum;

/**
 * Where the headers of a frame are: Ethernet with up to two VLAN tags (IEEE 802.1Q), IPv4 (RFC 791) with options or IPv6
 * (RFC 8200) without extension headers, TCP (RFC 9293) or UDP (RFC 768). One object is used for one frame after the
 * other; nothing allocates. What a sender wrote is checked against the frame's length.
 */
public final class Headers {
    public static final int ETHERNET = 14;
    public static final int TCP = 6;
    public static final int UDP = 17;

    private static final int VLAN = 4;
    private static final int TYPE = 12;
    private static final int IPV4 = 0x0800;
    private static final int IPV6 = 0x86dd;
    private static final int TAG = 0x8100;
    private static final int SERVICE_TAG = 0x88a8;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    private static final int TCP_HEADER = 20;
    private static final int UDP_HEADER = 8;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;

    private MemorySegment memory = MemorySegment.NULL;
    private long at;
    private int network;
    private int transport;
    private int transportLength;
    private int protocol;
    private boolean version4;

    /** For use again and again. */
    public Headers() {}

    /**
     * Reads the headers.
     *
     * @param first where the frame begins
     * @param available bytes from there on that may be read: the frame, or as much of it as is in the first buffer
     * @param total bytes of the frame
     * @return true for a TCP or UDP packet that is no fragment, and whole
     */
    public boolean read(MemorySegment m, long first, int available, int total) {
        memory = m;
        at = first;
        protocol = 0;
        network = ETHERNET;
        if (available < ETHERNET) {
            return false;
        }
        int type = unsignedShort(TYPE);
        for (int tags = 0; tags < 2 && (type == TAG || type == SERVICE_TAG); tags++) {
            if (available < network + VLAN) {
                return false;
            }
            type = unsignedShort(network + 2);
            network += VLAN;
        }
        return type == IPV4
                ? version4(available, total)
                : type == IPV6 && version6(available, total);
    }

    /**
     * Reads the headers of a packet to be cut into segments, and writes what follows from its length: the lengths of IP
     * and UDP, the checksum of IPv4, and the sum of the pseudo-header in the place of TCP's or UDP's.
     *
     * @param length bytes of all headers
     * @param payload bytes that follow them
     * @return false if there are other headers, or not all of these; nothing was written then
     */
    public boolean readTemplate(MemorySegment m, long first, int length, int payload) {
        memory = m;
        at = first;
        network = ETHERNET;
        if (length < ETHERNET + IPV4_HEADER + UDP_HEADER) {
            return false;
        }
        int type = unsignedShort(TYPE);
        for (int tags = 0; tags < 2 && (type == TAG || type == SERVICE_TAG); tags++) {
            type = unsignedShort(network + 2);
            network += VLAN;
        }
        version4 = type == IPV4;
        if (!version4 && type != IPV6 || length < network + (version4 ? IPV4_HEADER : IPV6_HEADER)) {
            return false;
        }
        int header = version4 ? (unsignedByte(network) & 0xf) << 2 : IPV6_HEADER;
        int number = unsignedByte(network + (version4 ? 9 : 6));
        transport = network + header;
        if (unsignedByte(network) >> 4 != (version4 ? 4 : 6) || header < IPV4_HEADER
                || !transport(number, length - transport, length)
                || length - transport != (number == UDP ? UDP_HEADER : (unsignedByte(transport + 12) & 0xf0) >> 2)) {
            return false;
        }
        transportLength = length - transport + payload;
        if (version4) {
            setShort(network + 2, header + transportLength);
        } else {
            setShort(network + 4, transportLength);
        }
        if (number == UDP) {
            setShort(transport + 4, transportLength);
        }
        setNetworkSum();
        setChecksum(InternetSum.fold(pseudoSum()));
        return true;
    }

    private void setShort(int offset, int value) {
        memory.set(SHORT, at + offset, Short.reverseBytes((short) value));
    }

    /** Whether it is IPv4; else it is IPv6. */
    public boolean isVersion4() {
        return version4;
    }

    private boolean version4(int available, int total) {
        version4 = true;
        if (available < network + IPV4_HEADER) {
            return false;
        }
        int first = unsignedByte(network);
        int header = (first & 0xf) << 2;
        int length = unsignedShort(network + 2);
        transport = network + header;
        if (first >> 4 != 4 || header < IPV4_HEADER || available < transport || length < header
                || length > total - network || (unsignedShort(network + 6) & 0x3fff) != 0) { // a fragment
            return false;
        }
        return transport(unsignedByte(network + 9), length - header, available);
    }

    private boolean version6(int available, int total) {
        version4 = false;
        if (available < network + IPV6_HEADER || unsignedByte(network) >> 4 != 6) {
            return false;
        }
        int length = unsignedShort(network + 4);
        transport = network + IPV6_HEADER;
        if (length == 0) { // a jumbogram has an extension header before TCP; what the kernel has not cut yet has not
            length = total - transport;
        }
        return length <= total - transport && transport(unsignedByte(network + 6), length, available);
    }

    private boolean transport(int number, int length, int available) {
        int header = number == TCP ? TCP_HEADER : number == UDP ? UDP_HEADER : Integer.MAX_VALUE;
        if (length < header || available < transport + header) {
            return false;
        }
        protocol = number;
        transportLength = length;
        return true;
    }

    private int unsignedByte(int offset) {
        return memory.get(ValueLayout.JAVA_BYTE, at + offset) & 0xff;
    }

    private int unsignedShort(int offset) {
        return Short.reverseBytes(memory.get(SHORT, at + offset)) & 0xffff;
    }

    /** Where the TCP or UDP header is, from the frame's beginning. */
    public int transport() {
        return transport;
    }

    /** Bytes of the TCP or UDP header and what follows. */
    public int transportLength() {
        return transportLength;
    }

    /** Whether it is UDP; else it is TCP. */
    public boolean isUdp() {
        return protocol == UDP;
    }

    /** Where the checksum is, from {@link #transport()}. */
    public int checksumOffset() {
        return protocol == UDP ? 6 : 16;
    }

    /** The checksum as it is in the packet, in the machine's byte order. */
    public int checksum() {
        return memory.get(SHORT, at + transport + checksumOffset()) & 0xffff;
    }

    /** Writes the checksum, in the machine's byte order. */
    public void setChecksum(int sum) {
        memory.set(SHORT, at + transport + checksumOffset(), (short) sum);
    }

    /** Whether the IPv4 header's checksum is right; IPv6 has none. */
    public boolean isNetworkSumRight() {
        return !version4 || InternetSum.fold(InternetSum.of(memory, at + network, transport - network)) == 0xffff;
    }

    /** Writes the IPv4 header's checksum; IPv6 has none. */
    public void setNetworkSum() {
        if (version4) {
            memory.set(SHORT, at + network + 10, (short) 0);
            memory.set(SHORT, at + network + 10, (short) ~InternetSum.fold(InternetSum.of(memory, at + network,
                    transport - network)));
        }
    }

    /** The sum of the pseudo-header (RFC 9293, 3.1; RFC 8200, 8.1), not folded. */
    public long pseudoSum() {
        int addresses = version4 ? network + 12 : network + 8;
        return InternetSum.of(memory, at + addresses, version4 ? 8 : 32) + Integer.toUnsignedLong(Integer.reverseBytes(
                protocol)) + Integer.toUnsignedLong(Integer.reverseBytes(transportLength));
    }
}
