// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.InterruptedByTimeoutException;
import java.nio.channels.ShutdownChannelGroupException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * One kind of operation of a channel, of which at most one is pending: it is tried at once, and again whenever the
 * group finds the channel ready for it. The thread that tries it has claimed it. Guarded by its {@link Membership}.
 *
 * @param <V> the result
 */
abstract class Slot<V> implements Runnable {
    /** What an operation is without a result yet; a result may be null. */
    static final Object NOT_READY = new Object();

    private final Membership member;
    private final int op;

    private boolean busy;
    private boolean killed;
    private @Nullable Request<V> pending;

    /** @param op what the channel has to be ready for, as a selector calls it */
    Slot(Membership member, int op) {
        this.member = member;
        this.op = op;
    }

    /**
     * Tries the operation, without waiting.
     *
     * @return {@link #NOT_READY}, or a result
     */
    abstract @Nullable Object attempt() throws IOException;

    /** Forgets what the operation was asked for with. */
    abstract void forget();

    /** What to do with a result that the program will not see. */
    void dispose(@Nullable V result) {}

    /** What to do before the program learns of a failure. */
    void failed(Throwable failure) {}

    /** The operation is under way already. */
    abstract RuntimeException pendingException();

    /** The operation is not allowed any more. */
    abstract RuntimeException killedException();

    /** Whether a handler may be called by the call that began the operation, if that has its result at once. */
    boolean mayCallAtOnce() {
        return true;
    }

    final ChannelGroup group() {
        return member.group();
    }

    final int op() {
        return op;
    }

    /** Takes the slot; {@link #start} has to follow. The monitor of the membership is held. */
    final void begin() {
        check();
        busy = true;
    }

    /** Throws what {@link #begin} would. The monitor of the membership is held. */
    final void check() {
        if (killed) {
            throw killedException();
        }
        if (busy) {
            throw pendingException();
        }
    }

    /** Refuses all further operations. */
    final void kill() {
        synchronized (member) {
            killed = true;
        }
    }

    private void release() {
        synchronized (member) {
            forget();
            busy = false;
        }
    }

    /**
     * Tries an operation, and has the group go on with it if it is not ready.
     *
     * @param timeout 0 or less: none
     */
    final void start(Request<V> request, long timeout, TimeUnit unit) {
        Object result = NOT_READY;
        Throwable failure = null;
        try {
            result = attempt();
            if (result == NOT_READY) {
                if (pend(request, timeout, unit)) {
                    return;
                }
                failure = new AsynchronousCloseException();
            }
        } catch (Throwable t) { // reported to the caller, whatever it is
            failure = t;
        }
        end(request, result, failure, mayCallAtOnce());
    }

    /** Leaves it to the group; false if the channel is closed. */
    private boolean pend(Request<V> request, long timeout, TimeUnit unit) throws IOException {
        synchronized (member) {
            if (!member.isOpen()) {
                return false;
            }
            if (timeout > 0) {
                request.timer = group().schedule(() -> timeOut(request), timeout, unit);
            }
            member.want(op);
            pending = request; // last: what fails before ends the request, which is not to end again
            return true;
        }
    }

    /** The channel is ready: the pool goes on if a handler is to be called, and this thread if not. */
    final void ready() {
        boolean handler;
        synchronized (member) {
            if (pending == null) {
                return;
            }
            handler = pending.hasHandler();
        }
        if (!handler) {
            run();
            return;
        }
        try {
            group().execute(this);
        } catch (RejectedExecutionException e) {
            // the program ended the pool below its group: there is no thread to call a handler in
        }
    }

    /** Tries what is pending. */
    @Override
    public final void run() {
        Request<V> request;
        synchronized (member) {
            request = pending;
            pending = null;
        }
        if (request == null) {
            return; // its time was over, it was cancelled, or the channel is closed
        }
        Object result = NOT_READY;
        Throwable failure = null;
        try {
            result = attempt();
            if (result == NOT_READY) {
                failure = putBack(request);
                if (failure == null) {
                    return;
                }
            }
        } catch (Throwable t) {
            failure = t;
        }
        end(request, result, failure, true);
    }

    /** What has become of it meanwhile; null if it is pending again. */
    private @Nullable Throwable putBack(Request<V> request) throws IOException {
        synchronized (member) {
            if (!member.isOpen()) {
                return new AsynchronousCloseException();
            }
            if (request.overdue) {
                killed = true;
                return new InterruptedByTimeoutException();
            }
            member.want(op);
            pending = request;
            return null;
        }
    }

    /** The program is informed of the result, and may start the next operation. */
    @SuppressWarnings("unchecked") // the type of the result follows from attempt()
    private void end(Request<V> request, @Nullable Object result, @Nullable Throwable problem, boolean atOnce) {
        Throwable failure = problem instanceof ClosedChannelException || problem instanceof CancelledKeyException
                || problem instanceof ClosedSelectorException ? new AsynchronousCloseException() : problem;
        if (failure != null) {
            failed(failure);
        }
        release();
        Future<?> timer = request.timer;
        if (timer != null) {
            timer.cancel(false);
        }
        V value = failure == null ? (V) result : null;
        boolean seen = false;
        try {
            seen = request.end(value, failure, atOnce);
        } catch (ShutdownChannelGroupException e) {
            dispose(value);
            throw e;
        }
        if (!seen) {
            dispose(value);
        }
    }

    private void timeOut(Request<V> request) {
        synchronized (member) {
            if (pending != request) {
                request.overdue = true;
                return;
            }
            pending = null;
            killed = true;
        }
        release();
        request.end(null, new InterruptedByTimeoutException(), false);
    }

    /** The channel is closed: what is pending fails. */
    final void fail() {
        Request<V> request;
        synchronized (member) {
            request = pending;
            pending = null;
        }
        if (request == null) {
            return;
        }
        try {
            end(request, null, new AsynchronousCloseException(), false);
        } catch (ShutdownChannelGroupException e) {
            // the program ended the pool below its group: there is no thread to call a handler in
        }
    }

    /** Whether a request that was not done is cancelled now. */
    final boolean cancel(Request<V> request) {
        synchronized (member) {
            if (request.isDone() || !request.cancelled()) {
                return false;
            }
            killed();
            if (pending == request) {
                pending = null;
                forget();
                busy = false;
            }
            Future<?> timer = request.timer;
            if (timer != null) {
                timer.cancel(false);
            }
            return true;
        }
    }

    /** The operation was cancelled while it was under way. */
    void killed() {
        kill();
    }

    final void closeChannel() {
        member.closeQuietly();
    }
}
