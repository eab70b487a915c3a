// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.plot;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler.LegendPosition;

/** How charts look. The background is white in dark pages, too, so that text stays readable. */
final class Drawing {
    private static final int WIDTH = 860;
    private static final int HEIGHT = 420;
    /** Twice the pixels of the size: letters are sharp on fine screens. SVG has each letter as a path, and ten times the bytes. */
    private static final int DOTS_PER_INCH = 144;
    private static final int KIBI = 1024;
    private static final int KILO = 1000;
    private static final int MEGA = 1_000_000;
    private static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 13);
    private static final Font TITLE = new Font(Font.SANS_SERIF, Font.BOLD, 15);
    /** The palette of Okabe and Ito, whose colours stay distinct with colour blindness. */
    private static final Color[] COLOURS = {new Color(0x0072B2), new Color(0x009E73), new Color(0xE69F00), new Color(
            0x56B4E9), new Color(0xD55E00), new Color(0xCC79A7)};

    private Drawing() {}

    static CategoryChart lines(String title, String x, String y, boolean logarithmic) {
        CategoryChart c = chart(title, x, y);
        CategoryStyler s = c.getStyler();
        s.setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Line);
        s.setOverlapped(true); // the points of one category below each other
        s.setYAxisLogarithmic(logarithmic);
        s.setMarkerSize(7);
        BasicStroke[] strokes = new BasicStroke[COLOURS.length];
        Arrays.fill(strokes, new BasicStroke(2));
        s.setSeriesLines(strokes);
        s.setLegendPosition(LegendPosition.OutsideE);
        return c;
    }

    static CategoryChart bars(String title, String x, String y) {
        CategoryChart c = chart(title, x, y);
        CategoryStyler s = c.getStyler();
        s.setLegendVisible(false);
        s.setLabelsVisible(true);
        s.setXAxisLabelRotation(60);
        s.setDecimalPattern("0.00");
        s.setYAxisMin(0.0);
        return c;
    }

    private static CategoryChart chart(String title, String x, String y) {
        CategoryChart c = new CategoryChartBuilder().width(WIDTH).height(HEIGHT).title(title).xAxisTitle(x).yAxisTitle(
                y).build();
        CategoryStyler s = c.getStyler();
        s.setChartBackgroundColor(Color.WHITE);
        s.setSeriesColors(COLOURS);
        s.setChartTitleFont(TITLE);
        s.setAxisTitleFont(TEXT);
        s.setAxisTickLabelsFont(TEXT);
        s.setLegendFont(TEXT);
        s.setLegendBorderColor(Color.WHITE);
        s.setPlotGridVerticalLinesVisible(false);
        s.setLocale(Locale.ROOT);
        return c;
    }

    static void save(CategoryChart chart, Path file) throws IOException {
        BitmapEncoder.saveBitmapWithDPI(chart, file.toString(), BitmapFormat.PNG, DOTS_PER_INCH);
    }

    /** A number of bytes, as {@code perf --size} takes it. */
    static String size(long bytes) {
        return bytes < KIBI ? bytes + " B" : bytes < KIBI * KIBI ? bytes / KIBI + " KiB" : bytes / KIBI / KIBI + " MiB";
    }

    static String rate(double perSecond) {
        return perSecond < MEGA
                ? String.format(Locale.ROOT, "%.0f k", perSecond / KILO)
                : String.format(Locale.ROOT, "%.1f M", perSecond / MEGA);
    }
}
