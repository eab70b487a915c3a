// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.lang.foreign.MemorySegment;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.FrameFilter;

/** Chooses the segments of one connection of TCP among frames, in both directions. */
public final class FlowFilter implements FrameFilter {
    private static final int PORTS = 4;

    private final IpAddress local;
    private final IpAddress remote;
    private final int port;
    private final int remotePort;

    /** Of a connection between two ports. */
    public FlowFilter(Path path, int port, int remotePort) {
        local = path.local();
        remote = path.remote();
        this.port = port;
        this.remotePort = remotePort;
    }

    @Override
    public boolean takes(MemorySegment m, long at, int length) {
        int ip = EthernetHeader.BYTES;
        if (length < ip + EthernetHeader.VLAN_TAG + Ipv4Header.BYTES) {
            return false;
        }
        int type = EthernetHeader.type(m, at);
        if (type == EthernetHeader.VLAN) {
            type = EthernetHeader.type(m, at + EthernetHeader.VLAN_TAG);
            ip += EthernetHeader.VLAN_TAG;
        }
        return switch (type) {
            case EthernetHeader.IPV4 -> takesIpv4(m, at + ip, length - ip);
            case EthernetHeader.IPV6 -> takesIpv6(m, at + ip, length - ip);
            default -> false;
        };
    }

    private boolean takesIpv4(MemorySegment m, long at, int length) {
        int header = Ipv4Header.headerBytes(m, at);
        return Ipv4Header.protocol(m, at) == Ipv4Header.TCP && length >= header + PORTS && (Ipv4Header.fragmentWord(m,
                at) & Ipv4Header.OFFSET) == 0 && takes(0, IpAddress.mapped(Ipv4Header.source(m, at)), 0, IpAddress
                        .mapped(Ipv4Header.destination(m, at)), m, at + header);
    }

    private boolean takesIpv6(MemorySegment m, long at, int length) {
        return length >= Ipv6Header.BYTES + PORTS && Ipv6Header.nextHeader(m, at) == Ipv4Header.TCP && takes(Ipv6Header
                .sourceHigh(m, at), Ipv6Header.sourceLow(m, at), Ipv6Header.destinationHigh(m, at), Ipv6Header
                        .destinationLow(m, at), m, at + Ipv6Header.BYTES);
    }

    private boolean takes(long fromHigh, long fromLow, long toHigh, long toLow, MemorySegment m, long ports) {
        int from = Bytes.u16(m, ports);
        int to = Bytes.u16(m, ports + 2);
        return from == port && to == remotePort && is(local, fromHigh, fromLow) && is(remote, toHigh, toLow)
                || from == remotePort && to == port && is(remote, fromHigh, fromLow) && is(local, toHigh, toLow);
    }

    private static boolean is(IpAddress a, long high, long low) {
        return a.low() == low && a.high() == high;
    }
}
