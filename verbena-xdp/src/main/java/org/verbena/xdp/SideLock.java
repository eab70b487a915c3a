// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The lock of one side of a queue pair: whoever holds it uses the side's rings. It is held for microseconds, so waiting
 * threads spin, then sleep briefly; nothing is allocated. It is not reentrant.
 */
final class SideLock {
    private static final VarHandle HELD;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(SideLock.class, "held", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int SPINS = 256;
    private static final long SLEEP_NANOS = 50_000;

    @SuppressWarnings("unused") // HELD
    private int held;

    void lock() {
        for (int round = 0; !HELD.compareAndSet(this, 0, 1); round++) {
            if (round < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(SLEEP_NANOS);
            }
        }
    }

    void unlock() {
        HELD.setRelease(this, 0);
    }
}
