// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.transport.Memory;
import org.verbena.roce.transport.ReceiveSource;
import org.verbena.roce.transport.ReceiveWqe;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;

/**
 * The receives of a queue pair or of a shared receive queue. Posting needs no lock: requests move from a stack of free
 * ones, from which only the poster takes, through a ring of posted ones, from which the holder of the lock takes, and
 * back. A receive of a shared queue is free again when its completion is polled; if its queue pair is destroyed before,
 * it is posted again.
 */
final class ReceivePool implements ReceiveSource {
    private static final VarHandle FREE;
    private static final VarHandle RELEASED;
    private static final VarHandle EXCESS;
    private static final VarHandle POSTED_TAIL;
    private static final VarHandle POSTED_HEAD;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            FREE = l.findVarHandle(ReceivePool.class, "free", PooledReceive.class);
            RELEASED = l.findVarHandle(ReceivePool.class, "released", long.class);
            EXCESS = l.findVarHandle(ReceivePool.class, "excess", int.class);
            POSTED_TAIL = l.findVarHandle(ReceivePool.class, "postedTail", long.class);
            POSTED_HEAD = l.findVarHandle(ReceivePool.class, "postedHead", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final DomainMemory memory;
    private final boolean shared;
    private final int maxSge;
    private final int mask;
    @SuppressWarnings("unused") // FREE
    private @Nullable PooledReceive free;
    private final @Nullable PooledReceive[] posted;
    private long postedHead;
    private long postedTail;
    /** Number of posted requests minus outstanding ones. */
    @SuppressWarnings("unused") // RELEASED
    private long released;
    private volatile int capacity;
    /** Number of requests that are dropped when they are released. */
    @SuppressWarnings("unused") // EXCESS
    private int excess;
    private volatile int limit;
    /** Where the receives of an XRC queue complete; otherwise the queue pair's receive CQ is used. */
    private @Nullable RoceCompletionQueue completionQueue;
    private @Nullable CounterEntry counters;
    /** Runs under the lock when fewer receives than the limit are left; null for a queue pair's own queue. */
    private @Nullable Runnable limitReached;

    /**
     * Makes a pool.
     *
     * @param most the largest capacity for {@link #resize}
     */
    ReceivePool(DomainMemory memory, boolean shared, int capacity, int most, int maxSge) {
        this.memory = memory;
        this.shared = shared;
        this.maxSge = maxSge;
        this.capacity = capacity;
        int slots = Integer.highestOneBit(Math.max(1, 2 * most - 1));
        mask = slots - 1;
        posted = new @Nullable PooledReceive[slots];
        for (int i = 0; i < capacity; i++) {
            push(new PooledReceive(this, maxSge));
        }
    }

    /** Sets the properties of a shared receive queue, before its first use. */
    void share(CounterEntry entry, @Nullable RoceCompletionQueue cq, Runnable onLimit) {
        counters = entry;
        completionQueue = cq;
        onLimit(onLimit);
    }

    void onLimit(Runnable action) {
        limitReached = action;
    }

    @Nullable
    RoceCompletionQueue completionQueue() {
        return completionQueue;
    }

    /** A receive has completed with success. */
    void countReceive() {
        CounterEntry e = counters;
        if (e != null) {
            RoceCounted.add(e, SamplePoint.SRQ_RECEIVES, 1);
        }
    }

    int maxSge() {
        return maxSge;
    }

    int capacity() {
        return capacity;
    }

    int limit() {
        return limit;
    }

    /** The largest number of requests that can be staged. */
    int slots() {
        return mask + 1;
    }

    // ---- used by the poster

    /**
     * Takes a free request; null if there is none. Only the poster takes, so the top of the stack stays until it is
     * taken.
     */
    @Nullable
    PooledReceive allocate() {
        PooledReceive top;
        do {
            top = (PooledReceive) FREE.getAcquire(this);
            if (top == null) {
                return null;
            }
        } while (!FREE.compareAndSet(this, top, top.next));
        return top;
    }

    /** Posts requests that were taken. */
    void post(@Nullable PooledReceive[] staged, int n) {
        for (int i = 0; i < n; i++) {
            posted[(int) (postedTail + i) & mask] = staged[i];
        }
        POSTED_TAIL.setRelease(this, postedTail + n);
    }

    // ---- used by any thread

    /** Frees a request that is not posted. */
    void push(PooledReceive r) {
        PooledReceive top;
        do {
            top = (PooledReceive) FREE.getAcquire(this);
            r.next = top;
        } while (!FREE.compareAndSet(this, top, r));
    }

    /** A request has completed, and is not used any more. */
    void release(PooledReceive r) {
        RELEASED.getAndAdd(this, 1L);
        int n;
        do {
            n = (int) EXCESS.getAcquire(this);
            if (n == 0) {
                push(r);
                return;
            }
        } while (!EXCESS.compareAndSet(this, n, n - 1));
    }

    // ---- under the lock

    @Override
    public @Nullable ReceiveWqe take() {
        long head = postedHead;
        long tail = (long) POSTED_TAIL.getAcquire(this);
        if (head == tail) {
            checkLimit(0); // all are taken, perhaps only by messages that have begun
            return null;
        }
        PooledReceive r = posted[(int) head & mask];
        POSTED_HEAD.setRelease(this, head + 1);
        return r;
    }

    /** A receive was used up, unlike one that was taken and returned. */
    void used() {
        if (limit > 0) {
            checkLimit(waiting());
        }
    }

    private void checkLimit(long left) {
        if (limit > 0 && left < limit) {
            limit = 0;
            Runnable action = limitReached;
            if (action != null) {
                action.run();
            }
        }
    }

    @Override
    public void putBack(ReceiveWqe wqe) {
        long head = postedHead - 1;
        posted[(int) head & mask] = (PooledReceive) wqe;
        POSTED_HEAD.setRelease(this, head);
    }

    @Override
    public boolean isShared() {
        return shared;
    }

    @Override
    public Memory memory() {
        return memory;
    }

    /** Requests that are posted, or completed and not polled. */
    int outstanding() {
        return (int) ((long) POSTED_TAIL.getAcquire(this) - (long) RELEASED.getAcquire(this));
    }

    /** Posted requests that wait to be taken. */
    private long waiting() {
        return (long) POSTED_TAIL.getAcquire(this) - postedHead;
    }

    void setLimit(int value) {
        limit = value;
        checkLimit(waiting());
    }

    /** Changes the capacity, at least to the number outstanding. The poster does not post meanwhile. */
    void resize(int wanted) {
        int more = wanted - capacity;
        capacity = wanted;
        for (; more > 0; more--) {
            push(new PooledReceive(this, maxSge));
        }
        for (; more < 0; more++) {
            if (allocate() == null) {
                EXCESS.getAndAdd(this, 1);
            }
        }
    }

    /** Frees all posted requests. No thread posts meanwhile. */
    void reset() {
        for (ReceiveWqe r = take(); r != null; r = take()) {
            release((PooledReceive) r);
        }
    }
}
