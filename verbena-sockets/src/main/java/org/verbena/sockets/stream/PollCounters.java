// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.concurrent.atomic.LongAdder;

/**
 * How often, and for how long, the threads of one channel or selector polled memory while they waited. Those of the process
 * are sums, to which each adds its own now and then: a poll that finds something at once costs no more than a few additions.
 * An object is for one thread at a time; the sums are safe for use by several.
 */
public final class PollCounters {
    private static final LongAdder FOUND = new LongAdder();
    private static final LongAdder IN_VAIN = new LongAdder();
    private static final LongAdder NANOS = new LongAdder();

    /** Polls that found something are added in this number, but the first ones each at once. */
    private static final int BATCH = 64;

    private int first;
    private int found;
    private long nanos;

    /** A thread has polled for that time, and has found what it waited for, or has not and is about to sleep. */
    public void polled(boolean success, long forNanos) {
        nanos += forNanos;
        if (success) {
            found++;
        } else {
            IN_VAIN.increment();
        }
        if (!success || found == BATCH) {
            add();
        } else if (first < BATCH) {
            first++;
            add();
        }
    }

    /** Adds to the sums what is not in them yet; to be called when the channel or selector is closed. */
    public void add() {
        FOUND.add(found);
        NANOS.add(nanos);
        found = 0;
        nanos = 0;
    }

    /** Sum of the polls that found something. */
    public static long found() {
        return FOUND.sum();
    }

    /** Sum of the polls in vain. */
    public static long inVain() {
        return IN_VAIN.sum();
    }

    /** Sum of the time of all polls. */
    public static long nanos() {
        return NANOS.sum();
    }
}
