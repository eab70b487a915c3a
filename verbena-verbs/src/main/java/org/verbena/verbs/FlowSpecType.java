// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Type of a flow's specification, {@code enum ibv_flow_spec_type}: an open set, later versions may add values. */
public final class FlowSpecType {
    /** An Ethernet header. */
    public static final int ETH = 0x20;
    /** An IPv4 header's addresses. */
    public static final int IPV4 = 0x30;
    /** An IPv6 header. */
    public static final int IPV6 = 0x31;
    /** An IPv4 header with more than the addresses. */
    public static final int IPV4_EXT = 0x32;
    /** A header of IPsec's encapsulating security payload. */
    public static final int ESP = 0x34;
    /** A TCP header's ports. */
    public static final int TCP = 0x40;
    /** A UDP header's ports. */
    public static final int UDP = 0x41;
    /** A VXLAN header. */
    public static final int VXLAN_TUNNEL = 0x50;
    /** A GRE header. */
    public static final int GRE = 0x51;
    /** An MPLS label. */
    public static final int MPLS = 0x60;
    /** Or-ed to one of the above: the header is inside a tunnel. */
    public static final int INNER = 0x100;
    /** Completions of the flow's packets carry a tag. */
    public static final int ACTION_TAG = 0x1000;
    /** Packets are dropped. */
    public static final int ACTION_DROP = 0x1001;
    /** Packets undergo an action, for instance decryption. */
    public static final int ACTION_HANDLE = 0x1002;
    /** Packets are counted. */
    public static final int ACTION_COUNT = 0x1003;

    private FlowSpecType() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        if (value < ACTION_TAG && (value & INNER) != 0 && value != INNER) {
            return "INNER|" + toString(value & ~INNER);
        }
        return switch (value) {
            case ETH -> "ETH";
            case IPV4 -> "IPV4";
            case IPV6 -> "IPV6";
            case IPV4_EXT -> "IPV4_EXT";
            case ESP -> "ESP";
            case TCP -> "TCP";
            case UDP -> "UDP";
            case VXLAN_TUNNEL -> "VXLAN_TUNNEL";
            case GRE -> "GRE";
            case MPLS -> "MPLS";
            case INNER -> "INNER";
            case ACTION_TAG -> "ACTION_TAG";
            case ACTION_DROP -> "ACTION_DROP";
            case ACTION_HANDLE -> "ACTION_HANDLE";
            case ACTION_COUNT -> "ACTION_COUNT";
            default -> Integer.toString(value);
        };
    }
}
