// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

/** Datagram extended transport header, 8 bytes: queue key, sender (IBTA volume 1, 9.3.2). */
public final class Deth {
    public static final int BYTES = 8;

    private Deth() {}

    public static int qkey(long a) {
        return BigEndian.getInt(a);
    }

    public static int source(long a) {
        return BigEndian.get24(a + 4);
    }

    public static void put(long a, int qkey, int source) {
        BigEndian.putInt(a, qkey);
        BigEndian.putInt(a + 4, source);
    }
}
