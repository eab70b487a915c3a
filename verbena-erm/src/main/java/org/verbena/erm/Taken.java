// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How many notices this end's program has taken, and of how many the other end has heard, or will in any case: what it is not
 * told of it cannot send again. The other half of {@link Credit}. On the wire the numbers are ints and begin again beyond
 * 2<sup>32</sup>; here they only count on.
 *
 * <p>It is told with each {@link Notice} that this end sends, and by control once half of what may be left unseen has been
 * taken since. A {@link ShortNotice} cannot tell it, so a notice takes its turn {@linkplain #isDue now and then}. One has told
 * it when the other end's program takes that notice; one that does not, for it waits for credit, has to hear it by control.
 */
final class Taken {
    private static final VarHandle TAKEN;
    private static final VarHandle TOLD;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAKEN = lookup.findVarHandle(Taken.class, "taken", long.class);
            TOLD = lookup.findVarHandle(Taken.class, "told", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int half;
    /** So few that two of them, and their way back, are less than half. */
    private final int due;
    /** Has one writer: no fence is paid for others to see it. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long taken;
    /** Never more than the other end has heard, or will: less does no harm but for a message too many. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long told;

    // for the thread that copies
    /** The last notice that has told of taken ones, and of how many. */
    private long lastNotice;
    private long lastTold;
    /** One that the other end's program is yet to take, and of how many that tells. */
    private long telling;
    private long toldThen;

    /** @param most notices that the program may leave unseen */
    Taken(int most) {
        this(most, 0);
    }

    /** @param before notices that were taken, and told of, already */
    Taken(int most, long before) {
        half = most / 2;
        due = Math.max(1, most / 16);
        taken = before;
        told = before;
        lastNotice = before;
        lastTold = before;
        telling = before;
        toldThen = before;
    }

    /**
     * The program takes one more; one thread at a time.
     *
     * @return whether the other end is to be told, which counts as done then
     */
    boolean take() {
        long now = (long) TAKEN.getOpaque(this) + 1;
        TAKEN.setRelease(this, now);
        if (now - (long) TOLD.getOpaque(this) < half) {
            return false;
        }
        TOLD.setOpaque(this, now);
        return true;
    }

    /** How many were taken. */
    long count() {
        return (long) TAKEN.getAcquire(this);
    }

    /**
     * Whether a notice is to tell, lest control has to: for what was taken, or since the other end's program would have taken a
     * notice that told of it before long. For the thread that copies.
     *
     * @param number of the notice, from 1 on
     */
    boolean isDue(long number) {
        long untold = (long) TAKEN.getOpaque(this) - lastTold;
        return untold >= due || untold > 0 && number - lastNotice >= due;
    }

    /**
     * A notice has been sent that tells how many were taken. For the thread that copies.
     *
     * @param number of the notice
     * @param now how many it tells of
     * @param takenByPeer notices of this end that the other end's program has taken
     */
    void toldByNotice(long number, long now, long takenByPeer) {
        lastNotice = number;
        lastTold = now;
        if (takenByPeer >= telling) {
            if (toldThen > (long) TOLD.getOpaque(this)) {
                TOLD.setOpaque(this, toldThen);
            }
            telling = number;
            toldThen = now;
        }
    }

    /** How many were taken, as control tells it, which the other end hears in any case. */
    int tellByControl() {
        long now = (long) TAKEN.getAcquire(this);
        TOLD.setOpaque(this, now);
        return (int) now;
    }
}
