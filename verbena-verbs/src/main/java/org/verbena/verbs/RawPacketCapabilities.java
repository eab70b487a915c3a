// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What a device does for raw packets, {@code enum ibv_raw_packet_caps}; combined with {@code |}. */
public final class RawPacketCapabilities {
    /** VLAN tags of received packets can be stripped. */
    public static final int CVLAN_STRIPPING = 1;
    /** Received packets can keep their frame check sequence. */
    public static final int SCATTER_FCS = 1 << 1;
    /** Checksums of IPv4, TCP and UDP are computed and checked. */
    public static final int IP_CSUM = 1 << 2;
    /** Packets can wait for receives to be posted. */
    public static final int DELAY_DROP = 1 << 3;

    private static final Flags NAMES = new Flags("CVLAN_STRIPPING", "SCATTER_FCS", "IP_CSUM", "DELAY_DROP");

    private RawPacketCapabilities() {}

    /** The flags by name; unknown bits as a hexadecimal number. */
    public static String toString(int flags) {
        return NAMES.toString(flags);
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }
}
