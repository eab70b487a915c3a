// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.completion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.verbena.linux.Membarrier;
import org.verbena.shm.layout.ArmWord;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.memory.Delivery;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.PostedReceive;
import org.verbena.shm.pool.InboxReader;
import org.verbena.shm.pool.OwnPool;
import org.verbena.shm.pool.ReceivePool;
import org.verbena.shm.ring.Inbox;
import org.verbena.shm.ring.LaneReader;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.KeepAlive;

/**
 * The completions of a shared receive queue of type XRC, for its completion queue: the entries that initiators committed into the
 * inbox. One thread polls; any thread closes.
 */
public final class PoolCompletions {
    private static final VarHandle CONSUMED;
    private static final VarHandle POLLING;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            CONSUMED = l.findVarHandle(PoolCompletions.class, "consumed", long.class);
            POLLING = l.findVarHandle(PoolCompletions.class, "polling", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final OwnPool own;
    private final ReceivePool pool;
    private final InboxReader reader;
    private final MemorySegment scratch = Arena.ofAuto().allocate(LaneLayout.INLINE, 64);
    private final Delivery delivery;
    private long consumed;
    /** Those of them without an error. */
    private long succeeded;
    /** A thread is inside {@link #poll}, and reads memory that is released after the queue was closed. */
    @SuppressWarnings("unused") // POLLING
    private boolean polling;
    private volatile boolean closed;
    private boolean reportedBroken;

    public PoolCompletions(OwnPool own, InboxReader reader, KeyTable keys) {
        this.own = own;
        this.pool = own.receives();
        this.reader = reader;
        this.delivery = new Delivery(keys, own.pd(), scratch.address());
    }

    /** Moves the oldest completion into the cursor of {@code cq}; false if there is none. */
    boolean poll(CompletionCursor cq) {
        POLLING.setOpaque(this, true);
        // no instruction on x86, but the flag is read after the store: see close
        VarHandle.releaseFence();
        try {
            return !closed && take(cq);
        } finally {
            POLLING.setRelease(this, false);
            KeepAlive.until(this);
        }
    }

    private boolean take(CompletionCursor cq) {
        long claim = reader.next();
        if (claim == Claim.NONE) {
            if (pool.isBroken() && !reportedBroken) {
                reportedBroken = true;
                own.requestProgress(); // the engine reports it
            }
            return false;
        }
        int slot = Claim.slot(claim);
        PostedReceive p = pool.receive(slot);
        long entry = reader.entry(claim);
        long commit = LaneReader.commit(entry); // read once more, and only this value is used
        int flags = LaneLayout.flags(commit) & LaneLayout.KNOWN_FLAGS & ~LaneLayout.HAS_INVALIDATE;
        long length = LaneReader.length(entry, commit);
        int status = delivery.complete(entry, commit, length, pool.wqe(slot), p);
        if (!cq.hasTimestamps()) {
            flags &= ~LaneLayout.HAS_TIMESTAMP; // whatever the peer has written
        }
        cq.set(Inbox.destinationQueuePair(entry), Inbox.sourceQueuePair(entry), p.wrId,
                LaneLayout.commit(Claim.position(claim), Delivery.opcode(commit), status, flags), length);
        cq.setMore(LaneReader.immediate(entry), LaneReader.timestamp(entry, commit), 0);
        if (status == WcStatus.SUCCESS) {
            succeeded++;
        }
        CONSUMED.setRelease(this, consumed + 1);
        pool.free(slot);
        return true;
    }

    /** Number of completions so far, polled or not; any thread. */
    public long completions() {
        return (long) CONSUMED.getAcquire(this) + waiting();
    }

    /** Number of receives that were completed without an error; any thread. */
    public long succeeded() {
        long c = (long) CONSUMED.getAcquire(this); // orders the read that follows
        return c == 0 ? 0 : succeeded;
    }

    /** Number of completions that wait to be polled; any thread, and only a hint while others poll. */
    public long waiting() {
        return closed ? 0 : reader.waiting();
    }

    /** True if an initiator has signalled this arm word last. */
    boolean isNotified(long armWord) {
        return ArmWord.isSame(own.notified(), armWord);
    }

    /** Polls find nothing any more, and none reads the pool's memory when this returns. */
    public void close() {
        closed = true;
        Membarrier.ownProcess(); // a poll from here on sees the flag, or is seen
        while ((boolean) POLLING.getAcquire(this)) {
            Thread.onSpinWait();
        }
    }
}
