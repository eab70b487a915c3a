// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Flags of a work queue, {@code enum ibv_wq_flags}; combined with {@code |}. */
public final class WorkQueueFlags {
    /** Received packets lose their outer VLAN tag, which is in the completion instead. */
    public static final int CVLAN_STRIPPING = 1;
    /** Received packets keep their frame check sequence. */
    public static final int SCATTER_FCS = 1 << 1;
    /** Packets wait for a while if no receive is posted. */
    public static final int DELAY_DROP = 1 << 2;
    /** Writes to memory are padded to whole cache lines. */
    public static final int PCI_WRITE_END_PADDING = 1 << 3;

    static final int KNOWN = CVLAN_STRIPPING | SCATTER_FCS | DELAY_DROP | PCI_WRITE_END_PADDING;

    private static final Flags NAMES = new Flags("CVLAN_STRIPPING", "SCATTER_FCS", "DELAY_DROP",
            "PCI_WRITE_END_PADDING");

    private WorkQueueFlags() {}

    /** The flags by name; unknown bits as a hexadecimal number. */
    public static String toString(int flags) {
        return NAMES.toString(flags);
    }
}
