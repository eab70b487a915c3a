// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

/** Flags of a TCP header, and packetdrill's letters for them. */
public final class TcpFlags {
    public static final int FIN = 0x01;
    public static final int SYN = 0x02;
    public static final int RST = 0x04;
    public static final int PSH = 0x08;
    public static final int ACK = 0x10;
    public static final int URG = 0x20;
    public static final int ECE = 0x40;
    public static final int CWR = 0x80;
    /** That of accurate ECN (RFC 9768), in the byte before the others. */
    public static final int AE = 0x100;
    private static final String LETTERS = "FSRP.UEWA";
    private static final String PRINTED = "SFRPUEWA.";

    private TcpFlags() {}

    /** Bits of a text such as {@code SF.}; -1 if it is none. A digit is the counter of accurate ECN. */
    public static int parse(String text) {
        if (text.equals("-")) {
            return 0;
        }
        int flags = 0;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c >= '0' && c <= '7') {
                flags |= (c & 4) << 6 | (c & 2) << 6 | (c & 1) << 6;
                continue;
            }
            int i = LETTERS.indexOf(c);
            if (i < 0 || (flags & 1 << i) != 0) {
                return -1;
            }
            flags |= 1 << i;
        }
        return text.isEmpty() ? -1 : flags;
    }

    /** The text of bits. */
    public static String text(int flags) {
        StringBuilder b = new StringBuilder();
        for (int at = 0; at < PRINTED.length(); at++) {
            char c = PRINTED.charAt(at);
            if ((flags & 1 << LETTERS.indexOf(c)) != 0) {
                b.append(c);
            }
        }
        return b.isEmpty() ? "-" : b.toString();
    }
}
