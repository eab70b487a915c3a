// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

/** Atomic extended transport header, 28 bytes: address, key, swap or add, compare (IBTA volume 1, 9.3.4). */
public final class AtomicEth {
    public static final int BYTES = 28;

    private AtomicEth() {}

    public static long address(long a) {
        return BigEndian.getLong(a);
    }

    public static int rkey(long a) {
        return BigEndian.getInt(a + 8);
    }

    public static long swapOrAdd(long a) {
        return BigEndian.getLong(a + 12);
    }

    public static long compare(long a) {
        return BigEndian.getLong(a + 20);
    }

    public static void put(long a, long address, int rkey, long swapOrAdd, long compare) {
        BigEndian.putLong(a, address);
        BigEndian.putInt(a + 8, rkey);
        BigEndian.putLong(a + 12, swapOrAdd);
        BigEndian.putLong(a + 20, compare);
    }
}
