// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.ReceiveQueue;

/** Where receives are posted, of a queue pair or a shared receive queue. */
final class RoceReceiveQueue extends ReceiveQueue {
    /** The owner of the queue. */
    interface Owner {
        /** 0, or the errno of posting now. */
        int mayPost();

        /** {@code n} receives were posted. */
        void posted(int n);
    }

    private final Owner owner;
    private final ReceivePool pool;
    private boolean open;
    private int error;
    private int staged;
    private @Nullable PooledReceive current;
    private final @Nullable PooledReceive[] requests;

    RoceReceiveQueue(Owner owner, ReceivePool pool) {
        this.owner = owner;
        this.pool = pool;
        requests = new @Nullable PooledReceive[pool.slots()];
    }

    @Override
    public ReceiveQueue start() {
        discardBatch();
        open = true;
        error = 0;
        return this;
    }

    /** Drops a batch that was not posted. */
    private void discardBatch() {
        while (staged > 0) {
            PooledReceive r = requests[--staged];
            if (r != null) {
                pool.push(r);
            }
        }
        current = null;
    }

    @Override
    public ReceiveQueue receive(long wrId) {
        if (error != 0 || !open) {
            error = error == 0 ? Errno.EINVAL : error;
            return this;
        }
        PooledReceive w = pool.allocate();
        if (w == null) {
            error = Errno.ENOMEM;
            return this;
        }
        w.wrId = wrId;
        w.sgeCount = 0;
        current = w;
        requests[staged++] = w;
        return this;
    }

    @Override
    public ReceiveQueue sge(int lkey, long address, long length) {
        if (error != 0) {
            return this;
        }
        PooledReceive w = current;
        if (!open || w == null || w.sgeCount == pool.maxSge() || length < 0 || length > RoceLimits.MAX_RECEIVE_BUFFER) {
            error = Errno.EINVAL;
            return this;
        }
        w.addSge(lkey, address, length);
        return this;
    }

    @Override
    public int complete() {
        if (!open) {
            return Errno.EINVAL;
        }
        open = false;
        int refused = error != 0 ? error : owner.mayPost();
        if (refused != 0) {
            discardBatch();
            return refused;
        }
        int n = staged;
        if (n > 0) {
            staged = 0;
            current = null;
            pool.post(requests, n);
            owner.posted(n);
        }
        return 0;
    }
}
