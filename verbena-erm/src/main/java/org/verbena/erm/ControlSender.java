// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * Sends on the queue pair of {@link Control}: messages, and asynchronous copies behind them. Thread-safe; requests that
 * do not fit into the send queue wait in this process.
 */
final class ControlSender {
    private static final int SLOTS = Limits.CONTROL_SENDS;
    /** Limit of messages that wait because the other end receives none: it violates the protocol, or is stopped. */
    private static final int MAX_PENDING = 4 * Limits.REGIONS + 1024;

    /** An asynchronous copy. */
    record AsyncCopy(int from, long fromOffset, int to, long toOffset, long length, int flags, long userData,
            CompletableFuture<Void> done) {}

    private final Regions regions;
    private final PeerLink link;
    private final ProgressExecutor executor;
    private final int side;
    private final SendQueue queue;
    private final CompletionQueue completionQueue;
    private final long maxLength;
    private final MemorySegment message = Arena.ofAuto().allocate(ControlLayout.BYTES, Long.BYTES);
    /** Guards the send queue, too. */
    final ReentrantLock lock = new ReentrantLock();

    // guarded by the lock
    /** Tasks to run after the lock is released. */
    private List<Runnable> deferred = new ArrayList<>();
    private final Deque<Messages.Message> pendingMessages = new ArrayDeque<>();
    private final Deque<AsyncCopy> pendingCopies = new ArrayDeque<>();
    /** By number of a request: the copy that completes with it. */
    private final @Nullable AsyncCopy[] inFlight = new AsyncCopy[SLOTS];
    private long posted;
    private long completed;
    private int credits;
    /** A credit message with {@link #consumed} and {@link #asyncConsumed} is due. */
    private boolean creditsDue;
    private int consumed;
    private int asyncConsumed;
    private boolean ended;
    private long copiesStarted;
    private long written;
    private long read;
    private long failed;

    ControlSender(Regions regions, PeerLink link, int peerCredits, ProgressExecutor executor) {
        this.regions = regions;
        this.link = link;
        this.executor = executor;
        side = regions.side();
        queue = link.control().sendQueue();
        completionQueue = link.controlSendCompletions();
        maxLength = link.maxLength();
        credits = peerCredits;
    }

    /** Sends a message, now or later; false after {@link #end}. */
    boolean send(Messages.Message m) {
        lock.lock();
        try {
            if (ended) {
                return false;
            }
            if (pendingMessages.size() >= MAX_PENDING) {
                link.fail("the other end receives no messages");
                return false;
            }
            pendingMessages.add(m);
        } finally {
            lock.unlock();
        }
        progress();
        return true;
    }

    /** Sends the numbers of consumed remote completions, now or later; allocates nothing. */
    void returnCredits(int ofCopies, int ofAsync) {
        lock.lock();
        try {
            creditsDue = true;
            consumed = ofCopies;
            asyncConsumed = ofAsync;
        } finally {
            lock.unlock();
        }
        progress();
    }

    /** Copies; an error of the request completes the future exceptionally. */
    CompletableFuture<Void> copy(int from, long fromOffset, int to, long toOffset, long length, int flags,
            long userData) {
        CompletableFuture<Void> future = new CompletableFuture<>();
        AsyncCopy copy = new AsyncCopy(from, fromOffset, to, toOffset, length, flags, userData, future);
        int error;
        lock.lock();
        try {
            error = ended ? Errno.ENOTCONN : check(copy);
            if (error == Errno.EAGAIN) { // a region is being updated
                error = 0;
            }
            if (error == 0) {
                pendingCopies.add(copy);
            }
        } finally {
            lock.unlock();
        }
        if (error != 0) {
            future.completeExceptionally(failure(copy, error, ""));
        } else {
            progress();
        }
        return future;
    }

    private static VerbsException failure(AsyncCopy copy, int error, String why) {
        return new VerbsException("copy " + copy.length() + " bytes from region " + copy.from() + " to region " + copy
                .to(), error, why.isEmpty() ? describe(error) : why);
    }

    /**
     * Dependents of the copy's future do not run on the thread that detects the failure, which usually is the engine's.
     */
    private void fail(AsyncCopy copy, int error, String why) {
        executor.executeCallback(() -> copy.done().completeExceptionally(failure(copy, error, why)));
    }

    private static String describe(int error) {
        return switch (error) {
            case Errno.ENOENT -> "a region does not exist, or not any more, or both are of one end";
            case Errno.ERANGE -> "the bytes are out of bounds of a region";
            case Errno.EACCES -> "a region lacks the right";
            case Errno.EINVAL -> "unknown flags";
            case Errno.EMSGSIZE -> "that is more than the provider carries at once";
            default -> "the remote memory of the connection has ended";
        };
    }

    private int check(AsyncCopy c) {
        boolean write = RegionId.side(c.from()) == side;
        LocalRegion local = regions.local(write ? c.from() : c.to());
        RemoteRegion remote = regions.remote(write ? c.to() : c.from());
        if (local == null || remote == null) {
            return Errno.ENOENT;
        }
        return CopyCheck.check(local, write ? c.fromOffset() : c.toOffset(), remote, write
                ? c.toOffset()
                : c.fromOffset(), c.length(), c.flags(), write, maxLength);
    }

    /** Polls completions and posts as many requests as there is room for. Thread-safe. */
    void progress() {
        List<Runnable> toRun;
        lock.lock();
        try {
            boolean more = true;
            while (more && !ended) {
                pollCompletions();
                more = postMessages();
                more |= postCopies();
                if (!more && posted != completed) {
                    completionQueue.requestNotify(false);
                    more = pollCompletions(); // a completion from before the arming raises no event, and there is room now
                }
            }
            toRun = deferred.isEmpty() ? List.of() : deferred;
            if (!toRun.isEmpty()) {
                deferred = new ArrayList<>();
            }
        } finally {
            lock.unlock();
        }
        for (int i = 0; i < toRun.size(); i++) {
            toRun.get(i).run();
        }
    }

    private boolean postMessages() {
        boolean any = false;
        if (creditsDue && posted - completed < SLOTS) {
            Messages.putCredit(message, consumed, asyncConsumed);
            if (!postMessage()) {
                return false;
            }
            creditsDue = false;
            any = true;
        }
        while (!pendingMessages.isEmpty() && posted - completed < SLOTS) {
            Messages.put(message, 0, pendingMessages.element());
            if (!postMessage()) {
                return any;
            }
            pendingMessages.remove();
            any = true;
        }
        return any;
    }

    private boolean postMessage() {
        int slot = (int) (posted % SLOTS);
        if (!posted(queue.start().send(posted, SendFlags.SIGNALED).inline(message, 0, ControlLayout.BYTES)
                .complete())) {
            return false;
        }
        inFlight[slot] = null;
        posted++;
        return true;
    }

    private boolean posted(int error) {
        if (error != 0 && error != Errno.ENOMEM) {
            link.fail("the queue pair of control fails: " + Errno.describe(error));
        }
        return error == 0;
    }

    private boolean postCopies() {
        boolean any = false;
        while (!pendingCopies.isEmpty() && pendingMessages.isEmpty() && posted - completed + 2 <= SLOTS) {
            AsyncCopy copy = pendingCopies.element();
            boolean signalPeer = (copy.flags() & CopyFlags.REMOTE_COMPLETION) != 0;
            if (signalPeer && credits <= 0) {
                return any; // the other end returns credits when its program has consumed some
            }
            int error = check(copy); // its regions may have been revoked
            if (error == Errno.EAGAIN) {
                return any; // called again when the update is done
            }
            if (error != 0) {
                pendingCopies.remove();
                deferred.add(() -> fail(copy, error, ""));
                continue;
            }
            if (!posted(post(copy, signalPeer))) {
                return any;
            }
            pendingCopies.remove();
            countStarted(copy);
            if (signalPeer) {
                inFlight[(int) (posted++ % SLOTS)] = null;
                credits--;
            }
            inFlight[(int) (posted++ % SLOTS)] = copy;
            any = true;
        }
        return any;
    }

    private void countStarted(AsyncCopy started) {
        copiesStarted++;
        if (RegionId.side(started.from()) == side) {
            written += started.length();
        } else {
            read += started.length();
        }
    }

    /**
     * Each request is signaled: of a copy with a remote completion, the completion of the second request follows that
     * of the first.
     */
    private int post(AsyncCopy c, boolean signalPeer) {
        boolean write = RegionId.side(c.from()) == side;
        LocalRegion local = regions.localOrRevoked(write ? c.from() : c.to());
        RemoteRegion remote = regions.remote(write ? c.to() : c.from());
        if (local == null || remote == null) {
            return Errno.ENOMEM; // revoked at this moment: the next check finds that
        }
        long localAt = write ? c.fromOffset() : c.toOffset();
        long remoteAt = write ? c.toOffset() : c.fromOffset();
        int how = SendFlags.SIGNALED | ((c.flags() & CopyFlags.FENCE) != 0 ? SendFlags.FENCE : SendFlags.NONE);
        SendQueue open = queue.start();
        if (write) {
            open.write(posted, how, remote.rkey(), remote.address() + remoteAt);
        } else {
            open.read(posted, how, remote.rkey(), remote.address() + remoteAt);
        }
        open.sge(local.memory(), localAt, c.length());
        if (signalPeer) {
            Messages.put(message, 0, new Messages.Message(Messages.REMOTE_COMPLETION, remote.id(), remoteAt, c.length(),
                    0, write
                            ? RemoteCompletion.WRITTEN
                            : RemoteCompletion.READ, c.userData(), 0));
            open.send(posted + 1, write ? SendFlags.SIGNALED : SendFlags.SIGNALED | SendFlags.FENCE).inline(message, 0,
                    ControlLayout.BYTES);
        }
        return open.complete();
    }

    private boolean pollCompletions() {
        long before = completed;
        while (completed != posted && completionQueue.startPoll() == 0) {
            int status = completionQueue.status();
            completionQueue.endPoll();
            int slot = (int) (completed++ % SLOTS);
            AsyncCopy copy = inFlight[slot];
            inFlight[slot] = null;
            // not this request's own failure if the remote memory has ended before
            int error = status == WcStatus.WR_FLUSH_ERR || link.failure() != null ? Errno.ENOTCONN : Errno.EIO;
            if (status != WcStatus.SUCCESS) {
                link.fail("a request of the control path failed: " + WcStatus.toString(status)); // this fails the copy
            }
            if (copy != null) {
                if (status == WcStatus.SUCCESS) {
                    deferred.add(() -> copy.done().completeAsync(() -> null));
                } else {
                    failed++;
                    deferred.add(() -> fail(copy, error, WcStatus.toString(status)));
                }
            }
        }
        return completed != before;
    }

    /** The other end's program has consumed remote completions. */
    void addCredits(int more) {
        lock.lock();
        try {
            credits += more;
        } finally {
            lock.unlock();
        }
        progress();
    }

    /** An argument for {@link #isDone}: covers all requests posted by now. */
    long mark() {
        lock.lock();
        try {
            return posted;
        } finally {
            lock.unlock();
        }
    }

    boolean isDone(long mark) {
        progress();
        lock.lock();
        try {
            return ended || completed >= mark;
        } finally {
            lock.unlock();
        }
    }

    /** Stops posting; copies that are not done fail. */
    void end(String reason) {
        List<AsyncCopy> left = new ArrayList<>();
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            for (long i = completed; i < posted; i++) {
                AsyncCopy copy = inFlight[(int) (i % SLOTS)];
                if (copy != null) {
                    left.add(copy);
                }
            }
            left.addAll(pendingCopies);
            pendingCopies.clear();
            pendingMessages.clear();
            failed += left.size();
        } finally {
            lock.unlock();
        }
        left.forEach(copy -> fail(copy, Errno.ENOTCONN, reason));
    }

    /** Copies, bytes written, bytes read, and failed copies. */
    long[] totals() {
        lock.lock();
        try {
            return new long[] {copiesStarted, written, read, failed};
        } finally {
            lock.unlock();
        }
    }
}
