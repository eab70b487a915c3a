package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.roce.transport.ReceiveWqe;
import org.verbena.verbs.ReceiveQueue;

/** Where receives are posted, of a queue pair or a shared receive queue. */
final class RoceReceiveQueue extends ReceiveQueue {
    /** Who has the queue. */
    interface Owner {
        /** 0, or the errno that posting answers now. */
        int mayPost();

        /** So many receives were posted. */
        void posted(int n);
    }

    private final Owner owner;
    private final ReceivePool pool;
    private boolean open;
    private int error;
    private int staged;
    private @Nullable ReceiveWqe current;

    RoceReceiveQueue(Owner owner, ReceivePool pool) {
        this.owner = owner;
        this.pool = pool;
    }

    @Override
    public ReceiveQueue start() {
        open = true;
        error = 0;
        staged = 0;
        current = null;
        return this;
    }

    @Override
    public ReceiveQueue receive(long wrId) {
        if (error != 0 || !open) {
            error = error == 0 ? Errno.EINVAL : error;
            return this;
        }
        ReceiveWqe w = pool.free(staged);
        if (w == null) {
            error = Errno.ENOMEM;
            return this;
        }
        w.wrId = wrId;
        w.sgeCount = 0;
        current = w;
        staged++;
        return this;
    }

    @Override
    public ReceiveQueue sge(int lkey, long address, long length) {
        if (error != 0) {
            return this;
        }
        ReceiveWqe w = current;
        if (!open || w == null || w.sgeCount == pool.maxSge() || length < 0 || length > RoceLimits.MAX_MESSAGE) {
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
        if (error != 0) {
            return error;
        }
        int refused = owner.mayPost();
        if (refused != 0) {
            return refused;
        }
        if (staged > 0) {
            pool.post(staged);
            owner.posted(staged);
        }
        return 0;
    }
}
