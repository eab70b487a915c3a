// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.util.Arrays;

/**
 * Measures of a set of latencies, in microseconds. Percentiles are those of sockperf: of {@code n} sorted observations the one with
 * index {@code (int) (p n + 0.5) - 1}.
 */
final class Statistics {
    private static final int HALVINGS = 60;
    private static final int STEPS = 200;
    private static final double FARTHEST = 10;

    private final double[] sorted;
    private final double average;
    private final double deviation;

    /** Takes the array over, not empty. */
    Statistics(double[] observations) {
        sorted = observations;
        Arrays.sort(sorted);
        double sum = 0;
        for (double x : sorted) {
            sum += x;
        }
        average = sum / sorted.length;
        double squares = 0;
        for (double x : sorted) {
            squares += (x - average) * (x - average);
        }
        deviation = Math.sqrt(squares / sorted.length);
    }

    int count() {
        return sorted.length;
    }

    double min() {
        return sorted[0];
    }

    double max() {
        return sorted[sorted.length - 1];
    }

    double average() {
        return average;
    }

    double standardDeviation() {
        return deviation;
    }

    /** The mean distance from the mean. */
    double meanAbsoluteDeviation() {
        double sum = 0;
        for (double x : sorted) {
            sum += Math.abs(x - average);
        }
        return sum / sorted.length;
    }

    /** The median distance from the median. */
    double medianAbsoluteDeviation() {
        double median = median(sorted);
        double[] distances = new double[sorted.length];
        for (int i = 0; i < sorted.length; i++) {
            distances[i] = Math.abs(sorted[i] - median);
        }
        Arrays.sort(distances);
        return median(distances);
    }

    private static double median(double[] sorted) {
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }

    /** Half of what lies between the quartiles. */
    double semiInterquartileRange() {
        return (percentile(75) - percentile(25)) / 2;
    }

    double coefficientOfVariation() {
        return average == 0 ? 0 : deviation / average;
    }

    double standardError() {
        return deviation / Math.sqrt(sorted.length);
    }

    /** Half the width of the interval that has the mean with a probability. */
    double confidence(double percent) {
        return quantile(1 - (1 - percent / 100) / 2) * standardError();
    }

    double percentile(double percent) {
        int index = (int) (0.5 + percent / 100 * sorted.length) - 1;
        return sorted[Math.max(0, Math.min(index, sorted.length - 1))];
    }

    /** How many are at least the first, and below the second. */
    int between(double from, double to) {
        return below(to) - below(from);
    }

    private int below(double value) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (sorted[middle] < value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Of the standard normal distribution, for a probability of at least a half. */
    static double quantile(double probability) {
        double low = 0;
        double high = FARTHEST;
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (low + high) / 2;
            if (cumulative(middle) < probability) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return (low + high) / 2;
    }

    /** By Simpson's rule. */
    private static double cumulative(double z) {
        double h = z / STEPS;
        double sum = density(0) + density(z);
        for (int i = 1; i < STEPS; i++) {
            sum += (i % 2 == 0 ? 2 : 4) * density(i * h);
        }
        return 0.5 + sum * h / 3;
    }

    private static double density(double x) {
        return Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
    }
}
