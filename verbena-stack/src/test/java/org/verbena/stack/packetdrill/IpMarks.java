// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a script says of the IP header of a packet.
 *
 * @param ecn the codepoint: {@code noecn}, {@code ect0}, {@code ect1}, {@code ect01} (either) or {@code ce}
 * @param tos the type of service, or IPv6's traffic class
 * @param ttl the time to live, or IPv6's hop limit
 * @param flowLabel that of IPv6
 * @param others what the interpreter cannot do: encapsulations
 */
public record IpMarks(@Nullable String ecn, @Nullable Integer tos, @Nullable Integer ttl,
        @Nullable Integer flowLabel, List<String> others) {
    public static final IpMarks NONE = new IpMarks(null, null, null, null, List.of());
    private static final List<String> CODEPOINTS = List.of("noecn", "ect1", "ect0", "ce");

    /** Bits of the codepoint that is sent; 0 if none is named. */
    public int ecnBits() {
        return ecn == null ? 0 : ecn.equals("ect01") ? 2 : CODEPOINTS.indexOf(ecn);
    }

    /** Whether the codepoint of a packet is what the script asks for; any is, if it asks for none. */
    public boolean allowsEcn(int bits) {
        return ecn == null || (ecn.equals("ect01") ? bits == 1 || bits == 2 : bits == CODEPOINTS.indexOf(ecn));
    }

    /** The name of a codepoint. */
    public static String ecnName(int bits) {
        return CODEPOINTS.get(bits & 3);
    }

    @Override
    public String toString() {
        StringBuilder b = new StringBuilder();
        others.forEach(o -> b.append(o).append(' '));
        if (ecn != null) {
            b.append('[').append(ecn).append("] ");
        }
        if (tos != null) {
            b.append("(tos 0x").append(Integer.toHexString(tos)).append(") ");
        }
        if (ttl != null) {
            b.append("(ttl ").append(ttl).append(") ");
        }
        if (flowLabel != null) {
            b.append("(flowlabel 0x").append(Integer.toHexString(flowLabel)).append(") ");
        }
        return b.toString();
    }
}
