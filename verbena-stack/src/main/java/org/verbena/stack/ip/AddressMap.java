// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

/** Objects by address: a hash table with open addressing, since a lookup must not allocate. Its users bound how many there are. */
public final class AddressMap<V> {
    private static final int FIRST_SIZE = 16;

    /** So that nobody can choose addresses that fall together. */
    private final long secret;
    private long[] highs = new long[FIRST_SIZE];
    private long[] lows = new long[FIRST_SIZE];
    /** Null where {@link #highs} and {@link #lows} have no meaning. */
    private @Nullable Object[] values = new @Nullable Object[FIRST_SIZE];
    private int size;

    public AddressMap(RandomGenerator random) {
        secret = random.nextLong();
    }

    private int home(long high, long low, int mask) {
        long h = Math.multiplyHigh(high ^ secret, low ^ Long.rotateLeft(secret, 32)) ^ low * 0x9e37_79b9_7f4a_7c15L;
        h *= 0xd6e8_feb8_6659_fd93L;
        return (int) (h >>> 32) & mask;
    }

    /** The index of an address, or of the free entry where it belongs. */
    private int find(long high, long low) {
        int mask = values.length - 1;
        int i = home(high, low, mask);
        while (values[i] != null && (lows[i] != low || highs[i] != high)) {
            i = i + 1 & mask;
        }
        return i;
    }

    public int size() {
        return size;
    }

    /** The object of an address; null if there is none. */
    @SuppressWarnings("unchecked") // only put writes values
    @Nullable
    public V get(long high, long low) {
        return (V) values[find(high, low)];
    }

    /** Gives an address an object, in place of the one that it had. */
    public void put(long high, long low, V value) {
        int i = find(high, low);
        if (values[i] == null) {
            if (++size * 2 > values.length) {
                grow();
                i = find(high, low);
            }
            highs[i] = high;
            lows[i] = low;
        }
        values[i] = value;
    }

    private void grow() {
        long[] oldHighs = highs;
        long[] oldLows = lows;
        @Nullable Object[] old = values;
        highs = new long[old.length * 2];
        lows = new long[old.length * 2];
        values = new @Nullable Object[old.length * 2];
        for (int k = 0; k < old.length; k++) {
            if (old[k] != null) {
                move(oldHighs[k], oldLows[k], old[k], find(oldHighs[k], oldLows[k]));
            }
        }
    }

    private void move(long high, long low, @Nullable Object value, int to) {
        highs[to] = high;
        lows[to] = low;
        values[to] = value;
    }

    /** Removes an address if it is there, and moves the following ones up, so that no probe ends at the gap. */
    public void remove(long high, long low) {
        int mask = values.length - 1;
        int gap = find(high, low);
        if (values[gap] == null) {
            return;
        }
        size--;
        values[gap] = null;
        for (int i = gap + 1 & mask; values[i] != null; i = i + 1 & mask) {
            int home = home(highs[i], lows[i], mask);
            if ((i - home & mask) >= (i - gap & mask)) {
                move(highs[i], lows[i], values[i], gap);
                values[i] = null;
                gap = i;
            }
        }
    }
}
