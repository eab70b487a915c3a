// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.control.Control;
import org.verbena.shm.layout.Hazard;

/**
 * The destinations of one queue pair of type UD, by context and number: a hash table with open addressing, since a lookup must not
 * allocate. Used by one thread at a time.
 */
final class Destinations {
    private static final int SMALLEST = 16;

    private final Control control;
    private final long hazard;
    private @Nullable Destination[] table = new Destination[SMALLEST];
    private int size;
    private @Nullable Destination last;

    /** {@code hazard} is the address of the word that is not 0 while a thread sends, see {@link Hazard}. */
    Destinations(Control control, long hazard) {
        this.control = control;
        this.hazard = hazard;
    }

    /** The destination, made if there was none. */
    Destination get(long instance, int number) {
        Destination d = last;
        if (d != null && d.number == number && d.instance == instance) {
            return d;
        }
        int i = slot(table, instance, number);
        d = table[i];
        if (d == null) {
            d = add(instance, number);
        }
        last = d;
        return d;
    }

    private static int slot(@Nullable Destination[] table, long instance, int number) {
        long h = (instance ^ number * 0x9e37_79b9_7f4a_7c15L) * 0xff51_afd7_ed55_8ccdL;
        int i = (int) (h >>> 40) & table.length - 1;
        for (Destination d = table[i]; d != null && (d.number != number || d.instance != instance); d = table[i]) {
            i = i + 1 & table.length - 1;
        }
        return i;
    }

    /** Releases the rings whose readers have left. */
    void sweep() {
        for (Destination d : table) {
            if (d != null && d.isIdle()) {
                d.close();
            }
        }
    }

    private Destination add(long instance, int number) {
        if (2 * (size + 1) > table.length) {
            Destination[] kept = new Destination[size];
            int n = 0;
            for (Destination o : table) {
                if (o != null && o.isIdle()) {
                    o.close();
                } else if (o != null) {
                    kept[n++] = o;
                }
            }
            kept = Arrays.copyOf(kept, n);
            table = new Destination[Math.max(SMALLEST, Integer.highestOneBit(kept.length + 1) * 4)];
            for (Destination o : kept) {
                table[slot(table, o.instance, o.number)] = o;
            }
            size = kept.length;
        }
        Destination d = new Destination(control, this, hazard, instance, number);
        table[slot(table, instance, number)] = d;
        size++;
        return d;
    }

    void close() {
        for (Destination d : table) {
            if (d != null) {
                d.close();
            }
        }
        Arrays.fill(table, null);
        size = 0;
        last = null;
    }
}
