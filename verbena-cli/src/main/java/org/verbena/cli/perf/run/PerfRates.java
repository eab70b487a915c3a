// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Rates in the form that people write: messages per second, with {@code k} for thousand and {@code m} for million. */
public final class PerfRates {
    /**
     * The clock is read twice for each message, which takes tens of nanoseconds each time: messages that are to be
     * sent closer to each other would wait for the clock.
     */
    static final long MAX = 20_000_000;
    private static final int MOST = 1000;
    private static final Pattern NUMBER = Pattern.compile("(-?[0-9]{1,12}(?:\\.[0-9]{1,9})?)([km]?)");
    private static final Pattern SWEEP = Pattern.compile("([^-+*]+)-([^-+*]+)([+*])([^-+*]+)");

    private PerfRates() {}

    /** One rate. */
    static long one(String text) {
        Matcher m = NUMBER.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!m.matches()) {
            throw new TypeConversionException("'" + text + "' is not a rate: say how many messages per second, such as"
                    + " 5000, 50k or 1.5m");
        }
        BigDecimal rate = new BigDecimal(m.group(1)).movePointRight(switch (m.group(2)) {
            case "k" -> 3;
            case "m" -> 6;
            default -> 0;
        });
        if (rate.compareTo(BigDecimal.ONE) < 0) {
            throw new TypeConversionException("a rate of '" + text + "' sends nothing: take 1 message per second or"
                    + " more");
        }
        if (rate.compareTo(BigDecimal.valueOf(MAX)) > 0) {
            throw new TypeConversionException("a rate of '" + text + "' is beyond the clock, which is read twice for"
                    + " each message: take 20m at most");
        }
        return rate.longValue();
    }

    /** {@code A-B+STEP}, {@code A-B*FACTOR}, or rates between commas; in ascending order. */
    static List<Long> several(String text) {
        SortedSet<Long> rates = new TreeSet<>();
        for (String part : text.split(",", -1)) {
            Matcher m = SWEEP.matcher(part);
            if (m.matches()) {
                sweep(part, m, rates);
            } else if (part.strip().indexOf('-', 1) > 0) {
                throw new TypeConversionException("'" + part
                        + "' is not a sweep of rates: write A-B+STEP or A-B*FACTOR,"
                        + " such as 10k-100k+10k or 1k-1m*2");
            } else {
                rates.add(one(part));
            }
            if (rates.size() > MOST) {
                throw tooMany(text);
            }
        }
        return List.copyOf(rates);
    }

    private static void sweep(String text, Matcher m, SortedSet<Long> rates) {
        long first = one(m.group(1));
        long last = one(m.group(2));
        if (first > last) {
            throw new TypeConversionException("'" + text + "' begins above its end: write " + m.group(2) + "-"
                    + m.group(1) + m.group(3) + m.group(4));
        }
        boolean adds = m.group(3).equals("+");
        double by = adds ? (double) one(m.group(4)) : factor(text, m.group(4));
        double rate = (double) first;
        for (int i = 0; Math.round(rate) <= last; i++) {
            if (i == MOST) {
                throw tooMany(text);
            }
            rates.add(Math.round(rate));
            rate = adds ? rate + by : rate * by;
        }
    }

    private static double factor(String text, String factor) {
        try {
            double f = Double.parseDouble(factor);
            if (f > 1 && f <= MAX) {
                return f;
            }
        } catch (NumberFormatException e) {
            // falls through
        }
        throw new TypeConversionException("'" + text + "' has the factor '" + factor + "': it must be above 1, such as"
                + " 2 or 1.5");
    }

    private static TypeConversionException tooMany(String text) {
        return new TypeConversionException("'" + text + "' has more than " + MOST + " rates: take a larger step");
    }

    /** Of one rate. */
    public static final class One implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return one(text);
        }
    }

    /** Of a sweep. */
    public static final class Several implements ITypeConverter<Sweep> {
        @Override
        public Sweep convert(String text) {
            return new Sweep(several(text));
        }
    }

    /** Rates in ascending order: the type that picocli does not take for an option of several values. */
    public record Sweep(List<Long> rates) {}
}
