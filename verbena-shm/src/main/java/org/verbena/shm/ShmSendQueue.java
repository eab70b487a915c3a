// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.completion.CompletionCursor;
import org.verbena.shm.completion.SendCompletions;
import org.verbena.shm.datagram.DatagramExecutor;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.spi.KeepAlive;
import org.verbena.verbs.spi.SendOpcode;

/**
 * The send side: has staged work requests executed, as a rule at once and by the caller's own thread.
 *
 * <p>Three counters give the state of a work request: {@code freed <= executed <= tail}. When all earlier ones are executed,
 * the poster executes without a lock; no other thread executes then, because there is nothing between {@code executed}
 * and {@code tail}. When one has to wait (the peer has posted no receive, or is not ready) the rest stays before
 * {@code tail}, and the first thread to come continues under a try-lock: a post or a poll of the completion queue, though not
 * every one, or the engine thread. A thread that fails to get the lock may leave, for the holder checks again after giving it back.
 */
final class ShmSendQueue extends StagedSendQueue {
    /** No request has that number. */
    static final long NONE = -1;

    private static final VarHandle EXECUTED;
    private static final VarHandle TAIL;
    private static final VarHandle FREED;
    private static final VarHandle BUSY;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            EXECUTED = l.findVarHandle(ShmSendQueue.class, "executed", long.class);
            TAIL = l.findVarHandle(ShmSendQueue.class, "tail", long.class);
            FREED = l.findVarHandle(ShmSendQueue.class, "freed", long.class);
            BUSY = l.findVarHandle(ShmSendQueue.class, "busy", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * While requests wait for receives, one poll or post of this mask + 1 checks for them: a check takes the cache line with the
     * count of receives away from the peer, which is about to write it. If a check finds receives, but fewer than requests
     * that wait, the peer is the slower side and gets more time before the next.
     */
    private static final int CHECK_OFTEN = 15;
    private static final int CHECK_SELDOM = 255;

    private final QueuePairBase qp;
    private final SendExecutor executor;
    /** For type UD; null for those that are connected. */
    private final @Nullable DatagramExecutor datagrams;
    /** All operations of the fast path may be posted. */
    private final boolean fastPath;
    private final SendCompletions completions;

    @SuppressWarnings("unused") // EXECUTED
    private long executed;
    private long tail;
    @SuppressWarnings("unused") // FREED
    private long freed;
    /** 0: no thread executes waiting requests; 1: one does; 2: one does, and has to check again. */
    @SuppressWarnings("unused") // BUSY
    private int busy;

    /** Polls and posts while a request waited, counted without synchronization. */
    private int calls;
    private int checkMask = CHECK_OFTEN;
    /** How many of those calls made progress; the engine sees whether there were any since its last check. */
    private int checks;
    private int checksSeen;

    ShmSendQueue(QueuePairBase qp, KeyTable keys, int pd, WorkRequest[] slots, SendExecutor executor,
            @Nullable DatagramExecutor datagrams, SendCompletions completions, int depth, int operations) {
        super(qp, keys, pd, slots, depth, operations);
        this.qp = qp;
        this.executor = executor;
        this.datagrams = datagrams;
        int fastPathOperations = 1 << SendOpcode.SEND | 1 << SendOpcode.WRITE;
        this.fastPath = (operations & fastPathOperations) == fastPathOperations && !isAddressed();
        this.completions = completions;
    }

    @Override
    long tail() {
        return tail;
    }

    @Override
    long freed() {
        return (long) FREED.getAcquire(this);
    }

    @Override
    boolean isOnlyRegistered(int rkey) {
        return executor.isOnlyRegistered(rkey);
    }

    @Override
    public int complete() {
        int wrong = endBatch();
        if (wrong != 0) {
            return wrong;
        }
        QueuePairState s = qp.state();
        if (s != QueuePairState.RTS && (!s.acceptsSends() || qp.isClosed())) {
            return Errno.EINVAL;
        }
        long from = tail;
        long to = staged();
        if ((long) EXECUTED.getAcquire(this) == from) {
            long k = from;
            while (k < to && execute(slot(k), k)) {
                k++;
            }
            EXECUTED.setRelease(this, k);
            TAIL.setRelease(this, to);
            if (k < to) {
                checkMask = CHECK_OFTEN;
                // only now can the engine see the waiting request
                qp.requestProgress();
            }
        } else {
            TAIL.setRelease(this, to);
            if (!progressSometimes()) {
                // the requests before it may be done by now, and then no thread would continue with it
                qp.requestProgress();
            }
        }
        KeepAlive.until(qp);
        return 0;
    }

    private boolean execute(WorkRequest w, long number) {
        DatagramExecutor d = datagrams;
        return d == null ? executor.execute(w, number) : d.execute(w, number);
    }

    boolean waitsForReceive() {
        return isPending() && executor.waitsForReceive();
    }

    /** For the engine: true if the application has made progress with waiting requests since the last call, and needs no help. */
    boolean applicationPolled() {
        int now = checks;
        boolean changed = now != checksSeen;
        checksSeen = now;
        return changed;
    }

    void setPoolStarving() {
        executor.setPoolStarving();
    }

    boolean waitsIndefinitely() {
        return isPending() && executor.waitsIndefinitely();
    }

    /**
     * The number of the oldest request that is not executed, or {@link #NONE}; it may be done by the time this
     * returns.
     */
    long oldestPending() {
        long to = (long) TAIL.getAcquire(this); // first, see executePending
        long oldest = (long) EXECUTED.getAcquire(this);
        return oldest < to ? oldest : NONE;
    }

    /** True if work waits to be executed. */
    boolean isPending() {
        return oldestPending() != NONE;
    }

    @Override
    public int postSend(long wrId, int flags, MemoryRegion region, long offset, long length) {
        long k = tail;
        if (region instanceof ShmMemoryRegion m && isFast(k, flags)
                && executor.sendNow(m.region(), offset, length, flags, wrId, k)) {
            executedNow(k);
            return 0;
        }
        return super.postSend(wrId, flags, region, offset, length);
    }

    @Override
    public int postWrite(long wrId, int flags, MemoryRegion region, long offset, long length, int rkey,
            long remoteAddress) {
        long k = tail;
        if (region instanceof ShmMemoryRegion m && isFast(k, flags)
                && executor.writeNow(m.region(), offset, length, rkey, remoteAddress, flags, wrId, k)) {
            executedNow(k);
            return 0;
        }
        return super.postWrite(wrId, flags, region, offset, length, rkey, remoteAddress);
    }

    /** As {@link DirectWrite#writeNow}. */
    boolean writeNow(ByteBuffer from, int position, int length, int rkey, long remoteAddress) {
        boolean done = isIdle() && executor.writeNow(from, position, length, rkey, remoteAddress);
        KeepAlive.until(qp);
        return done;
    }

    /** As {@link DirectWrite#writeWordNow}. */
    boolean writeWordNow(long value, int rkey, long remoteAddress) {
        boolean done = isIdle() && executor.writeWordNow(value, rkey, remoteAddress);
        KeepAlive.until(qp);
        return done;
    }

    /** As {@link DirectWrite#readFileNow}. */
    int readFileNow(int fd, long position, int length, int rkey, long remoteAddress) {
        int n = isIdle() ? executor.readFileNow(fd, position, length, rkey, remoteAddress) : -Errno.EOPNOTSUPP;
        KeepAlive.until(qp);
        return n;
    }

    /** All that was posted is executed, and what is executed next needs no request. */
    private boolean isIdle() {
        return fastPath && qp.state() == QueuePairState.RTS && (long) EXECUTED.getAcquire(this) == tail;
    }

    /** True if a request may be executed at once and without a slot; all others take the slow path. */
    private boolean isFast(long k, int flags) {
        return fastPath && hasRoom(k) && (flags & ~(SendFlags.SIGNALED | SendFlags.SOLICITED
                | SendFlags.FENCE)) == 0
                && qp.state() == QueuePairState.RTS && (long) EXECUTED.getAcquire(this) == k;
    }

    private void executedNow(long k) {
        EXECUTED.setRelease(this, k + 1);
        TAIL.setRelease(this, k + 1);
        abort();
        KeepAlive.until(qp);
    }

    /**
     * Makes progress with waiting requests; for any thread.
     *
     * @return false if another thread is executing, which may not have seen what the caller has seen
     */
    boolean progress() {
        if (!claim()) {
            return false;
        }
        boolean again = true;
        while (again) {
            BUSY.setVolatile(this, 1);
            try {
                executePending();
                again = !BUSY.compareAndSet(this, 1, 0);
            } catch (RuntimeException | Error e) {
                unlock();
                throw e;
            }
        }
        return true;
    }

    /** Takes the lock, or else makes its holder check again. */
    private boolean claim() {
        while (true) {
            if (BUSY.compareAndSet(this, 0, 1)) {
                return true;
            }
            if ((int) BUSY.getVolatile(this) == 2 || BUSY.compareAndSet(this, 1, 2)) {
                return false;
            }
        }
    }

    /** Waits for the lock; no holder waits for anything. */
    private void lock() {
        while (!BUSY.compareAndSet(this, 0, 1)) {
            Thread.onSpinWait();
        }
    }

    private void unlock() {
        BUSY.setVolatile(this, 0);
    }

    /** Executes waiting requests, under the try-lock, until they are done or one has to wait on. */
    private void executePending() {
        // in this order: a request that the fast path executes in between is never taken for a waiting one
        long to = (long) TAIL.getAcquire(this);
        long k = (long) EXECUTED.getAcquire(this);
        while (k < to) {
            if (!execute(slot(k), k)) {
                return;
            }
            k++;
            EXECUTED.setRelease(this, k);
            if (qp.isDraining()) {
                qp.drained();
            }
        }
    }

    /** True if the oldest request has begun and is not done. */
    boolean hasBegun() {
        DatagramExecutor d = datagrams;
        return isPending() && (d == null ? executor.isWaiting() : d.isWaiting());
    }

    /** Makes progress with waiting requests, but not in each call; false if it did not in this one. */
    private boolean progressSometimes() {
        int n = calls + 1;
        calls = n;
        if ((n & checkMask) != 0) {
            return false;
        }
        checks++;
        long before = (long) EXECUTED.getOpaque(this);
        progress();
        if (!isPending()) {
            checkMask = CHECK_OFTEN;
        } else if ((long) EXECUTED.getOpaque(this) != before) {
            checkMask = Math.min(checkMask << 1 | 1, CHECK_SELDOM);
        }
        return true;
    }

    /** Moves the oldest completion into the cursor of {@code cq}; false if there is none. */
    boolean poll(CompletionCursor cq) {
        if (isPending()) {
            progressSometimes();
        }
        if (!completions.hasNext()) {
            return false;
        }
        FREED.setRelease(this, completions.poll(cq, qp.number(), qp.peerNumber()));
        return true;
    }

    long completions() {
        return completions.consumed();
    }

    long completionsWaiting() {
        return completions.waiting();
    }

    /** The queue pair has failed: waits for the thread that executes a request that began before. */
    void awaitIdle() {
        qp.own().awaitIdle(); // an application's thread that executes without the lock
        lock();
        unlock();
    }

    /** The queue pair is closed: releases the access to peers, when no thread executes any more. */
    void close() {
        qp.own().awaitIdle(); // an application's thread that executes without the lock
        lock(); // a thread is perhaps about to use it
        executor.leave();
        DatagramExecutor d = datagrams;
        if (d != null) {
            d.close();
        }
        unlock();
    }

    /** Forgets everything; no thread posts, polls or executes meanwhile. */
    void reset() {
        lock();
        TAIL.setVolatile(this, 0L);
        EXECUTED.setVolatile(this, 0L);
        FREED.setVolatile(this, 0L);
        forgetBatch();
        checkMask = CHECK_OFTEN;
        completions.clear();
        executor.reset();
        DatagramExecutor d = datagrams;
        if (d != null) {
            d.reset();
        }
        unlock();
    }
}
