// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** Waits until a thread waits: how long it takes until then is the machine's business. */
final class Blocked {
    private static final long LONGEST_NANOS = 60_000_000_000L;
    /** In so many looks in a row, a millisecond apart, it has to be found asleep: for the JVM it sleeps more briefly. */
    private static final int LOOKS = 30;

    private Blocked() {}

    /** The folder in which the kernel tells of the platform thread that calls. */
    static Path self() throws IOException {
        return Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")));
    }

    /** Until a platform thread, which is known by its folder, sleeps. */
    static void await(Path thread) throws InterruptedException {
        await(() -> sleeps(thread));
    }

    /** Until a virtual thread is parked. */
    static void await(Thread virtual) throws InterruptedException {
        await(() -> isParked(virtual));
    }

    /** Until that holds for a while. */
    static void await(BooleanSupplier waits) throws InterruptedException {
        long end = System.nanoTime() + LONGEST_NANOS;
        for (int found = 0; found < LOOKS; found = waits.getAsBoolean() ? found + 1 : 0) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("the thread does not come to wait");
            }
            Thread.sleep(1);
        }
    }

    static boolean isParked(Thread virtual) {
        Thread.State s = virtual.getState();
        return s == Thread.State.WAITING || s == Thread.State.TIMED_WAITING;
    }

    /** Not when it is ready to run and has no processor. */
    static boolean sleeps(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
        } catch (IOException ended) {
            return false;
        }
    }
}
