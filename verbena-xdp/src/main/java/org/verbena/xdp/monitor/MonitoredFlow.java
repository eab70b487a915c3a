// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;

import org.verbena.xdp.packet.IpAddresses;

/**
 * A flow, in one direction: packets with the same addresses, protocol, ports and VLAN that the interface received, or
 * sent.
 *
 * @param sent whether the interface sent it; else it received it
 * @param etherType behind the VLAN tags
 * @param vlan the number of the outermost tag; -1 without
 * @param source empty if it is neither IPv4 nor IPv6, as all below
 * @param protocol of IPv4, or the first next header of IPv6; -1 if it is neither
 * @param fragment whether these are fragments, which have no ports
 * @param sourcePort -1 if it is neither TCP nor UDP
 */
public record MonitoredFlow(boolean sent, int etherType, int vlan, Optional<InetAddress> source,
        Optional<InetAddress> destination, int protocol, boolean fragment, int sourcePort, int destinationPort) {
    private static final int IPV4_BYTES = 4;

    static MonitoredFlow of(byte[] key) {
        ByteBuffer b = ByteBuffer.wrap(key).order(ByteOrder.BIG_ENDIAN);
        int kind = b.get(Fields.KIND);
        boolean ports = (kind & Fields.PORTS) != 0;
        boolean ip = (kind & (Fields.IPV4 | Fields.IPV6)) != 0;
        int length = (kind & Fields.IPV4) != 0 ? IPV4_BYTES : Fields.ADDRESS_BYTES;
        return new MonitoredFlow(b.get(Fields.DIRECTION) != 0, u16(b, Fields.ETHER_TYPE),
                (kind & Fields.TAGGED) == 0 ? -1 : Short.toUnsignedInt(Short.reverseBytes(b.getShort(Fields.VLAN))),
                ip ? Optional.of(address(key, Fields.SOURCE, length)) : Optional.empty(),
                ip ? Optional.of(address(key, Fields.DESTINATION, length)) : Optional.empty(),
                ip ? Byte.toUnsignedInt(b.get(Fields.PROTOCOL)) : -1, (kind & Fields.FRAGMENT) != 0,
                ports ? u16(b, Fields.SOURCE_PORT) : -1, ports ? u16(b, Fields.DESTINATION_PORT) : -1);
    }

    private static int u16(ByteBuffer b, int at) {
        return Short.toUnsignedInt(b.getShort(at));
    }

    private static InetAddress address(byte[] key, int at, int length) {
        return IpAddresses.of(Arrays.copyOfRange(key, at, at + length));
    }

    /** An address of a flow, as filters take it. An IPv4-mapped one is {@code ::ffff:10.0.0.1}. */
    public static String text(InetAddress address) {
        return IpAddresses.text(address);
    }
}
