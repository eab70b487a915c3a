// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The credits for remote completions of this end: as many as the other end's program may leave unpolled, and one more
 * for each that it has consumed. The copying thread uses them; the thread that polls events receives more in remote
 * completions, and the engine's thread by control: neither pays a fence.
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
    /** The credits that the last copy or batch needed and was refused; 0 if it was not refused. */
    private int refused;
    /** The limit of {@link #used} is the greater of these two; each has one writer. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long limitByCompletion;
    @SuppressWarnings("UnusedVariable") // by its handle
    private long limitByControl;
    /** The wakeup is to be signaled when credits arrive. */
    private volatile boolean armed;

    /** @param maxOutstanding remote completions that the other end's program may leave unpolled */
    Credit(int maxOutstanding, Wakeup wakeup) {
        this(maxOutstanding, wakeup, 0);
    }

    /** @param consumedBefore remote completions already sent and consumed */
    Credit(int maxOutstanding, Wakeup wakeup, long consumedBefore) {
        this.maxOutstanding = maxOutstanding;
        this.wakeup = wakeup;
        used = consumedBefore;
        limitByCompletion = consumedBefore + maxOutstanding;
        limitByControl = consumedBefore + maxOutstanding;
    }

    // ---- for the copying thread

    /** Whether that many remote completions may be sent. */
    boolean hasRoom(int completions) {
        boolean there = limit() - used >= completions;
        refused = there ? 0 : completions;
        stalls += there ? 0 : 1;
        return there;
    }

    /** Uses one credit. */
    void use() {
        used++;
    }

    /** How many remote completions have been sent. */
    long used() {
        return used;
    }

    /** How many of them the other end's program has consumed, as far as known. Thread-safe. */
    long consumed() {
        return limit() - maxOutstanding;
    }

    /** How often credits were lacking. */
    long stalls() {
        return stalls;
    }

    /** After a refusal: whether there are enough credits by now; if not, arms the wakeup for more. */
    boolean arm() {
        if (refused == 0) {
            return false;
        }
        armed = true;
        QuiescenceGuard.heavyFence(); // a thread that receives credits stores them, and then reads whether it is armed
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

    // ---- for threads that receive credits

    /**
     * A remote completion carries the total that the other end's program has consumed, its lower 32 bits.
     *
     * @return false if that is a protocol error
     */
    boolean returnedByCompletion(int taken) {
        return advance(LIMIT_BY_COMPLETION, taken);
    }

    /** As {@link #returnedByCompletion}, by control. */
    boolean returnedByControl(int taken) {
        return advance(LIMIT_BY_CONTROL, taken);
    }

    private boolean advance(VarHandle where, int taken) {
        long limit = limit();
        int more = taken + maxOutstanding - (int) limit;
        if (more <= 0) {
            return true; // nothing new, or an older value that arrived later on the other path
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
