// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.ArpPacket;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.ip.IpAddress;

/** The other end of the stack's link, which is every other host: answers for all when the stack asks for Ethernet addresses. */
final class LinkPeer {
    private static final long MAC = 0x0200_0000_0002L;
    private static final int IPV6_PAYLOAD = EthernetHeader.BYTES + Ipv6Header.BYTES;
    private static final int TARGET = IPV6_PAYLOAD + Icmpv6Message.BYTES;
    private static final int ALL_HOPS = 255;
    /** The answer is of a router, was asked for, and is better than what was known. */
    private static final int ADVERTISEMENT_FLAGS = 7 << 29;
    private static final short TARGET_LINK_ADDRESS = 2 << 8 | 1;

    private final long stack;

    /** With the stack's Ethernet address. */
    LinkPeer(long stack) {
        this.stack = stack;
    }

    /** A frame to the stack. */
    byte[] frame(int type, byte[] payload) {
        byte[] frame = new byte[Math.max(60, EthernetHeader.BYTES + payload.length)];
        EthernetHeader.write(MemorySegment.ofArray(frame), 0, stack, MAC, type);
        System.arraycopy(payload, 0, frame, EthernetHeader.BYTES, payload.length);
        return frame;
    }

    /** Whether a frame is one that hosts of a link find each other by, and no script sees. */
    static boolean isOfLink(byte[] frame) {
        ByteBuffer b = ByteBuffer.wrap(frame);
        MemorySegment m = MemorySegment.ofArray(frame);
        return switch (EthernetHeader.type(m, 0)) {
            case EthernetHeader.IPV4 -> false;
            case EthernetHeader.IPV6 -> EthernetHeader.isGroup(EthernetHeader.destination(m, 0))
                    || b.get(EthernetHeader.BYTES + 6) == Ipv6Header.ICMP && isNeighbours(b.get(IPV6_PAYLOAD) & 0xff);
            default -> true;
        };
    }

    private static boolean isNeighbours(int type) {
        return type >= Icmpv6Message.ROUTER_SOLICITATION && type <= Icmpv6Message.REDIRECT;
    }

    /** The answer to a frame of the link; null if there is none. */
    byte @Nullable [] answer(byte[] frame) {
        MemorySegment m = MemorySegment.ofArray(frame);
        if (EthernetHeader.type(m, 0) == EthernetHeader.IPV6) {
            return frame[IPV6_PAYLOAD] == (byte) Icmpv6Message.NEIGHBOUR_SOLICITATION
                    ? advertisement(ByteBuffer.wrap(frame))
                    : null;
        }
        if (ArpPacket.operation(m, EthernetHeader.BYTES) != ArpPacket.REQUEST) {
            return null;
        }
        int asked = ArpPacket.target(m, EthernetHeader.BYTES);
        int asking = ArpPacket.sender(m, EthernetHeader.BYTES);
        byte[] reply = new byte[ArpPacket.BYTES];
        ArpPacket.write(MemorySegment.ofArray(reply), 0, ArpPacket.REPLY, MAC, asked, stack, asking);
        return frame(EthernetHeader.ARP, reply);
    }

    /** RFC 4861, 4.4; null if the stack asks whether an address of its own is free. */
    private byte @Nullable [] advertisement(ByteBuffer solicitation) {
        IpAddress from = address(solicitation, EthernetHeader.BYTES + 8);
        if (from.equals(IpAddress.UNSPECIFIED)) {
            return null;
        }
        IpAddress target = address(solicitation, TARGET);
        ByteBuffer about = ByteBuffer.allocate(IpAddress.BYTES + 8);
        about.putLong(target.high()).putLong(target.low()).putShort(TARGET_LINK_ADDRESS);
        about.putShort((short) (MAC >>> 32)).putInt((int) MAC);
        return frame(EthernetHeader.IPV6, Packets.icmp(new Packets.Ip(target, from, 0, ALL_HOPS, 0),
                Icmpv6Message.NEIGHBOUR_ADVERTISEMENT, 0, ADVERTISEMENT_FLAGS, about.array()));
    }

    private static IpAddress address(ByteBuffer b, int at) {
        return new IpAddress(b.getLong(at), b.getLong(at + 8));
    }
}
