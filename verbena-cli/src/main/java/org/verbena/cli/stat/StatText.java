// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.verbena.cli.support.HumanText;

/** Figures, command lines and columns for people. */
public final class StatText {
    private static final double PLAIN = 1e6;
    private static final double TWO_TO_64 = 0x1p64;
    private static final String UNITS = "MGTPEZ";
    private static final String SIZES = "KMGTPE";
    /** Options of java that have a value behind them. */
    private static final Set<String> WITH_VALUE = Set.of("-cp", "-classpath", "--class-path", "-p", "--module-path",
            "--upgrade-module-path", "--add-modules", "--enable-native-access", "--add-opens", "--add-exports",
            "--add-reads", "--limit-modules", "--patch-module");

    private StatText() {}

    /** The double nearest to an unsigned number. */
    static double unsigned(long n) {
        return n < 0 ? n + TWO_TO_64 : n;
    }

    /** A total in at most seven characters, for instance {@code "999999"} or {@code "18.45E"}. */
    static String total(long n) {
        return total(unsigned(n));
    }

    /** The same of a number that may be too large for a {@code long}. */
    static String total(double v) {
        return v < PLAIN ? Long.toString((long) v) : scaled(v);
    }

    /** A rate in at most seven characters; a dash if it is unknown. */
    static String rate(double v) {
        if (Double.isNaN(v)) {
            return "-";
        }
        if (v == 0) {
            return "0";
        }
        return v < 10 ? format("%.2f", v) : v < 100 ? format("%.1f", v) : v < PLAIN ? format("%.0f", v) : scaled(v);
    }

    /** A number of bytes in at most four characters, in powers of 1024: {@code 999}, {@code 4K}, {@code 1.5M}. */
    static String size(long bytes) {
        double x = unsigned(bytes);
        int unit = -1;
        while (x >= (unit < 0 ? 1000 : 999.5) && unit < SIZES.length() - 1) {
            x /= 1024;
            unit++;
        }
        return unit < 0
                ? Long.toString(bytes)
                : (x < 9.95 && x != Math.rint(x) ? format("%.1f", x) : format("%.0f", x)) + SIZES.charAt(unit);
    }

    private static String scaled(double v) {
        double x = v / PLAIN;
        int unit = 0;
        while (x >= 999.95 && unit < UNITS.length() - 1) {
            x /= 1000;
            unit++;
        }
        return format(x < 9.9995 ? "%.3f" : x < 99.995 ? "%.2f" : "%.1f", x) + UNITS.charAt(unit);
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation belongs to Error Prone, which is no dependency
    private static String format(String pattern, double v) {
        return String.format(Locale.ROOT, pattern, v);
    }

    /**
     * The part of a command line that identifies it for people: for a JVM the main class or jar, without JVM options.
     */
    public static String command(String line) {
        List<String> words = new ArrayList<>(Arrays.asList(line.strip().split(" +", -1)));
        String program = name(words.removeFirst());
        if (!program.equals("java")) {
            words.addFirst(program);
            return HumanText.printable(String.join(" ", words));
        }
        int i = 0;
        while (i < words.size() && words.get(i).startsWith("-")) {
            String option = words.get(i);
            if (option.equals("-jar") || option.equals("-m") || option.equals("--module")) {
                i++;
                break;
            }
            i += WITH_VALUE.contains(option) ? 2 : 1;
        }
        if (i >= words.size()) {
            return "java";
        }
        List<String> shown = new ArrayList<>(words.subList(i, words.size()));
        shown.set(0, shown.getFirst().endsWith(".jar")
                ? name(shown.getFirst())
                : shown.getFirst().replaceFirst(".*/", ""));
        return HumanText.printable(String.join(" ", shown));
    }

    private static String name(String path) {
        try {
            Path file = Path.of(path).getFileName();
            return file == null ? path : file.toString();
        } catch (java.nio.file.InvalidPathException e) {
            return path;
        }
    }

    /** A text in this many columns, of which the end says most: truncated with a {@code <}, or padded on the right. */
    static String fitEnd(String text, int width) {
        return text.length() <= width || width <= 0
                ? fit(text, width, true)
                : "<" + text.substring(text.length() - width + 1);
    }

    /** A text in this many columns: truncated with a {@code >}, or padded on the left or the right. */
    static String fit(String text, int width, boolean left) {
        if (text.length() > width) {
            return width <= 0 ? "" : text.substring(0, width - 1) + ">";
        }
        String gap = " ".repeat(width - text.length());
        return left ? text + gap : gap + text;
    }
}
