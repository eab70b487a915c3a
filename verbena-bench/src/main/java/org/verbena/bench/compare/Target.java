// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

/**
 * A ratio of two figures and its target.
 *
 * @param figure Verbena's figure
 * @param base what it is compared with
 * @param bound the target
 * @param atMost whether the ratio must be at most the bound, as with times, or at least, as with rates; without a bound
 *        it only says which is better
 */
record Target(String figure, String base, double bound, boolean atMost) {
    static Target atMost(String figure, String base, double bound) {
        return new Target(figure, base, bound, true);
    }

    static Target atLeast(String figure, String base, double bound) {
        return new Target(figure, base, bound, false);
    }

    /** Compared, without a target. */
    static Target none(String figure, String base) {
        return new Target(figure, base, Double.NaN, Sample.isTime(figure));
    }

    double ratio(Sample s) {
        return s.get(figure) / s.get(base);
    }

    boolean hasBound() {
        return !Double.isNaN(bound);
    }

    boolean isMet(Sample s) {
        return atMost ? ratio(s) <= bound : ratio(s) >= bound;
    }
}
