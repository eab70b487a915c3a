// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.nio.channels.Selector;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.sockets.jdk.SelectorDescriptor;

/**
 * Lets the thread of a selector sleep at the bell although the kernel alone can make some of its keys ready, such as a listener: the
 * {@link WatchThread} sleeps at the inner selector in its place, and wakes it when the kernel has something to report.
 *
 * <p>That costs one more wake-up for each report of the kernel's, so it is for selectors to which the kernel seldom reports anything
 * but doorbells. After some sleeps in a row that doorbells ended, the bell is tried; each report of the kernel's while the thread
 * sleeps there doubles the number that the next try needs.
 *
 * <p>For the thread that selects, but for {@link #fire}.
 */
final class KernelWatch {
    private static final int LEAST_QUIET = 4;
    private static final int MOST_QUIET = 1024;
    /** Number of waits that rings ended without a report of the kernel's, after which the next try needs half as many sleeps. */
    private static final int CALM = 64;

    private static final int IDLE = 0;
    /** The kernel reports what happens from now on, once. */
    private static final int ARMED = 1;
    private static final int FIRED = 2;

    private final Selector inner;
    private final Runnable wake;
    private volatile int state = IDLE;
    /** Of the inner selector, once it was watched, and what watches it under which number. */
    private @Nullable Fd descriptor;
    private @Nullable WatchThread thread;
    private long token;
    private boolean impossible;
    private int quiet;
    private int needed = LEAST_QUIET;
    private int calm;

    /**
     * @param inner the inner selector
     * @param wake ends a sleep at the bell; must not block
     */
    KernelWatch(Selector inner, Runnable wake) {
        this.inner = inner;
        this.wake = wake;
    }

    /** Whether to sleep at the bell. */
    boolean isWorthwhile() {
        return quiet >= needed && !impossible;
    }

    /** A sleep in the inner selector has ended by what the kernel reported: doorbells alone, or more. */
    void sleptInKernel(boolean doorbellsOnly) {
        quiet = doorbellsOnly ? Math.min(quiet + 1, MOST_QUIET) : 0;
    }

    /**
     * Begins to watch, before a sleep at the bell.
     *
     * @return whether {@link #fire} is called if the kernel has anything to report; if not, the bell is not enough
     */
    boolean arm() {
        if (state == ARMED) {
            return true;
        }
        boolean armed = false;
        state = ARMED; // first: it may fire before the call returns
        try {
            armed = ask();
        } catch (LinuxException | LinkageError | OutOfMemoryError e) {
            // there is no descriptor, thread or memory now; it is tried again later
        } finally { // also after an error that ends the selection
            if (!armed) {
                state = IDLE;
                tryLater(MOST_QUIET);
            }
        }
        return armed;
    }

    private boolean ask() throws LinuxException {
        Fd seen = descriptor;
        WatchThread watcher = thread;
        if (seen != null && watcher != null) {
            watcher.arm(seen, token);
            return true;
        }
        int number = SelectorDescriptor.of(inner);
        if (number == SelectorDescriptor.NONE) {
            impossible = true;
            return false;
        }
        seen = Fd.of(number);
        watcher = WatchThread.get();
        token = watcher.add(seen, this);
        thread = watcher;
        descriptor = seen;
        return true;
    }

    private void tryLater(int sleeps) {
        calm = 0;
        quiet = 0;
        needed = Math.min(sleeps, MOST_QUIET);
    }

    /** Whether the kernel has reported nothing since it was asked to. */
    boolean isQuiet() {
        return state == ARMED;
    }

    /** The kernel has something to report. Called by the thread that watches. */
    void fire() {
        state = FIRED;
        wake.run();
    }

    /** The kernel has reported more than doorbells to a thread that slept at the bell. */
    void disturbed() {
        tryLater(2 * needed);
    }

    /** A wait has ended by what rings brought. */
    void waited() {
        if (isQuiet() && ++calm >= CALM) {
            calm = 0;
            needed = Math.max(needed / 2, LEAST_QUIET);
        }
    }

    /** The selector is closed, and its descriptor with it. */
    void close() {
        WatchThread watcher = thread;
        if (watcher != null) {
            watcher.remove(token);
        }
    }
}
