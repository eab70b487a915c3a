// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.util.Locale;

/**
 * Something that a benchmark measures.
 *
 * @param name of the benchmark, and which of its parts
 * @param unit of the values
 * @param counts what the values relate to
 * @param less is better, as it is for latencies
 * @param floor the least ratio that is no loss; 0 if each is good
 */
record Metric(String name, String unit, Counts counts, boolean less, double floor) {
    /** Below it, Verbena costs time: two runs of the same program differ by less, on a quiet machine. */
    private static final double BY_CLOCK = 0.97;
    /** For a twentieth more than plain. */
    private static final double OF_LITTLE_WORK = 1 / 1.05;

    enum Counts {
        /** Time that passes. */
        CLOCK,
        /** Time of processors, of all JVMs of the application and its load. */
        PROCESSOR;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Units of work a second. */
    static Metric rate(String name, String unit) {
        return new Metric(name, unit + "/s", Counts.CLOCK, false, BY_CLOCK);
    }

    /** Units of work a second of processor time. */
    static Metric processor(String name, String unit) {
        return new Metric(name, unit + "/s of processor time", Counts.PROCESSOR, false, 0);
    }

    /** Milliseconds of processor time a second, for the same work or none. */
    static Metric processorTime(String name) {
        return new Metric(name, "ms of processor time/s", Counts.PROCESSOR, true, OF_LITTLE_WORK);
    }

    static Metric latency(String name, String unit) {
        return new Metric(name, unit, Counts.CLOCK, true, BY_CLOCK);
    }

    /** How many times as good as plain Verbena is. */
    double ratio(double plain, double verbena) {
        return less ? plain / verbena : verbena / plain;
    }
}
