// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.ToDoubleBiFunction;

/** Figures of one start or, as medians, of several: name to value with unit. */
public final class Sample {
    /** The percentiles of round trips that are compared, in percent. */
    public static final List<String> RANKS = List.of("50", "90", "99", "99.9", "99.99");

    /**
     * The unit follows from the name's end: {@code -rate} messages/s, {@code -bw} bytes/s, others ns. {@code -rtt} is the median of
     * round trips, {@code -rtt-p99.9} and the like are other percentiles.
     */
    private final Map<String, Double> figures = new LinkedHashMap<>();

    /** The name of a figure: a percentile of a contestant's round trips, of which the first is the median. */
    public static String percentile(String contestant, String rank) {
        return contestant + (rank.equals("50") ? "-rtt" : "-rtt-p" + rank);
    }

    void put(String name, double value) {
        figures.put(name, value);
    }

    void putAll(Sample other) {
        figures.putAll(other.figures);
    }

    /** NaN if it was not measured. */
    double get(String name) {
        return figures.getOrDefault(name, Double.NaN);
    }

    Collection<String> names() {
        return figures.keySet();
    }

    /** The medians over several starts, separately for each figure. */
    static Sample median(List<Sample> starts) {
        return each(starts, (name, sorted) -> median(sorted));
    }

    /**
     * The best values over several starts, separately for each figure. A shared machine has slow moments, and a median
     * may compare one figure's slow moment with another's fast one.
     */
    static Sample best(List<Sample> starts) {
        return each(starts, (name, sorted) -> sorted[isTime(name) ? 0 : sorted.length - 1]);
    }

    /** True for a figure that is the better the smaller it is. */
    static boolean isTime(String name) {
        return name.contains("-rtt");
    }

    private static Sample each(List<Sample> starts, ToDoubleBiFunction<String, double[]> choice) {
        Sample m = new Sample();
        Collection<String> names = new TreeSet<>();
        starts.forEach(s -> names.addAll(s.names()));
        for (String n : names) {
            double[] v = starts.stream().mapToDouble(s -> s.get(n)).filter(d -> !Double.isNaN(d)).sorted().toArray();
            m.put(n, choice.applyAsDouble(n, v));
        }
        return m;
    }

    private static double median(double[] sorted) {
        int n = sorted.length;
        return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    }
}
