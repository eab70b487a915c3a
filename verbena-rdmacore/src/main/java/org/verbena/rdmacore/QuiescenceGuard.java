// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.Errno;
import org.verbena.linux.Membarrier;
import org.verbena.verbs.VerbsException;

/**
 * Keeps a native object from being destroyed while the data path is in one of its verbs. The one thread that uses the
 * queue makes {@code epoch} odd, then reads {@code closed}, then calls the verb, then makes it even. The destroying
 * thread stores {@code closed}, issues {@code membarrier}, then reads {@code epoch}: either the user has seen that the
 * guard is closed, or the destroying thread sees the user, which has left as soon as the number differs, even if it has
 * entered again. So the data path needs no fence, only compiler order (an asymmetric Dekker protocol).
 */
final class QuiescenceGuard {
    private static final VarHandle EPOCH;
    private static final VarHandle CLOSED;
    /** Longer than any verb of the data path takes; after this, the reason is a cursor that was left open. */
    private static final long TIMEOUT_NANOS = 1_000_000_000;
    private static final long POLL_INTERVAL_NANOS = 10_000;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            EPOCH = l.findVarHandle(QuiescenceGuard.class, "epoch", int.class).withInvokeExactBehavior();
            CLOSED = l.findVarHandle(QuiescenceGuard.class, "closed", int.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Number of entries and exits: odd while a thread is inside. */
    @SuppressWarnings("unused") // EPOCH
    private int epoch;
    @SuppressWarnings("unused") // CLOSED
    private int closed;

    /** Enters; false if the object is being destroyed. */
    boolean enter() {
        EPOCH.setOpaque(this, ((int) EPOCH.getOpaque(this) + 1) | 1);
        // no instruction on x86, but keeps the compiler from moving the read that follows above the store
        VarHandle.releaseFence();
        if ((int) CLOSED.getOpaque(this) != 0) {
            exit();
            return false;
        }
        return true;
    }

    /** Leaves. The number is even afterwards, even if two threads use the queue at once, which is forbidden. */
    void exit() {
        EPOCH.setRelease(this, ((int) EPOCH.getOpaque(this) | 1) + 1);
    }

    /** Whether no thread can enter any more. */
    boolean isClosed() {
        return (int) CLOSED.getOpaque(this) != 0;
    }

    /**
     * Admits no thread from now on; when it returns, no thread is inside.
     *
     * @throws VerbsException {@code EBUSY} if a thread does not leave: it is open again then
     */
    void close(String verb) throws VerbsException {
        CLOSED.setVolatile(this, 1);
        Membarrier.ownProcess();
        if (!awaitQuiescence()) {
            reopen();
            throw new VerbsException(verb, Errno.EBUSY, "a thread is in the middle of using it, or has left the cursor "
                    + "open: call CompletionQueue.endPoll");
        }
    }

    /** Reopens it: the object was not destroyed after all. */
    void reopen() {
        CLOSED.setVolatile(this, 0);
    }

    /** Waits until the thread that was inside at the caller's last membarrier has left; false after a timeout. */
    boolean awaitQuiescence() {
        int seen = (int) EPOCH.getAcquire(this);
        long start = System.nanoTime();
        while ((seen & 1) != 0 && (int) EPOCH.getAcquire(this) == seen) {
            if (System.nanoTime() - start > TIMEOUT_NANOS) {
                return false;
            }
            LockSupport.parkNanos(POLL_INTERVAL_NANOS); // yields the processor to the thread inside, if there is just one
        }
        return true;
    }
}
