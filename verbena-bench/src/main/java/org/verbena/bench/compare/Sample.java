// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.ToDoubleBiFunction;

/** Figures of one start or, as medians, of several: name to value with unit. */
final class Sample {
    /** The unit follows from the name's end: {@code -rtt} ns, {@code -rate} messages/s, {@code -bw} bytes/s. */
    private final Map<String, Double> figures = new LinkedHashMap<>();

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
        return name.endsWith("-rtt");
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
