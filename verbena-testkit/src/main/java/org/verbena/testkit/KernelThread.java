// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;

/** Platform threads as the kernel shows them, known by their folder in {@code /proc}. */
public final class KernelThread {
    private static final boolean AARCH64 = System.getProperty("os.arch").equals("aarch64");
    /** The number of futex(2) on this machine. */
    public static final String FUTEX = AARCH64 ? "98" : "202";
    /** Of futex_waitv(2). */
    public static final String FUTEX_WAITV = "449";
    /** Those of epoll_wait(2) and epoll_pwait(2), as far as this machine has them. */
    public static final Set<String> EPOLL_WAIT = AARCH64 ? Set.of("22") : Set.of("232", "281");

    private KernelThread() {}

    /** The folder of the platform thread that calls. */
    public static Path self() {
        try {
            return Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until a thread sleeps: for the JVM it does so more briefly. */
    public static void awaitAsleep(Path thread) {
        Await.untilLasting(thread + " sleeps", () -> isAsleep(thread));
    }

    /**
     * Waits until a thread of this process sleeps in one of these system calls, by their numbers; fails when the limit has
     * passed.
     */
    public static void awaitAsleepIn(Path thread, Set<String> calls, Duration limit) {
        Await.untilLasting(limit, () -> isAsleep(thread) && calls.contains(systemCall(thread)),
                () -> thread + " is to sleep in one of the system calls " + calls + ", is in " + systemCall(thread));
    }

    /** The number of the system call that a thread of this process is in, proc(5); {@code running} if it is in none, empty if it is gone. */
    public static String systemCall(Path thread) {
        try {
            return Files.readString(thread.resolve("syscall")).strip().split(" ", 2)[0];
        } catch (IOException gone) {
            return "";
        }
    }

    /** Whether a thread sleeps; not when it is ready to run and has no processor. */
    public static boolean isAsleep(Path thread) {
        return state(thread).equals("S");
    }

    /** Whether all threads of a process stand still, as SIGSTOP makes them one after the other; false if it is gone. */
    public static boolean areStopped(long pid) {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
            return threads.allMatch(t -> state(t).equals("T"));
        } catch (IOException gone) {
            return false;
        }
    }

    /** The letter of a thread's state; empty if the thread is gone. */
    public static String state(Path thread) {
        try {
            String s = Files.readString(thread.resolve("stat"));
            int behindName = s.lastIndexOf(')') + 2; // which may have spaces in it
            return s.substring(behindName, behindName + 1);
        } catch (IOException gone) {
            return "";
        }
    }
}
