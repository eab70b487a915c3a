// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A line of a table. Its cells, their numbers and their texts are made when they are asked for: of thousands of lines a screen
 * shows some twenty, and an order needs one number of each. Not safe for use by several threads.
 */
final class StatRow {
    private final Object key;
    private @Nullable Supplier<List<Cell>> late;
    private List<Cell> cells = List.of();

    private StatRow(Object key, @Nullable Supplier<List<Cell>> late, List<Cell> cells) {
        this.key = key;
        this.late = late;
        this.cells = cells;
    }

    /** A line with one cell per column. */
    StatRow(Object key, List<Cell> cells) {
        this(key, null, cells);
    }

    /**
     * A line whose cells are made later.
     *
     * @param key of the process or object, the same in every snapshot
     */
    static StatRow late(Object key, Supplier<List<Cell>> cells) {
        return new StatRow(key, cells, List.of());
    }

    Object key() {
        return key;
    }

    List<Cell> cells() {
        Supplier<List<Cell>> make = late;
        if (make != null) {
            cells = make.get();
            late = null;
        }
        return cells;
    }

    /** Whether it contains a text, ignoring case. Figures are not searched, but for those of the first column. */
    boolean contains(String text) {
        String wanted = text.toLowerCase(Locale.ROOT);
        List<Cell> all = cells();
        for (int i = 0; i < all.size(); i++) {
            if ((i == 0 || all.get(i).kind == Kind.TEXT) && all.get(i).text().toLowerCase(Locale.ROOT).contains(
                    wanted)) {
                return true;
            }
        }
        return false;
    }

    private enum Kind {
        TEXT, NUMBER, BARS
    }

    /** The contents of a column. */
    static final class Cell {
        private final Kind kind;
        private final DoubleSupplier lateNumber;
        private final DoubleFunction<String> lateText;
        private double number;
        private boolean hasNumber;
        private @Nullable String text;

        private Cell(Kind kind, DoubleSupplier number, DoubleFunction<String> text) {
            this.kind = kind;
            lateNumber = number;
            lateText = text;
        }

        static Cell of(String text) {
            return new Cell(Kind.TEXT, () -> Double.NaN, _ -> text);
        }

        /** A figure, by which lines are sorted. */
        static Cell of(String text, double number) {
            return of(() -> number, _ -> text);
        }

        /** A figure; not a number if it is unknown. */
        static Cell of(DoubleSupplier number, DoubleFunction<String> text) {
            return new Cell(Kind.NUMBER, number, text);
        }

        /** What is drawn, which is neither searched nor an order. */
        static Cell bars(Supplier<String> drawn) {
            return new Cell(Kind.BARS, () -> Double.NaN, _ -> drawn.get());
        }

        /** The value to sort by; not a number for texts. */
        double number() {
            if (!hasNumber) {
                number = lateNumber.getAsDouble();
                hasNumber = true;
            }
            return number;
        }

        String text() {
            String made = text;
            if (made == null) {
                made = lateText.apply(number());
                text = made;
            }
            return made;
        }
    }
}
