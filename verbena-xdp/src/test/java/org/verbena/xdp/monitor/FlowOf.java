// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import java.math.BigInteger;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;

import org.verbena.verbs.FlowField;
import org.verbena.xdp.program.PacketModel;

/** The flow of a packet by the model of packets, which knows nothing of keys and instructions. */
final class FlowOf {
    private FlowOf() {}

    static MonitoredFlow packet(byte[] packet) {
        PacketModel m = PacketModel.of(packet);
        Optional<InetAddress> four = address(m, FlowField.IPV4_SOURCE);
        boolean six = m.field(FlowField.IPV6_SOURCE).isPresent();
        return new MonitoredFlow(false, number(m, FlowField.ETH_TYPE), number(m, FlowField.ETH_VLAN) < 0
                ? -1
                : number(m, FlowField.ETH_VLAN) & 0xfff, six ? address(m, FlowField.IPV6_SOURCE) : four,
                address(m, six ? FlowField.IPV6_DESTINATION : FlowField.IPV4_DESTINATION), number(m, six
                        ? FlowField.IPV6_NEXT_HEADER
                        : FlowField.IPV4_PROTOCOL), m.isFragment(), number(m, FlowField.SOURCE_PORT), number(m,
                                FlowField.DESTINATION_PORT));
    }

    private static int number(PacketModel m, int field) {
        return m.field(field).map(b -> new BigInteger(1, b).intValue()).orElse(-1);
    }

    private static Optional<InetAddress> address(PacketModel m, int field) {
        return m.field(field).map(b -> {
            try {
                return b.length == 4 ? InetAddress.getByAddress(b) : Inet6Address.getByAddress(null, b, -1);
            } catch (UnknownHostException e) {
                throw new IllegalStateException(e);
            }
        });
    }
}
