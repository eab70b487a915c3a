package org.verbena.roce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.transport.Memory;
import org.verbena.roce.transport.ReceiveSource;
import org.verbena.roce.transport.ReceiveWqe;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.CounterEntry;

/**
 * The receives of a queue pair or of a shared receive queue. Requests go round between two rings: free ones, which the
 * poster takes and whoever holds the lock gives, and posted ones, the other way; so posting needs no lock.
 */
final class ReceivePool implements ReceiveSource {
    private static final VarHandle FREE_TAIL;
    private static final VarHandle FREE_HEAD;
    private static final VarHandle POSTED_TAIL;
    private static final VarHandle POSTED_HEAD;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            FREE_TAIL = l.findVarHandle(ReceivePool.class, "freeTail", long.class);
            FREE_HEAD = l.findVarHandle(ReceivePool.class, "freeHead", long.class);
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
    private final @Nullable ReceiveWqe[] free;
    private final @Nullable ReceiveWqe[] posted;
    private long freeHead;
    private long freeTail;
    private long postedHead;
    private long postedTail;
    /** How many requests there are, but for {@link #excess}. */
    private volatile int capacity;
    /** So many requests vanish when they become free. */
    private int excess;
    private volatile int limit;
    /** Where its receives complete, of a queue of type XRC; else where the queue pair says. */
    private @Nullable RoceCompletionQueue completionQueue;
    private @Nullable CounterEntry counters;
    /** Run under the lock when fewer receives than the limit are left; null for a queue pair's own. */
    private @Nullable Runnable limitReached;

    /**
     * Makes one.
     *
     * @param most what {@link #resize} may ask for
     */
    ReceivePool(DomainMemory memory, boolean shared, int capacity, int most, int maxSge) {
        this.memory = memory;
        this.shared = shared;
        this.maxSge = maxSge;
        this.capacity = capacity;
        int slots = Integer.highestOneBit(Math.max(1, 2 * most - 1));
        mask = slots - 1;
        free = new @Nullable ReceiveWqe[slots];
        posted = new @Nullable ReceiveWqe[slots];
        for (int i = 0; i < capacity; i++) {
            release(new ReceiveWqe(maxSge));
        }
    }

    /** What a shared receive queue adds, before anybody uses it. */
    void share(CounterEntry entry, @Nullable RoceCompletionQueue cq, Runnable onLimit) {
        counters = entry;
        completionQueue = cq;
        limitReached = onLimit;
    }

    @Nullable
    RoceCompletionQueue completionQueue() {
        return completionQueue;
    }

    /** One has completed with success. */
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

    // ---- the poster's

    /** The n-th free request, from 0; null if there are not so many. */
    @Nullable
    ReceiveWqe free(int n) {
        long at = freeHead + n;
        return at < (long) FREE_TAIL.getAcquire(this) ? free[(int) at & mask] : null;
    }

    /** Posts the first n free requests. */
    void post(int n) {
        for (int i = 0; i < n; i++) {
            posted[(int) (postedTail + i) & mask] = free[(int) (freeHead + i) & mask];
        }
        POSTED_TAIL.setRelease(this, postedTail + n);
        FREE_HEAD.setRelease(this, freeHead + n);
    }

    // ---- under the lock

    @Override
    public @Nullable ReceiveWqe take() {
        long head = postedHead;
        long tail = (long) POSTED_TAIL.getAcquire(this);
        if (head == tail) {
            return null;
        }
        ReceiveWqe w = posted[(int) head & mask];
        POSTED_HEAD.setRelease(this, head + 1);
        checkLimit(tail - head - 1);
        return w;
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
    public void giveBack(ReceiveWqe wqe) {
        long head = postedHead - 1;
        posted[(int) head & mask] = wqe;
        POSTED_HEAD.setRelease(this, head);
    }

    /** A request has completed. */
    void release(ReceiveWqe wqe) {
        if (excess > 0) {
            excess--;
            return;
        }
        free[(int) freeTail & mask] = wqe;
        FREE_TAIL.setRelease(this, freeTail + 1);
    }

    @Override
    public boolean isShared() {
        return shared;
    }

    @Override
    public Memory memory() {
        return memory;
    }

    /** Requests that are posted, or taken and not completed. */
    int outstanding() {
        return capacity + excess - (int) (freeTail - (long) FREE_HEAD.getAcquire(this));
    }

    /** Requests that wait to be taken. */
    int waiting() {
        return (int) ((long) POSTED_TAIL.getAcquire(this) - postedHead);
    }

    void setLimit(int value) {
        limit = value;
        checkLimit(waiting());
    }

    /** Changes how many there are, at least those outstanding. The poster does not post meanwhile. */
    void resize(int wanted) {
        int more = wanted - capacity;
        capacity = wanted;
        for (; more > 0 && excess > 0; more--) {
            excess--;
        }
        for (; more > 0; more--) {
            release(new ReceiveWqe(maxSge));
        }
        for (; more < 0; more++) {
            if (freeHead < freeTail) {
                FREE_TAIL.setRelease(this, freeTail - 1);
            } else {
                excess++;
            }
        }
    }

    /** Takes back all that is posted. Nobody posts meanwhile. */
    void reset() {
        FREE_HEAD.setRelease(this, 0L);
        FREE_TAIL.setRelease(this, 0L);
        POSTED_HEAD.setRelease(this, 0L);
        POSTED_TAIL.setRelease(this, 0L);
        excess = 0;
        for (int i = 0; i < capacity; i++) {
            release(new ReceiveWqe(maxSge));
        }
    }
}
