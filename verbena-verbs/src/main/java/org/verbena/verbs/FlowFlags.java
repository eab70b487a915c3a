// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Flags of a flow, {@code enum ibv_flow_flags}; combined with {@code |}. */
public final class FlowFlags {
    /** Packets are taken and go on to other flows all the same, so the flow only watches. */
    public static final int DONT_TRAP = 1 << 1;
    /** The flow is about packets that are sent. */
    public static final int EGRESS = 1 << 2;

    static final int KNOWN = DONT_TRAP | EGRESS;

    private static final Flags NAMES = new Flags().and(DONT_TRAP, "DONT_TRAP").and(EGRESS, "EGRESS");

    private FlowFlags() {}

    /** The flags by name; unknown bits as a hexadecimal number. */
    public static String toString(int flags) {
        return NAMES.toString(flags);
    }
}
