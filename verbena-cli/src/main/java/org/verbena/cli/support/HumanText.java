// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Names, sizes and times for people. */
public final class HumanText {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    private HumanText() {}

    /**
     * A name that is safe to print: characters that a terminal might interpret as a command, or not show, are escaped.
     */
    public static String printable(String name) {
        StringBuilder b = new StringBuilder(name.length());
        name.codePoints().forEach(c -> {
            int type = Character.getType(c);
            if (type == Character.CONTROL || type == Character.FORMAT || type == Character.LINE_SEPARATOR
                    || type == Character.PARAGRAPH_SEPARATOR || type == Character.SURROGATE || c == 0xfffd) {
                b.append(String.format(Locale.ROOT, "\\u{%x}", c));
            } else {
                b.appendCodePoint(c);
            }
        });
        return b.toString();
    }

    /** A name given by its bytes, which should be UTF-8. */
    public static String printable(byte[] name) {
        return printable(new String(name, StandardCharsets.UTF_8));
    }

    /** For instance {@code "1.5 MiB"}. */
    public static String size(double bytes) {
        int unit = 0;
        double value = bytes;
        while (value >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", value, UNITS[unit]);
    }

    /** For instance {@code "1.5 MiB"}. */
    public static String size(long bytes) {
        return size((double) bytes);
    }

    /** For instance {@code "1:02:03"} or {@code "0:07"}. */
    public static String time(double seconds) {
        if (!(seconds < 360_000)) { // also "not a number" and infinite
            return "-:--";
        }
        long s = Math.round(seconds);
        return s < 3600
                ? String.format(Locale.ROOT, "%d:%02d", s / 60, s % 60)
                : String.format(Locale.ROOT, "%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
    }

    /** For instance {@code "1 file"} or {@code "2 files"}. */
    public static String count(long n, String what) {
        return n + " " + what + (n == 1 ? "" : "s");
    }
}
