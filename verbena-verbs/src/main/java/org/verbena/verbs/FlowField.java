// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/**
 * A field of a header that a {@link FlowSpec} may match, the members of {@code struct ibv_flow_…_filter}: an open set,
 * later versions may add values. The numbers are Verbena's own.
 */
public final class FlowField {
    /** The destination's MAC address. */
    public static final int ETH_DESTINATION = 0;
    /** The source's MAC address. */
    public static final int ETH_SOURCE = 1;
    /** The type of what is inside, for instance 0x0800 for IPv4. */
    public static final int ETH_TYPE = 2;
    /** The VLAN tag: priority 3 bits, CFI 1 bit, number 12 bits. */
    public static final int ETH_VLAN = 3;
    /** The source's IPv4 address. */
    public static final int IPV4_SOURCE = 4;
    /** The destination's IPv4 address. */
    public static final int IPV4_DESTINATION = 5;
    /** The protocol inside IPv4, for instance 17 for UDP. */
    public static final int IPV4_PROTOCOL = 6;
    /** The type of service of IPv4. */
    public static final int IPV4_TOS = 7;
    /** The time to live of IPv4. */
    public static final int IPV4_TTL = 8;
    /** The fragmentation flags of IPv4. */
    public static final int IPV4_FLAGS = 9;
    /** The source's IPv6 address. */
    public static final int IPV6_SOURCE = 10;
    /** The destination's IPv6 address. */
    public static final int IPV6_DESTINATION = 11;
    /** The flow label of IPv6. */
    public static final int IPV6_FLOW_LABEL = 12;
    /** The protocol inside IPv6, for instance 17 for UDP. */
    public static final int IPV6_NEXT_HEADER = 13;
    /** The traffic class of IPv6. */
    public static final int IPV6_TRAFFIC_CLASS = 14;
    /** The hop limit of IPv6. */
    public static final int IPV6_HOP_LIMIT = 15;
    /** The destination's port of TCP or UDP. */
    public static final int DESTINATION_PORT = 16;
    /** The source's port of TCP or UDP. */
    public static final int SOURCE_PORT = 17;
    /** The VXLAN network identifier. */
    public static final int TUNNEL_ID = 18;
    /** The first 16 bits of a GRE header. */
    public static final int GRE_FLAGS = 19;
    /** The protocol inside GRE. */
    public static final int GRE_PROTOCOL = 20;
    /** The key of GRE. */
    public static final int GRE_KEY = 21;
    /** A whole MPLS label, traffic class and time to live included. */
    public static final int MPLS_LABEL = 22;
    /** The security parameters index of ESP. */
    public static final int ESP_SPI = 23;
    /** The sequence number of ESP. */
    public static final int ESP_SEQUENCE = 24;

    /** Specification type and width of each. */
    private static final int[][] OF = {{FlowSpecType.ETH, 48}, {FlowSpecType.ETH, 48}, {FlowSpecType.ETH, 16}, {
        FlowSpecType.ETH, 16}, {FlowSpecType.IPV4, 32}, {FlowSpecType.IPV4, 32}, {FlowSpecType.IPV4_EXT, 8}, {
            FlowSpecType.IPV4_EXT, 8}, {FlowSpecType.IPV4_EXT, 8}, {FlowSpecType.IPV4_EXT, 8}, {FlowSpecType.IPV6, 128},
        {FlowSpecType.IPV6, 128}, {FlowSpecType.IPV6, 20}, {FlowSpecType.IPV6, 8}, {FlowSpecType.IPV6, 8}, {
            FlowSpecType.IPV6, 8}, {FlowSpecType.UDP, 16}, {FlowSpecType.UDP, 16}, {FlowSpecType.VXLAN_TUNNEL, 24}, {
                FlowSpecType.GRE, 16}, {FlowSpecType.GRE, 16}, {FlowSpecType.GRE, 32}, {FlowSpecType.MPLS, 32}, {
                    FlowSpecType.ESP, 32}, {FlowSpecType.ESP, 32}};

    private FlowField() {}

    /** True if this version knows the field and headers of that type have it. */
    static boolean isOf(int field, int specType) {
        if (field < 0 || field >= OF.length) {
            return false;
        }
        int of = OF[field][0];
        int type = specType & ~FlowSpecType.INNER;
        return of == type || of == FlowSpecType.UDP && type == FlowSpecType.TCP || of == FlowSpecType.IPV4_EXT
                && type == FlowSpecType.IPV4 || of == FlowSpecType.IPV4 && type == FlowSpecType.IPV4_EXT;
    }

    /** True if an IPv4 specification with this field is of the extended type. */
    static boolean isExtended(int field) {
        return OF[field][0] == FlowSpecType.IPV4_EXT;
    }

    /** How many bits the field has. */
    static int bits(int field) {
        return OF[field][1];
    }

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case ETH_DESTINATION -> "ETH_DESTINATION";
            case ETH_SOURCE -> "ETH_SOURCE";
            case ETH_TYPE -> "ETH_TYPE";
            case ETH_VLAN -> "ETH_VLAN";
            case IPV4_SOURCE -> "IPV4_SOURCE";
            case IPV4_DESTINATION -> "IPV4_DESTINATION";
            case IPV4_PROTOCOL -> "IPV4_PROTOCOL";
            case IPV4_TOS -> "IPV4_TOS";
            case IPV4_TTL -> "IPV4_TTL";
            case IPV4_FLAGS -> "IPV4_FLAGS";
            case IPV6_SOURCE -> "IPV6_SOURCE";
            case IPV6_DESTINATION -> "IPV6_DESTINATION";
            case IPV6_FLOW_LABEL -> "IPV6_FLOW_LABEL";
            case IPV6_NEXT_HEADER -> "IPV6_NEXT_HEADER";
            case IPV6_TRAFFIC_CLASS -> "IPV6_TRAFFIC_CLASS";
            case IPV6_HOP_LIMIT -> "IPV6_HOP_LIMIT";
            case DESTINATION_PORT -> "DESTINATION_PORT";
            case SOURCE_PORT -> "SOURCE_PORT";
            case TUNNEL_ID -> "TUNNEL_ID";
            case GRE_FLAGS -> "GRE_FLAGS";
            case GRE_PROTOCOL -> "GRE_PROTOCOL";
            case GRE_KEY -> "GRE_KEY";
            case MPLS_LABEL -> "MPLS_LABEL";
            case ESP_SPI -> "ESP_SPI";
            case ESP_SEQUENCE -> "ESP_SEQUENCE";
            default -> Integer.toString(value);
        };
    }
}
