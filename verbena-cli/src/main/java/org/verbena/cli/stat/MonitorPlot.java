// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

/** Bars in a column of text, from 0 to a round number that is at least the greatest so far. Not safe for use by several threads. */
final class MonitorPlot {
    private static final String EIGHTHS = " ▏▎▍▌▋▊▉";
    private static final char FULL = '█';

    private final int width;
    private final boolean blocks;
    private double scale;

    /**
     * Makes a plot.
     *
     * @param width of the longest bar
     * @param blocks true to draw with block characters, which have a finer resolution than {@code #}
     */
    MonitorPlot(int width, boolean blocks) {
        this.width = width;
        this.blocks = blocks;
    }

    /** Makes room for a value; true if the scale has changed, or is the first. */
    boolean fit(double value) {
        double wanted = Math.max(scale, round(Double.isFinite(value) ? value : 0));
        boolean changed = wanted != scale;
        scale = wanted;
        return changed;
    }

    /** 1, 2 or 5 and zeros, at least 1. */
    static double round(double value) {
        for (double decade = 1;; decade *= 10) {
            for (int step : new int[] {1, 2, 5}) {
                if (value <= step * decade) {
                    return step * decade;
                }
            }
        }
    }

    /** The value of the longest bar. */
    double scale() {
        return scale;
    }

    /** The line above the bars. */
    String axis() {
        String end = " " + StatText.rate(scale);
        return "0 " + (blocks ? "─" : "-").repeat(Math.max(1, width - 2 - end.length())) + end;
    }

    /** A bar; any value above zero is visible. */
    String bar(double value) {
        double part = Math.clamp(value / scale, 0, 1);
        if (!(value > 0)) {
            return "";
        }
        if (!blocks) {
            return "#".repeat(Math.max(1, (int) Math.round(part * width)));
        }
        int eighths = Math.max(1, (int) Math.round(part * width * 8));
        String rest = eighths % 8 == 0 ? "" : String.valueOf(EIGHTHS.charAt(eighths % 8));
        return String.valueOf(FULL).repeat(eighths / 8) + rest;
    }
}
