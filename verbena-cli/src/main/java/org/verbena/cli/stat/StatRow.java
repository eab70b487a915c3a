// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.List;
import java.util.Locale;

/**
 * A line of a table. Immutable.
 *
 * @param key of the process or object, the same in every picture
 * @param cells one a column
 */
record StatRow(Object key, List<Cell> cells) {
    /**
     * What stands in a column.
     *
     * @param number what it is sorted by; not a number for texts
     */
    record Cell(String text, double number) {
        static Cell of(String text) {
            return new Cell(text, Double.NaN);
        }
    }

    /** Whether a text is found in it, in upper or lower case. */
    boolean contains(String text) {
        String wanted = text.toLowerCase(Locale.ROOT);
        return cells.stream().filter(c -> Double.isNaN(c.number()) || c.equals(cells.getFirst()))
                .anyMatch(c -> c.text().toLowerCase(Locale.ROOT).contains(wanted));
    }
}
