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
    private static final long LAST_NOTICES_NANOS = 2_000_000_000L;
    private static final long PAUSE_NANOS = 50_000;

    /** An event that the engine has put here: of a copy that nobody polled for, or of the place of a remote region. */
    private record Own(int type, int region, long offset, long length, long userData, boolean async) {}

    private final Regions regions;
    private final CompletionQueue noticed;
    private final ReceiveQueue receives;
    private final Link link;
    /** Address of the notices that come, and how many there is room for. */
    private final long inbox;
    private final int slots;
    private final Gate gate = new Gate();
    private final Bell bell;
    private final Runnable tellTaken;
    private final ReentrantLock shutting = new ReentrantLock();

    // guarded by itself
    private final Deque<Own> own = new ArrayDeque<>();
    private final boolean[] dirty = new boolean[Limits.REGIONS];
    private final int[] announced = new int[Limits.REGIONS];
    private final int[] versions = new int[Limits.REGIONS];
    private int asyncWaiting;
    private long lateOwn;
    /** How many there are in {@link #own}; 0 costs a poll nothing. */
    private volatile int waiting;

    /** Notices of a {@link CopyQueue}. */
    private final Taken taken;
    /** Notices of asynchronous copies. */
    private final Taken asyncTaken;
    private final int mostAsync;

    private @Nullable CopyQueue copies;
    private boolean closedTold;
    private boolean held;

    private int type;
    private int region;
    private long offset;
    private long length;
    private long userData;

    // guarded by the gate
    /** Whose notice the program has seen, or {@link #NONE}. */
    private int seen = NONE;
    /** Whether no notice comes any more that is to be believed: a receive has been flushed. */
    private boolean complete;
    private int foundKind;
    private int foundRegion;
    private long foundOffset;
    private long foundLength;
    private long foundData;

    private long polled;
    private long late;

    /** @param tellTaken has the other end told how many notices were taken */
    EventQueue(Regions regions, Link link, Runnable tellTaken) {
        this.regions = regions;
        this.link = link;
        this.tellTaken = tellTaken;
        noticed = link.noticed();
        receives = link.data().receiveQueue();
        inbox = link.notices().segment().address();
        slots = link.leeway().notices();
        bell = link.eventBell();
        taken = new Taken(link.leeway().notices());
        asyncTaken = new Taken(link.leeway().asyncNotices());
        mostAsync = link.leeway().asyncNotices();
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
        if (held) {
            held = false;
            if (isOfKnown(type, region)) {
                return true;
            }
            polled--;
            late++;
        }
        int state = gate.enter();
        if (state == Gate.OPEN) {
            boolean found = waiting != 0 && nextOwn() || nextNotice() && setNotice();
            gate.leave();
            return found;
        }
        return state == Gate.ENDED && (nextOwn() || nextClosed());
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
        if (closedTold) {
            return false;
        }
        closedTold = true;
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

    private boolean setNotice() {
        set(type(foundKind), foundRegion, foundOffset, foundLength, foundData);
        return true;
    }

    /** Takes the next notice that makes sense: into what {@link #setNotice} shows, for the program may still look at the last event. */
    private boolean nextNotice() {
        giveBack();
        while (noticed.startPoll() == 0) {
            int slot = (int) noticed.wrId();
            boolean dead = noticed.status() != WcStatus.SUCCESS;
            boolean shortly = !dead && noticed.opcode() == WcOpcode.RECV_RDMA_WITH_IMM;
            int immediate = shortly ? noticed.immediate() : 0;
            long bytes = dead ? 0 : noticed.byteLength();
            noticed.endPoll();
            if (dead) {
                complete = true;
                link.fail("the other end is gone");
                continue;
            }
            seen = slot;
            if (shortly) {
                found(Notice.WRITTEN, regions.called(ShortNotice.name(immediate)), ShortNotice.offset(immediate),
                        bytes, 0);
            } else if (bytes != Notice.BYTES || !read(inbox + (long) Objects.checkIndex(slot, slots)
                    * Messages.RECEIVE_BYTES)) {
                complete = true;
                link.fail("the other end breaks the protocol: a notice that makes no sense");
                return false;
            }
            int verdict = judge(foundRegion, foundKind, foundOffset, foundLength);
            if (verdict < 0) {
                complete = true;
                link.fail("the other end breaks the protocol: a notice of " + foundLength + " bytes at " + foundOffset
                        + " of region " + (shortly ? "named " + ShortNotice.name(immediate) : foundRegion));
                return false;
            }
            if (verdict > 0) {
                return true;
            }
            late++;
            giveBack();
        }
        return false;
    }

    /** False if it makes no sense. */
    private boolean read(long notice) {
        long head = Notice.head(notice);
        found(Notice.kind(head), Notice.id(head), Notice.offset(notice), Notice.length(notice), Notice.userData(
                notice));
        CopyQueue ours = copies;
        return ours != null && ours.credit().byNotice(Notice.taken(notice));
    }

    private void found(int kind, int id, long at, long bytes, long data) {
        foundKind = kind;
        foundRegion = id;
        foundOffset = at;
        foundLength = bytes;
        foundData = data;
    }

    /** 1 if a notice may be, also of a copy before the right for it was taken away; 0 if it comes too late, for its region is gone; -1 if it makes no sense. */
    private int judge(int id, int kind, long from, long bytes) {
        LocalRegion ours = regions.known(id);
        if (ours == null) {
            return regions.wasThere(id) ? 0 : -1;
        }
        int needed = kind == Notice.WRITTEN
                ? AccessFlags.REMOTE_WRITE
                : kind == Notice.READ ? AccessFlags.REMOTE_READ : -1;
        return needed > 0 && (ours.registered() & needed) != 0 && from >= 0 && bytes >= 0 && bytes <= ours.length()
                && from <= ours.length() - bytes ? 1 : -1;
    }

    private static int type(int kind) {
        return kind == Notice.WRITTEN ? EventType.COPIED : EventType.COPIED_FROM;
    }

    /** Whether an event makes sense yet: memory may have been taken back since it came. */
    private boolean isOfKnown(int what, int id) {
        return what != EventType.COPIED && what != EventType.COPIED_FROM || regions.known(id) != null;
    }

    /**
     * The notice that the program has seen is taken, and there is a receive for another one. That is done when it polls again,
     * for it costs as much as all the rest, and who waits for an event wants it first.
     */
    private void giveBack() {
        int slot = seen;
        if (slot >= 0) {
            seen = NONE;
            receives.post(slot, link.notices(), (long) slot * Messages.RECEIVE_BYTES, Messages.RECEIVE_BYTES);
            if (taken.take()) {
                tellTaken.run();
            }
        }
    }

    private boolean nextOwn() {
        synchronized (own) {
            Own next;
            while ((next = own.poll()) != null) {
                waiting = own.size();
                if (next.async()) {
                    asyncWaiting--;
                    tookAsync();
                }
                if (!isOfKnown(next.type(), next.region())) {
                    lateOwn++;
                    continue;
                }
                if (next.type() != EventType.REGION_ADDED) {
                    set(next.type(), next.region(), next.offset(), next.length(), next.userData());
                    return true;
                }
                if (nextOfPlace(next.region())) {
                    return true;
                }
            }
            return false;
        }
    }

    private void tookAsync() {
        if (asyncTaken.take()) {
            tellTaken.run();
        }
    }

    /** What the program has to know of a place where a remote region came or went. */
    private boolean nextOfPlace(int index) {
        RemoteRegion there = regions.remoteAt(index);
        int before = announced[index];
        dirty[index] = false;
        if (before != 0 && (there == null || there.id() != before)) {
            announced[index] = 0;
            if (there != null) {
                enqueue(index);
            }
            set(EventType.REGION_REMOVED, before, 0, 0, 0);
            return true;
        }
        if (there != null && (before == 0 || versions[index] != there.version())) {
            announced[index] = there.id();
            versions[index] = there.version();
            set(before == 0 ? EventType.REGION_ADDED : EventType.REGION_UPDATED, there.id(), 0, there.length(), there
                    .saidTag());
            return true;
        }
        return false;
    }

    private void enqueue(int index) {
        if (!dirty[index]) {
            dirty[index] = true;
            own.add(new Own(EventType.REGION_ADDED, index, 0, 0, 0, false));
            waiting = own.size();
        }
    }

    // ---- for the engine

    /** Something has changed in a place of remote regions. */
    void changed(int index) {
        synchronized (own) {
            enqueue(index);
        }
        bell.ring();
    }

    /**
     * An asynchronous copy has been done.
     *
     * @return false if that cannot be
     */
    boolean notice(int id, int kind, long from, long bytes, long data) {
        int verdict = judge(id, kind, from, bytes);
        if (verdict < 0) {
            return false;
        }
        synchronized (own) {
            if (asyncWaiting >= mostAsync) {
                return false;
            }
            if (verdict == 0) {
                tookAsync();
                lateOwn++;
                return true;
            }
            asyncWaiting++;
            own.add(new Own(type(kind), id, from, bytes, data, true));
            waiting = own.size();
        }
        bell.ring();
        return true;
    }

    /** Notices of a {@link CopyQueue} that were taken. */
    Taken taken() {
        return taken;
    }

    /** The same, of asynchronous copies; {@link Taken#take} is called holding a lock. */
    Taken asyncTaken() {
        return asyncTaken;
    }

    /** Has the bell rung at the next event; true if there is one already. */
    boolean arm() {
        bell.silence();
        if (held) {
            return true;
        }
        int state;
        while ((state = gate.enter()) == Gate.SHUT) {
            Thread.onSpinWait();
        }
        if (state == Gate.OPEN) {
            noticed.requestNotify(false);
            held = waiting != 0 && nextOwn() || nextNotice() && setNotice();
            gate.leave();
        } else {
            held = nextOwn() || nextClosed();
        }
        return held;
    }

    /** Lets nobody in any more; notices that have come, or are on their way yet, are kept for the program. */
    void end(Attendant attendant) {
        shutting.lock();
        try {
            gate.shut();
            while (!gate.isEmpty()) {
                Thread.onSpinWait(); // nobody stays for long
            }
            if (gate.state() == Gate.SHUT) {
                keep(attendant);
                gate.end();
            }
        } finally {
            shutting.unlock();
        }
    }

    /** Until the first flushed receive: the other end may have been told that a copy succeeded which comes only now. */
    private void keep(Attendant attendant) {
        long start = System.nanoTime();
        while (true) {
            while (nextNotice()) {
                synchronized (own) {
                    own.add(new Own(type(foundKind), foundRegion, foundOffset, foundLength, foundData, false));
                    waiting = own.size();
                }
            }
            if (complete || !link.isFlushing() || System.nanoTime() - start > LAST_NOTICES_NANOS) {
                return;
            }
            attendant.pause(PAUSE_NANOS);
        }
    }

    long polled() {
        return polled;
    }

    long late() {
        synchronized (own) {
            return late + lateOwn;
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
