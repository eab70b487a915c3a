// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.util.List;
import java.util.Locale;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Sizes and times in the form that people write. */
public final class Units {
    /** Of a message, in bytes. */
    public static final long MAX_SIZE = 1L << 30;

    private static final List<String> BYTE_UNITS = List.of("", "k", "m", "g");
    private static final List<String> TIME_UNITS = List.of("ns", "us", "ms", "s");
    private static final double LONGEST_SECONDS = 86_400;

    private Units() {}

    static long bytes(String text) {
        String t = text.strip().toLowerCase(Locale.ROOT);
        String digits = t.replaceFirst("[kmg]$", "");
        try {
            return Math.multiplyExact(Long.parseLong(digits), 1L << (10 * BYTE_UNITS.indexOf(t.substring(digits
                    .length()))));
        } catch (ArithmeticException | NumberFormatException e) {
            throw new TypeConversionException("'" + text + "' is not a number of bytes such as 64, 4k or 1m");
        }
    }

    /** A message size. */
    public static final class Size implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            long n = bytes(text);
            if (n < 1 || n > MAX_SIZE) {
                throw new TypeConversionException("a size must be 1 byte to 1g, not '" + text + "'");
            }
            return n;
        }
    }

    /** Any number of bytes. */
    public static final class Bytes implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return bytes(text);
        }
    }

    /** A time, in nanoseconds; without a unit the text means seconds. */
    public static final class Time implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            String t = text.strip().toLowerCase(Locale.ROOT);
            String digits = t.replaceFirst("(ns|us|ms|s)$", "");
            String unit = digits.length() == t.length() ? "s" : t.substring(digits.length());
            try {
                double seconds = Double.parseDouble(digits) * Math.pow(1000, TIME_UNITS.indexOf(unit)) / 1e9;
                if (seconds > 0 && seconds <= LONGEST_SECONDS) {
                    return Math.max(1, Math.round(seconds * 1e9));
                }
            } catch (NumberFormatException e) {
                // falls through
            }
            throw new TypeConversionException("'" + text
                    + "' is not a time such as 2s or 100ms, more than 0 and up to a day");
        }
    }
}
