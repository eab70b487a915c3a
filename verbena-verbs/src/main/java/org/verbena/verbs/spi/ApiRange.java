package org.verbena.verbs.spi;

/**
 * The API levels of {@code verbena-verbs} that a provider works with, both ends included; the analogue of a
 * libibverbs provider's {@code match_min_abi_version} and {@code match_max_abi_version}.
 *
 * @param minimum the oldest API level that has all that the provider calls
 * @param maximum the newest API level that keeps what the provider was built for
 */
public record ApiRange(int minimum, int maximum) {
    /** Checks that the range is not empty. */
    public ApiRange {
        if (minimum < 1 || maximum < minimum) {
            throw new IllegalArgumentException("empty API range " + minimum + ".." + maximum);
        }
    }

    /** True if {@code level} lies within the range. */
    public boolean contains(int level) {
        return minimum <= level && level <= maximum;
    }
}
