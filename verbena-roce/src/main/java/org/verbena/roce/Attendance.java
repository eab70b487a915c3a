// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

/**
 * Whether the application looks after its packets itself, so that the context's own thread may stay away; that thread looks
 * once a millisecond.
 */
final class Attendance {
    /** An application that polls so often in a millisecond needs no help. */
    static final int OFTEN = 16;

    /** Polls that found nothing, counted without care: where several threads poll, some are lost. */
    private int polls;
    private int seen;
    private volatile boolean attended;

    /** A poll has found nothing in its queue. */
    void polled() {
        polls++;
    }

    /**
     * By the context's own thread: whether it was attended since the last call; so it counts until the next. Who is busy with
     * packets most of the time polls the less for it, but is most likely to be met at it.
     *
     * @param busy whether somebody has the lock just now
     */
    boolean look(boolean busy) {
        int now = polls;
        int done = now - seen;
        seen = now;
        attended = done >= OFTEN || busy && done > 0;
        return attended;
    }

    /** What the context's own thread found when it looked last. */
    boolean isAttended() {
        return attended;
    }
}
