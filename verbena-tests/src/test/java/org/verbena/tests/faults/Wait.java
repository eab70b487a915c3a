// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waiting with a limit. */
public final class Wait {
    private static final long PAUSE_NANOS = 50_000;
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final Duration LOOK = Duration.ofMillis(1);
    private static final int LOOKS = 30;

    private Wait() {}

    /** A condition. */
    @FunctionalInterface
    public interface Condition {
        /** Whether it holds by now. */
        boolean holds() throws Exception;
    }

    /** Waits until the condition holds and answers how long that took; fails when the limit has passed. */
    public static Duration until(Duration limit, Condition condition, Supplier<String> state) {
        long start = System.nanoTime();
        while (!holds(condition)) {
            if (System.nanoTime() - start > limit.toNanos()) {
                throw new AssertionError("not within " + limit + ": " + state.get());
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** Lets time pass, for what is measured over time. */
    public static void during(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** The folder in which the kernel tells of the platform thread that calls. */
    public static Path thisThread() throws IOException {
        return Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")));
    }

    /** Until a platform thread, which is known by its folder, sleeps: for the JVM it does so more briefly. */
    public static void untilAsleep(Path thread) {
        int[] looks = new int[1];
        until(LONGEST, () -> {
            during(LOOK);
            looks[0] = Proc.state(thread.resolve("stat")).equals("S") ? looks[0] + 1 : 0;
            return looks[0] == LOOKS;
        }, () -> thread + " does not come to sleep");
    }

    private static boolean holds(Condition condition) {
        try {
            return condition.holds();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
