// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcStatus;

/**
 * Copies between memory of the two ends, and tells what has been done: what {@code sendmsg} with {@code SMC_ERM_CMD_COPY} and
 * no message are.
 *
 * {@snippet :
 * int error = copies.copy(mine.id(), 0, theirs.id(), 4096, 1 << 20, CopyFlags.REMOTE_COMPLETION, context, 0);
 * while (!copies.poll()) {
 *     Thread.onSpinWait();
 * }
 * if (copies.status() == WcStatus.SUCCESS) { // the bytes are there, and copies.context() says which
 *     ...
 * }
 * }
 *
 * <p>One region is this end's and the other one the other end's: the direction follows from that. Everything is checked before
 * anything is posted, so a mistake costs nothing but its answer. Copies are done, and complete, in the order in which they
 * were started.
 *
 * <p>One thread at a time copies and polls; nothing is locked for it. No call allocates, throws, locks, or makes a system call
 * but what the provider makes. At most {@link #depth()} copies are on their way or wait to be polled.
 */
public final class CopyQueue {
    private static final int DEPTH = Limits.COPIES;
    private static final int MASK = DEPTH - 1;
    private static final long INSIDE_PAUSE_NANOS = 1_000;
    private static final int MOST_UNSIGNALED = DEPTH / 4;
    private static final VarHandle COMPLETED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            COMPLETED = lookup.findVarHandle(CopyQueue.class, "reported", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Regions regions;
    private final int side;
    private final Link link;
    private final SendQueue queue;
    private final CompletionQueue done;
    private final long maxLength;
    private final Gate gate = new Gate();
    private final Bell bell;
    private final ReentrantLock shutting = new ReentrantLock();
    private final MemoryRegion leaving;
    private final long leavingAddress;
    private @Nullable EventQueue events;

    // copies by number, modulo DEPTH; the numbers count from 0
    private final long[] contexts = new long[DEPTH];
    private final boolean[] silent = new boolean[DEPTH];
    private long posted;
    private int unsignaled;
    /** Those before it have been reported, or need not be. */
    private long reported;

    // what was polled for the program while it did not poll: guarded by the gate
    private final long[] keptNumber = new long[DEPTH];
    private final int[] keptStatus = new int[DEPTH];
    private int kept;
    private int keptFrom;

    private final Credit credit;

    private long context;
    private int status;
    private boolean held;

    private final CopyBatch batch = new CopyBatch();

    private long copies;
    private long bytesWritten;
    private long bytesRead;
    private long failed;
    private long noticed;

    CopyQueue(Regions regions, Link link, int peerNotices) {
        this.regions = regions;
        side = regions.side();
        this.link = link;
        queue = link.data().sendQueue();
        leaving = link.notices();
        leavingAddress = leaving.segment().address();
        done = link.copied();
        maxLength = link.maxLength();
        bell = link.copyBell();
        credit = new Credit(peerNotices, bell);
    }

    void events(EventQueue takesThem) {
        events = takesThem;
    }

    /** How many copies may be on their way or wait to be polled. */
    public int depth() {
        return DEPTH;
    }

    /**
     * Copies, without user data.
     *
     * @return as {@link #copy(int, long, int, long, long, int, long, long)}
     */
    public int copy(int from, long fromOffset, int to, long toOffset, long length, int flags, long userContext) {
        return copy(from, fromOffset, to, toOffset, length, flags, userContext, 0);
    }

    /**
     * Copies {@code length} bytes: to the other end's memory, an RDMA WRITE, or from it, an RDMA READ.
     *
     * @param from id of the region to copy from, of one end
     * @param fromOffset of the first byte, in bytes
     * @param to id of the region to copy to, of the other end
     * @param toOffset of the first byte, in bytes
     * @param length bytes; 0 copies nothing and makes the same completions
     * @param flags see {@link CopyFlags}
     * @param userContext comes back with the completion
     * @param userData for the other end's event, with {@link CopyFlags#REMOTE_COMPLETION}
     * @return 0, or: {@code ENOENT} if one of the regions is not there, or no more, or both are of one end; {@code ERANGE} if
     *         the bytes do not lie in both; {@code EACCES} if a region does not give the right; {@code EINVAL} for unknown
     *         flags; {@code EMSGSIZE} for more than the provider carries at once (2 GiB); {@code EAGAIN} if
     *         {@link #depth()} copies have not been polled, or a region is just being taken back or
     *         {@linkplain LocalRegion#update updated}: poll and try again;
     *         {@code ENOBUFS} if the other end's program has not taken the events of earlier copies; {@code ENOTCONN} if the
     *         remote memory has ended
     */
    public int copy(int from, long fromOffset, int to, long toOffset, long length, int flags, long userContext,
            long userData) {
        int state = gate.enter();
        if (state != Gate.OPEN) {
            return state == Gate.SHUT ? Errno.EAGAIN : Errno.ENOTCONN;
        }
        int error = copyNow(from, fromOffset, to, toOffset, length, flags, userContext, userData);
        gate.leave();
        return error;
    }

    private int copyNow(int from, long fromOffset, int to, long toOffset, long length, int flags, long userContext,
            long userData) {
        boolean write = RegionId.side(from) == side;
        LocalRegion local = regions.local(write ? from : to);
        RemoteRegion remote = regions.remote(write ? to : from);
        if (local == null || remote == null) {
            return Errno.ENOENT;
        }
        long localAt = write ? fromOffset : toOffset;
        long remoteAt = write ? toOffset : fromOffset;
        int error = CopyCheck.check(local, localAt, remote, remoteAt, length, flags, write, maxLength);
        if (error != 0) {
            return error;
        }
        boolean tell = (flags & CopyFlags.REMOTE_COMPLETION) != 0;
        if (posted - reported >= DEPTH) {
            return Errno.EAGAIN;
        }
        if (tell && !credit.hasRoom(1)) {
            return Errno.ENOBUFS;
        }
        boolean quiet = (flags & CopyFlags.UNSIGNALED) != 0;
        boolean signal = !quiet || unsignaled + 1 >= MOST_UNSIGNALED;
        boolean shortly = tell && write && tellsShortly(credit.used() + 1, remote, remoteAt, userData);
        boolean notice = tell && !shortly;
        int how = (flags & CopyFlags.FENCE) != 0 ? SendFlags.FENCE : SendFlags.NONE;
        how |= signal && !notice ? SendFlags.SIGNALED : SendFlags.NONE;
        error = post(how, local.memory(), localAt, length, remote, remoteAt, write, shortly);
        if (error != 0) {
            return refused(error);
        }
        if (notice) {
            tell(remote.id(), remoteAt, length, userData, write, signal);
        }
        started(userContext, length, quiet, signal, tell, write);
        return 0;
    }

    private int post(int how, MemoryRegion local, long localAt, long length, RemoteRegion remote, long remoteAt,
            boolean write, boolean shortly) {
        if (shortly) {
            SendQueue open = queue.start();
            addShortly(open, posted, how, local, localAt, length, remote, remoteAt);
            return open.complete();
        }
        return write
                ? queue.postWrite(posted, how, local, localAt, length, remote.rkey(), remote.address() + remoteAt)
                : queue.postRead(posted, how, local, localAt, length, remote.rkey(), remote.address() + remoteAt);
    }

    private static void addShortly(SendQueue open, long number, int how, MemoryRegion local, long localAt, long length,
            RemoteRegion remote, long remoteAt) {
        open.writeImmediate(number, how, remote.rkey(), remote.address() + remoteAt, ShortNotice.of(remote.name(),
                remoteAt)).sge(local, localAt, length);
    }

    /** Whether a copy to the other end's memory can tell of itself, as notice {@code number}, which it does unless there is more to say. */
    private boolean tellsShortly(long number, RemoteRegion remote, long remoteAt, long userData) {
        Taken taken = taken();
        return ShortNotice.canTell(remote.name(), remoteAt, userData) && (taken == null || !taken.isDue(number));
    }

    private @Nullable Taken taken() {
        EventQueue taking = events;
        return taking == null ? null : taking.taken();
    }

    /** The copy has been posted, and there is room for this behind it: what refuses it ends everything. */
    private void tell(int id, long offset, long length, long userData, boolean write, boolean signal) {
        Taken taken = taken();
        long now = taken == null ? 0 : taken.count();
        long at = putNotice(posted, id, offset, length, userData, write, now);
        int error = queue.postSend(posted, howToTell(write, signal), leaving, at, Notice.BYTES);
        if (error != 0) {
            link.fail("the notice of a copy could not be sent: " + Errno.name(error));
        } else if (taken != null) {
            taken.toldByNotice(credit.used() + 1, now, credit.taken());
        }
    }

    private static int howToTell(boolean write, boolean signal) {
        int how = signal ? SendFlags.SIGNALED : SendFlags.NONE;
        return write ? how : how | SendFlags.FENCE;
    }

    /** The notice of copy {@code number}; answers where it is. That of an earlier copy in its place has been sent. */
    private long putNotice(long number, int id, long offset, long length, long userData, boolean write, long taken) {
        long at = link.leavingNotice((int) number & MASK);
        Notice.put(leavingAddress + at, id, write ? Notice.WRITTEN : Notice.READ, offset, length, userData,
                (int) taken);
        return at;
    }

    private static void add(SendQueue open, long number, LocalRegion local, long localAt, RemoteRegion remote,
            long remoteAt, long length, int how, boolean write, boolean shortly) {
        if (shortly) {
            addShortly(open, number, how, local.memory(), localAt, length, remote, remoteAt);
        } else if (write) {
            open.write(number, how, remote.rkey(), remote.address() + remoteAt).sge(local.memory(), localAt, length);
        } else {
            open.read(number, how, remote.rkey(), remote.address() + remoteAt).sge(local.memory(), localAt, length);
        }
    }

    private void started(long userContext, long length, boolean quiet, boolean signal, boolean tell, boolean write) {
        int slot = (int) posted & MASK;
        contexts[slot] = userContext;
        silent[slot] = quiet;
        posted++;
        unsignaled = signal ? 0 : unsignaled + 1;
        copies++;
        if (write) {
            bytesWritten += length;
        } else {
            bytesRead += length;
        }
        if (tell) {
            credit.use();
            noticed++;
        }
    }

    private static int refused(int error) {
        return error == Errno.ENOMEM ? Errno.EAGAIN : error == Errno.EINVAL ? Errno.ENOTCONN : error;
    }

    /** Opens a batch; one that was left open is dropped. */
    public CopyQueue start() {
        batch.clear();
        return this;
    }

    /** Adds a copy to the batch, as {@link #copy(int, long, int, long, long, int, long, long)}; {@link #commit} checks it. */
    public CopyQueue add(int from, long fromOffset, int to, long toOffset, long length, int flags, long userContext,
            long userData) {
        batch.add(from, fromOffset, to, toOffset, length, flags, userContext, userData);
        return this;
    }

    /**
     * Starts the copies of the batch, all of them or none.
     *
     * @return as {@link #copy(int, long, int, long, long, int, long, long)}, of the first that is refused; {@code E2BIG} for
     *         more than 32 copies
     */
    public int commit() {
        int error;
        int state = batch.count > CopyBatch.MOST ? Gate.SHUT : gate.enter();
        if (state == Gate.OPEN) {
            error = checkBatch();
            if (error == 0 && batch.count > 0) {
                error = postBatch();
            }
            gate.leave();
        } else {
            error = batch.count > CopyBatch.MOST ? Errno.E2BIG : state == Gate.SHUT ? Errno.EAGAIN : Errno.ENOTCONN;
        }
        batch.clear();
        return error;
    }

    private int checkBatch() {
        CopyBatch b = batch;
        int tells = 0;
        for (int i = 0; i < b.count; i++) {
            boolean write = RegionId.side(b.from[i]) == side;
            LocalRegion local = regions.local(write ? b.from[i] : b.to[i]);
            RemoteRegion remote = regions.remote(write ? b.to[i] : b.from[i]);
            if (local == null || remote == null) {
                return Errno.ENOENT;
            }
            int error = CopyCheck.check(local, write ? b.fromOffset[i] : b.toOffset[i], remote, write
                    ? b.toOffset[i]
                    : b.fromOffset[i], b.length[i], b.flags[i], write, maxLength);
            if (error != 0) {
                return error;
            }
            b.local[i] = local;
            b.remote[i] = remote;
            tells += b.flags[i] & CopyFlags.REMOTE_COMPLETION;
        }
        if (posted - reported + b.count > DEPTH) {
            return Errno.EAGAIN;
        }
        return tells > 0 && !credit.hasRoom(tells) ? Errno.ENOBUFS : 0;
    }

    private int postBatch() {
        CopyBatch b = batch;
        Taken taken = taken();
        long now = taken == null ? 0 : taken.count();
        long number = credit.used();
        long lastNotice = 0;
        SendQueue open = queue.start();
        for (int i = 0; i < b.count; i++) {
            LocalRegion local = b.local[i];
            RemoteRegion remote = b.remote[i];
            if (local == null || remote == null) {
                throw new IllegalStateException("a batch is posted that was not checked");
            }
            boolean write = RegionId.side(b.from[i]) == side;
            boolean signal = isSignaled(i);
            int how = (b.flags[i] & CopyFlags.FENCE) != 0 ? SendFlags.FENCE : SendFlags.NONE;
            boolean tell = (b.flags[i] & CopyFlags.REMOTE_COMPLETION) != 0;
            long remoteAt = write ? b.toOffset[i] : b.fromOffset[i];
            number += tell ? 1 : 0;
            boolean shortly = tell && write && (lastNotice != 0
                    ? ShortNotice.canTell(remote.name(), remoteAt, b.userData[i])
                    : tellsShortly(number, remote, remoteAt, b.userData[i]));
            boolean notice = tell && !shortly;
            add(open, posted + i, local, write ? b.fromOffset[i] : b.toOffset[i], remote, remoteAt, b.length[i], signal
                    && !notice ? how | SendFlags.SIGNALED : how, write, shortly);
            if (notice) {
                lastNotice = number;
                long at = putNotice(posted + i, remote.id(), remoteAt, b.length[i], b.userData[i], write, now);
                open.send(posted + i, howToTell(write, signal)).sge(leaving, at, Notice.BYTES);
            }
        }
        int error = open.complete();
        if (error != 0) {
            return refused(error);
        }
        if (taken != null && lastNotice != 0) {
            taken.toldByNotice(lastNotice, now, credit.taken());
        }
        for (int i = 0; i < b.count; i++) {
            started(b.userContext[i], b.length[i], (b.flags[i] & CopyFlags.UNSIGNALED) != 0, isSignaled(i),
                    (b.flags[i] & CopyFlags.REMOTE_COMPLETION) != 0, RegionId.side(b.from[i]) == side);
        }
        return 0;
    }

    /** Whether a copy of the batch makes a completion for this queue: the last one does, so that places become free. */
    private boolean isSignaled(int i) {
        return i == batch.count - 1 || (batch.flags[i] & CopyFlags.UNSIGNALED) == 0;
    }

    // ---- what has been done

    /**
     * Moves on to the next copy that has been done, or has failed.
     *
     * @return true if there is one: {@link #context()} and {@link #status()} are of it
     */
    public boolean poll() {
        if (held) {
            held = false;
            return true;
        }
        int state = gate.enter();
        if (state == Gate.OPEN) {
            boolean found = next(true);
            gate.leave();
            return found;
        }
        return state == Gate.ENDED && next(false);
    }

    private boolean next(boolean live) {
        while (true) {
            long number;
            int how;
            if (kept > 0) {
                number = keptNumber[keptFrom];
                how = keptStatus[keptFrom];
                keptFrom = keptFrom + 1 & MASK;
                kept--;
            } else if (live && done.startPoll() == 0) {
                number = done.wrId();
                how = done.status();
                done.endPoll();
            } else {
                return false;
            }
            if (number < reported) {
                continue; // the second request of a copy that has failed
            }
            COMPLETED.setRelease(this, number + 1);
            int slot = (int) number & MASK;
            if (how != WcStatus.SUCCESS) {
                failed++;
                hasFailed(how);
            } else if (silent[slot]) {
                continue;
            }
            context = contexts[slot];
            status = how;
            return true;
        }
    }

    /** Its queue pair has failed, and the other one knows nothing of it. */
    private void hasFailed(int how) {
        if (link.failure() == null) {
            link.fail("a copy failed: " + WcStatus.toString(how));
        }
    }

    /** The user context of the copy that {@link #poll} has found. */
    public long context() {
        return context;
    }

    /**
     * How the copy that {@link #poll} has found ended, see {@link WcStatus}. What is not {@link WcStatus#SUCCESS} has ended
     * the remote memory of the connection, too, and {@link RemoteMemory#endReason()} says why; the socket goes on.
     */
    public int status() {
        return status;
    }

    /** How many copies have been started and not been found by {@link #poll}. For the thread that copies. */
    public int outstanding() {
        return (int) (posted - reported);
    }

    // ---- waiting

    /** Has the bell rung at the next completion, or when there is room for notices after there was none; true if there is one already. */
    boolean arm() {
        bell.silence();
        if (held) {
            return true;
        }
        int state = enterWaiting();
        if (state == Gate.OPEN) {
            done.requestNotify(false);
            held = next(true);
            gate.leave();
        } else {
            held = next(false);
        }
        return held || state == Gate.ENDED || credit.isBack();
    }

    private int enterWaiting() {
        int state;
        while ((state = gate.enter()) == Gate.SHUT) {
            Thread.onSpinWait();
        }
        return state;
    }

    // ---- for the other threads

    /** How many notices may be sent; those who hear of more tell it. */
    Credit credit() {
        return credit;
    }

    /** A number that {@link #isDone} is to be asked with: all copies that have been started by now. Nobody is inside then. */
    long mark() {
        shutting.lock();
        try {
            if (!shut()) {
                return 0;
            }
            signalLast();
            long now = posted;
            gate.open();
            return now;
        } finally {
            shutting.unlock();
        }
    }

    /** Shuts the gate and waits until the program is out; false if it has ended. */
    private boolean shut() {
        gate.shut();
        while (!gate.isEmpty()) {
            LockSupport.parkNanos(INSIDE_PAUSE_NANOS); // it may be copying a gigabyte
        }
        return gate.state() == Gate.SHUT;
    }

    /**
     * The last copy makes a completion, as it would if it had been signalled: by a write of nothing behind it, whose key is not
     * looked at. If there is no room for that there is later.
     */
    private void signalLast() {
        if (unsignaled > 0 && queue.postWrite(posted - 1, SendFlags.SIGNALED, leaving, 0, 0, 0, 0) == 0) {
            unsignaled = 0;
        }
    }

    /** Whether the copies before a mark have been done; polls for the program if that has not done so. */
    boolean isDone(long mark) {
        if ((long) COMPLETED.getAcquire(this) >= mark) {
            return true;
        }
        shutting.lock();
        try {
            if (!shut()) {
                return true;
            }
            signalLast();
            keep();
            boolean done = lastKept() >= mark;
            gate.open();
            return done;
        } finally {
            shutting.unlock();
        }
    }

    private long lastKept() {
        return kept == 0 ? reported : keptNumber[keptFrom + kept - 1 & MASK] + 1;
    }

    private void keep() {
        while (done.startPoll() == 0) {
            keep(done.wrId(), done.status());
            done.endPoll();
        }
    }

    private void keep(long number, int how) {
        if (number >= lastKept() && number < posted) {
            int at = keptFrom + kept++ & MASK;
            keptNumber[at] = number;
            keptStatus[at] = how;
            if (how != WcStatus.SUCCESS) {
                hasFailed(how);
            }
        }
    }

    /** Lets nobody in any more; what has been done is kept for the program, and what has not fails. */
    void end() {
        shutting.lock();
        try {
            if (shut()) {
                keep();
                while (lastKept() < posted) {
                    keep(lastKept(), WcStatus.WR_FLUSH_ERR);
                }
                gate.end();
            }
        } finally {
            shutting.unlock();
        }
    }

    long copies() {
        return copies;
    }

    long bytesWritten() {
        return bytesWritten;
    }

    long bytesRead() {
        return bytesRead;
    }

    long failed() {
        return failed;
    }

    long stalls() {
        return credit.refusals();
    }

    long noticed() {
        return noticed;
    }

    @Override
    public String toString() {
        return "CopyQueue[outstanding=" + outstanding() + ", depth=" + depth() + "]";
    }
}
