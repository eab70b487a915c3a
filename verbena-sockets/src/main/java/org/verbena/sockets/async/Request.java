// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * One operation as the program asked for it: it learns of the end by its completion handler, or by this future if it
 * gave none. Thread-safe.
 *
 * @param <V> the result
 */
final class Request<V> extends CompletableFuture<V> implements Runnable {
    private final Slot<V> slot;
    private final @Nullable CompletionHandler<V, Object> handler;
    private final @Nullable Object attachment;

    /** Guarded by the slot's lock. */
    @Nullable Future<?> timer;
    /** Whether the time was over while the operation was being tried; guarded by the slot's lock. */
    boolean overdue;

    // The arguments of the handler; written before it is called, by the thread that calls it or one that hands it over.
    private @Nullable V value;
    private @Nullable Throwable failure;

    @SuppressWarnings("unchecked") // the attachment is given back to the handler that it came with
    <A> Request(Slot<V> slot, @Nullable CompletionHandler<V, ? super A> handler, @Nullable A attachment) {
        this.slot = slot;
        this.handler = (CompletionHandler<V, Object>) handler;
        this.attachment = attachment;
    }

    boolean hasHandler() {
        return handler != null;
    }

    /**
     * Ends the operation. Holding no lock.
     *
     * @param atOnce whether the handler may be called by this thread
     * @return false if the program has cancelled it, and so never sees the result
     * @throws java.nio.channels.ShutdownChannelGroupException if the handler cannot be called, since its group has
     *        ended
     */
    boolean end(@Nullable V result, @Nullable Throwable problem, boolean atOnce) {
        if (handler != null) {
            value = result;
            failure = problem;
            slot.group().call(this, atOnce);
            return true;
        }
        if (problem == null) {
            return complete(result);
        }
        return completeExceptionally(problem instanceof IOException ? problem : new IOException(problem));
    }

    /** Calls the handler, in a task of the group. */
    void callHandler() {
        CompletionHandler<V, Object> h = handler;
        if (h == null) {
            return;
        }
        if (failure == null) {
            h.completed(value, attachment);
        } else {
            h.failed(failure, attachment);
        }
        Thread.interrupted(); // an interrupt that the handler left would be the next one's
    }

    @Override
    public void run() {
        GroupThread t = GroupThread.of(slot.group());
        if (t != null) {
            t.call(this);
        }
    }

    /** As the JDK's: an operation that was under way may have moved bytes, so no other of its kind is allowed. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!slot.cancel(this)) {
            return false;
        }
        if (mayInterruptIfRunning) {
            slot.closeChannel();
        }
        return true;
    }

    /** To be called by the slot alone. */
    boolean cancelled() {
        return super.cancel(false);
    }
}
