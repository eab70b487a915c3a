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
    private static final VarHandle BY_NOTICE;
    private static final VarHandle BY_CONTROL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            BY_NOTICE = lookup.findVarHandle(Credit.class, "heardByNotice", long.class);
            BY_CONTROL = lookup.findVarHandle(Credit.class, "heardByControl", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int most;
    private final Bell bell;
    private long used;
    private long refusals;
    /** How many the last copy, or batch, that was to use some had wanted and was refused; else 0. */
    private int wanted;
    /** {@link #used} may become the greater of these, and no more: each has one writer. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long heardByNotice;
    @SuppressWarnings("UnusedVariable") // by its handle
    private long heardByControl;
    /** The bell is to ring when there is more. */
    private volatile boolean starved;

    /** @param most notices that the other end's program may leave unseen */
    Credit(int most, Bell bell) {
        this(most, bell, 0);
    }

    /** @param before notices that were sent, and taken, already */
    Credit(int most, Bell bell, long before) {
        this.most = most;
        this.bell = bell;
        used = before;
        heardByNotice = before + most;
        heardByControl = before + most;
    }

    // ---- for the thread that copies

    /** Whether so many notices may be sent. */
    boolean hasRoom(int notices) {
        boolean there = limit() - used >= notices;
        wanted = there ? 0 : notices;
        refusals += there ? 0 : 1;
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
    long taken() {
        return limit() - most;
    }

    /** How often there was no room. */
    long refusals() {
        return refusals;
    }

    /** After a refusal: whether there is room by now; if not, the bell rings when there is more. */
    boolean isBack() {
        if (wanted == 0) {
            return false;
        }
        starved = true;
        Gate.passBarrier(); // who hears of more stores it, and then looks whether somebody starves
        if (limit() - used < wanted) {
            return false;
        }
        starved = false;
        wanted = 0;
        return true;
    }

    private long limit() {
        return Math.max((long) BY_NOTICE.getAcquire(this), (long) BY_CONTROL.getAcquire(this));
    }

    // ---- for those who hear of more

    /**
     * The other end's program has taken so many in all, as a notice says: the lower 32 bits of that.
     *
     * @return false if that cannot be
     */
    boolean byNotice(int taken) {
        return heard(BY_NOTICE, taken);
    }

    /** As {@link #byNotice}; control says so. */
    boolean byControl(int taken) {
        return heard(BY_CONTROL, taken);
    }

    private boolean heard(VarHandle where, int taken) {
        long limit = limit();
        int more = taken + most - (int) limit;
        if (more <= 0) {
            return true; // nothing new, or said earlier, and heard later, by the other way
        }
        if (more > most) {
            return false;
        }
        where.setRelease(this, limit + more);
        Gate.orderLook();
        if (starved) {
            starved = false;
            bell.ring();
        }
        return true;
    }
}
