// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** Contradictions in the attributes of a flow, for every provider. */
final class FlowRules {
    private static final int MAX_PRIORITY = 0xffff;
    private static final int TYPE_IPV4 = 0x0800;
    private static final int TYPE_IPV6 = 0x86dd;
    private static final int TYPE_MPLS = 0x8847;
    private static final int PROTOCOL_TCP = 6;
    private static final int PROTOCOL_UDP = 17;
    private static final int PROTOCOL_GRE = 47;
    private static final int PROTOCOL_ESP = 50;

    private FlowRules() {}

    /**
     * Looks for contradictions.
     *
     * @return what is wrong, or null
     */
    static @Nullable String objection(int queuePairType, int ports, FlowAttributes a) {
        if (queuePairType != QueuePairType.UD && queuePairType != QueuePairType.RAW_PACKET) {
            return "flows are for queue pairs of type UD and RAW_PACKET, not " + QueuePairType.toString(queuePairType);
        }
        if (a.type() < FlowType.NORMAL || a.type() > FlowType.SNIFFER) {
            return "there is no flow type " + a.type();
        }
        if (a.port() < 1 || a.port() > ports) {
            return "port is " + a.port() + ", must be 1 to " + ports;
        }
        if (a.priority() < 0 || a.priority() > MAX_PRIORITY) {
            return "priority is " + a.priority() + ", must be 0 to " + MAX_PRIORITY;
        }
        if ((a.flags() & ~FlowFlags.KNOWN) != 0) {
            return "unknown flags " + FlowFlags.toString(a.flags() & ~FlowFlags.KNOWN);
        }
        if ((a.flags() & FlowFlags.DONT_TRAP) != 0 && a.type() != FlowType.NORMAL) {
            return "DONT_TRAP is for flows of type NORMAL, not " + FlowType.toString(a.type());
        }
        if ((a.flags() & FlowFlags.DONT_TRAP) != 0 && (a.flags() & FlowFlags.EGRESS) != 0) {
            return "DONT_TRAP is for packets that are received, EGRESS for those that are sent";
        }
        List<FlowSpec> outer = a.specs().stream().filter(s -> !s.isAction() && !s.isInner()).toList();
        List<FlowSpec> inner = a.specs().stream().filter(FlowSpec::isInner).toList();
        if (a.type() != FlowType.NORMAL && outer.size() + inner.size() > 0) {
            return "a flow of type " + FlowType.toString(a.type()) + " takes everything: " + a.specs().getFirst();
        }
        String s = actions(a.specs().stream().filter(FlowSpec::isAction).toList(), a.flags());
        s = s != null ? s : layers(outer);
        return s != null ? s : layers(inner);
    }

    private static @Nullable String actions(List<FlowSpec> actions, int flags) {
        List<Integer> types = new ArrayList<>();
        for (FlowSpec s : actions) {
            if (types.contains(s.type())) {
                return FlowSpecType.toString(s.type()) + " is there twice";
            }
            types.add(s.type());
        }
        if (types.contains(FlowSpecType.ACTION_DROP)) {
            if (types.contains(FlowSpecType.ACTION_TAG)) {
                return "a packet that is dropped carries no tag";
            }
            if ((flags & FlowFlags.DONT_TRAP) != 0) {
                return "a packet that is dropped does not go on, as DONT_TRAP wants it";
            }
        }
        return null;
    }

    /** Looks at the headers of one level: outside the tunnel, or inside. */
    private static @Nullable String layers(List<FlowSpec> specs) {
        FlowSpec link = null;
        FlowSpec network = null;
        FlowSpec transport = null;
        FlowSpec tunnel = null;
        for (FlowSpec s : specs) {
            FlowSpec before;
            switch (s.type() & ~FlowSpecType.INNER) {
                case FlowSpecType.ETH -> {
                    before = link;
                    link = s;
                }
                case FlowSpecType.IPV4, FlowSpecType.IPV4_EXT, FlowSpecType.IPV6 -> {
                    before = network;
                    network = s;
                }
                case FlowSpecType.TCP, FlowSpecType.UDP, FlowSpecType.ESP -> {
                    before = transport;
                    transport = s;
                }
                default -> {
                    before = tunnel;
                    tunnel = s;
                }
            }
            if (before != null) {
                return s + " and " + before + " are the same layer";
            }
        }
        String wrong = network == null ? null : wrongEtherType(link, network);
        wrong = wrong != null || transport == null ? wrong : wrongProtocol(network, transport.type());
        return wrong != null || tunnel == null ? wrong : wrongTunnel(link, network, transport, tunnel);
    }

    private static @Nullable String wrongEtherType(@Nullable FlowSpec link, FlowSpec network) {
        boolean v6 = (network.type() & ~FlowSpecType.INNER) == FlowSpecType.IPV6;
        return link != null && link.excludes(FlowField.ETH_TYPE, v6 ? TYPE_IPV6 : TYPE_IPV4)
                ? link + " has another type than " + network
                : null;
    }

    private static @Nullable String wrongProtocol(@Nullable FlowSpec network, int above) {
        int protocol = switch (above & ~FlowSpecType.INNER) {
            case FlowSpecType.TCP -> PROTOCOL_TCP;
            case FlowSpecType.UDP, FlowSpecType.VXLAN_TUNNEL -> PROTOCOL_UDP;
            case FlowSpecType.GRE -> PROTOCOL_GRE;
            default -> PROTOCOL_ESP;
        };
        return network != null && (network.excludes(FlowField.IPV4_PROTOCOL, protocol)
                || network.excludes(FlowField.IPV6_NEXT_HEADER, protocol))
                        ? network + " has another protocol than " + FlowSpecType.toString(above)
                        : null;
    }

    private static @Nullable String wrongTunnel(@Nullable FlowSpec link, @Nullable FlowSpec network,
            @Nullable FlowSpec transport, FlowSpec tunnel) {
        int type = tunnel.type() & ~FlowSpecType.INNER;
        if (type == FlowSpecType.MPLS) {
            boolean onEthernet = network == null && transport == null;
            return onEthernet && link != null && link.excludes(FlowField.ETH_TYPE, TYPE_MPLS)
                    ? link + " has another type than " + tunnel
                    : null;
        }
        int transportType = transport == null ? 0 : transport.type() & ~FlowSpecType.INNER;
        if (transportType != 0 && !(type == FlowSpecType.VXLAN_TUNNEL && transportType == FlowSpecType.UDP)) {
            return tunnel + " is not inside " + FlowSpecType.toString(transportType);
        }
        return wrongProtocol(network, type);
    }
}
