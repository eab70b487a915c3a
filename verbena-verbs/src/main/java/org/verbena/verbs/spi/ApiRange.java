// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import org.jspecify.annotations.Nullable;

/**
 * The API levels of {@code verbena-verbs} that a provider works with, both ends included; the analogue of a
 * libibverbs provider's {@code match_min_abi_version} and {@code match_max_abi_version}. Immutable.
 */
public final class ApiRange {
    private final int minimum;
    private final int maximum;

    private ApiRange(int minimum, int maximum) {
        if (minimum < 1 || maximum < minimum) {
            throw new IllegalArgumentException("empty API range " + minimum + ".." + maximum);
        }
        this.minimum = minimum;
        this.maximum = maximum;
    }

    /**
     * All levels from {@code minimum} on: right for a provider, because an API level only ever adds.
     *
     * @throws IllegalArgumentException if the range is empty
     */
    public static ApiRange from(int minimum) {
        return new ApiRange(minimum, Integer.MAX_VALUE);
    }

    /**
     * The levels from {@code minimum} to {@code maximum}.
     *
     * @throws IllegalArgumentException if the range is empty
     */
    public static ApiRange of(int minimum, int maximum) {
        return new ApiRange(minimum, maximum);
    }

    /** The oldest API level that has all that the provider calls. */
    public int minimum() {
        return minimum;
    }

    /** The newest API level that keeps what the provider was built for. */
    public int maximum() {
        return maximum;
    }

    /** True if {@code level} lies within the range. */
    public boolean contains(int level) {
        return minimum <= level && level <= maximum;
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof ApiRange r && r.minimum == minimum && r.maximum == maximum;
    }

    @Override
    public int hashCode() {
        return 31 * minimum + maximum;
    }

    /** For instance {@code "1 to 3"} or {@code "2 and later"}. */
    @Override
    public String toString() {
        return maximum == Integer.MAX_VALUE ? minimum + " and later" : minimum + " to " + maximum;
    }
}
