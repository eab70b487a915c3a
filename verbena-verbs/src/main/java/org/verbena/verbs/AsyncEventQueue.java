// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;

/**
 * The events of a context, oldest first. A program may never fetch them, so only the newest {@value #LIMIT} are kept,
 * and those of an object are removed with it, as in the kernel.
 */
final class AsyncEventQueue {
    private static final int LIMIT = 4096;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final ArrayDeque<AsyncEvent> events = new ArrayDeque<>();
    private boolean closed;

    void add(AsyncEvent event) {
        lock.lock();
        try {
            if (closed || !event.element().mayHaveEvents()) {
                return; // it was closed meanwhile
            }
            if (events.size() == LIMIT) {
                events.removeFirst();
            }
            events.addLast(event);
            arrived.signal();
        } finally {
            lock.unlock();
        }
    }

    /** The object, which has no more events from now on, is closed. */
    void forget(VerbsObject closed) {
        lock.lock();
        try {
            closed.noMoreEvents();
            events.removeIf(e -> e.element() == closed);
        } finally {
            lock.unlock();
        }
    }

    @Nullable
    AsyncEvent await(String context, Duration timeout) throws VerbsException {
        long left = TimeUnit.NANOSECONDS.convert(timeout);
        lock.lock();
        try {
            while (events.isEmpty()) {
                if (closed) {
                    throw new VerbsException("get async event", Errno.EINVAL, context + " is closed");
                }
                if (left <= 0) {
                    return null;
                }
                left = arrived.awaitNanos(left);
            }
            return events.removeFirst();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            events.clear();
            arrived.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
