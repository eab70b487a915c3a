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
 * queue makes {@code passages} odd, then reads {@code shut}, then calls, then makes it even. Who destroys stores {@code shut},
 * issues {@code membarrier}, then reads {@code passages}: either the caller has seen that the gate is shut, or the destroyer
 * sees the caller, who is out as soon as the number is another, even if he is in again. So the data path needs no fence, only
 * the order of the instructions.
 */
final class Gate {
    private static final VarHandle PASSAGES;
    private static final VarHandle SHUT;
    /** Longer than any verb of the data path takes; then it is a cursor that was left open. */
    private static final long PATIENCE_NANOS = 1_000_000_000;
    private static final long PAUSE_NANOS = 10_000;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            PASSAGES = l.findVarHandle(Gate.class, "passages", int.class).withInvokeExactBehavior();
            SHUT = l.findVarHandle(Gate.class, "shut", int.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** How often somebody went in or came out: odd while somebody is inside. */
    @SuppressWarnings("unused") // PASSAGES
    private int passages;
    @SuppressWarnings("unused") // SHUT
    private int shut;

    /** Goes in; false if the object is being destroyed. */
    boolean enter() {
        PASSAGES.setOpaque(this, ((int) PASSAGES.getOpaque(this) + 1) | 1);
        // no instruction on x86, but the compiler may not move the read that follows above the store
        VarHandle.releaseFence();
        if ((int) SHUT.getOpaque(this) != 0) {
            leave();
            return false;
        }
        return true;
    }

    /** Comes out. Whatever two threads do that use the queue at once, which is forbidden, the number is even then. */
    void leave() {
        PASSAGES.setRelease(this, ((int) PASSAGES.getOpaque(this) | 1) + 1);
    }

    /** Whether nobody can go in any more. */
    boolean isShut() {
        return (int) SHUT.getOpaque(this) != 0;
    }

    /**
     * Lets nobody in from now on; when it returns, nobody is inside.
     *
     * @throws VerbsException {@code EBUSY} if somebody does not come out: it is open again then
     */
    void shut(String verb) throws VerbsException {
        SHUT.setVolatile(this, 1);
        Membarrier.ownProcess();
        if (!isEmptySoon()) {
            open();
            throw new VerbsException(verb, Errno.EBUSY, "a thread is in the middle of using it, or has left the cursor "
                    + "open: call CompletionQueue.endPoll");
        }
    }

    /** The object was not destroyed after all. */
    void open() {
        SHUT.setVolatile(this, 0);
    }

    /** Waits until whoever was inside when the caller's last membarrier was issued has come out; false if that takes too long. */
    boolean isEmptySoon() {
        int seen = (int) PASSAGES.getAcquire(this);
        long start = System.nanoTime();
        while ((seen & 1) != 0 && (int) PASSAGES.getAcquire(this) == seen) {
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS); // leaves the processor to the one inside, if there is just one
        }
        return true;
    }
}
