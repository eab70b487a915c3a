package org.verbena.roce.transport;

/** RDMA extended transport header, 16 bytes: address, key, length (IBTA volume 1, 9.3.3). */
final class Reth {
    static final int BYTES = 16;

    private Reth() {}

    static long address(long a) {
        return BigEndian.getLong(a);
    }

    static int rkey(long a) {
        return BigEndian.getInt(a + 8);
    }

    /** 0 to 2^32 - 1. */
    static long length(long a) {
        return BigEndian.getInt(a + 12) & 0xffffffffL;
    }

    static void put(long a, long address, int rkey, long length) {
        BigEndian.putLong(a, address);
        BigEndian.putInt(a + 8, rkey);
        BigEndian.putInt(a + 12, (int) length);
    }
}
