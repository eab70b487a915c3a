// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Flags of the creation of a queue pair, {@code enum ibv_qp_create_flags}. */
public final class QueuePairCreateFlags {
    /** What the queue pair sends to a multicast group does not come back to it. */
    public static final int BLOCK_SELF_MCAST_LB = 1 << 1;
    /** Received raw packets keep their frame check sequence. */
    public static final int SCATTER_FCS = 1 << 8;
    /** Received raw packets lose their outer VLAN tag, which is in the completion instead. */
    public static final int CVLAN_STRIPPING = 1 << 9;
    /** Datagrams carry another queue pair's number as their source. */
    public static final int SOURCE_QPN = 1 << 10;
    /** Writes to memory are padded to whole cache lines. */
    public static final int PCI_WRITE_END_PADDING = 1 << 11;

    /** All flags of this version. */
    static final int KNOWN = BLOCK_SELF_MCAST_LB | SCATTER_FCS | CVLAN_STRIPPING | SOURCE_QPN | PCI_WRITE_END_PADDING;

    private static final Flags NAMES = new Flags().and(BLOCK_SELF_MCAST_LB, "BLOCK_SELF_MCAST_LB")
            .and(SCATTER_FCS, "SCATTER_FCS").and(CVLAN_STRIPPING, "CVLAN_STRIPPING").and(SOURCE_QPN, "SOURCE_QPN")
            .and(PCI_WRITE_END_PADDING, "PCI_WRITE_END_PADDING");

    private QueuePairCreateFlags() {}

    /** The flags' names; unknown bits as a number. */
    public static String toString(int flags) {
        return NAMES.toString(flags);
    }
}
