// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.verbena.linux.LinuxException;
import org.verbena.linux.Membarrier;

/**
 * Through which one thread goes in and out at no cost, and which others can shut: who shuts it pays for both by
 * membarrier(2). The thread stores that it is inside and then looks whether the gate is shut; who shuts it stores that, has
 * all threads pass a barrier, and then looks whether somebody is inside.
 */
final class QuiescenceGuard {
    static final int OPEN = 0;
    /** For a moment. */
    static final int PAUSED = 1;
    /** For ever. */
    static final int ENDED = 2;

    /** Without the system call each entry has a fence. */
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
            // then with a fence
        }
        return false;
    }

    /** Between a store and a look at what another thread stores before it passes the {@linkplain #heavyFence barrier}. */
    static void lightFence() {
        if (SYMMETRIC) {
            VarHandle.fullFence();
        } else {
            VarHandle.releaseFence(); // no instruction on x86, but the compiler may not move the look above the store
        }
    }

    /** All threads pass it: what one had stored before {@link #lightFence} is seen, or it sees what was stored before this. */
    static void heavyFence() {
        if (!SYMMETRIC) {
            Membarrier.ownProcess();
        }
        VarHandle.fullFence();
    }

    /** Goes in if the gate is open; {@link #exit} is due then, and only then. */
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

    /** Shuts it, for others too; who does so is one at a time. {@link #isQuiescent} tells when nobody is inside. */
    void pause() {
        STATE.compareAndSet(this, OPEN, PAUSED);
        heavyFence();
    }

    /** Whether nobody is inside; once that is so of a gate that is shut, nobody is until it is opened. */
    boolean isQuiescent() {
        return !(boolean) ENTERED.getAcquire(this);
    }

    /** Opens it, unless it has ended. */
    void resume() {
        STATE.compareAndSet(this, PAUSED, OPEN);
    }

    /** It is never open again. It has to be shut and empty. */
    void end() {
        STATE.setVolatile(this, ENDED);
    }
}
