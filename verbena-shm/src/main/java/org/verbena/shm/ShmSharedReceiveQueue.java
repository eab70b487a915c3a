// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.completion.PoolCompletions;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.pool.InboxReader;
import org.verbena.shm.pool.OwnPool;
import org.verbena.shm.pool.PoolReceiveQueue;
import org.verbena.shm.pool.PoolUser;
import org.verbena.shm.pool.RemotePoolUser;
import org.verbena.shm.xrc.XrcDomains;
import org.verbena.shm.xrc.XrcQueue;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.PublishedObjects;

/**
 * A shared receive queue: a pool that the peers of all queue pairs on it take receives from or, of type XRC, all senders
 * connected to a queue pair of its domain.
 */
final class ShmSharedReceiveQueue extends SharedReceiveQueue implements OwnPool.Owner, XrcQueue {
    private final ContextInternals internals;
    private final OwnPool pool;
    private final PoolReceiveQueue receives;
    /** Of type XRC: its completions and where they are polled; else null. */
    private final @Nullable PoolCompletions completions;
    private final @Nullable ShmCompletionQueue reader;
    private final int number;
    private final CounterEntry counters;
    /** Receives of queue pairs that are closed. */
    private long gone;
    /** It is closed, and the counters are final. */
    private boolean counted;

    private static OwnPool.Reader inboxReader(ShmCompletionQueue cq) {
        ShmCompletionChannel c = cq.shmChannel();
        return new OwnPool.Reader(cq.hasTimestamps(), cq.armIndex(), c == null ? 0 : c.id());
    }

    ShmSharedReceiveQueue(ContextInternals internals, ProtectionDomain domain, int pd, SharedReceiveQueueAttributes a)
            throws VerbsException {
        super(domain, a);
        this.internals = internals;
        reader = (ShmCompletionQueue) a.completionQueue();
        try {
            pool = new OwnPool(internals.adapter(), internals.own().commons(), internals.engine(), "create SRQ",
                    new OwnPool.Shape(
                            pd, a.maxWr(), ShmLimits.MAX_WR, a.maxSge(), reader == null ? null : inboxReader(reader)),
                    this);
        } catch (VerbsException e) {
            abandon();
            throw e;
        }
        receives = new PoolReceiveQueue(pool, internals.keys());
        InboxReader inbox = pool.reader();
        completions = inbox == null ? null : new PoolCompletions(pool, inbox, internals.keys());
        if (reader != null && completions != null) {
            reader.add(completions); // before the number can be used
        }
        try {
            number = inbox == null ? 0 : internals.xrc().add("create SRQ", this);
        } catch (VerbsException e) {
            if (reader != null && completions != null) {
                reader.remove(completions);
            }
            pool.close(true);
            abandon();
            throw e;
        }
        counters = internals.published().sharedReceiveQueue(pool.number(), a);
        publish(counters);
        receives.countIn(counters.cell(PublishedObjects.cell(SamplePoint.SRQ_POSTED)));
        opened();
        pool.start(); // last: a peer that damages the pool may make it fail at once
    }

    /** True if it is of type XRC and belongs to that domain. */
    @Override
    public boolean isOfDomain(XrcDomains.Key domain) {
        return xrcDomain() instanceof ShmXrcDomain d && d.key().equals(domain);
    }

    @Override
    protected int implNumber() {
        return number;
    }

    /** Updates the counter of receives from its queue pairs. */
    synchronized void updateCounts() {
        if (counted) {
            return; // the entry is perhaps another object's
        }
        PoolCompletions c = completions;
        long sum = gone + (c == null ? 0 : c.succeeded());
        for (QueuePairBase qp : internals.queuePairs().all()) {
            if (qp.receivesFrom(this)) {
                sum += qp.receiveCounts().receives();
            }
        }
        counters.raise(PublishedObjects.cell(SamplePoint.SRQ_RECEIVES), sum);
    }

    private synchronized void endCounting() {
        updateCounts();
        counted = true;
    }

    /** A queue pair is closed, whose receives are still counted. */
    synchronized void leave(QueuePairBase qp) {
        gone += qp.receiveCounts().receives();
        internals.queuePairs().remove(qp);
    }

    /** The id by which other processes find its counters. */
    long publishedId() {
        return counters.id();
    }

    @Override
    public OwnPool pool() {
        return pool;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receives;
    }

    @Override
    protected void implModify(SharedReceiveQueueAttributes a) throws VerbsException {
        String verb = "modify " + describe();
        if (pool.receives().isBroken()) {
            throw new VerbsException(verb, Errno.EINVAL, "it has failed");
        }
        if ((a.mask() & SharedReceiveQueueAttributes.MAX_WR) != 0) {
            int outstanding = pool.receives().outstanding().length;
            if (a.maxWr() < outstanding) {
                throw new VerbsException(verb, Errno.EINVAL, "maxWr is " + a.maxWr() + ", but " + outstanding
                        + " receives are outstanding");
            }
            pool.resize(verb, a.maxWr());
        }
        if ((a.mask() & SharedReceiveQueueAttributes.LIMIT) != 0) {
            pool.setLimit(a.limit());
        }
    }

    @Override
    protected SharedReceiveQueueAttributes implQuery() {
        return SharedReceiveQueueAttributes.builder().maxWr(pool.receives().capacity()).maxSge(pool.maxSge())
                .limit(pool.limit()).build();
    }

    @Override
    public void limitReached() {
        counters.add(PublishedObjects.cell(SamplePoint.SRQ_LIMIT_EVENTS), 1);
        internals.context().raise(AsyncEvent.builder(AsyncEventType.SRQ_LIMIT_REACHED, this).build());
    }

    @Override
    public void broken() {
        String reason = "a peer has damaged " + describe();
        internals.context().raise(AsyncEvent.builder(AsyncEventType.SRQ_ERR, this).detail(reason).build());
        for (PoolUser u : pool.users()) {
            if (u instanceof SharedReceiveSide side) {
                side.queuePair().enterError(reason, AsyncEventType.QP_FATAL);
            }
        }
    }

    @Override
    public String describe() {
        return "SRQ 0x" + Integer.toHexString(pool.number()) + " of " + ShmLimits.DEVICE;
    }

    @Override
    protected void implClose() {
        if (reader != null && completions != null) {
            internals.xrc().remove(number);
            reader.remove(completions);
            completions.close();
        }
        endCounting();
        pool.close(true);
        for (PoolUser u : pool.users()) {
            if (u instanceof RemotePoolUser g) {
                g.host().closed(pool);
            }
        }
    }
}
