// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.Adapter;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.memory.Revocation;
import org.verbena.shm.ring.Inbox;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Engine;

/**
 * A pool of this context: its {@link ReceivePool}, its memory, and the users that take receives out of it. Made, changed and
 * closed by any thread; the engine polls it from {@link #start} until it is closed, see {@link PoolProgress}.
 */
public final class OwnPool {
    /** Receives the events of the pool; on the engine's thread. */
    public interface Owner {
        /** Fewer receives are left than the limit, or were for a moment; reported once for each limit. */
        void limitReached();

        /** Peers violated the protocol; the pool gives out no receive any more. Reported once. */
        void broken();
    }

    /**
     * The completion queue that reads the inbox.
     *
     * @param timestamps true if its completions are to carry time stamps
     * @param arm its arm word
     * @param channel its completion channel, 0 if there is none
     */
    public record Reader(boolean timestamps, int arm, int channel) {}

    /**
     * How to make one.
     *
     * @param capacity receives that may be posted
     * @param maxCapacity the limit of {@link #resize}
     * @param reader the completion queue that reads the inbox; null if there is none, because lanes lead to it
     */
    public record Shape(int pd, int capacity, int maxCapacity, int maxSge, @Nullable Reader reader) {
        int entries() {
            return maxCapacity <= 1 ? 1 : Integer.highestOneBit(maxCapacity - 1) << 1;
        }
    }

    private final Adapter adapter;
    private final Commons commons;
    private final Shape shape;
    private final int number;
    private final long entry;
    private final long line;
    private final long ring;
    private final long slots;
    private final long inbox;
    private final ReceivePool pool;
    private final @Nullable InboxReader reader;
    private final PoolProgress progress;
    private final List<PoolUser> users = new CopyOnWriteArrayList<>();
    private int limitSequence;
    /** Sequence of the limit that was crossed last by a claim of our own. */
    private final AtomicInteger limitCrossed = new AtomicInteger();
    /** The largest capacity ever. */
    private int largestCapacity;
    private volatile boolean closed;

    public OwnPool(Adapter adapter, Commons commons, Engine engine, String verb, Shape shape, Owner owner)
            throws VerbsException {
        this.adapter = adapter;
        this.commons = commons;
        this.shape = shape;
        int entries = shape.entries();
        int n = commons.takeNumber(verb);
        long r = -1;
        long s = -1;
        long i = 0;
        try {
            entry = adapter.reserve(verb, AdapterLayout.poolEntry(Commons.index(n)), 128);
            r = adapter.takeRing(verb, ReceivePool.ringBytes(entries), ReceivePool.ringBytes(entries));
            s = adapter.takeRing(verb, slotBytes(entries), slotBytes(shape.capacity));
            if (shape.reader != null) {
                i = commons.takeInbox(verb, Inbox.bytes(entries));
                clearInbox(verb, i, 0, shape.capacity);
            }
        } catch (VerbsException e) {
            give(n, r, s, i);
            throw e;
        }
        number = n;
        ring = r;
        slots = s;
        inbox = i;
        line = commons.line(n);
        long base = adapter.base();
        describe();
        pool = new ReceivePool(entry, line, base + ring, entries, base + slots, shape.maxSge);
        pool.setCapacity(shape.capacity);
        largestCapacity = shape.capacity;
        reader = inbox == 0 ? null : new InboxReader(pool, commons.file().address() + inbox, entries);
        RawMemory.putIntRelease(entry + AdapterLayout.POOL_NUMBER, number);
        commons.put(this);
        progress = new PoolProgress(this, engine, owner);
    }

    /** The owner is constructed and receives events from now on. */
    public void start() {
        progress.start();
    }

    private void describe() {
        RawMemory.fill(entry, 128, (byte) 0);
        RawMemory.putInt(entry + AdapterLayout.POOL_SGE, shape.maxSge);
        RawMemory.putLong(entry + AdapterLayout.POOL_RING, ring);
        RawMemory.putLong(entry + AdapterLayout.POOL_SLOTS, slots);
        RawMemory.putInt(entry + AdapterLayout.POOL_ENTRIES, shape.entries());
        RawMemory.putInt(entry + AdapterLayout.POOL_PD, shape.pd);
        RawMemory.putLong(entry + AdapterLayout.POOL_INBOX, inbox);
        Reader r = shape.reader;
        if (r != null) {
            RawMemory.putInt(entry + AdapterLayout.POOL_FLAGS, r.timestamps ? AdapterLayout.FLAG_TIMESTAMPS : 0);
            RawMemory.putInt(entry + AdapterLayout.POOL_ARM, r.arm);
            RawMemory.putInt(entry + AdapterLayout.POOL_CHANNEL, r.channel);
        }
    }

    private long slotBytes(int count) {
        return count * AdapterLayout.wqeStride(shape.maxSge);
    }

    /** A sequence left from an earlier inbox could be taken for a commit. */
    private void clearInbox(String verb, long at, int from, int to) throws VerbsException {
        if (to > from) {
            long bytes = Inbox.bytes(to - from);
            RawMemory.fill(commons.reserve(verb, at + Inbox.bytes(from), bytes), bytes, (byte) 0);
        }
    }

    private void give(int n, long r, long s, long i) {
        int entries = shape.entries();
        if (r > 0) {
            adapter.giveRing(r, ReceivePool.ringBytes(entries));
        }
        if (s > 0) {
            adapter.giveRing(s, slotBytes(entries));
        }
        if (i > 0) {
            commons.giveInbox(i, Inbox.bytes(entries));
        }
        commons.giveNumber(n);
    }

    /** 24 bits; the low 13 are its index. */
    public int number() {
        return number;
    }

    public int pd() {
        return shape.pd;
    }

    public int maxSge() {
        return shape.maxSge;
    }

    public ReceivePool receives() {
        return pool;
    }

    /** Reads the inbox; null if there is none. */
    @Nullable
    public InboxReader reader() {
        return reader;
    }

    public boolean isClosed() {
        return closed;
    }

    /** The arm word of the reading completion queue that an initiator has signalled last. */
    public long notified() {
        return RawMemory.getLongAcquire(line + CommonsLayout.NOTIFIED);
    }

    /** Changes the capacity, at most to the one that the pool was made for. */
    public synchronized void resize(String verb, int capacity) throws VerbsException {
        if (capacity > largestCapacity) {
            adapter.reserve(verb, slots, slotBytes(capacity));
            if (inbox != 0) {
                clearInbox(verb, inbox, largestCapacity, capacity); // slots that were in use before still are
            }
            largestCapacity = capacity;
        }
        pool.setCapacity(capacity);
    }

    /** Sets the limit below which the owner is notified; 0: none. */
    public synchronized void setLimit(int limit) {
        RawMemory.putLongRelease(entry + AdapterLayout.POOL_LIMIT, (long) ++limitSequence << 32 | limit);
        Membarrier.ownProcess(); // an initiator that claims from here on sees it, or its claim is seen below
        progress.requestProgress();
    }

    public int limit() {
        return (int) limitWord();
    }

    /** {@code sequence:32 | limit:32}. */
    public long limitWord() {
        return RawMemory.getLong(entry + AdapterLayout.POOL_LIMIT);
    }

    /** A claim of our own left fewer receives than the limit of this {@link #limitWord()}; any thread. */
    public void limitCrossed(long word) {
        limitCrossed.accumulateAndGet((int) (word >>> 32), (a, b) -> b - a > 0 ? b : a);
        progress.requestProgress();
    }

    /** True, once, if fewer receives are left than the limit, or were since it was set: others may have been posted. */
    public synchronized boolean takeLimitReached() {
        int limit = limit();
        if (limit == 0 || pool.available() >= limit && limitCrossed.get() != limitSequence
                && RawMemory.getLongAcquire(line + CommonsLayout.LIMIT) != (limitSequence & 0xffffffffL)) {
            return false;
        }
        RawMemory.putLongRelease(entry + AdapterLayout.POOL_LIMIT, (long) ++limitSequence << 32);
        return true;
    }

    // ---- users

    public List<PoolUser> users() {
        return users;
    }

    public void add(PoolUser user) {
        if (!users.contains(user)) {
            users.add(user);
        }
    }

    /** Keeps a former user that may still be inside a transfer: receives that it has claimed are not reused before it has left. */
    public void keepStopped(Revocation.Inside user) {
        if (!user.hasLeft()) {
            users.add(new StoppedPoolUser(user));
        }
    }

    boolean hasStoppedUser() {
        for (PoolUser u : users) {
            if (u instanceof StoppedPoolUser && !u.isGone()) {
                return true;
            }
        }
        return false;
    }

    /** A user claims nothing any more. Receives that it has claimed and not used are recovered. */
    public void remove(PoolUser user) {
        if (users.remove(user)) {
            recover();
        }
    }

    /** Forgets users that have left for good. */
    void forgetGone() {
        users.removeIf(PoolUser::isGone);
    }

    /** Claims of several peers contradict each other: no receive is given out any more. */
    public void damaged() {
        if (!pool.isBroken()) {
            pool.fail();
            progress.requestProgress();
        }
    }

    /** Recovers receives claimed by initiators that are dead, or have left. */
    public void recover() {
        progress.recover();
    }

    /** A receive was posted while an initiator waits, or the pool was found broken. */
    public void requestProgress() {
        progress.requestProgress();
    }

    /** Whether an initiator waits for receives. */
    void setStarving(boolean on) {
        RawMemory.putLongVolatile(line + CommonsLayout.STARVING, on ? 1 : 0);
    }

    boolean isStarving() {
        return RawMemory.getLongVolatile(line + CommonsLayout.STARVING) != 0;
    }

    /** True once after an initiator reported a lost claim. */
    boolean takeLost() {
        long a = line + CommonsLayout.LOST;
        return RawMemory.getLongOpaque(a) != 0 && RawMemory.getAndSetLong(a, 0) != 0;
    }

    /**
     * Closes the pool for all users.
     *
     * @param left whether it is known that at most remote users are inside, which are waited for here; else its memory stays
     *        as it is until the context is closed
     */
    public void close(boolean left) {
        RawMemory.putIntRelease(entry + AdapterLayout.POOL_NUMBER, 0);
        boolean all = waitUntilLeft() && left;
        synchronized (this) {
            closed = true;
        }
        commons.remove(this);
        progress.requestProgress();
        if (all) {
            give(number, ring, slots, inbox);
        }
    }

    /** Waits for all users that are inside; false if one does not leave. */
    boolean waitUntilLeft() {
        Membarrier.ownProcess();
        long end = System.nanoTime() + Hazard.TIMEOUT_NANOS;
        for (PoolUser u : users) {
            long h = u.hazard();
            while (h != 0 && u.hazard() == h) {
                if (System.nanoTime() - end > 0) {
                    return false;
                }
                Thread.onSpinWait();
            }
        }
        return true;
    }
}
