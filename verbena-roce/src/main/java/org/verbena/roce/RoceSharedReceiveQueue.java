// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.SharedReceiveQueueType;
import org.verbena.verbs.VerbsException;

/** A shared receive queue. */
final class RoceSharedReceiveQueue extends SharedReceiveQueue implements RoceReceiveQueue.Owner {
    private final RoceContext context;
    private final int number;
    private final ReceivePool pool;
    private final RoceReceiveQueue receives;
    private final XrcDomains.@Nullable Domain domain;
    private final CounterEntry counters;

    RoceSharedReceiveQueue(RoceContext context, RoceProtectionDomain pd, SharedReceiveQueueAttributes a, int number)
            throws VerbsException {
        super(pd, a);
        this.context = context;
        this.number = number;
        boolean xrc = a.type() == SharedReceiveQueueType.XRC;
        domain = xrc && a.xrcDomain() instanceof RoceXrcDomain d ? d.domain() : null;
        pool = new ReceivePool(pd.memory(), true, a.maxWr(), RoceLimits.MAX_SRQ_WR, a.maxSge());
        receives = new RoceReceiveQueue(this, pool);
        counters = context.published().sharedReceiveQueue(number, a);
        publish(counters);
        pool.share(counters, xrc ? (RoceCompletionQueue) a.completionQueue() : null, this::limitReached);
        if (domain != null) {
            ContextLock lock = context.lock();
            lock.lock();
            domain.put(number, pool);
            lock.unlock();
        }
        opened();
    }

    ReceivePool pool() {
        return pool;
    }

    /** The id by which other processes know it. */
    long publishedId() {
        return counters.id();
    }

    private void limitReached() {
        RoceCounted.add(counters, SamplePoint.SRQ_LIMIT_EVENTS, 1);
        context.raise(AsyncEvent.builder(AsyncEventType.SRQ_LIMIT_REACHED, this).build());
    }

    @Override
    protected int implNumber() {
        return number;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receives;
    }

    @Override
    public int mayPost() {
        return isClosed() ? Errno.EINVAL : 0;
    }

    @Override
    public void posted(int n) {
        RoceCounted.add(counters, SamplePoint.SRQ_POSTED, n); // this cell is written by the poster only
    }

    @Override
    protected void implModify(SharedReceiveQueueAttributes a) throws VerbsException {
        ContextLock lock = context.lock();
        lock.lock();
        try {
            if ((a.mask() & SharedReceiveQueueAttributes.MAX_WR) != 0) {
                int outstanding = pool.outstanding();
                if (a.maxWr() < outstanding) {
                    throw new VerbsException("modify " + describe(), Errno.EINVAL, "maxWr is " + a.maxWr() + ", but "
                            + outstanding + " receives are outstanding");
                }
                pool.resize(a.maxWr());
            }
            if ((a.mask() & SharedReceiveQueueAttributes.LIMIT) != 0) {
                pool.setLimit(a.limit());
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected SharedReceiveQueueAttributes implQuery() {
        return SharedReceiveQueueAttributes.builder().maxWr(pool.capacity()).maxSge(pool.maxSge()).limit(pool.limit())
                .build();
    }

    @Override
    public String describe() {
        return "SRQ 0x" + Integer.toHexString(number) + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        if (domain != null) {
            ContextLock lock = context.lock();
            lock.lock();
            domain.remove(number);
            lock.unlock();
        }
        context.releaseSharedReceiveQueue(number);
    }
}
