// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.net.InetAddress;

import org.jspecify.annotations.Nullable;

/**
 * The address of a rule: {@code *}, {@code a.b.c.d}, {@code a.b.c.d/prefix}, {@code [IPv6]}, {@code [IPv6/prefix]} or
 * {@code [IPv6]/prefix}. Names are not looked up.
 */
final class RuleAddress {
    private static final String DIGITS = "0123456789";
    private static final String IPV6 = "0123456789abcdefABCDEF:.";
    private static final int BYTES = 4;

    private RuleAddress() {}

    /** Reads it, with all ports. */
    static Endpoints parse(RuleText text) {
        text.skipBlanks();
        int start = text.position();
        if (text.take('*')) {
            return Endpoints.ALL;
        }
        if (text.take('[')) {
            return parse6(text, start);
        }
        if (DIGITS.indexOf(text.peek()) < 0) {
            throw text.error(start,
                    "here must be an address (a.b.c.d, a.b.c.d/prefix, [IPv6], [IPv6/prefix] or *), not "
                            + text.next());
        }
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < BYTES; i++) {
            if (i > 0 && text.run(".").length() != 1) {
                throw text.error(start, "an IPv4 address has four numbers with a dot between two");
            }
            bytes[i] = (byte) number(text, 255, "a number of an IPv4 address");
        }
        return Endpoints.of(bytes, text.take('/') ? number(text, 32, "a prefix") : 32);
    }

    private static Endpoints parse6(RuleText text, int start) {
        String digits = text.run(IPV6);
        byte[] bytes = literal6(digits);
        if (bytes == null) {
            throw text.error(start, "'" + digits + "' is no IPv6 address");
        }
        int prefix = -1;
        if (text.take('/')) {
            prefix = number(text, 128, "a prefix");
        }
        if (!text.take(']')) {
            throw text.error(text.position(), "here must be ']', not " + text.next());
        }
        if (prefix < 0) {
            prefix = text.take('/') ? number(text, 128, "a prefix") : 128;
        }
        return Endpoints.of(bytes, prefix);
    }

    /** A number in decimal digits, without a zero before it. */
    static int number(RuleText text, int largest, String what) {
        text.skipBlanks();
        int start = text.position();
        String digits = text.run(DIGITS);
        if (digits.isEmpty()) {
            throw text.error(start, "here must be " + what + ", not " + text.next());
        }
        if (digits.length() > 1 && digits.charAt(0) == '0') {
            throw text.error(start, "'" + digits + "' begins with a zero");
        }
        long value = digits.length() > 10 ? Long.MAX_VALUE : Long.parseLong(digits);
        if (value > largest) {
            throw text.error(start, "'" + digits + "' is too large: " + what + " is at most " + largest);
        }
        return (int) value;
    }

    /** 16 bytes, also of an IPv4 address that is written as IPv6; null if it is no address. */
    private static byte @Nullable [] literal6(String digits) {
        if (digits.indexOf(':') < 0) {
            return null;
        }
        try {
            byte[] b = InetAddress.ofLiteral(digits).getAddress();
            return b.length == 16 ? b : mapped(b);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static byte[] mapped(byte[] v4) {
        byte[] all = new byte[16];
        all[10] = (byte) 0xff;
        all[11] = (byte) 0xff;
        System.arraycopy(v4, 0, all, 12, v4.length);
        return all;
    }
}
