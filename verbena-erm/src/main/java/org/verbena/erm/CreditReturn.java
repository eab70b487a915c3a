// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How many notices this end's program has taken, and of how many the other end has heard, or will in any case: what it is not
 * told of it cannot send again. The other half of {@link Credit}. On the wire the numbers are ints and begin again beyond
 * 2<sup>32</sup>; here they only count on.
 *
 * <p>It is told with each {@link RemoteCompletion} that this end sends, and by control once half of what may be left unseen has been
 * taken since. A {@link ImmediateCompletion} cannot tell it, so a notice takes its turn {@linkplain #isDue now and then}. One has told
 * it when the other end's program takes that notice; one that does not, for it waits for credit, has to hear it by control.
 */
final class CreditReturn {
    private static final VarHandle CONSUMED;
    private static final VarHandle RETURNED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            CONSUMED = lookup.findVarHandle(CreditReturn.class, "consumed", long.class);
            RETURNED = lookup.findVarHandle(CreditReturn.class, "returned", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int half;
    /** So few that two of them, and their way back, are less than half. */
    private final int batch;
    /** Has one writer: no fence is paid for others to see it. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long consumed;
    /** Never more than the other end has heard, or will: less does no harm but for a message too many. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long returned;

    // for the thread that copies
    /** The last notice that has told of taken ones, and of how many. */
    private long lastReturning;
    private long lastReturned;
    /** One that the other end's program is yet to take, and of how many that tells. */
    private long unconfirmed;
    private long unconfirmedReturned;

    /** @param most notices that the program may leave unseen */
    CreditReturn(int maxOutstanding) {
        this(maxOutstanding, 0);
    }

    /** @param before notices that were taken, and told of, already */
    CreditReturn(int maxOutstanding, long consumedBefore) {
        half = maxOutstanding / 2;
        batch = Math.max(1, maxOutstanding / 16);
        consumed = consumedBefore;
        returned = consumedBefore;
        lastReturning = consumedBefore;
        lastReturned = consumedBefore;
        unconfirmed = consumedBefore;
        unconfirmedReturned = consumedBefore;
    }

    /**
     * The program takes one more; one thread at a time.
     *
     * @return whether the other end is to be told, which counts as done then
     */
    boolean consume() {
        long now = (long) CONSUMED.getOpaque(this) + 1;
        CONSUMED.setRelease(this, now);
        if (now - (long) RETURNED.getOpaque(this) < half) {
            return false;
        }
        RETURNED.setOpaque(this, now);
        return true;
    }

    /** How many were taken. */
    long consumed() {
        return (long) CONSUMED.getAcquire(this);
    }

    /**
     * Whether a notice is to tell, lest control has to: for what was taken, or since the other end's program would have taken a
     * notice that told of it before long. For the thread that copies.
     *
     * @param number of the notice, from 1 on
     */
    boolean isDue(long number) {
        long unreturned = (long) CONSUMED.getOpaque(this) - lastReturned;
        return unreturned >= batch || unreturned > 0 && number - lastReturning >= batch;
    }

    /**
     * A notice has been sent that tells how many were taken. For the thread that copies.
     *
     * @param number of the notice
     * @param now how many it tells of
     * @param takenByPeer notices of this end that the other end's program has taken
     */
    void returnedInBand(long number, long now, long takenByPeer) {
        lastReturning = number;
        lastReturned = now;
        if (takenByPeer >= unconfirmed) {
            if (unconfirmedReturned > (long) RETURNED.getOpaque(this)) {
                RETURNED.setOpaque(this, unconfirmedReturned);
            }
            unconfirmed = number;
            unconfirmedReturned = now;
        }
    }

    /** How many were taken, as control tells it, which the other end hears in any case. */
    int returnByControl() {
        long now = (long) CONSUMED.getAcquire(this);
        RETURNED.setOpaque(this, now);
        return (int) now;
    }
}
