// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Polls for conditions, with a limit and a message that says how things stood. */
public final class Await {
    /** Long enough for a loaded machine; reached only when a test fails. */
    public static final Duration LIMIT = Duration.ofMinutes(2);
    /** How long a test looks whether something happens that must not. */
    public static final Duration WHILE = Duration.ofMillis(60);

    private static final int SPINS = 500;
    /** With a condition that takes long, for instance of another process, no longer than this. */
    private static final long LONGEST_SPIN_NANOS = 500_000;
    private static final long SHORTEST_PAUSE_NANOS = 20_000;
    private static final long LONGEST_PAUSE_NANOS = 250_000;
    private static final long LONGEST_PAUSE_FOR_COSTLY_NANOS = 10_000_000;
    private static final int LOOKS = 30;
    private static final Duration LOOK = Duration.ofMillis(1);

    private Await() {}

    /** A condition, whose check may throw. */
    @FunctionalInterface
    public interface Condition<X extends Exception> {
        boolean holds() throws X;
    }

    /** Waits until the condition holds, and fails when {@link #LIMIT} has passed. */
    public static <X extends Exception> void until(String what, Condition<X> condition) throws X {
        until(LIMIT, condition, () -> what);
    }

    /** Waits until the condition holds, and fails when {@link #LIMIT} has passed. */
    public static <X extends Exception> void until(String what, Condition<X> condition, Supplier<String> state)
            throws X {
        until(LIMIT, condition, () -> what + "; " + state.get());
    }

    /** Waits until the condition holds and returns how long that took; fails when the limit has passed. */
    public static <X extends Exception> Duration until(Duration limit, Condition<X> condition, Supplier<String> state)
            throws X {
        long start = System.nanoTime();
        if (!within(limit, condition)) {
            throw new AssertionError("not within " + limit.toMillis() / 1e3 + " s: " + state.get());
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /**
     * Waits until the condition is found to hold 30 times in a row, a millisecond apart: at times it holds more
     * briefly.
     */
    public static <X extends Exception> void untilLasting(String what, Condition<X> condition) throws X {
        until(what, lasting(condition));
    }

    /** As the other, and fails when the limit has passed. */
    public static <X extends Exception> void untilLasting(Duration limit, Condition<X> condition,
            Supplier<String> state) throws X {
        until(limit, lasting(condition), state);
    }

    private static <X extends Exception> Condition<X> lasting(Condition<X> condition) {
        int[] looks = new int[1];
        return () -> {
            during(LOOK);
            looks[0] = condition.holds() ? looks[0] + 1 : 0;
            return looks[0] == LOOKS;
        };
    }

    /** Looks for {@link #WHILE} that the condition does not come to hold. */
    public static <X extends Exception> void never(String what, Condition<X> condition) throws X {
        if (within(WHILE, condition)) {
            throw new AssertionError("must not happen: " + what);
        }
    }

    /** Whether the condition comes to hold in time. */
    public static <X extends Exception> boolean within(Duration limit, Condition<X> condition) throws X {
        long start = System.nanoTime();
        long before = 0; // nanoseconds after the start, when the condition was asked last
        for (int i = 0;; i++) {
            if (condition.holds()) {
                return true;
            }
            long waited = System.nanoTime() - start;
            if (waited > limit.toNanos()) {
                return condition.holds();
            }
            if (i < SPINS && waited < LONGEST_SPIN_NANOS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(pause(waited, waited - before)); // leaves the processor to the other end
            }
            before = System.nanoTime() - start;
        }
    }

    /** What has not come for long may be seen a little later, and a condition that takes long is asked half of the time at most. */
    private static long pause(long waited, long took) {
        return Math.max(Math.clamp(waited / 16, SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS), Math.min(took,
                LONGEST_PAUSE_FOR_COSTLY_NANOS));
    }

    /** Lets time pass, for what is measured over time. */
    public static void during(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
