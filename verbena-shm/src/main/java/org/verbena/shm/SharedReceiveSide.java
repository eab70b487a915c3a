// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.concurrent.atomic.AtomicBoolean;

import org.verbena.shm.memory.Delivery;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.pool.OwnPool;
import org.verbena.shm.pool.PoolUser;
import org.verbena.shm.pool.ReceivePool;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;

/** The receive side of a queue pair on a shared receive queue. */
abstract class SharedReceiveSide extends UnpostedReceives implements PoolUser {
    final QueuePairBase qp;
    final OwnPool own;
    final ReceivePool pool;
    /** The poller's. */
    final Delivery delivery;
    private final ShmSharedReceiveQueue srq;
    /** QP_LAST_WQE_REACHED was raised: no more receives of the shared queue are taken. */
    private final AtomicBoolean lastWqeReported = new AtomicBoolean();

    SharedReceiveSide(QueuePairBase qp, KeyTable keys, ShmSharedReceiveQueue srq, long scratch) {
        this.qp = qp;
        this.srq = srq;
        own = srq.pool();
        pool = own.receives();
        delivery = new Delivery(keys, own.pd(), scratch);
    }

    final QueuePairBase queuePair() {
        return qp;
    }

    /** From now on receives are taken for this queue pair. */
    final void attach() {
        lastWqeReported.set(false);
        own.add(this);
    }

    @Override
    final void lastWqeReached() {
        if (lastWqeReported.compareAndSet(false, true)) {
            qp.context().raise(AsyncEvent.builder(AsyncEventType.QP_LAST_WQE_REACHED, qp)
                    .detail("it takes no more receives of " + srq.describe()).build());
        }
    }
}
