// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The one lock of a context: its holder may call the transport. It is held for microseconds, so waiting threads spin,
 * then sleep briefly; nothing is allocated. It is not reentrant.
 */
final class ContextLock {
    private static final VarHandle HELD;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(ContextLock.class, "held", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int SPINS = 256;
    private static final long SHORTEST_SLEEP_NANOS = 20_000;
    /** If the holder was preempted, a waiter that wakes too often only delays it. */
    private static final long LONGEST_SLEEP_NANOS = 320_000;

    @SuppressWarnings("unused") // HELD
    private int held;

    boolean tryLock() {
        return (int) HELD.getOpaque(this) == 0 && HELD.compareAndSet(this, 0, 1);
    }

    /** Whether any thread holds it now. */
    boolean isHeld() {
        return (int) HELD.getOpaque(this) != 0;
    }

    void lock() {
        long sleep = SHORTEST_SLEEP_NANOS;
        for (int round = 0; !tryLock(); round++) {
            if (round < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(sleep);
                sleep = Math.min(sleep * 2, LONGEST_SLEEP_NANOS);
            }
        }
    }

    void unlock() {
        HELD.setRelease(this, 0);
    }
}
