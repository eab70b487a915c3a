// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What a device is, {@code enum ibv_node_type}: an open set, later versions may add values. */
public final class NodeType {
    /** An InfiniBand channel adapter, or a RoCE one. */
    public static final int CA = 1;
    /** An InfiniBand switch. */
    public static final int SWITCH = 2;
    /** An InfiniBand router. */
    public static final int ROUTER = 3;
    /** An iWARP adapter. */
    public static final int RNIC = 4;
    /** An usNIC adapter. */
    public static final int USNIC = 5;
    /** An usNIC adapter over UDP. */
    public static final int USNIC_UDP = 6;
    /** None of these. */
    public static final int UNSPECIFIED = 7;

    private NodeType() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case CA -> "CA";
            case SWITCH -> "SWITCH";
            case ROUTER -> "ROUTER";
            case RNIC -> "RNIC";
            case USNIC -> "USNIC";
            case USNIC_UDP -> "USNIC_UDP";
            case UNSPECIFIED -> "UNSPECIFIED";
            default -> Integer.toString(value);
        };
    }
}
