// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The last rates of each line of a table, drawn as a row of small bars. Not safe for use by several threads. */
final class StatHistory {
    /** So many rates are kept. */
    static final int LENGTH = 40;

    private static final String BLOCKS = "▁▂▃▄▅▆▇█";
    private static final String ASCII = "_.:-=+*#";

    private static final class Rates {
        private final double[] last = new double[LENGTH];
        private int n;

        void add(double rate) {
            last[n++ % LENGTH] = rate;
        }

        /** A rate by how long ago it was: 0 for the last. */
        double ago(int i) {
            return last[(n - 1 - i) % LENGTH];
        }

        int size() {
            return Math.min(n, LENGTH);
        }
    }

    private final Map<Object, Rates> rates = new HashMap<>();

    /** Adds a rate of a line; one that is unknown is left out. */
    void add(Object key, double rate) {
        if (!Double.isNaN(rate)) {
            rates.computeIfAbsent(key, k -> new Rates()).add(rate);
        }
    }

    /** Forgets the lines that are gone. */
    void retain(Set<Object> keys) {
        rates.keySet().retainAll(keys);
    }

    /**
     * The last rates of a line, the latest on the right, each as a bar from 0 to the greatest that is shown; a rate above 0
     * is higher than one of 0.
     *
     * @param blocks true for block characters, false for ASCII
     */
    String bars(Object key, int width, boolean blocks) {
        char[] bars = new char[width];
        Arrays.fill(bars, ' ');
        Rates r = rates.get(key);
        if (r == null) {
            return new String(bars);
        }
        int shown = Math.min(width, r.size());
        double most = 0;
        for (int i = 0; i < shown; i++) {
            most = Math.max(most, r.ago(i));
        }
        String levels = blocks ? BLOCKS : ASCII;
        for (int i = 0; i < shown; i++) {
            double rate = r.ago(i);
            int level = rate <= 0
                    ? 0
                    : Math.clamp(Math.round(rate / most * (levels.length() - 1)), 1, levels.length() - 1);
            bars[width - 1 - i] = levels.charAt(level);
        }
        return new String(bars);
    }
}
