// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.SocketSamplePoint;

/**
 * The response times of a connection, of which is known how many lie between powers of two: percentiles are the upper ends of
 * these intervals. Immutable.
 */
final class StatResponses {
    private static final int FIRST = SocketSamplePoint.CONNECTION_RESPONSES_256NS;
    private static final int LAST = SocketSamplePoint.CONNECTION_RESPONSES_LONGER;
    /** The first interval ends at two to this power, in nanoseconds. */
    private static final int FIRST_POWER = 8;
    private static final int BAR = 30;

    private final StatObject of;
    private final long count;
    private final long most;

    private StatResponses(StatObject of) {
        this.of = of;
        long sum = 0;
        long highest = 0;
        for (int point = FIRST; point <= LAST; point++) {
            sum += of.value(point);
            highest = Math.max(highest, of.value(point));
        }
        count = sum;
        most = highest;
    }

    /** Those of an object; empty if it has none, or they are not measured. */
    static Optional<StatResponses> of(StatObject o) {
        return o.has(FIRST) ? Optional.of(new StatResponses(o)) : Optional.empty();
    }

    /** Whether a sample point counts them. */
    static boolean isPoint(int point) {
        return point >= FIRST && point <= LAST;
    }

    /**
     * What a part of them was shorter than, in nanoseconds.
     *
     * @param part up to 1, for all
     * @return 0 if there are none; -1 if the longest interval, which has no upper end, is among them
     */
    long below(double part) {
        long wanted = Math.max(1, (long) Math.ceil(part * count));
        long sum = 0;
        for (int point = FIRST; point < LAST && count > 0; point++) {
            sum += of.value(point);
            if (sum >= wanted) {
                return 1L << FIRST_POWER + point - FIRST;
            }
        }
        return count == 0 ? 0 : -1;
    }

    /** For people, for instance {@code "1234 responses: p50 < 4.1 us, p99 < 16.4 us, max < 65.5 us"}. */
    String text() {
        return count == 0
                ? "no responses yet"
                : count + " responses: p50 " + text(below(0.5)) + ", p99 " + text(below(0.99)) + ", max " + text(below(
                        1));
    }

    private static String text(long nanos) {
        if (nanos < 0) {
            return "> 1.1 s";
        }
        int unit = 0;
        double x = nanos;
        while (x >= 1000) {
            x /= 1000;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "< %.0f %s" : "< %.1f %s", x, new String[] {"ns", "us", "ms",
            "s"}[unit]);
    }

    /** How many there are of an interval, drawn. */
    String bar(int point) {
        long n = of.value(point);
        return n == 0 || most == 0 ? "" : "#".repeat((int) Math.max(1, Math.round((double) n / most * BAR)));
    }

    /** For JSON, in nanoseconds; null where there is no upper end. */
    Map<String, @Nullable Object> json() {
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("count", count);
        m.put("p50", orNull(below(0.5)));
        m.put("p99", orNull(below(0.99)));
        m.put("max", orNull(below(1)));
        return m;
    }

    private static @Nullable Long orNull(long nanos) {
        return nanos > 0 ? nanos : null;
    }
}
