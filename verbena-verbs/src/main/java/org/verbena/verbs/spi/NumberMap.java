// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Objects by number: a hash table with open addressing, since a lookup must not allocate. Used by one thread at a time.
 *
 * @param <V> type of the objects
 */
public final class NumberMap<V> {
    private static final int FIRST_SIZE = 16;
    /** Odd, so that neighboring numbers spread over the table. */
    private static final int SPREAD = 0x9e37_79b1;

    private int[] numbers = new int[FIRST_SIZE];
    /** Null where {@link #numbers} has no meaning. */
    private @Nullable Object[] values = new @Nullable Object[FIRST_SIZE];
    private int size;

    /** An empty map. */
    public NumberMap() {}

    private static int home(int number, int mask) {
        return number * SPREAD >>> 8 & mask;
    }

    /** The index of a number, or of the free entry where it belongs. */
    private int find(int number) {
        int mask = values.length - 1;
        int i = home(number, mask);
        while (values[i] != null && numbers[i] != number) {
            i = i + 1 & mask;
        }
        return i;
    }

    /** The object of a number; null if there is none. */
    @SuppressWarnings("unchecked") // only put writes values
    public @Nullable V get(int number) {
        return (V) values[find(number)];
    }

    /** Gives a number an object, in place of the one that it had. */
    public void put(int number, V value) {
        int i = find(number);
        if (values[i] == null) {
            if (++size * 2 > values.length) {
                grow();
                i = find(number);
            }
            numbers[i] = number;
        }
        values[i] = value;
    }

    private void grow() {
        int[] oldNumbers = numbers;
        @Nullable Object[] oldValues = values;
        numbers = new int[oldNumbers.length * 2];
        values = new @Nullable Object[oldValues.length * 2];
        for (int k = 0; k < oldValues.length; k++) {
            if (oldValues[k] != null) {
                int i = find(oldNumbers[k]);
                numbers[i] = oldNumbers[k];
                values[i] = oldValues[k];
            }
        }
    }

    /** Removes a number if it is there, and moves the following ones up, so that no probe ends at the gap. */
    public void remove(int number) {
        int mask = values.length - 1;
        int gap = find(number);
        if (values[gap] == null) {
            return;
        }
        size--;
        values[gap] = null;
        for (int i = gap + 1 & mask; values[i] != null; i = i + 1 & mask) {
            int home = home(numbers[i], mask);
            if ((i - home & mask) >= (i - gap & mask)) {
                numbers[gap] = numbers[i];
                values[gap] = values[i];
                values[i] = null;
                gap = i;
            }
        }
    }

    /** Calls {@code action} for each object; it must not change the map. */
    @SuppressWarnings("unchecked") // only put writes values
    public void forEach(Consumer<? super V> action) {
        for (Object value : values) {
            if (value != null) {
                action.accept((V) value);
            }
        }
    }
}
