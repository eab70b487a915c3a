// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryWindow;

/**
 * A memory window: an entry of the key table that is bound and unbound without a registration. Any thread may try to
 * change it; the one that makes it busy owns it until it sets the next state, which only closing waits for.
 */
public final class Window {
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Window.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int FREE = 0;
    private static final int BOUND = 1;
    private static final int BUSY = 2;
    /** Its key is gone, but a stopped peer may still be inside: it can only be closed. */
    private static final int STUCK = 3;
    private static final int CLOSED = 4;

    private final KeyTable table;
    public final int type;
    final int pd;
    private volatile int rkey;
    /** The key that the binding of type 1 that was posted last will have; guarded by this. */
    private int postedKey;
    @SuppressWarnings("unused") // STATE
    private int state;
    /** The region that it is bound to, and the queue pair through which; changed by the thread that has made it busy. */
    private volatile @Nullable Region region;
    private volatile @Nullable MemoryUser owner;
    private volatile boolean suspended;

    Window(KeyTable table, int rkey, int pd, int type) {
        this.table = table;
        this.rkey = rkey;
        this.postedKey = rkey;
        this.pd = pd;
        this.type = type;
    }

    public boolean isOf(KeyTable keys) {
        return table == keys;
    }

    /** The latest key. */
    public int rkey() {
        return rkey;
    }

    /** A key for one more binding of type 1. */
    public synchronized int nextKey() {
        postedKey = MemoryWindow.incrementRkey(postedKey);
        return postedKey;
    }

    /** The region that it is bound to; null if to none. */
    @Nullable
    Region region() {
        return region;
    }

    /** The queue pair through which it was bound, for type 2; null if it is not bound. */
    @Nullable
    MemoryUser owner() {
        return owner;
    }

    /** Makes it busy to be bound, if it is free; type 1 may be bound to something already. */
    boolean beginBind() {
        return STATE.compareAndSet(this, FREE, BUSY)
                || type == MemoryWindow.TYPE_1 && STATE.compareAndSet(this, BOUND, BUSY);
    }

    /** It is not bound after all, and as it was. */
    void cancelBind() {
        STATE.setRelease(this, region == null ? FREE : BOUND);
    }

    /** Makes it busy to be unbound, if it is bound under this key through that queue pair. */
    boolean beginInvalidate(int key, MemoryUser through) {
        if (type != MemoryWindow.TYPE_2 || !isBoundAs(key, through) || !STATE.compareAndSet(this, BOUND, BUSY)) {
            return false;
        }
        if (!isBoundAs(key, through)) {
            STATE.setRelease(this, BOUND);
            return false;
        }
        return true;
    }

    private boolean isBoundAs(int key, MemoryUser through) {
        return rkey == key && owner == through;
    }

    /** It was busy, and a peer does not leave it. */
    void stick() {
        STATE.setRelease(this, STUCK);
    }

    /** Invalidates the key because the context closes, which waits for all that are inside. */
    void suspend() {
        suspended = true;
        withdraw();
    }

    /** True if the key was invalidated for good already. */
    boolean isSuspended() {
        return suspended;
    }

    /** No change follows; waits for the thread that has made it busy. False if it was closed already. */
    boolean beginClose() {
        while (true) {
            int s = (int) STATE.getAcquire(this);
            if (s == CLOSED) {
                return false;
            }
            if (s != BUSY && STATE.compareAndSet(this, s, CLOSED)) {
                return true;
            }
            LockSupport.parkNanos(10_000);
        }
    }

    /** Closing was refused: it is as it was before, but for its key, which is gone. */
    void reopen() {
        STATE.setRelease(this, region == null ? FREE : STUCK);
    }

    /** Invalidates the key; the caller then waits for peers that are inside. */
    void withdraw() {
        RawMemory.putLongRelease(table.entry(rkey) + AdapterLayout.KEY_WORD, 0);
    }

    /** Restores a withdrawn key, because the context was not closed after all. */
    void restore() {
        suspended = false;
        if (STATE.compareAndSet(this, BOUND, BUSY)) { // else a thread unbinds or rebinds it
            table.republish(rkey);
            STATE.setRelease(this, BOUND);
        }
    }

    /** No peer is inside any more: releases the region. */
    void release() {
        Region r = region;
        region = null;
        owner = null;
        if (r != null) {
            r.unbind();
        }
    }

    /** It was busy and is free now. */
    void endFree() {
        STATE.setRelease(this, FREE);
    }

    /**
     * It was busy and is bound now: peers may use it.
     *
     * @param offset where in the region it begins
     * @param through the queue pair that alone may use it; null for type 1
     */
    void endBound(int key, Region r, long offset, long length, int access, @Nullable MemoryUser through) {
        region = r;
        owner = through;
        rkey = key;
        long start = (access & AccessFlags.ZERO_BASED) != 0 ? 0 : r.iova + offset;
        table.publish(key, pd, access & ~AccessFlags.ZERO_BASED, r, offset, start, length,
                through == null ? 0 : through.number());
        STATE.setRelease(this, BOUND);
    }
}
