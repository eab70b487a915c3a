// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetAddress;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;

/**
 * A destination of datagrams: address and port, and optionally the hop limit and the local source address
 * ({@code IP_PKTINFO}, {@code IPV6_PKTINFO}). Encoded for the kernel once, used for many datagrams. Immutable.
 */
public final class UdpDestination {
    private static final int CONTROL = UdpHeaders.NAME_BYTES;
    static final int CONTROL_BYTES = UdpHeaders.space(UdpHeaders.PKTINFO6_BYTES) + UdpHeaders.space(Integer.BYTES);

    private final MemorySegment memory = Arena.ofAuto().allocate(CONTROL + CONTROL_BYTES, 8);
    private final long name = memory.address();
    private final int nameBytes;
    private final int controlBytes;
    private final boolean ip4;
    private final String text;

    private UdpDestination(InetAddress address, int port, int interfaceIndex, int hopLimit,
            @Nullable InetAddress source) {
        Args.requireBetween(interfaceIndex, 0, Integer.MAX_VALUE, "the index of an interface, or 0 for any,");
        Args.requireBetween(hopLimit, -1, 255, "a hop limit, or -1 for the system's,");
        ip4 = address instanceof Inet4Address;
        if (source != null && source instanceof Inet4Address != ip4) {
            throw new IllegalArgumentException("from " + source.getHostAddress() + " nothing is sent to " + address
                    .getHostAddress() + ": one is IPv4, the other IPv6");
        }
        nameBytes = UdpHeaders.putName(name, address, interfaceIndex, port);
        long end = name + CONTROL;
        if (source != null && ip4) {
            long info = UdpHeaders.control(end, UdpHeaders.IPPROTO_IP, UdpHeaders.IP_PKTINFO,
                    UdpHeaders.PKTINFO_BYTES);
            RawMemory.putInt(info, interfaceIndex);
            UdpHeaders.putBytes(info + UdpHeaders.PKTINFO_SOURCE, source.getAddress());
            end += UdpHeaders.space(UdpHeaders.PKTINFO_BYTES);
        } else if (source != null) {
            long info = UdpHeaders.control(end, UdpHeaders.IPPROTO_IPV6, UdpHeaders.IPV6_PKTINFO,
                    UdpHeaders.PKTINFO6_BYTES);
            UdpHeaders.putBytes(info, source.getAddress());
            RawMemory.putInt(info + UdpHeaders.PKTINFO6_INTERFACE, interfaceIndex);
            end += UdpHeaders.space(UdpHeaders.PKTINFO6_BYTES);
        }
        if (hopLimit > 0) { // the kernel has no packet with a limit of 0 either
            end = UdpHeaders.control(end, ip4 ? UdpHeaders.IPPROTO_IP : UdpHeaders.IPPROTO_IPV6, ip4
                    ? UdpHeaders.IP_TTL
                    : UdpHeaders.IPV6_HOPLIMIT, Integer.BYTES, hopLimit);
        }
        controlBytes = (int) (end - name - CONTROL);
        text = (ip4 ? address.getHostAddress() : "[" + address.getHostAddress() + "]") + ":" + port;
    }

    /**
     * A destination, by the route that the system chooses, with its hop limit and source address.
     *
     * @param address IPv4 or IPv6
     * @param port 1 to 65535
     * @return the destination
     */
    public static UdpDestination of(InetAddress address, int port) {
        return new UdpDestination(address, port, 0, -1, null);
    }

    /**
     * A destination.
     *
     * @param address IPv4 or IPv6
     * @param port 1 to 65535
     * @param interfaceIndex the interface by which link-local and multicast addresses are reached; 0 for any
     * @param hopLimit the largest number of hops, 1 to 255; 0 or -1 for the system's default
     * @param source one of the machine's addresses, of the same family; null for the one that the route selects
     * @return the destination
     */
    public static UdpDestination of(InetAddress address, int port, int interfaceIndex, int hopLimit,
            @Nullable InetAddress source) {
        return new UdpDestination(address, port, interfaceIndex, hopLimit, source);
    }

    /** Whether it is an IPv4 address, which sockets of IPv4 reach. */
    public boolean isIp4() {
        return ip4;
    }

    MemorySegment memory() {
        return memory;
    }

    long name() {
        return name;
    }

    int nameBytes() {
        return nameBytes;
    }

    long control() {
        return name + CONTROL;
    }

    int controlBytes() {
        return controlBytes;
    }

    /** Address and port. */
    @Override
    public String toString() {
        return text;
    }
}
