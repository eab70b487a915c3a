package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How many notices this end's program has taken, and of how many the other end has heard, or will in any case: what it is not
 * told of it cannot send again. The other half of {@link Credit}, for the numbers of both only count on, beyond 2<sup>31</sup>,
 * and are compared by their difference.
 *
 * <p>It is told with each notice that this end sends, and by control once half of what may be left unseen has been taken since.
 * A notice has told it when the other end's program takes that notice; one that does not, for it waits for credit, has to hear
 * it by control.
 */
final class Taken {
    private static final VarHandle TAKEN;
    private static final VarHandle TOLD;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAKEN = lookup.findVarHandle(Taken.class, "taken", int.class);
            TOLD = lookup.findVarHandle(Taken.class, "told", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int half;
    /** Has one writer: no fence is paid for others to see it. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private int taken;
    /** Never more than the other end has heard, or will: less does no harm but for a message too many. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private int told;

    // for the thread that copies
    /** A notice that tells of taken ones, and of how many. */
    private int telling;
    private int toldThen;

    /** @param most notices that the program may leave unseen */
    Taken(int most) {
        half = most / 2;
    }

    /**
     * The program takes one more; one thread at a time.
     *
     * @return whether the other end is to be told, which counts as done then
     */
    boolean take() {
        int now = (int) TAKEN.getOpaque(this) + 1;
        TAKEN.setRelease(this, now);
        if (now - (int) TOLD.getOpaque(this) < half) {
            return false;
        }
        TOLD.setOpaque(this, now);
        return true;
    }

    /**
     * How many were taken, as a notice tells the other end now. For the thread that copies.
     *
     * @param number of the notice, from 1 on
     * @param takenByPeer notices of this end that the other end's program has taken
     */
    int tellByNotice(int number, int takenByPeer) {
        int now = (int) TAKEN.getAcquire(this);
        if (takenByPeer - telling >= 0) {
            if (toldThen - (int) TOLD.getOpaque(this) > 0) {
                TOLD.setOpaque(this, toldThen);
            }
            telling = number;
            toldThen = now;
        }
        return now;
    }

    /** The same, as control tells it, which the other end hears in any case. */
    int tellByControl() {
        int now = (int) TAKEN.getAcquire(this);
        TOLD.setOpaque(this, now);
        return now;
    }
}
