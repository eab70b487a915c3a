// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.Region;
import org.verbena.shm.memory.RemoteSync;
import org.verbena.shm.memory.Window;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.spi.KeepAlive;
import org.verbena.verbs.spi.Opcode;

/**
 * The send side: stages work requests and has them executed, as a rule at once and by the caller's own thread.
 *
 * <p>Three counters say where a work request is: {@code freed <= executed <= tail}. When all earlier ones are executed,
 * the poster executes without a lock; nobody else does anything then, because there is nothing between {@code executed}
 * and {@code tail}. When one has to wait (the peer has posted no receive, or is not ready) the rest is left behind
 * {@code tail}, and whoever comes first goes on under a try-lock: a post or a poll of the completion queue, though not
 * every one, or the engine thread. The one who fails to get the lock may leave, for the holder looks again after giving it back.
 */
final class ShmSendQueue extends SendQueue {
    /** Copied into this class, so that a flag of a later {@code verbena-verbs} is refused. */
    private static final int KNOWN_FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED
            | SendFlags.INLINE;

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
     * While requests wait for receives, only one poll or post in so many looks for them: looking takes the line with the
     * count of receives away from the peer, who is about to write it. If a look finds receives, but fewer than requests
     * that wait, the peer is the slower side and gets more time before the next.
     */
    private static final int LOOK_OFTEN = 15;
    private static final int LOOK_SELDOM = 255;

    private final ShmQueuePair qp;
    private final KeyTable keys;
    private final int pd;
    private final WorkRequest[] slots;
    private final int mask;
    private final SendExecutor executor;
    /** For type UD; null for those that are connected. */
    private final @Nullable DatagramExecutor datagrams;
    /** Each request says where it goes: of type UD or XRC_SEND. */
    private final boolean addressed;
    /** A bit for each {@link Opcode} that may be posted. */
    private final int operations;
    /** All operations that the short ways post may be posted. */
    private final boolean quick;
    private final SendCompletions completions;
    private final int depth;

    @SuppressWarnings("unused") // EXECUTED
    private long executed;
    private long tail;
    @SuppressWarnings("unused") // FREED
    private long freed;
    /** 0: nobody executes what waits; 1: somebody does; 2: and is to look again. */
    @SuppressWarnings("unused") // BUSY
    private int busy;

    private boolean open;
    private int error;
    private long staged;
    /** How far slots are known to be free; read anew when used up. */
    private long room;
    private WorkRequest current;
    /** The request that was staged last has not been given its destination. */
    private boolean needsDestination;
    /** Polls and posts while something waited, counted without care. */
    private int calls;
    private int lookMask = LOOK_OFTEN;
    /** How many of them went on with it; the engine sees whether there were any since it looked last. */
    private int looks;
    private int looksSeen;

    ShmSendQueue(ShmQueuePair qp, KeyTable keys, int pd, WorkRequest[] slots, SendExecutor executor,
            @Nullable DatagramExecutor datagrams, SendCompletions completions, int depth, int operations) {
        this.qp = qp;
        this.keys = keys;
        this.pd = pd;
        this.slots = slots;
        this.mask = slots.length - 1;
        this.executor = executor;
        this.datagrams = datagrams;
        this.operations = operations;
        int quickly = 1 << Opcode.SEND | 1 << Opcode.WRITE;
        this.addressed = datagrams != null || qp.type() == QueuePairType.XRC_SEND;
        this.quick = (operations & quickly) == quickly && !addressed;
        this.completions = completions;
        this.depth = depth;
        this.current = slots[0];
    }

    @Override
    public SendQueue start() {
        open = true;
        error = 0;
        staged = tail;
        needsDestination = false;
        return this;
    }

    @Override
    public SendQueue send(long wrId, int flags) {
        return stage(Opcode.SEND, wrId, flags, 0, 0, 0);
    }

    @Override
    public SendQueue sendImmediate(long wrId, int flags, int immediate) {
        return stage(Opcode.SEND_IMM, wrId, flags, 0, 0, immediate);
    }

    @Override
    public SendQueue write(long wrId, int flags, int rkey, long remoteAddress) {
        return stage(Opcode.WRITE, wrId, flags, rkey, remoteAddress, 0);
    }

    @Override
    public SendQueue writeImmediate(long wrId, int flags, int rkey, long remoteAddress, int immediate) {
        return stage(Opcode.WRITE_IMM, wrId, flags, rkey, remoteAddress, immediate);
    }

    @Override
    public SendQueue read(long wrId, int flags, int rkey, long remoteAddress) {
        return stage(Opcode.READ, wrId, flags, rkey, remoteAddress, 0);
    }

    @Override
    public SendQueue compareAndSwap(long wrId, int flags, int rkey, long remoteAddress, long compare, long swap) {
        return atomic(Opcode.CMP_SWP, wrId, flags, rkey, remoteAddress, compare, swap);
    }

    @Override
    public SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add) {
        return atomic(Opcode.FETCH_ADD, wrId, flags, rkey, remoteAddress, add, 0);
    }

    @Override
    public SendQueue sendInvalidate(long wrId, int flags, int invalidated) {
        return stage(Opcode.SEND_INV, wrId, flags, Hazard.RECEIVES_KEY, 0, invalidated);
    }

    @Override
    public SendQueue localInvalidate(long wrId, int flags, int rkey) {
        stageAlone(Opcode.LOCAL_INV, wrId, flags, rkey, 0, 0, 0);
        return this;
    }

    @Override
    public SendQueue bindMemoryWindow(long wrId, int flags, MemoryWindow window, int rkey, MemoryRegion region,
            long address, long length, int access) {
        int unknown = access & ~(AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC
                | AccessFlags.ZERO_BASED);
        if (window instanceof ShmMemoryWindow w && region instanceof ShmMemoryRegion r && !w.isClosed()
                && w.type() == MemoryWindow.TYPE_2 && r.region().table == keys && w.window().isOf(keys)
                && unknown == 0) {
            stageBind(wrId, flags, w.window(), rkey, r.region(), address, length, access);
        } else if (error == 0) {
            error = Errno.EINVAL;
        }
        return this;
    }

    /** Posts the binding of a window of type 1; answers as {@link #complete()}. */
    int bindWindow(long wrId, int flags, Window window, @Nullable MemoryRegion region, long address, long length,
            int access) {
        int rkey = window.nextKey();
        start();
        stageBind(wrId, flags, window, rkey, region instanceof ShmMemoryRegion r ? r.region() : null, address, length,
                access);
        return complete();
    }

    private void stageBind(long wrId, int flags, Window window, int rkey, @Nullable Region region, long address,
            long length, int access) {
        if (stageAlone(Opcode.BIND_MW, wrId, flags, rkey, address, length, access)) {
            current.window = window;
            current.region = region;
        }
    }

    @Override
    public SendQueue flush(long wrId, int flags, int rkey, long remoteAddress, long length, int type, int level) {
        if (stageAlone(Opcode.FLUSH, wrId, flags, rkey, remoteAddress, length, level)) {
            current.immediate = type;
            if (!RemoteSync.isFlush(type, level) || length < 0) {
                error = Errno.EINVAL;
            }
        }
        return this;
    }

    @Override
    public SendQueue atomicWrite(long wrId, int flags, int rkey, long remoteAddress, long value) {
        if (stageAlone(Opcode.ATOMIC_WRITE, wrId, flags, rkey, remoteAddress, value, 0)
                && executor.isOnlyRegistered(rkey)) {
            error = Errno.EOPNOTSUPP;
        }
        return this;
    }

    /** Stages an operation that takes no buffers, with two operands; true if it was staged. */
    private boolean stageAlone(int opcode, long wrId, int flags, int rkey, long remoteAddress, long first,
            long second) {
        stage(opcode, wrId, flags, rkey, remoteAddress, 0);
        if (error != 0) {
            return false;
        }
        current.compare = first;
        current.swap = second;
        current.takeNoBuffers();
        return true;
    }

    private SendQueue atomic(int opcode, long wrId, int flags, int rkey, long remoteAddress, long compare, long swap) {
        stage(opcode, wrId, flags, rkey, remoteAddress, 0);
        if (error == 0) {
            current.compare = compare;
            current.swap = swap;
            if (executor.isOnlyRegistered(rkey)) {
                error = Errno.EOPNOTSUPP;
            }
        }
        return this;
    }

    private SendQueue stage(int opcode, long wrId, int flags, int rkey, long remoteAddress, int immediate) {
        long k = staged;
        if (error == 0 && (k < room || hasRoom(k)) && isAllowed(opcode, flags)) {
            WorkRequest w = slots[(int) k & mask];
            w.set(opcode, wrId, flags, rkey, remoteAddress, immediate);
            current = w;
            staged = k + 1;
            if (addressed) {
                error = needsDestination ? Errno.EINVAL : 0;
                needsDestination = !Opcode.isLocal(opcode);
            }
        }
        return this;
    }

    @Override
    public SendQueue datagram(AddressHandle to, int remoteQueuePair, int remoteQkey) {
        if (error == 0) {
            if (datagrams == null || !open || staged == tail || !(to instanceof ShmAddressHandle h) || h.pd != pd
                    || h.protectionDomain().context() != qp.protectionDomain().context() || h.isClosed()
                    || (remoteQueuePair & ~0xffffff) != 0) {
                error = Errno.EINVAL;
                return this;
            }
            current.destination = h;
            current.remoteAddress = remoteQueuePair;
            current.rkey = remoteQkey;
            needsDestination = false;
        }
        return this;
    }

    @Override
    public SendQueue remoteSharedReceiveQueue(int number) {
        if (error == 0) {
            if (!addressed || datagrams != null || !open || staged == tail || (number & ~0xffffff) != 0) {
                error = Errno.EINVAL;
                return this;
            }
            current.sharedReceiveQueue = number;
            needsDestination = false;
        }
        return this;
    }

    private boolean hasRoom(long k) {
        room = (long) FREED.getAcquire(this) + depth;
        if (k >= room) {
            error = open ? Errno.ENOMEM : Errno.EINVAL;
        }
        return k < room;
    }

    private boolean isAllowed(int opcode, int flags) {
        if (!open || (flags & ~KNOWN_FLAGS) != 0 || (operations & 1 << opcode) == 0
                || (flags & SendFlags.INLINE) != 0 && !Opcode.takesInline(opcode)) {
            int wrong = open ? SendFlags.check(flags, KNOWN_FLAGS) : 0;
            error = wrong == 0 ? Errno.EINVAL : wrong;
            return false;
        }
        return true;
    }

    @Override
    public SendQueue sge(int lkey, long address, long length) {
        if (error == 0) {
            error = open && staged != tail ? current.addSge(lkey, address, length, keys, pd) : Errno.EINVAL;
        }
        return this;
    }

    @Override
    public SendQueue inline(MemorySegment data, long offset, long length) {
        if (error == 0) {
            error = open && staged != tail ? current.setInline(data, offset, length) : Errno.EINVAL;
        }
        return this;
    }

    @Override
    protected SendQueue unsupported() {
        if (error == 0) {
            error = open ? Errno.EOPNOTSUPP : Errno.EINVAL;
        }
        return this;
    }

    @Override
    public void abort() {
        open = false;
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
        if (needsDestination) {
            return Errno.EINVAL;
        }
        QueuePairState s = qp.state();
        if (s != QueuePairState.RTS && (!s.acceptsSends() || qp.isClosed())) {
            return Errno.EINVAL;
        }
        long from = tail;
        long to = staged;
        if ((long) EXECUTED.getAcquire(this) == from) {
            long k = from;
            while (k < to && execute(slots[(int) k & mask], k)) {
                k++;
            }
            EXECUTED.setRelease(this, k);
            TAIL.setRelease(this, to);
            if (k < to) {
                lookMask = LOOK_OFTEN;
                // only now can the engine see that something waits
                qp.lookAfter();
            }
        } else {
            TAIL.setRelease(this, to);
            if (!look()) {
                // what was before this may be done by now, and then nobody would come for it
                qp.lookAfter();
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

    /** For the engine: true if the application has gone on with what waits since the last call, and needs no help. */
    boolean applicationLooked() {
        int now = looks;
        boolean changed = now != looksSeen;
        looksSeen = now;
        return changed;
    }

    void setPoolStarving() {
        executor.setPoolStarving();
    }

    boolean waitsForEver() {
        return isPending() && executor.waitsForEver();
    }

    /**
     * The number of the oldest request that is not executed, or {@link #NONE}; it may just be done by the time that this is
     * answered.
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

    /** True if a request may be executed at once and without a slot; what is special goes the long way. */
    private boolean isFast(long k, int flags) {
        return quick && (k < room || hasRoom(k)) && (flags & ~(SendFlags.SIGNALED | SendFlags.SOLICITED
                | SendFlags.FENCE)) == 0
                && qp.state() == QueuePairState.RTS && (long) EXECUTED.getAcquire(this) == k;
    }

    private void executedNow(long k) {
        EXECUTED.setRelease(this, k + 1);
        TAIL.setRelease(this, k + 1);
        open = false;
        KeepAlive.until(qp);
    }

    /**
     * Goes on with what waits; any thread may call.
     *
     * @return false if somebody else was at it, who may not have seen what the caller has
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
                BUSY.setVolatile(this, 0);
                throw e;
            }
        }
        return true;
    }

    /** Takes the lock, or else makes its holder look again. */
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

    /** Executes what waits, under the try-lock, until it is done or has to go on waiting. */
    private void executePending() {
        // in this order: what the fast path executes in between is never taken for something that waits
        long to = (long) TAIL.getAcquire(this);
        long k = (long) EXECUTED.getAcquire(this);
        while (k < to) {
            if (!execute(slots[(int) k & mask], k)) {
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

    /** Goes on with what waits, but not every time; answers false if this time it did not. */
    private boolean look() {
        int n = calls + 1;
        calls = n;
        if ((n & lookMask) != 0) {
            return false;
        }
        looks++;
        long before = (long) EXECUTED.getOpaque(this);
        progress();
        if (!isPending()) {
            lookMask = LOOK_OFTEN;
        } else if ((long) EXECUTED.getOpaque(this) != before) {
            lookMask = Math.min(lookMask << 1 | 1, LOOK_SELDOM);
        }
        return true;
    }

    /** Moves the oldest completion into the cursor of {@code cq}; answers false if there is none. */
    boolean poll(ShmCompletionQueue cq) {
        if (isPending()) {
            look();
        }
        long free = completions.poll(cq, qp);
        if (free < 0) {
            return false;
        }
        FREED.setRelease(this, free);
        return true;
    }

    long completions() {
        return completions.consumed();
    }

    long completionsWaiting() {
        return completions.waiting();
    }

    /** The queue pair has failed: waits for who executes a request that began before. */
    void awaitRest() {
        qp.own().awaitRest(); // an application's thread that executes without the lock
        while (!BUSY.compareAndSet(this, 0, 1)) {
            Thread.onSpinWait();
        }
        BUSY.setVolatile(this, 0);
    }

    /** The queue pair is closed: gives up what reaches others, when nobody executes any more. */
    void close() {
        qp.own().awaitRest(); // an application's thread that executes without the lock
        while (!BUSY.compareAndSet(this, 0, 1)) {
            Thread.onSpinWait(); // somebody is about to use it
        }
        executor.leave();
        DatagramExecutor d = datagrams;
        if (d != null) {
            d.close();
        }
        BUSY.setVolatile(this, 0);
    }

    /** Forgets everything; nobody posts, polls or executes meanwhile. */
    void reset() {
        while (!BUSY.compareAndSet(this, 0, 1)) {
            Thread.onSpinWait();
        }
        TAIL.setVolatile(this, 0L);
        EXECUTED.setVolatile(this, 0L);
        FREED.setVolatile(this, 0L);
        room = 0;
        lookMask = LOOK_OFTEN;
        open = false;
        completions.clear();
        executor.reset();
        DatagramExecutor d = datagrams;
        if (d != null) {
            d.reset();
        }
        BUSY.setVolatile(this, 0);
    }
}
