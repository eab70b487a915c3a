// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.verbena.verbs.VerbsException;

/** Waiting for conditions, with a limit and a message that says how things stood. */
final class Await {
    /** Long enough for a loaded machine; reached only when a test fails. */
    static final Duration LIMIT = Duration.ofMinutes(2);
    /** How long a test looks whether something happens that must not. */
    static final Duration WHILE = Duration.ofMillis(60);

    private static final int SPINS = 500;
    private static final long PAUSE_NANOS = 20_000;

    /** A condition that verbs may be asked for. */
    @FunctionalInterface
    interface Condition {
        boolean holds() throws VerbsException;
    }

    private Await() {}

    /** Waits until the condition holds, and fails when the limit has passed. */
    static void until(String what, Condition condition, Supplier<String> state) throws VerbsException {
        if (!within(LIMIT, condition)) {
            throw new AssertionError("not within " + LIMIT.toSeconds() + " s: " + what + "; " + state.get());
        }
    }

    /** Looks for {@link #WHILE} that the condition does not come to hold. */
    static void never(String what, Condition condition) throws VerbsException {
        if (within(WHILE, condition)) {
            throw new AssertionError("must not happen: " + what);
        }
    }

    /** Whether the condition comes to hold in time. */
    static boolean within(Duration limit, Condition condition) throws VerbsException {
        long end = System.nanoTime() + limit.toNanos();
        for (int i = 0;; i++) {
            if (condition.holds()) {
                return true;
            }
            if (System.nanoTime() - end > 0) {
                return condition.holds();
            }
            if (i < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PAUSE_NANOS); // leaves the processor to the other end
            }
        }
    }
}
