// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * What all rounds say of a metric.
 *
 * @param plain median without Verbena
 * @param verbena median under it
 * @param ratio of the medians, above 1 where Verbena is better
 * @param least of the rounds' ratios
 * @param greatest of the rounds' ratios
 */
record Ratio(Metric metric, double plain, double verbena, double ratio, double least, double greatest) {
    /** From the values of each round. */
    static Ratio of(Metric metric, List<Double> plain, List<Double> verbena) {
        double p = median(plain);
        double v = median(verbena);
        double[] each = IntStream.range(0, Math.min(plain.size(), verbena.size())).mapToDouble(i -> metric.ratio(plain
                .get(i), verbena.get(i))).sorted().toArray();
        return new Ratio(metric, p, v, metric.ratio(p, v), each[0], each[each.length - 1]);
    }

    private static double median(List<Double> all) {
        double[] sorted = all.stream().mapToDouble(d -> d).sorted().toArray();
        int half = sorted.length / 2;
        return sorted.length % 2 == 1
                ? sorted[half]
                : DoubleStream.of(sorted[half - 1], sorted[half]).average()
                        .orElseThrow();
    }

    /** Whether Verbena loses more than what is no loss. */
    boolean isBelowFloor() {
        return ratio < metric.floor();
    }
}
