// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

/**
 * The base transport header, 12 bytes in network order (IBTA volume 1, 9.2).
 *
 * <pre>
 *  0  opcode
 *  1  solicited 0x80 | migrated 0x40 | pad 0x30 | version 0x0f
 *  2  partition key
 *  4  FECN 0x80 | BECN 0x40
 *  5  destination queue pair
 *  8  acknowledge request 0x80
 *  9  packet sequence number
 * </pre>
 */
public final class Bth {
    public static final int BYTES = 12;
    /** The default partition, full member: the only one that RoCE devices without a table have. */
    public static final int DEFAULT_PKEY = 0xffff;

    private static final int SOLICITED = 0x80;
    private static final int MIGRATED = 0x40;
    private static final int BECN = 0x40;
    private static final int ACKNOWLEDGE = 1 << 31;

    private Bth() {}

    public static int opcode(long a) {
        return BigEndian.getByte(a);
    }

    public static boolean isSolicited(long a) {
        return (BigEndian.getByte(a + 1) & SOLICITED) != 0;
    }

    public static int pad(long a) {
        return BigEndian.getByte(a + 1) >> 4 & 3;
    }

    public static int version(long a) {
        return BigEndian.getByte(a + 1) & 0xf;
    }

    public static int pkey(long a) {
        return BigEndian.getShort(a + 2);
    }

    public static int destination(long a) {
        return BigEndian.get24(a + 4);
    }

    public static boolean isAcknowledgeRequested(long a) {
        return (BigEndian.getByte(a + 8) & 0x80) != 0;
    }

    public static int psn(long a) {
        return BigEndian.get24(a + 8);
    }

    /** Writes the whole header; the migration state is always {@code migrated}, as of hardware without migration. */
    public static void put(long a, int opcode, boolean solicited, int pad, int destination, boolean acknowledge,
            int psn) {
        BigEndian.putInt(a, opcode << 24 | (MIGRATED | (solicited ? SOLICITED : 0) | pad << 4) << 16 | DEFAULT_PKEY);
        BigEndian.putInt(a + 4, destination);
        BigEndian.putInt(a + 8, (acknowledge ? ACKNOWLEDGE : 0) | psn & Psn.MASK);
    }

    /** Reports congestion of its packets to the peer, as a CNP does (annex A17, 17.9.3). */
    public static void setBackwardCongestion(long a) {
        BigEndian.putInt(a + 4, BigEndian.getInt(a + 4) | BECN << 24);
    }
}
