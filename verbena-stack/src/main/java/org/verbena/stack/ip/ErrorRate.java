// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

/** How many ICMP errors may be sent: a second, and at once, as the kernel's {@code icmp_msgs_per_sec} and {@code icmp_msgs_burst}. */
final class ErrorRate {
    static final int RATE = 1000;
    static final int BURST = 50;

    private static final long EACH = 1_000_000_000L / RATE;
    private static final long MOST = BURST * EACH;

    /** Errors that may be sent at once, in nanoseconds of {@link #RATE}. */
    private long credit = MOST;
    private long credited = Long.MIN_VALUE;

    /** Whether one may be sent now, which counts as sent. */
    boolean allows(long now) {
        if (credited != Long.MIN_VALUE) {
            credit = Math.min(MOST, credit + Math.min(now - credited, MOST));
        }
        credited = now;
        if (credit < EACH) {
            return false;
        }
        credit -= EACH;
        return true;
    }
}
