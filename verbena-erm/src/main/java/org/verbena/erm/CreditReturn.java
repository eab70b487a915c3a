// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts the remote completions that this end's program has consumed, and those whose credits have been returned to the
 * other end, or certainly will be: without a returned credit the other end cannot send again. The counterpart of
 * {@link Credit}. On the wire the numbers are ints and wrap at 2<sup>32</sup>; here they only grow.
 *
 * <p>Credits are returned in each {@link RemoteCompletion} that this end sends, and by control once half of the limit
 * has been consumed since. An {@link ImmediateCompletion} cannot carry them, so a separate completion is sent
 * {@linkplain #isDue from time to time}. It counts as delivered when the other end's program consumes it; a program
 * that does not, since it waits for credit, must receive the credits by control.
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
    /** So small that two batches, and their round trip, are less than half. */
    private final int batch;
    /** Has one writer, which pays no fence for visibility. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long consumed;
    /** Never more than the other end has received or will receive; a lower value only costs an extra message. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long returned;

    // for the copying thread
    /** The last remote completion that returned credits, and the number it returned. */
    private long lastReturning;
    private long lastReturned;
    /** One that the other end's program has not consumed yet, and the number it returns. */
    private long unconfirmed;
    private long unconfirmedReturned;

    /** @param maxOutstanding remote completions that the program may leave unpolled */
    CreditReturn(int maxOutstanding) {
        this(maxOutstanding, 0);
    }

    /** @param consumedBefore remote completions already consumed and returned */
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
     * The program consumes one more; one thread at a time.
     *
     * @return whether credits are to be returned by control; they count as returned then
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

    /** How many have been consumed. */
    long consumed() {
        return (long) CONSUMED.getAcquire(this);
    }

    /**
     * Whether a separate remote completion is to return credits, so that control need not: enough have been consumed,
     * or the last one that returned credits is long ago. For the copying thread.
     *
     * @param number of the remote completion, from 1 on
     */
    boolean isDue(long number) {
        long unreturned = (long) CONSUMED.getOpaque(this) - lastReturned;
        return unreturned >= batch || unreturned > 0 && number - lastReturning >= batch;
    }

    /**
     * A remote completion that returns credits has been sent. For the copying thread.
     *
     * @param number of the remote completion
     * @param now the number of consumed completions that it carries
     * @param takenByPeer remote completions of this end that the other end's program has consumed
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

    /** The number to return by control, which is certain to arrive. */
    int returnByControl() {
        long now = (long) CONSUMED.getAcquire(this);
        RETURNED.setOpaque(this, now);
        return (int) now;
    }
}
