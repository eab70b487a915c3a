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
 * What the other end does: memory that comes, changes and goes, copies it wants this end to know of, and the end. What
 * {@code recvmsg} with {@code SMC_ERM_CMD_COMPL} is.
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
 * <p>Copies are told of in the order in which one {@link CopyQueue} started them. Events that the program does not take hold up
 * the copies of the other end that are to make some ({@code ENOBUFS}), and nothing else.
 *
 * <p>One thread at a time polls; it may be another one than that of {@link CopyQueue}. A poll that finds nothing, or a copy,
 * allocates nothing, takes no lock and makes no system call, but for one that wakes another thread with each 128th event of a
 * kind that is not answered by a copy with an event.
 */
public final class EventQueue {
    private static final int NONE = -1;
    /** How long the end waits for the last notices; a provider takes half a second to give up a peer that is stopped. */
    private static final long DRAIN_TIMEOUT_NANOS = 2_000_000_000L;
    private static final long DRAIN_POLL_NANOS = 50_000;

    /** An event that the engine has put here: of a copy that nobody polled for, or of the place of a remote region. */
    private record EngineEvent(int type, int region, long offset, long length, long userData, boolean async) {}

    private final Regions regions;
    private final CompletionQueue receiveCompletions;
    private final ReceiveQueue receives;
    private final PeerLink link;
    /** Address of the notices that come, and how many there is room for. */
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
    /** How many there are in {@link #engineEvents}; 0 costs a poll nothing. */
    private volatile int pending;

    /** Notices of a {@link CopyQueue}. */
    private final CreditReturn creditReturn;
    /** Notices of asynchronous copies. */
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

    // guarded by the gate
    /** Whose notice the program has seen, or {@link #NONE}. */
    private int currentSlot = NONE;
    /** Whether no notice comes any more that is to be believed: a receive has been flushed. */
    private boolean receivesFlushed;
    private int foundKind;
    private int foundRegion;
    private long foundOffset;
    private long foundLength;
    private long foundData;

    private long polled;
    private long late;

    /** @param tellTaken has the other end told how many notices were taken */
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

    /** To whom what a notice says of taken ones is told. */
    void copies(CopyQueue queue) {
        copies = queue;
    }

    /**
     * Moves on to the next event.
     *
     * @return true if there is one: {@link #type()} and the others are of it
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

    /** Id of the region: of this end for copies, of the other end for regions that come, change and go. */
    public int region() {
        return region;
    }

    /** Of a copy, where in the region its first byte is. */
    public long offset() {
        return offset;
    }

    /** Of a copy, how many bytes; of a region that has come or changed, its size. */
    public long length() {
        return length;
    }

    /** Of a copy, what its program gave along; of a region that has come or changed, its tag. */
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

    /** Takes the next notice that makes sense: into what {@link #setCompletion} shows, for the program may still look at the last event. */
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
            } else if (bytes != RemoteCompletion.BYTES || !decode(completionBuffer + (long) Objects.checkIndex(slot,
                    slots)
                    * Messages.RECEIVE_BYTES)) {
                receivesFlushed = true;
                link.fail("the other end breaks the protocol: a notice that makes no sense");
                return false;
            }
            int verdict = validate(foundRegion, foundKind, foundOffset, foundLength);
            if (verdict < 0) {
                receivesFlushed = true;
                link.fail("the other end breaks the protocol: a notice of " + foundLength + " bytes at " + foundOffset
                        + " of region " + (isImmediate ? "named " + ImmediateCompletion.name(immediate) : foundRegion));
                return false;
            }
            if (verdict > 0) {
                return true;
            }
            late++;
            releaseCurrent();
        }
        return false;
    }

    /** False if it makes no sense. */
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

    /** 1 if a notice may be, also of a copy before the right for it was taken away; 0 if it comes too late, for its region is gone; -1 if it makes no sense. */
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

    /** Whether an event makes sense yet: memory may have been taken back since it came. */
    private boolean isCurrent(int what, int id) {
        return what != EventType.COPIED && what != EventType.COPIED_FROM || regions.localOrRevoked(id) != null;
    }

    /**
     * The notice that the program has seen is taken, and there is a receive for another one. That is done when it polls again,
     * for it costs as much as all the rest, and who waits for an event wants it first.
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

    /** What the program has to know of a place where a remote region came or went. */
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

    /** Something has changed in a place of remote regions. */
    void regionChanged(int index) {
        synchronized (engineEvents) {
            enqueue(index);
        }
        wakeup.signal();
    }

    /**
     * An asynchronous copy has been done.
     *
     * @return false if that cannot be
     */
    boolean asyncCompletion(int id, int kind, long from, long bytes, long data) {
        int verdict = validate(id, kind, from, bytes);
        if (verdict < 0) {
            return false;
        }
        synchronized (engineEvents) {
            if (asyncPending >= maxAsyncPending) {
                return false;
            }
            if (verdict == 0) {
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

    /** Notices of a {@link CopyQueue} that were taken. */
    CreditReturn creditReturn() {
        return creditReturn;
    }

    /** The same, of asynchronous copies; {@link CreditReturn#consume} is called holding a lock. */
    CreditReturn asyncCreditReturn() {
        return asyncCreditReturn;
    }

    /** Has the bell rung at the next event; true if there is one already. */
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

    /** Lets nobody in any more; notices that have come, or are on their way yet, are kept for the program. */
    void end(ProgressExecutor executor) {
        quiescing.lock();
        try {
            guard.pause();
            while (!guard.isQuiescent()) {
                Thread.onSpinWait(); // nobody stays for long
            }
            if (guard.state() == QuiescenceGuard.PAUSED) {
                drain(executor);
                guard.end();
            }
        } finally {
            quiescing.unlock();
        }
    }

    /** Until the first flushed receive: the other end may have been told that a copy succeeded which comes only now. */
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

    /** The event that the last poll has found. */
    @Override
    public String toString() {
        return "EventQueue[" + EventType.toString(type) + ", region=" + region + ", offset=" + offset + ", length="
                + length
                + ", userData=" + userData + "]";
    }
}
