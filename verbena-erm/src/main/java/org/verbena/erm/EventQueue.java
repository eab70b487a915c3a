// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * Events of the other end: regions added, updated and removed, copies with remote completion, and the end of the remote
 * memory. The counterpart of {@code recvmsg} with {@code SMC_ERM_CMD_COMPL}.
 *
 * {@snippet :
 * while (events.poll()) {
 *     switch (events.type()) {
 *         case EventType.COPIED -> consume(events.region(), events.offset(), events.length(), events.userData());
 *         case EventType.REGION_ADDED -> theirs = memory.remoteRegion(events.region());
 *         default -> {}
 *     }
 * }
 * }
 *
 * <p>Copies of one {@link CopyQueue} are reported in the order in which they were started. Events that the program does
 * not poll block copies of the other end with remote completion ({@code ENOBUFS}), and nothing else.
 *
 * <p>One thread at a time polls; it may be another one than that of {@link CopyQueue}. A poll that finds nothing, or a
 * copy, allocates nothing, takes no lock and makes no system call, except one that wakes another thread at each 128th
 * event whose credit no copy with an event has returned.
 */
public final class EventQueue {
    private static final int NONE = -1;
    /**
     * How long the end waits for the last remote completions; a provider gives up a stopped peer after half a second.
     */
    private static final long DRAIN_TIMEOUT_NANOS = 2_000_000_000L;
    private static final long DRAIN_POLL_NANOS = 50_000;

    /** An event that the engine has queued: of an asynchronous copy, or of the slot of a remote region. */
    private record EngineEvent(int type, int region, long offset, long length, long userData, boolean async) {}

    private final Regions regions;
    private final CompletionQueue receiveCompletions;
    private final ReceiveQueue receives;
    private final PeerLink link;
    /** Address and number of the buffers for incoming remote completions. */
    private final long completionBuffer;
    private final int slots;
    private final QuiescenceGuard guard = new QuiescenceGuard();
    private final Wakeup wakeup;
    private final Runnable returnCredits;
    private final ReentrantLock quiescing = new ReentrantLock();

    // guarded by itself
    private final Deque<EngineEvent> engineEvents = new ArrayDeque<>();
    private final boolean[] dirty = new boolean[Limits.REGIONS];
    private final int[] reported = new int[Limits.REGIONS];
    private final int[] versions = new int[Limits.REGIONS];
    private int asyncPending;
    private long lateEngineEvents;
    /** The size of {@link #engineEvents}; at 0 a poll takes no lock. */
    private volatile int pending;

    /** Credits of a {@link CopyQueue}. */
    private final CreditReturn creditReturn;
    /** Credits of asynchronous copies. */
    private final CreditReturn asyncCreditReturn;
    private final int maxAsyncPending;

    private @Nullable CopyQueue copies;
    private boolean closedReported;
    private boolean prefetched;

    private int type;
    private int region;
    private long offset;
    private long length;
    private long userData;

    // guarded by the quiescence guard
    /** The receive whose remote completion the program has polled, or {@link #NONE}. */
    private int currentSlot = NONE;
    /**
     * Whether no valid remote completion can arrive any more: a receive has been flushed, or the other end has violated
     * the protocol.
     */
    private boolean receivesFlushed;
    private int foundKind;
    private int foundRegion;
    private long foundOffset;
    private long foundLength;
    private long foundData;

    private long polled;
    private long late;

    /** @param returnCredits schedules a credit message to the other end */
    EventQueue(Regions regions, PeerLink link, Runnable returnCredits) {
        this.regions = regions;
        this.link = link;
        this.returnCredits = returnCredits;
        receiveCompletions = link.remoteCompletions();
        receives = link.data().receiveQueue();
        completionBuffer = link.completionBuffer().segment().address();
        slots = link.creditLimit().completions();
        wakeup = link.eventWakeup();
        creditReturn = new CreditReturn(link.creditLimit().completions());
        asyncCreditReturn = new CreditReturn(link.creditLimit().asyncCompletions());
        maxAsyncPending = link.creditLimit().asyncCompletions();
    }

    /** The queue whose credits arrive in remote completions. */
    void copies(CopyQueue queue) {
        copies = queue;
    }

    /**
     * Advances to the next event.
     *
     * @return true if there is one: {@link #type()} and the other getters describe it
     */
    public boolean poll() {
        if (prefetched) {
            prefetched = false;
            if (isCurrent(type, region)) {
                return true;
            }
            polled--;
            late++;
        }
        int state = guard.enter();
        if (state == QuiescenceGuard.OPEN) {
            boolean found = pending != 0 && nextEngineEvent() || nextCompletion() && setCompletion();
            guard.exit();
            return found;
        }
        return state == QuiescenceGuard.ENDED && (nextEngineEvent() || nextClosed());
    }

    /** See {@link EventType}. */
    public int type() {
        return type;
    }

    /** Id of the region: of this end for copies, of the other end for regions that are added, updated and removed. */
    public int region() {
        return region;
    }

    /** Of a copy, the offset of its first byte in the region. */
    public long offset() {
        return offset;
    }

    /** Of a copy, its bytes; of a region that was added or updated, its size. */
    public long length() {
        return length;
    }

    /** Of a copy, its user data; of a region that was added or updated, its tag. */
    public long userData() {
        return userData;
    }

    private boolean nextClosed() {
        if (closedReported) {
            return false;
        }
        closedReported = true;
        set(EventType.CLOSED, 0, 0, 0, 0);
        return true;
    }

    private void set(int what, int id, long at, long bytes, long data) {
        type = what;
        region = id;
        offset = at;
        length = bytes;
        userData = data;
        polled++;
    }

    private boolean setCompletion() {
        set(type(foundKind), foundRegion, foundOffset, foundLength, foundData);
        return true;
    }

    /**
     * Polls the next valid remote completion into the fields that {@link #setCompletion} reads, since the program may
     * still read the last event.
     */
    private boolean nextCompletion() {
        releaseCurrent();
        while (receiveCompletions.startPoll() == 0) {
            int slot = (int) receiveCompletions.wrId();
            boolean failed = receiveCompletions.status() != WcStatus.SUCCESS;
            boolean isImmediate = !failed && receiveCompletions.opcode() == WcOpcode.RECV_RDMA_WITH_IMM;
            int immediate = isImmediate ? receiveCompletions.immediate() : 0;
            long bytes = failed ? 0 : receiveCompletions.byteLength();
            receiveCompletions.endPoll();
            if (failed) {
                receivesFlushed = true;
                link.fail("the other end is gone");
                continue;
            }
            currentSlot = slot;
            if (isImmediate) {
                found(RemoteCompletion.WRITTEN, regions.idOfName(ImmediateCompletion.name(immediate)),
                        ImmediateCompletion.offset(immediate),
                        bytes, 0);
            } else if (bytes != CompletionLayout.BYTES || !decode(completionBuffer + (long) Objects.checkIndex(slot,
                    slots)
                    * Messages.RECEIVE_BYTES)) {
                receivesFlushed = true;
                link.fail("the other end breaks the protocol: an invalid remote completion");
                return false;
            }
            int result = validate(foundRegion, foundKind, foundOffset, foundLength);
            if (result < 0) {
                receivesFlushed = true;
                link.fail("the other end breaks the protocol: a remote completion of " + foundLength + " bytes at "
                        + foundOffset
                        + " of region " + (isImmediate ? "named " + ImmediateCompletion.name(immediate) : foundRegion));
                return false;
            }
            if (result > 0) {
                return true;
            }
            late++;
            releaseCurrent();
        }
        return false;
    }

    /** False if it is invalid. */
    private boolean decode(long address) {
        long head = RemoteCompletion.head(address);
        found(RemoteCompletion.kind(head), RemoteCompletion.id(head), RemoteCompletion.offset(address), RemoteCompletion
                .length(address), RemoteCompletion.userData(
                        address));
        CopyQueue copyQueue = copies;
        return copyQueue != null && copyQueue.credit().returnedByCompletion(RemoteCompletion.consumed(address));
    }

    private void found(int kind, int id, long at, long bytes, long data) {
        foundKind = kind;
        foundRegion = id;
        foundOffset = at;
        foundLength = bytes;
        foundData = data;
    }

    /**
     * 1 if a remote completion is valid, also of a copy from before its right was revoked; 0 if it is late, for its
     * region is gone; -1 if it is a protocol error.
     */
    private int validate(int id, int kind, long from, long bytes) {
        LocalRegion copyQueue = regions.localOrRevoked(id);
        if (copyQueue == null) {
            return regions.everAssigned(id) ? 0 : -1;
        }
        int needed = kind == RemoteCompletion.WRITTEN
                ? AccessFlags.REMOTE_WRITE
                : kind == RemoteCompletion.READ ? AccessFlags.REMOTE_READ : -1;
        return needed > 0 && (copyQueue.registered() & needed) != 0 && from >= 0 && bytes >= 0 && bytes <= copyQueue
                .length()
                && from <= copyQueue.length() - bytes ? 1 : -1;
    }

    private static int type(int kind) {
        return kind == RemoteCompletion.WRITTEN ? EventType.COPIED : EventType.COPIED_FROM;
    }

    /** Whether an event is still valid: its region may have been deregistered since it arrived. */
    private boolean isCurrent(int what, int id) {
        return what != EventType.COPIED && what != EventType.COPIED_FROM || regions.localOrRevoked(id) != null;
    }

    /**
     * Consumes the remote completion that the program has polled, and reposts its receive. That happens at the next
     * poll, since it costs as much as all the rest, and a waiting program wants the event first.
     */
    private void releaseCurrent() {
        int slot = currentSlot;
        if (slot >= 0) {
            currentSlot = NONE;
            receives.post(slot, link.completionBuffer(), (long) slot * Messages.RECEIVE_BYTES, Messages.RECEIVE_BYTES);
            if (creditReturn.consume()) {
                returnCredits.run();
            }
        }
    }

    private boolean nextEngineEvent() {
        synchronized (engineEvents) {
            EngineEvent next;
            while ((next = engineEvents.poll()) != null) {
                pending = engineEvents.size();
                if (next.async()) {
                    asyncPending--;
                    consumedAsync();
                }
                if (!isCurrent(next.type(), next.region())) {
                    lateEngineEvents++;
                    continue;
                }
                if (next.type() != EventType.REGION_ADDED) {
                    set(next.type(), next.region(), next.offset(), next.length(), next.userData());
                    return true;
                }
                if (nextRegionEvent(next.region())) {
                    return true;
                }
            }
            return false;
        }
    }

    private void consumedAsync() {
        if (asyncCreditReturn.consume()) {
            returnCredits.run();
        }
    }

    /**
     * Sets the next event of a slot whose remote region was added, updated or removed; false if the program has had its
     * state.
     */
    private boolean nextRegionEvent(int index) {
        RemoteRegion there = regions.remoteAt(index);
        int before = reported[index];
        dirty[index] = false;
        if (before != 0 && (there == null || there.id() != before)) {
            reported[index] = 0;
            if (there != null) {
                enqueue(index);
            }
            set(EventType.REGION_REMOVED, before, 0, 0, 0);
            return true;
        }
        if (there != null && (before == 0 || versions[index] != there.version())) {
            reported[index] = there.id();
            versions[index] = there.version();
            set(before == 0 ? EventType.REGION_ADDED : EventType.REGION_UPDATED, there.id(), 0, there.length(), there
                    .announcedTag());
            return true;
        }
        return false;
    }

    private void enqueue(int index) {
        if (!dirty[index]) {
            dirty[index] = true;
            engineEvents.add(new EngineEvent(EventType.REGION_ADDED, index, 0, 0, 0, false));
            pending = engineEvents.size();
        }
    }

    // ---- for the engine

    /** The remote region in a slot was added, updated or removed. */
    void regionChanged(int index) {
        synchronized (engineEvents) {
            enqueue(index);
        }
        wakeup.signal();
    }

    /**
     * An asynchronous copy of the other end is done.
     *
     * @return false if that is a protocol error
     */
    boolean asyncCompletion(int id, int kind, long from, long bytes, long data) {
        int result = validate(id, kind, from, bytes);
        if (result < 0) {
            return false;
        }
        synchronized (engineEvents) {
            if (asyncPending >= maxAsyncPending) {
                return false;
            }
            if (result == 0) {
                consumedAsync();
                lateEngineEvents++;
                return true;
            }
            asyncPending++;
            engineEvents.add(new EngineEvent(type(kind), id, from, bytes, data, true));
            pending = engineEvents.size();
        }
        wakeup.signal();
        return true;
    }

    /** The credits of a {@link CopyQueue} to return. */
    CreditReturn creditReturn() {
        return creditReturn;
    }

    /** Likewise for asynchronous copies; {@link CreditReturn#consume} is called under a lock. */
    CreditReturn asyncCreditReturn() {
        return asyncCreditReturn;
    }

    /** Arms the wakeup for the next event; true if there is one already. */
    boolean arm() {
        wakeup.reset();
        if (prefetched) {
            return true;
        }
        int state;
        while ((state = guard.enter()) == QuiescenceGuard.PAUSED) {
            Thread.onSpinWait();
        }
        if (state == QuiescenceGuard.OPEN) {
            receiveCompletions.requestNotify(false);
            prefetched = pending != 0 && nextEngineEvent() || nextCompletion() && setCompletion();
            guard.exit();
        } else {
            prefetched = nextEngineEvent() || nextClosed();
        }
        return prefetched;
    }

    /** Ends the guard; remote completions that have arrived, or still arrive, are saved for the program. */
    void end(ProgressExecutor executor) {
        quiescing.lock();
        try {
            guard.pause();
            while (!guard.isQuiescent()) {
                Thread.onSpinWait(); // the program leaves soon
            }
            if (guard.state() == QuiescenceGuard.PAUSED) {
                drain(executor);
                guard.end();
            }
        } finally {
            quiescing.unlock();
        }
    }

    /** Drains until the first flushed receive: a copy that has completed at the other end may arrive only now. */
    private void drain(ProgressExecutor executor) {
        long start = System.nanoTime();
        while (true) {
            while (nextCompletion()) {
                synchronized (engineEvents) {
                    engineEvents.add(new EngineEvent(type(foundKind), foundRegion, foundOffset, foundLength, foundData,
                            false));
                    pending = engineEvents.size();
                }
            }
            if (receivesFlushed || !link.isFlushing() || System.nanoTime() - start > DRAIN_TIMEOUT_NANOS) {
                return;
            }
            executor.pause(DRAIN_POLL_NANOS);
        }
    }

    long polled() {
        return polled;
    }

    long late() {
        synchronized (engineEvents) {
            return late + lateEngineEvents;
        }
    }

    /** The event that the last poll found. */
    @Override
    public String toString() {
        return "EventQueue[" + EventType.toString(type) + ", region=" + region + ", offset=" + offset + ", length="
                + length
                + ", userData=" + userData + "]";
    }
}
