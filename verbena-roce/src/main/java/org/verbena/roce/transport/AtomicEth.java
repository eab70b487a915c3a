package org.verbena.roce.transport;

/** Atomic extended transport header, 28 bytes: address, key, swap or add, compare (IBTA volume 1, 9.3.4). */
final class AtomicEth {
    static final int BYTES = 28;

    private AtomicEth() {}

    static long address(long a) {
        return BigEndian.getLong(a);
    }

    static int rkey(long a) {
        return BigEndian.getInt(a + 8);
    }

    static long swapOrAdd(long a) {
        return BigEndian.getLong(a + 12);
    }

    static long compare(long a) {
        return BigEndian.getLong(a + 20);
    }

    static void put(long a, long address, int rkey, long swapOrAdd, long compare) {
        BigEndian.putLong(a, address);
        BigEndian.putInt(a + 8, rkey);
        BigEndian.putLong(a + 12, swapOrAdd);
        BigEndian.putLong(a + 20, compare);
    }
}
