// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

/**
 * Detects whether the application polls often enough to make progress by itself, so that the context's own thread may
 * stay out of the way; that thread checks once a millisecond.
 */
final class PollDetector {
    /** An application that polls this often in a millisecond needs no help. */
    static final int FREQUENT = 16;

    /** Polls that found nothing, counted without synchronization: of concurrent ones, some are lost. */
    private int polls;
    private int seen;
    private volatile boolean polling;

    /** A poll has found nothing in its completion queue. */
    void polled() {
        polls++;
    }

    /**
     * Called by the context's own thread: whether the application has polled often since the last call; the result
     * holds until the next. An application that spends most of the time on packets polls less often for it, but is
     * likely to be found holding the lock.
     *
     * @param busy whether a thread holds the lock now
     */
    boolean sample(boolean busy) {
        int now = polls;
        int done = now - seen;
        seen = now;
        polling = done >= FREQUENT || busy && done > 0;
        return polling;
    }

    /** The result of the last call by the context's own thread. */
    boolean isPolling() {
        return polling;
    }
}
