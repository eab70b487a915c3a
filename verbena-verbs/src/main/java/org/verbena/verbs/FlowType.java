// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What a flow takes, {@code enum ibv_flow_attr_type}: an open set, later versions may add values. */
public final class FlowType {
    /** Packets that match all specifications. */
    public static final int NORMAL = 0;
    /** Unicast and multicast that no other flow takes. */
    public static final int ALL_DEFAULT = 1;
    /** Multicast that no other flow takes. */
    public static final int MC_DEFAULT = 2;
    /** A copy of everything that passes the port. */
    public static final int SNIFFER = 3;

    private FlowType() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case NORMAL -> "NORMAL";
            case ALL_DEFAULT -> "ALL_DEFAULT";
            case MC_DEFAULT -> "MC_DEFAULT";
            case SNIFFER -> "SNIFFER";
            default -> Integer.toString(value);
        };
    }
}
