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
 */
record Metric(String name, String unit, Counts counts, boolean less) {
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
        return new Metric(name, unit + "/s", Counts.CLOCK, false);
    }

    /** Units of work a second of processor time. */
    static Metric processor(String name, String unit) {
        return new Metric(name, unit + "/s of processor time", Counts.PROCESSOR, false);
    }

    static Metric latency(String name, String unit) {
        return new Metric(name, unit, Counts.CLOCK, true);
    }

    /** How many times as good as plain Verbena is. */
    double ratio(double plain, double verbena) {
        return less ? plain / verbena : verbena / plain;
    }
}
