// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

/** The one text of an IPv6 address: RFC 5952, section 4 and 5. */
public final class Ipv6Text {
    private static final int GROUPS = 8;
    private static final int GROUP_BITS = 16;
    private static final long MAPPED = 0xffff; // ::ffff:0:0/96, whose last 32 bits are an IPv4 address

    private Ipv6Text() {}

    /**
     * The text of an address.
     *
     * @param high its first eight bytes, big-endian
     */
    public static String of(long high, long low) {
        if (high == 0 && low >>> 32 == MAPPED) {
            return "::ffff:" + ipv4((int) low);
        }
        int from = 0; // the longest run of zeros, the first of several
        int longest = 1; // a single one is not left out
        for (int i = 0; i < GROUPS; i++) {
            int end = i;
            while (end < GROUPS && group(high, low, end) == 0) {
                end++;
            }
            if (end - i > longest) {
                from = i;
                longest = end - i;
            }
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < GROUPS; i++) {
            if (longest > 1 && i == from) {
                text.append("::");
                i += longest - 1;
            } else {
                if (!text.isEmpty() && text.charAt(text.length() - 1) != ':') {
                    text.append(':');
                }
                text.append(Integer.toHexString(group(high, low, i)));
            }
        }
        return text.toString();
    }

    /** An IPv4 address, which may be part of one. */
    public static String ipv4(int address) {
        return (address >>> 24) + "." + (address >>> 16 & 0xff) + "." + (address >>> 8 & 0xff) + "." + (address & 0xff);
    }

    private static int group(long high, long low, int i) {
        long half = i < GROUPS / 2 ? high : low;
        return (int) (half >>> GROUP_BITS * (GROUPS / 2 - 1 - i % (GROUPS / 2))) & 0xffff;
    }
}
