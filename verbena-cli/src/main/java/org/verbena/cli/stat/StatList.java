// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A table on the screen: its sorting and filter, the selected line and the first visible line. The selected line stays
 * selected wherever the next sample puts it. Not safe for use by several threads.
 */
final class StatList {
    /** The lines for which one is used for the sum. */
    private static final int LEAST_WITH_TOTAL = 4;

    private String sort = "";
    private boolean reverse;
    private String filter = "";
    private @Nullable Object chosen;
    private int index;
    private int top;
    private StatTable shown = new StatTable(List.of(), List.of());
    private int page = 1;
    private int width = Integer.MAX_VALUE;

    /** Sets another table, of a later sample or of another mode. */
    void show(StatTable table) {
        shown = table.filtered(filter).sorted(table.column(sort), reverse);
        List<StatRow> rows = shown.rows();
        int found = -1;
        for (int i = 0; i < rows.size() && chosen != null; i++) {
            if (rows.get(i).key().equals(chosen)) {
                found = i;
            }
        }
        choose(found >= 0 ? found : index);
        if (found < 0 && rows.isEmpty()) {
            chosen = null;
        }
    }

    private void choose(int wanted) {
        List<StatRow> rows = shown.rows();
        index = Math.clamp(wanted, 0, Math.max(0, rows.size() - 1));
        chosen = rows.isEmpty() ? null : rows.get(index).key();
    }

    /** Sorts by the next column that is seen, or the one before. */
    void sortBeside(int step) {
        int n = shown.columns().size();
        int column = Math.max(0, shown.column(sort));
        for (int i = 0; i < n; i++) {
            column = Math.floorMod(column + step, n);
            if (shown.isOrder(column, width)) {
                sort = shown.columns().get(column).name();
                top = 0;
                return;
            }
        }
    }

    void sortBy(String column, boolean reversed) {
        sort = column;
        reverse = reversed;
    }

    void reverse() {
        reverse = !reverse;
        top = 0;
    }

    String filter() {
        return filter;
    }

    void filter(String text) {
        filter = text;
    }

    /** The key of the selected line; null if there is none. */
    @Nullable
    Object chosen() {
        return chosen;
    }

    /** Selects another line; false if the key does not do that. */
    boolean move(StatKey key) {
        switch (key.name()) {
            case UP -> choose(index - 1);
            case DOWN -> choose(index + 1);
            case PAGE_UP -> choose(index - page);
            case PAGE_DOWN -> choose(index + page);
            case HOME -> choose(0);
            case END -> choose(shown.rows().size() - 1);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** The sort column, for people. */
    String order() {
        int column = shown.column(sort);
        return column < 0 && !reverse
                ? ""
                : "sorted by " + (column < 0 ? "name" : sort) + (reverse ? ", reversed" : "");
    }

    /** Header and lines for this much room. */
    List<StatLine> lines(int height, int columns) {
        width = columns;
        StatRow total = height < LEAST_WITH_TOTAL ? null : shown.total();
        page = Math.max(1, height - (total == null ? 1 : 2));
        top = Math.clamp(top, Math.max(0, index - page + 1), index);
        top = Math.min(top, Math.max(0, shown.rows().size() - page));
        List<StatLine> lines = new ArrayList<>();
        lines.add(new StatLine(shown.header(width), StatLine.Style.HEADER));
        if (total != null) {
            lines.add(new StatLine(shown.line(total, width), StatLine.Style.TITLE));
        }
        for (int i = top; i < Math.min(shown.rows().size(), top + page); i++) {
            lines.add(new StatLine(shown.line(shown.rows().get(i), width),
                    i == index ? StatLine.Style.SELECTED : StatLine.Style.PLAIN));
        }
        return lines;
    }

    /** The number of lines, including invisible ones. */
    int size() {
        return shown.rows().size();
    }
}
