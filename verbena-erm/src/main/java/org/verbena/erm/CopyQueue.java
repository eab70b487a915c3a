// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcStatus;

/**
 * Copies between memory of the two ends, and reports their completion: the counterpart of {@code sendmsg} with
 * {@code SMC_ERM_CMD_COPY}.
 *
 * {@snippet :
 * int error = copies.copy(mine.id(), 0, theirs.id(), 4096, 1 << 20, CopyFlags.REMOTE_COMPLETION, context, 0);
 * while (!copies.poll()) {
 *     Thread.onSpinWait();
 * }
 * if (copies.status() == WcStatus.SUCCESS) { // the bytes have arrived; copies.context() identifies the copy
 *     ...
 * }
 * }
 *
 * <p>One region is this end's and the other one the other end's: the direction follows from that. Everything is checked
 * before anything is posted, so an invalid copy has no effect but its error. Copies are done, and complete, in the
 * order in which they were started.
 *
 * <p>One thread at a time copies and polls; nothing is locked for it. No call allocates, throws, locks, or makes a
 * system call except those of the provider. At most {@link #depth()} copies are outstanding or wait to be polled.
 */
public final class CopyQueue {
    private static final int DEPTH = Limits.COPIES;
    private static final int MASK = DEPTH - 1;
    private static final long QUIESCENCE_POLL_NANOS = 1_000;
    private static final int MAX_UNSIGNALED = DEPTH / 4;

    private final Regions regions;
    private final int side;
    private final PeerLink link;
    private final SendQueue queue;
    private final CopyCompletions completions;
    private final long maxLength;
    private final QuiescenceGuard guard = new QuiescenceGuard();
    private final Wakeup wakeup;
    private final ReentrantLock quiescing = new ReentrantLock();
    private final MemoryRegion outgoing;
    private final long outgoingAddress;
    private @Nullable EventQueue events;

    /** Copies count from 0. */
    private long posted;
    private int unsignaled;

    private final Credit credit;

    private boolean prefetched;

    private final CopyBatch batch = new CopyBatch();

    private long copies;
    private long bytesWritten;
    private long bytesRead;
    private long remoteCompletions;

    CopyQueue(Regions regions, PeerLink link, int peerCredits) {
        this.regions = regions;
        side = regions.side();
        this.link = link;
        queue = link.data().sendQueue();
        outgoing = link.completionBuffer();
        outgoingAddress = outgoing.segment().address();
        completions = new CopyCompletions(link);
        maxLength = link.maxLength();
        wakeup = link.copyWakeup();
        credit = new Credit(peerCredits, wakeup);
    }

    void events(EventQueue queue) {
        events = queue;
    }

    /** How many copies may be outstanding or wait to be polled. */
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
     * @param from id of the region to copy from, of either end
     * @param fromOffset of the first byte, in bytes
     * @param to id of the region to copy to, of the other end
     * @param toOffset of the first byte, in bytes
     * @param length bytes; 0 copies nothing and yields the same completions
     * @param flags see {@link CopyFlags}
     * @param userContext returned with the completion
     * @param userData for the other end's event, with {@link CopyFlags#REMOTE_COMPLETION}
     * @return 0, or: {@code ENOENT} if a region does not exist, or not any more, or both are of one end; {@code ERANGE}
     *         if the bytes are out of bounds of either; {@code EACCES} if a region lacks the right; {@code EINVAL} for
     *         unknown flags; {@code EMSGSIZE} for more than the provider transfers at once (2 GiB); {@code EAGAIN} if
     *         {@link #depth()} copies have not been polled, or a region is being deregistered or
     *         {@linkplain LocalRegion#update updated}: poll and retry; {@code ENOBUFS} if the other end's program has
     *         not polled the events of earlier copies; {@code ENOTCONN} if the remote memory has ended
     */
    public int copy(int from, long fromOffset, int to, long toOffset, long length, int flags, long userContext,
            long userData) {
        int state = guard.enter();
        if (state != QuiescenceGuard.OPEN) {
            return state == QuiescenceGuard.PAUSED ? Errno.EAGAIN : Errno.ENOTCONN;
        }
        int error = copyNow(from, fromOffset, to, toOffset, length, flags, userContext, userData);
        guard.exit();
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
        boolean signalPeer = (flags & CopyFlags.REMOTE_COMPLETION) != 0;
        if (posted - completions.reported() >= DEPTH) {
            return Errno.EAGAIN;
        }
        if (signalPeer && !credit.hasRoom(1)) {
            return Errno.ENOBUFS;
        }
        boolean unsignaledCopy = (flags & CopyFlags.UNSIGNALED) != 0;
        boolean signal = !unsignaledCopy || unsignaled + 1 >= MAX_UNSIGNALED;
        boolean immediate = signalPeer && write && fitsImmediate(credit.used() + 1, remote, remoteAt, userData);
        boolean separate = signalPeer && !immediate;
        int sendFlags = (flags & CopyFlags.FENCE) != 0 ? SendFlags.FENCE : SendFlags.NONE;
        sendFlags |= signal && !separate ? SendFlags.SIGNALED : SendFlags.NONE;
        error = post(sendFlags, local.memory(), localAt, length, remote, remoteAt, write, immediate);
        if (error != 0) {
            return refused(error);
        }
        if (separate) {
            sendCompletion(remote.id(), remoteAt, length, userData, write, signal);
        }
        recordStarted(userContext, length, unsignaledCopy, signal, signalPeer, write);
        return 0;
    }

    private int post(int sendFlags, MemoryRegion local, long localAt, long length, RemoteRegion remote, long remoteAt,
            boolean write, boolean immediate) {
        if (immediate) {
            SendQueue open = queue.start();
            addImmediate(open, posted, sendFlags, local, localAt, length, remote, remoteAt);
            return open.complete();
        }
        return write
                ? queue.postWrite(posted, sendFlags, local, localAt, length, remote.rkey(), remote.address() + remoteAt)
                : queue.postRead(posted, sendFlags, local, localAt, length, remote.rkey(), remote.address() + remoteAt);
    }

    private static void addImmediate(SendQueue open, long number, int sendFlags, MemoryRegion local, long localAt,
            long length,
            RemoteRegion remote, long remoteAt) {
        open.writeImmediate(number, sendFlags, remote.rkey(), remote.address() + remoteAt, ImmediateCompletion.of(remote
                .name(),
                remoteAt)).sge(local, localAt, length);
    }

    /**
     * Whether remote completion {@code number}, of a copy to the other end's memory, can be the copy's own immediate
     * value: it fits, and no credits are due.
     */
    private boolean fitsImmediate(long number, RemoteRegion remote, long remoteAt, long userData) {
        CreditReturn taken = creditReturn();
        return ImmediateCompletion.canEncode(remote.name(), remoteAt, userData) && (taken == null || !taken.isDue(
                number));
    }

    private @Nullable CreditReturn creditReturn() {
        EventQueue taking = events;
        return taking == null ? null : taking.creditReturn();
    }

    /** Sends the remote completion of a posted copy; there is room for it, so a refusal ends the remote memory. */
    private void sendCompletion(int id, long offset, long length, long userData, boolean write, boolean signal) {
        CreditReturn taken = creditReturn();
        long now = taken == null ? 0 : taken.consumed();
        long at = putCompletion(posted, id, offset, length, userData, write, now);
        int error = queue.postSend(posted, completionSendFlags(write, signal), outgoing, at, CompletionLayout.BYTES);
        if (error != 0) {
            link.fail("the remote completion of a copy could not be sent: " + Errno.name(error));
        } else if (taken != null) {
            taken.returnedInBand(credit.used() + 1, now, credit.consumed());
        }
    }

    private static int completionSendFlags(boolean write, boolean signal) {
        int sendFlags = signal ? SendFlags.SIGNALED : SendFlags.NONE;
        return write ? sendFlags : sendFlags | SendFlags.FENCE;
    }

    /**
     * Writes the remote completion of copy {@code number} and returns its offset. The one of an earlier copy in this
     * slot has been sent.
     */
    private long putCompletion(long number, int id, long offset, long length, long userData, boolean write,
            long taken) {
        long at = link.outgoingCompletionOffset((int) number & MASK);
        RemoteCompletion.put(outgoingAddress + at, id, write ? RemoteCompletion.WRITTEN : RemoteCompletion.READ, offset,
                length, userData,
                (int) taken);
        return at;
    }

    private static void add(SendQueue open, long number, LocalRegion local, long localAt, RemoteRegion remote,
            long remoteAt, long length, int sendFlags, boolean write, boolean immediate) {
        if (immediate) {
            addImmediate(open, number, sendFlags, local.memory(), localAt, length, remote, remoteAt);
        } else if (write) {
            open.write(number, sendFlags, remote.rkey(), remote.address() + remoteAt).sge(local.memory(), localAt,
                    length);
        } else {
            open.read(number, sendFlags, remote.rkey(), remote.address() + remoteAt).sge(local.memory(), localAt,
                    length);
        }
    }

    private void recordStarted(long userContext, long length, boolean unsignaledCopy, boolean signal,
            boolean signalPeer, boolean write) {
        completions.started(posted, userContext, unsignaledCopy);
        posted++;
        unsignaled = signal ? 0 : unsignaled + 1;
        copies++;
        if (write) {
            bytesWritten += length;
        } else {
            bytesRead += length;
        }
        if (signalPeer) {
            credit.use();
            remoteCompletions++;
        }
    }

    private static int refused(int error) {
        return error == Errno.ENOMEM ? Errno.EAGAIN : error == Errno.EINVAL ? Errno.ENOTCONN : error;
    }

    /** Opens a batch; an open one is dropped. */
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
     * @return as {@link #copy(int, long, int, long, long, int, long, long)}, for the first copy that is refused;
     *         {@code E2BIG} for more than 32 copies
     */
    public int commit() {
        int error;
        int state = batch.count > CopyBatch.MAX_COPIES ? QuiescenceGuard.PAUSED : guard.enter();
        if (state == QuiescenceGuard.OPEN) {
            error = checkBatch();
            if (error == 0 && batch.count > 0) {
                error = postBatch();
            }
            guard.exit();
        } else {
            error = batch.count > CopyBatch.MAX_COPIES
                    ? Errno.E2BIG
                    : state == QuiescenceGuard.PAUSED ? Errno.EAGAIN : Errno.ENOTCONN;
        }
        batch.clear();
        return error;
    }

    private int checkBatch() {
        CopyBatch b = batch;
        int credits = 0;
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
            credits += b.flags[i] & CopyFlags.REMOTE_COMPLETION;
        }
        if (posted - completions.reported() + b.count > DEPTH) {
            return Errno.EAGAIN;
        }
        return credits > 0 && !credit.hasRoom(credits) ? Errno.ENOBUFS : 0;
    }

    private int postBatch() {
        CopyBatch b = batch;
        CreditReturn taken = creditReturn();
        long now = taken == null ? 0 : taken.consumed();
        long number = credit.used();
        long lastSeparate = 0;
        SendQueue open = queue.start();
        for (int i = 0; i < b.count; i++) {
            LocalRegion local = b.local[i];
            RemoteRegion remote = b.remote[i];
            if (local == null || remote == null) {
                throw new IllegalStateException("a batch is posted that was not checked");
            }
            boolean write = RegionId.side(b.from[i]) == side;
            boolean signal = isSignaled(i);
            int sendFlags = (b.flags[i] & CopyFlags.FENCE) != 0 ? SendFlags.FENCE : SendFlags.NONE;
            boolean signalPeer = (b.flags[i] & CopyFlags.REMOTE_COMPLETION) != 0;
            long remoteAt = write ? b.toOffset[i] : b.fromOffset[i];
            number += signalPeer ? 1 : 0;
            boolean immediate = signalPeer && write && (lastSeparate != 0
                    ? ImmediateCompletion.canEncode(remote.name(), remoteAt, b.userData[i])
                    : fitsImmediate(number, remote, remoteAt, b.userData[i]));
            boolean separate = signalPeer && !immediate;
            add(open, posted + i, local, write ? b.fromOffset[i] : b.toOffset[i], remote, remoteAt, b.length[i], signal
                    && !separate ? sendFlags | SendFlags.SIGNALED : sendFlags, write, immediate);
            if (separate) {
                lastSeparate = number;
                long at = putCompletion(posted + i, remote.id(), remoteAt, b.length[i], b.userData[i], write, now);
                open.send(posted + i, completionSendFlags(write, signal)).sge(outgoing, at, CompletionLayout.BYTES);
            }
        }
        int error = open.complete();
        if (error != 0) {
            return refused(error);
        }
        if (taken != null && lastSeparate != 0) {
            taken.returnedInBand(lastSeparate, now, credit.consumed());
        }
        for (int i = 0; i < b.count; i++) {
            recordStarted(b.userContext[i], b.length[i], (b.flags[i] & CopyFlags.UNSIGNALED) != 0, isSignaled(i),
                    (b.flags[i] & CopyFlags.REMOTE_COMPLETION) != 0, RegionId.side(b.from[i]) == side);
        }
        return 0;
    }

    /** Whether a copy of the batch is signaled: the last one is, so that slots become free. */
    private boolean isSignaled(int i) {
        return i == batch.count - 1 || (batch.flags[i] & CopyFlags.UNSIGNALED) == 0;
    }

    // ---- what has been done

    /**
     * Advances to the next copy that has completed or failed.
     *
     * @return true if there is one: {@link #context()} and {@link #status()} describe it
     */
    public boolean poll() {
        if (prefetched) {
            prefetched = false;
            return true;
        }
        int state = guard.enter();
        if (state == QuiescenceGuard.OPEN) {
            boolean found = completions.next(true);
            guard.exit();
            return found;
        }
        return state == QuiescenceGuard.ENDED && completions.next(false);
    }

    /** The user context of the copy that {@link #poll} found. */
    public long context() {
        return completions.context();
    }

    /**
     * The status of the copy that {@link #poll} found, see {@link WcStatus}. Any other than {@link WcStatus#SUCCESS}
     * has also ended the remote memory of the connection, and {@link RemoteMemory#endReason()} has the reason; the
     * socket stays open.
     */
    public int status() {
        return completions.status();
    }

    /** How many copies have been started and not yet found by {@link #poll}. For the copying thread. */
    public int outstanding() {
        return (int) (posted - completions.reported());
    }

    // ---- waiting

    /**
     * Arms the wakeup for the next completion, or for credits after a refusal for lack of them; true if there is either
     * already.
     */
    boolean arm() {
        wakeup.reset();
        if (prefetched) {
            return true;
        }
        int state = enterSpinning();
        if (state == QuiescenceGuard.OPEN) {
            completions.requestNotify();
            prefetched = completions.next(true);
            guard.exit();
        } else {
            prefetched = completions.next(false);
        }
        return prefetched || state == QuiescenceGuard.ENDED || credit.arm();
    }

    private int enterSpinning() {
        int state;
        while ((state = guard.enter()) == QuiescenceGuard.PAUSED) {
            Thread.onSpinWait();
        }
        return state;
    }

    // ---- for the other threads

    /** The credits for remote completions; threads that receive more add them. */
    Credit credit() {
        return credit;
    }

    /**
     * An argument for {@link #isDone}: covers all copies started by now. Waits until the program is outside the guard.
     */
    long mark() {
        quiescing.lock();
        try {
            if (!quiesce()) {
                return 0;
            }
            signalLast();
            long now = posted;
            guard.resume();
            return now;
        } finally {
            quiescing.unlock();
        }
    }

    /** Pauses the guard and waits until it is quiescent; false if it has ended. */
    private boolean quiesce() {
        guard.pause();
        while (!guard.isQuiescent()) {
            LockSupport.parkNanos(QUIESCENCE_POLL_NANOS); // the program may be copying a gigabyte
        }
        return guard.state() == QuiescenceGuard.PAUSED;
    }

    /**
     * Makes the last copy complete as if it had been signaled: posts an empty write behind it, whose key is not
     * checked. If there is no room for that now, there is later.
     */
    private void signalLast() {
        if (unsignaled > 0 && queue.postWrite(posted - 1, SendFlags.SIGNALED, outgoing, 0, 0, 0, 0) == 0) {
            unsignaled = 0;
        }
    }

    /** Whether the copies before a mark are done; polls on behalf of the program if that has not polled. */
    boolean isDone(long mark) {
        if (completions.reportedAcquire() >= mark) {
            return true;
        }
        quiescing.lock();
        try {
            if (!quiesce()) {
                return true;
            }
            signalLast();
            completions.save(posted);
            boolean done = completions.savedEnd() >= mark;
            guard.resume();
            return done;
        } finally {
            quiescing.unlock();
        }
    }

    /** Ends the guard; completions are saved for the program, and outstanding copies fail. */
    void end() {
        quiescing.lock();
        try {
            if (quiesce()) {
                completions.saveAll(posted);
                guard.end();
            }
        } finally {
            quiescing.unlock();
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
        return completions.failed();
    }

    long stalls() {
        return credit.stalls();
    }

    long remoteCompletions() {
        return remoteCompletions;
    }

    @Override
    public String toString() {
        return "CopyQueue[outstanding=" + outstanding() + ", depth=" + depth() + "]";
    }
}
