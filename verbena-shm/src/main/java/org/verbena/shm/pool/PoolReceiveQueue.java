// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.Wqe;
import org.verbena.shm.memory.Delivery;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.Region;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.spi.KeepAlive;

/** Posts receives into a pool of this context. Used by one thread at a time. */
public final class PoolReceiveQueue extends ReceiveQueue {
    private static final int NONE = -1;

    private final OwnPool own;
    private final ReceivePool pool;
    private final int maxSge;
    private final Delivery regions;

    private boolean open;
    private int error;
    /** The batch: a chain of slots. */
    private int first = NONE;
    private int last = NONE;
    private int count;
    /** The entry that is being staged. */
    private long current;
    private int sgeCount;
    private long total;
    private long posted;
    /** Address of its counter cell. */
    private long postedCell;

    public PoolReceiveQueue(OwnPool own, KeyTable keys) {
        this.own = own;
        this.pool = own.receives();
        this.maxSge = own.maxSge();
        this.regions = new Delivery(keys, own.pd(), 0); // it delivers nothing
    }

    /** To be called before the first post. */
    public void countIn(long cell) {
        postedCell = cell;
    }

    @Override
    public ReceiveQueue start() {
        drop();
        open = true;
        error = 0;
        return this;
    }

    /** Gives the slots of a batch back that is not posted. */
    private void drop() {
        int s = first;
        for (int n = count; n > 0; n--) {
            int after = pool.chained(s);
            pool.giveBack(s);
            s = after;
        }
        count = 0;
    }

    @Override
    public ReceiveQueue receive(long wrId) {
        if (count > 0) {
            finish();
        }
        if (!open) {
            error = Errno.EINVAL;
        }
        int s = error == 0 ? pool.take() : NONE;
        if (s == NONE) {
            error = error == 0 ? Errno.ENOMEM : error;
            return this;
        }
        pool.receive(s).set(wrId, null, 0, 0);
        if (count == 0) {
            first = s;
        } else {
            pool.chain(last, s);
        }
        last = s;
        count++;
        current = pool.wqe(s);
        sgeCount = 0;
        total = 0;
        return this;
    }

    @Override
    public ReceiveQueue sge(int lkey, long address, long length) {
        int n = sgeCount;
        if (error != 0) {
            return this;
        }
        if (!open || count == 0 || n == maxSge || !Wqe.isLength(length)) {
            error = Errno.EINVAL;
            return this;
        }
        Wqe.putElement(current, n, lkey, address, length);
        sgeCount = n + 1;
        total += length;
        return this;
    }

    @Override
    public int complete() {
        if (!open) {
            return Errno.EINVAL;
        }
        open = false;
        if (own.isClosed() || pool.isBroken()) {
            error = Errno.EINVAL; // whatever else
        }
        if (error != 0) {
            drop();
            return error;
        }
        if (count > 0) {
            finish();
            int n = count;
            count = 0;
            posted += n;
            RawMemory.putLong(postedCell, posted);
            if (pool.post(first, n)) {
                own.requestProgress();
            }
        }
        KeepAlive.until(this);
        return 0;
    }

    /** Completes the entry that was staged last. */
    private void finish() {
        if (error != 0) {
            return;
        }
        long fits = Math.min(total, Claim.LONG);
        for (int i = 0; i < sgeCount; i++) {
            long address = Wqe.address(current, i);
            long keyAndLength = Wqe.keyAndLength(current, i);
            Region r = regions.region((int) keyAndLength, address, keyAndLength >>> 32);
            if (r == null) {
                // the initiator has to read this receive, so that it reports the error too
                fits = 0;
            } else if (sgeCount == 1 && r.isRaw()) {
                pool.receive(last).setBuffer(r, r.local(address), keyAndLength >>> 32);
            }
        }
        RawMemory.putLong(current, sgeCount | fits << 32);
        RawMemory.putLong(current + AdapterLayout.WQE_LENGTH, total);
    }

    /** Forgets a batch that was left open; no thread posts meanwhile. */
    void reset() {
        drop();
        open = false;
    }
}
