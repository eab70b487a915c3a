// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** The round-trip time of a connection and the time after which a segment is sent again (RFC 6298), in nanoseconds. */
final class RoundTrip {
    static final long INITIAL_TIMEOUT = 1_000_000_000L;
    /** RFC 6298, 5.7. */
    private static final long LOST_SYN_TIMEOUT = 3_000_000_000L;
    /** As Linux and FreeBSD have it; RFC 6298 asks for a second, of the time of coarse clocks. */
    static final long LEAST_TIMEOUT = 200_000_000L;
    static final long MOST_TIMEOUT = 120_000_000_000L;
    /** How long the least round trip is remembered. */
    private static final long WINDOW = 300_000_000_000L;

    private long fallback = INITIAL_TIMEOUT;
    private long smoothed;
    private long variation;
    private long least = Long.MAX_VALUE;
    private long leastAt;

    void add(long sample, long now) {
        long r = Math.max(sample, 1);
        if (smoothed == 0) {
            smoothed = r;
            variation = r / 2;
        } else {
            variation += (Math.abs(smoothed - r) - variation) / 4;
            smoothed += (r - smoothed) / 8;
        }
        if (r <= least || now - leastAt > WINDOW) {
            least = r;
            leastAt = now;
        }
    }

    boolean isKnown() {
        return smoothed != 0;
    }

    /** 0 if it is not known yet. */
    long smoothed() {
        return smoothed;
    }

    long variation() {
        return variation;
    }

    long least() {
        return isKnown() ? least : 0;
    }

    void synWasLost() {
        fallback = LOST_SYN_TIMEOUT;
    }

    long timeout() {
        return isKnown()
                ? Math.clamp(smoothed + Math.max(4 * variation, LEAST_TIMEOUT), LEAST_TIMEOUT, MOST_TIMEOUT)
                : fallback;
    }
}
