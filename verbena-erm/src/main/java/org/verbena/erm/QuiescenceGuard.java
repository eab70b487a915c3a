// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.verbena.linux.LinuxException;
import org.verbena.linux.Membarrier;

/**
 * A critical section that one thread enters and exits without a fence, and that other threads can pause: the pausing
 * thread pays for both sides by membarrier(2) (an asymmetric Dekker protocol). The owner stores that it has entered and
 * then reads the state; the pausing thread stores the state, makes all threads pass a barrier, and then reads whether
 * the owner is inside.
 */
final class QuiescenceGuard {
    static final int OPEN = 0;
    /** Temporarily. */
    static final int PAUSED = 1;
    /** Permanently. */
    static final int ENDED = 2;

    /** Without the system call each entry pays a fence. */
    private static final boolean SYMMETRIC = !register();
    private static final VarHandle ENTERED;
    private static final VarHandle STATE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            ENTERED = lookup.findVarHandle(QuiescenceGuard.class, "entered", boolean.class);
            STATE = lookup.findVarHandle(QuiescenceGuard.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // by its handle
    private boolean entered;
    @SuppressWarnings("unused") // by its handle
    private int state;

    private static boolean register() {
        try {
            if (Membarrier.isSupported()) {
                Membarrier.register();
                return true;
            }
        } catch (LinuxException e) {
            // falls back to a fence
        }
        return false;
    }

    /**
     * Orders a store before a later load of a variable that another thread stores before its
     * {@linkplain #heavyFence heavy fence}.
     */
    static void lightFence() {
        if (SYMMETRIC) {
            VarHandle.fullFence();
        } else {
            VarHandle.releaseFence(); // no instruction on x86, but the compiler must not move the load above the store
        }
    }

    /**
     * Makes all threads pass a barrier: either this thread sees what another one stored before its {@link #lightFence},
     * or that one sees what was stored before this call.
     */
    static void heavyFence() {
        if (!SYMMETRIC) {
            Membarrier.ownProcess();
        }
        VarHandle.fullFence();
    }

    /** Enters if the state is {@link #OPEN}; {@link #exit} must follow in this case only. */
    int enter() {
        ENTERED.setOpaque(this, true);
        lightFence();
        int now = (int) STATE.getAcquire(this);
        if (now != OPEN) {
            ENTERED.setRelease(this, false);
        }
        return now;
    }

    void exit() {
        ENTERED.setRelease(this, false);
    }

    /** {@link #OPEN}, {@link #PAUSED} or {@link #ENDED}. */
    int state() {
        return (int) STATE.getAcquire(this);
    }

    /** Pauses entries; one caller at a time. {@link #isQuiescent} then returns when the owner has left. */
    void pause() {
        STATE.compareAndSet(this, OPEN, PAUSED);
        heavyFence();
    }

    /** Whether the owner is outside; while paused, that is stable until {@link #resume}. */
    boolean isQuiescent() {
        return !(boolean) ENTERED.getAcquire(this);
    }

    /** Allows entries again, unless ended. */
    void resume() {
        STATE.compareAndSet(this, PAUSED, OPEN);
    }

    /** Ends it permanently. It must be paused and quiescent. */
    void end() {
        STATE.setVolatile(this, ENDED);
    }
}
