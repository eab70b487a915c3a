// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What of a packet goes into its hash, {@code enum ibv_rx_hash_fields}; combined with {@code |}. */
public final class RxHashFields {
    /** The source's IPv4 address. */
    public static final int SRC_IPV4 = 1;
    /** The destination's IPv4 address. */
    public static final int DST_IPV4 = 1 << 1;
    /** The source's IPv6 address. */
    public static final int SRC_IPV6 = 1 << 2;
    /** The destination's IPv6 address. */
    public static final int DST_IPV6 = 1 << 3;
    /** The source's TCP port. */
    public static final int SRC_PORT_TCP = 1 << 4;
    /** The destination's TCP port. */
    public static final int DST_PORT_TCP = 1 << 5;
    /** The source's UDP port. */
    public static final int SRC_PORT_UDP = 1 << 6;
    /** The destination's UDP port. */
    public static final int DST_PORT_UDP = 1 << 7;
    /** The security parameters index of IPsec. */
    public static final int IPSEC_SPI = 1 << 8;
    /** The fields are those of the packet inside a tunnel. */
    public static final int INNER = 1 << 31;

    static final int IPV4 = SRC_IPV4 | DST_IPV4;
    static final int IPV6 = SRC_IPV6 | DST_IPV6;
    static final int TCP = SRC_PORT_TCP | DST_PORT_TCP;
    static final int UDP = SRC_PORT_UDP | DST_PORT_UDP;
    static final int KNOWN = IPV4 | IPV6 | TCP | UDP | IPSEC_SPI | INNER;

    private static final Flags NAMES = new Flags("SRC_IPV4", "DST_IPV4", "SRC_IPV6", "DST_IPV6", "SRC_PORT_TCP",
            "DST_PORT_TCP", "SRC_PORT_UDP", "DST_PORT_UDP", "IPSEC_SPI").and(INNER, "INNER");

    private RxHashFields() {}

    /** The fields by name; unknown bits as a hexadecimal number. */
    public static String toString(int fields) {
        return NAMES.toString(fields);
    }
}
