// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

/** RDMA extended transport header, 16 bytes: address, key, length (IBTA volume 1, 9.3.3). */
public final class Reth {
    public static final int BYTES = 16;

    private Reth() {}

    public static long address(long a) {
        return BigEndian.getLong(a);
    }

    public static int rkey(long a) {
        return BigEndian.getInt(a + 8);
    }

    /** 0 to 2^32 - 1. */
    public static long length(long a) {
        return BigEndian.getInt(a + 12) & 0xffffffffL;
    }

    public static void put(long a, long address, int rkey, long length) {
        BigEndian.putLong(a, address);
        BigEndian.putInt(a + 8, rkey);
        BigEndian.putInt(a + 12, (int) length);
    }
}
