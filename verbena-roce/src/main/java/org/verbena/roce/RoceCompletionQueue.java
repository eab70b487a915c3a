// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.CompletionQueueModification;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.BellChannel;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.WallClock;

/**
 * A completion queue: a ring that is written under the context's lock and polled without it. A poll that finds nothing
 * makes progress for the whole context, unless that is left to the context's own thread.
 */
final class RoceCompletionQueue extends CompletionQueue implements BellChannel.Source {
    private final RoceContext context;
    private final int index;
    private final CounterEntry counters;
    private final boolean timestamps;
    private final boolean overruns;
    private final @Nullable WallClock wallClock;
    private final Notification notification = new Notification();
    private final CompletionRing.Cursor cursor = new CompletionRing.Cursor();
    /** The ring that completions are put into; under the lock. */
    private CompletionRing writing;
    /** The oldest ring that the poller may still read; under the lock. */
    private CompletionRing oldest;
    /** The poller's current ring. */
    private CompletionRing reading;
    /** It has overrun: nothing is put into it any more. */
    private boolean failed;
    private volatile int cqe;

    RoceCompletionQueue(RoceContext context, CompletionQueueAttributes a, int index) throws VerbsException {
        super(context, a);
        this.context = context;
        this.index = index;
        timestamps = has(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP
                | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
        wallClock = has(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK) ? new WallClock() : null;
        overruns = (a.flags() & CompletionQueueAttributes.IGNORE_OVERRUN) == 0;
        cqe = a.cqe();
        writing = new CompletionRing(cqe);
        reading = writing;
        oldest = writing;
        counters = context.published().completionQueue(index, a);
        publish(counters);
        if (channel() instanceof RoceCompletionChannel c) {
            c.add(this);
        }
        opened();
    }

    private boolean has(int field) {
        return (fields() & field) != 0;
    }

    /** The id by which other processes know it. */
    long publishedId() {
        return counters.id();
    }

    // ---- under the lock

    /**
     * Adds the completion of a receive.
     *
     * @param solicited counts for an arming for solicited completions
     * @param held the request if it is freed when this is polled; null if it is free already
     * @return false if the queue has overrun: the completion is lost, and its queue pair has to fail
     */
    boolean put(long wrId, long word, long bytes, int immediate, int source, boolean solicited,
            @Nullable PooledReceive held) {
        if (failed || waiting() >= cqe) {
            if (held != null) {
                held.pool.release(held); // it will never be polled
            }
            return lost();
        }
        long now = now();
        writing.put(wrId, word, bytes, immediate, source, now, held);
        added(word, solicited, now);
        return true;
    }

    /** Adds the completion of a send, after which {@code freed} entries of its send queue are free; as above. */
    boolean put(long wrId, long word, long bytes, SendRoom room, long freed) {
        if (failed || waiting() >= cqe) {
            return lost();
        }
        long now = now();
        writing.put(wrId, word, bytes, now, room, freed);
        added(word, false, now);
        return true;
    }

    /** Completions that wait to be polled. */
    private long waiting() {
        return oldest == writing ? writing.waiting() : waitingInAll();
    }

    private long waitingInAll() {
        CompletionRing r = oldest;
        for (CompletionRing n = r.next; n != null && r.isEmpty(); n = r.next) {
            r = n;
        }
        oldest = r;
        long waiting = 0;
        for (CompletionRing i = r; i != null; i = i.next) {
            waiting += i.waiting();
        }
        return waiting;
    }

    /** Number of rings that the poller may still read. */
    int rings() {
        int n = 0;
        for (CompletionRing r = oldest; r != null; r = r.next) {
            n++;
        }
        return n;
    }

    private void goOnIn(CompletionRing fresh) {
        writing.next = fresh;
        writing = fresh;
    }

    private boolean lost() {
        RoceCounted.add(counters, SamplePoint.CQ_OVERRUNS, 1);
        return !overruns || !failed && overrun();
    }

    private long now() {
        return timestamps || channel() != null ? System.nanoTime() : 0;
    }

    private void added(long word, boolean solicited, long now) {
        RoceCounted.add(counters, SamplePoint.CQ_COMPLETIONS, 1);
        if (channel() != null) {
            boolean counts = solicited || CompletionRing.status(word) != WcStatus.SUCCESS;
            long before = notification.deadline();
            if (notification.completed(counts, now)) {
                ring();
            } else if (notification.deadline() != before) {
                context.progress().watch(this);
            }
        }
    }

    private boolean overrun() {
        failed = true;
        context.raise(AsyncEvent.builder(AsyncEventType.CQ_ERR, this).detail("more than " + cqe
                + " completions wait to be polled").build());
        return false;
    }

    private void ring() {
        if (channel() instanceof RoceCompletionChannel c) {
            c.signal();
        }
    }

    /**
     * A queue pair is reset or destroyed, so its completions are discarded. Void entries take space until they are
     * polled, so another ring is added if the rest would not suffice.
     */
    void discard(int queuePair) {
        for (CompletionRing r = oldest; r != null; r = r.next) {
            r.discard(queuePair);
        }
        if (writing.room() < cqe - writing.waiting()) {
            goOnIn(new CompletionRing(cqe));
        }
        CompletionRing r = oldest;
        for (CompletionRing n = r.next; n != null && n != writing; n = r.next) {
            if (n.waiting() == 0) {
                r.next = n.next; // no poller, and it is empty; a poller that is there already continues by its own next
            } else {
                r = n;
            }
        }
    }

    /** When {@link #expired} is to be called. */
    long deadline() {
        return isClosed() ? Long.MAX_VALUE : notification.deadline();
    }

    void expired(long now) {
        if (notification.expired(now)) {
            ring();
        }
    }

    // ---- polling

    @Override
    public int startPoll() {
        return isClosed() ? Errno.EINVAL : nextPoll();
    }

    @Override
    public int nextPoll() {
        if (take()) {
            return 0;
        }
        context.progress().fromPoll();
        if (take()) {
            return 0;
        }
        if (PublishedObjects.COUNTING) {
            RoceCounted.add(counters, SamplePoint.CQ_EMPTY_POLLS, 1); // this cell is written by the poller only
        }
        return Errno.ENOENT;
    }

    private boolean take() {
        while (true) {
            CompletionRing r = reading;
            if (r.hasEntry()) {
                if (r.take(cursor)) {
                    return true;
                }
            } else {
                CompletionRing n = r.next;
                if (n == null) {
                    return false;
                }
                if (!r.hasEntry()) { // none was put before the next ring was added
                    reading = n;
                }
            }
        }
    }

    @Override
    public void endPoll() {
        // completions are consumed as the cursor reaches them
    }

    @Override
    public long wrId() {
        return cursor.wrId;
    }

    @Override
    public int status() {
        return CompletionRing.status(cursor.word);
    }

    @Override
    public int opcode() {
        return CompletionRing.opcode(cursor.word);
    }

    @Override
    public int vendorError() {
        return 0; // the status has all information
    }

    @Override
    public long byteLength() {
        return cursor.byteLength;
    }

    @Override
    public int immediate() {
        return (flags() & WcFlags.WITH_IMM) != 0 ? cursor.immediate : 0;
    }

    @Override
    public int invalidatedRkey() {
        return (flags() & WcFlags.WITH_INV) != 0 ? cursor.immediate : 0;
    }

    @Override
    public int queuePairNumber() {
        return CompletionRing.queuePair(cursor.word);
    }

    @Override
    public int sourceQueuePair() {
        return cursor.source;
    }

    @Override
    public int flags() {
        return CompletionRing.flags(cursor.word);
    }

    @Override
    public long timestamp() {
        return has(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP) ? cursor.time : 0;
    }

    @Override
    public long wallClockTimestamp() {
        WallClock w = wallClock;
        return w == null ? 0 : w.nanosAt(cursor.time);
    }

    // ---- events

    @Override
    public int requestNotify(boolean solicitedOnly) {
        if (isClosed() || channel() == null) {
            return Errno.EINVAL;
        }
        ContextLock lock = context.lock();
        lock.lock();
        try {
            notification.arm(solicitedOnly);
            RoceCounted.add(counters, SamplePoint.CQ_NOTIFY_REQUESTS, 1);
        } finally {
            lock.unlock();
        }
        context.progress().beforeSleep();
        return 0;
    }

    @Override
    public CompletionQueue queue() {
        return this;
    }

    @Override
    public boolean event(boolean take) {
        ContextLock lock = context.lock();
        lock.lock();
        try {
            boolean waits = notification.event(take);
            if (waits && take) {
                RoceCounted.add(counters, SamplePoint.CQ_EVENTS, 1);
            }
            return waits;
        } finally {
            lock.unlock();
        }
    }

    // ---- the control path

    @Override
    public int cqe() {
        return cqe;
    }

    @Override
    protected void implResize(int newCqe) throws VerbsException {
        CompletionRing fresh = new CompletionRing(newCqe);
        ContextLock lock = context.lock();
        lock.lock();
        try {
            long waiting = waitingInAll();
            if (waiting > newCqe) {
                throw new VerbsException("resize " + describe(), Errno.EINVAL, waiting
                        + " completions wait to be polled, " + newCqe + (newCqe == 1 ? " entry is" : " entries are")
                        + " too few");
            }
            goOnIn(fresh);
            cqe = newCqe;
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void implModify(CompletionQueueModification change) throws VerbsException {
        if ((change.mask() & ~CompletionQueueModification.MODERATE) != 0) {
            throw new VerbsException("modify " + describe(), Errno.EOPNOTSUPP, "attributes 0x"
                    + Integer.toHexString(change.mask()) + " are not all known to " + context.describe());
        }
        if (change.mask() == 0) {
            return;
        }
        ContextLock lock = context.lock();
        lock.lock();
        try {
            if (notification.moderate(change.moderationCount(),
                    TimeUnit.MICROSECONDS.toNanos(change.moderationPeriodMicros()), System.nanoTime())) {
                ring();
            }
            context.progress().watch(this);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String describe() {
        return "CQ " + index + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        if (channel() instanceof RoceCompletionChannel c) {
            c.remove(this);
        }
        context.releaseCompletionQueue(this, index);
    }
}
