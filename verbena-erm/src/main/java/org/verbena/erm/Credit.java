// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How many notices this end may send: as many as the other end's program may leave unseen, and one more for each that it has
 * taken. The thread that copies uses them; who polls events hears of more from notices, and the engine's thread from control:
 * neither pays a fence for it.
 */
final class Credit {
    private static final VarHandle LIMIT_BY_COMPLETION;
    private static final VarHandle LIMIT_BY_CONTROL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            LIMIT_BY_COMPLETION = lookup.findVarHandle(Credit.class, "limitByCompletion", long.class);
            LIMIT_BY_CONTROL = lookup.findVarHandle(Credit.class, "limitByControl", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int maxOutstanding;
    private final Wakeup wakeup;
    private long used;
    private long stalls;
    /** How many the last copy, or batch, that was to use some had wanted and was refused; else 0. */
    private int refused;
    /** {@link #used} may become the greater of these, and no more: each has one writer. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long limitByCompletion;
    @SuppressWarnings("UnusedVariable") // by its handle
    private long limitByControl;
    /** The bell is to ring when there is more. */
    private volatile boolean armed;

    /** @param most notices that the other end's program may leave unseen */
    Credit(int maxOutstanding, Wakeup wakeup) {
        this(maxOutstanding, wakeup, 0);
    }

    /** @param before notices that were sent, and taken, already */
    Credit(int maxOutstanding, Wakeup wakeup, long consumedBefore) {
        this.maxOutstanding = maxOutstanding;
        this.wakeup = wakeup;
        used = consumedBefore;
        limitByCompletion = consumedBefore + maxOutstanding;
        limitByControl = consumedBefore + maxOutstanding;
    }

    // ---- for the thread that copies

    /** Whether so many notices may be sent. */
    boolean hasRoom(int notices) {
        boolean there = limit() - used >= notices;
        refused = there ? 0 : notices;
        stalls += there ? 0 : 1;
        return there;
    }

    /** A notice is sent. */
    void use() {
        used++;
    }

    /** How many notices have been sent. */
    long used() {
        return used;
    }

    /** How many of them the other end's program has taken, as far as is known; for any thread. */
    long consumed() {
        return limit() - maxOutstanding;
    }

    /** How often there was no room. */
    long stalls() {
        return stalls;
    }

    /** After a refusal: whether there is room by now; if not, the bell rings when there is more. */
    boolean arm() {
        if (refused == 0) {
            return false;
        }
        armed = true;
        QuiescenceGuard.heavyFence(); // who hears of more stores it, and then looks whether somebody starves
        if (limit() - used < refused) {
            return false;
        }
        armed = false;
        refused = 0;
        return true;
    }

    private long limit() {
        return Math.max((long) LIMIT_BY_COMPLETION.getAcquire(this), (long) LIMIT_BY_CONTROL.getAcquire(this));
    }

    // ---- for those who hear of more

    /**
     * The other end's program has taken so many in all, as a notice says: the lower 32 bits of that.
     *
     * @return false if that cannot be
     */
    boolean returnedByCompletion(int taken) {
        return advance(LIMIT_BY_COMPLETION, taken);
    }

    /** As {@link #returnedByCompletion}; control says so. */
    boolean returnedByControl(int taken) {
        return advance(LIMIT_BY_CONTROL, taken);
    }

    private boolean advance(VarHandle where, int taken) {
        long limit = limit();
        int more = taken + maxOutstanding - (int) limit;
        if (more <= 0) {
            return true; // nothing new, or said earlier, and heard later, by the other way
        }
        if (more > maxOutstanding) {
            return false;
        }
        where.setRelease(this, limit + more);
        QuiescenceGuard.lightFence();
        if (armed) {
            armed = false;
            wakeup.signal();
        }
        return true;
    }
}
