// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

/** Keys whose interest or stream changed: any thread adds, the thread that selects takes. Allocates nothing. */
final class UpdateQueue {
    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findVarHandle(UpdateQueue.class, "head", SelectorKey.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile @Nullable SelectorKey head;

    /** Adds a key unless it is there. */
    void add(SelectorKey key) {
        if (key.enqueue()) {
            SelectorKey first;
            do {
                first = head;
                key.next = first;
            } while (!HEAD.compareAndSet(this, first, key));
        }
    }

    boolean isEmpty() {
        return head == null;
    }

    /** Takes all, as a chain by {@link #next}; null if there are none. */
    @Nullable
    SelectorKey takeAll() {
        return head == null ? null : (SelectorKey) HEAD.getAndSet(this, null);
    }

    /** Unlinks {@code key}, which may be added again from then on. */
    static @Nullable SelectorKey next(SelectorKey key) {
        SelectorKey next = key.next;
        key.next = null;
        key.dequeued();
        return next;
    }
}
