// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.List;
import java.util.Locale;

/**
 * A line of a table. Immutable.
 *
 * @param key of the process or object, the same in every snapshot
 * @param cells one per column
 */
record StatRow(Object key, List<Cell> cells) {
    /**
     * The contents of a column.
     *
     * @param number the sort value; not a number for texts
     */
    record Cell(String text, double number) {
        static Cell of(String text) {
            return new Cell(text, Double.NaN);
        }
    }

    /** Whether it contains a text, ignoring case. */
    boolean contains(String text) {
        String wanted = text.toLowerCase(Locale.ROOT);
        return cells.stream().filter(c -> Double.isNaN(c.number()) || c.equals(cells.getFirst()))
                .anyMatch(c -> c.text().toLowerCase(Locale.ROOT).contains(wanted));
    }
}
