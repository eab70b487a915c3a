package org.verbena.shm;

import java.util.concurrent.TimeUnit;

/**
 * How soon the receives that belong to nobody may be looked for again. A peer can have that done at any time, by a word; it
 * gets a small part of the engine's time. Used by one thread.
 */
final class RecoveryPace {
    /** After a recovery nothing happens for so many times as long as it took. */
    private static final int PAUSE = 9;
    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private long notBefore;
    private long spent;

    RecoveryPace(long now) {
        notBefore = now;
    }

    boolean mayBegin(long now) {
        return now - notBefore >= 0;
    }

    /** A part of a recovery took so long. */
    void spent(long nanos) {
        spent += nanos;
    }

    void ended(long now) {
        notBefore = now + Math.max(LEAST_NANOS, PAUSE * spent);
        spent = 0;
    }
}
