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
 * What this end sends by the queue pair of {@link Control}: messages, and asynchronous copies behind them. Any thread; what
 * does not fit waits in this process.
 */
final class ControlSends {
    private static final int SLOTS = Limits.CONTROL_SENDS;
    /** Messages that wait because the other end takes none: it does not keep to the protocol, or stands still. */
    private static final int MOST_WAITING = 4 * Limits.REGIONS + 1024;

    /** An asynchronous copy. */
    record Copy(int from, long fromOffset, int to, long toOffset, long length, int flags, long userData,
            CompletableFuture<Void> done) {}

    private final Regions regions;
    private final Link link;
    private final Attendant attendant;
    private final int side;
    private final SendQueue queue;
    private final CompletionQueue completed;
    private final long maxLength;
    private final MemorySegment message = Arena.ofAuto().allocate(Messages.CONTROL_BYTES, Long.BYTES);
    /** Guards the send queue, too. */
    final ReentrantLock lock = new ReentrantLock();

    // guarded by the lock
    /** To be run without it. */
    private List<Runnable> then = new ArrayList<>();
    private final Deque<Messages.Message> messages = new ArrayDeque<>();
    private final Deque<Copy> copies = new ArrayDeque<>();
    /** By number of a request: the copy that is done with it. */
    private final @Nullable Copy[] under = new Copy[SLOTS];
    private long posted;
    private long done;
    private int credit;
    /** How many notices were taken is to be said, as {@link #taken} and {@link #asyncTaken} have it. */
    private boolean owes;
    private int taken;
    private int asyncTaken;
    private boolean ended;
    private long copiesStarted;
    private long written;
    private long read;
    private long failed;

    ControlSends(Regions regions, Link link, int peerNotices, Attendant attendant) {
        this.regions = regions;
        this.link = link;
        this.attendant = attendant;
        side = regions.side();
        queue = link.control().sendQueue();
        completed = link.said();
        maxLength = link.maxLength();
        credit = peerNotices;
    }

    /** Sends a message, now or later; false if all has ended. */
    boolean send(Messages.Message m) {
        lock.lock();
        try {
            if (ended) {
                return false;
            }
            if (messages.size() >= MOST_WAITING) {
                link.fail("the other end takes no messages");
                return false;
            }
            messages.add(m);
        } finally {
            lock.unlock();
        }
        progress();
        return true;
    }

    /** Says how many notices were taken, now or later; allocates nothing. */
    void sayTaken(int ofCopies, int ofAsync) {
        lock.lock();
        try {
            owes = true;
            taken = ofCopies;
            asyncTaken = ofAsync;
        } finally {
            lock.unlock();
        }
        progress();
    }

    /** Copies; what is wrong with it fails the future. */
    CompletableFuture<Void> copy(int from, long fromOffset, int to, long toOffset, long length, int flags,
            long userData) {
        CompletableFuture<Void> future = new CompletableFuture<>();
        Copy copy = new Copy(from, fromOffset, to, toOffset, length, flags, userData, future);
        int error;
        lock.lock();
        try {
            error = ended ? Errno.ENOTCONN : check(copy);
            if (error == Errno.EAGAIN) { // a region is just being updated
                error = 0;
            }
            if (error == 0) {
                copies.add(copy);
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

    private static VerbsException failure(Copy copy, int error, String why) {
        return new VerbsException("copy " + copy.length() + " bytes from region " + copy.from() + " to region " + copy
                .to(), error, why.isEmpty() ? explain(error) : why);
    }

    /** What depends on the copy is not run by the thread that finds out, which is the engine's as a rule. */
    private void fail(Copy copy, int error, String why) {
        attendant.tell(() -> copy.done().completeExceptionally(failure(copy, error, why)));
    }

    private static String explain(int error) {
        return switch (error) {
            case Errno.ENOENT -> "one of the regions is not there, or no more, or both are of one end";
            case Errno.ERANGE -> "the bytes do not lie in both regions";
            case Errno.EACCES -> "a region does not give the right";
            case Errno.EINVAL -> "unknown flags";
            case Errno.EMSGSIZE -> "that is more than the provider carries at once";
            default -> "the remote memory of the connection has ended";
        };
    }

    private int check(Copy c) {
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

    /** Takes what has completed and posts what there is room for. Any thread. */
    void progress() {
        List<Runnable> all;
        lock.lock();
        try {
            boolean more = true;
            while (more && !ended) {
                takeCompletions();
                more = postMessages();
                more |= postCopies();
                if (!more && posted != done) {
                    completed.requestNotify(false);
                    more = takeCompletions(); // what came before it makes no event, and there is room now
                }
            }
            all = then.isEmpty() ? List.of() : then;
            if (!all.isEmpty()) {
                then = new ArrayList<>();
            }
        } finally {
            lock.unlock();
        }
        for (int i = 0; i < all.size(); i++) {
            all.get(i).run();
        }
    }

    private boolean postMessages() {
        boolean any = false;
        if (owes && posted - done < SLOTS) {
            Messages.putCredit(message, taken, asyncTaken);
            if (!postMessage()) {
                return false;
            }
            owes = false;
            any = true;
        }
        while (!messages.isEmpty() && posted - done < SLOTS) {
            Messages.put(message, 0, messages.element());
            if (!postMessage()) {
                return any;
            }
            messages.remove();
            any = true;
        }
        return any;
    }

    private boolean postMessage() {
        int slot = (int) (posted % SLOTS);
        if (!posted(queue.start().send(posted, SendFlags.SIGNALED).inline(message, 0, Messages.CONTROL_BYTES)
                .complete())) {
            return false;
        }
        under[slot] = null;
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
        while (!copies.isEmpty() && messages.isEmpty() && posted - done + 2 <= SLOTS) {
            Copy copy = copies.element();
            boolean tell = (copy.flags() & CopyFlags.REMOTE_COMPLETION) != 0;
            if (tell && credit <= 0) {
                return any; // the other end tells when its program has taken some
            }
            int error = check(copy); // its regions may be gone
            if (error == Errno.EAGAIN) {
                return any; // when the update is done this is called again
            }
            if (error != 0) {
                copies.remove();
                then.add(() -> fail(copy, error, ""));
                continue;
            }
            if (!posted(post(copy, tell))) {
                return any;
            }
            copies.remove();
            count(copy);
            if (tell) {
                under[(int) (posted++ % SLOTS)] = null;
                credit--;
            }
            under[(int) (posted++ % SLOTS)] = copy;
            any = true;
        }
        return any;
    }

    private void count(Copy started) {
        copiesStarted++;
        if (RegionId.side(started.from()) == side) {
            written += started.length();
        } else {
            read += started.length();
        }
    }

    /** Each request is signalled: those of a copy that ends with the first have the second's completion behind it. */
    private int post(Copy c, boolean tell) {
        boolean write = RegionId.side(c.from()) == side;
        LocalRegion local = regions.known(write ? c.from() : c.to());
        RemoteRegion remote = regions.remote(write ? c.to() : c.from());
        if (local == null || remote == null) {
            return Errno.ENOMEM; // gone this very moment: the next look says so
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
        if (tell) {
            Messages.put(message, 0, new Messages.Message(Messages.NOTICE, remote.id(), remoteAt, c.length(), 0, write
                    ? Notice.WRITTEN
                    : Notice.READ, c.userData(), 0));
            open.send(posted + 1, write ? SendFlags.SIGNALED : SendFlags.SIGNALED | SendFlags.FENCE).inline(message, 0,
                    Messages.CONTROL_BYTES);
        }
        return open.complete();
    }

    private boolean takeCompletions() {
        long before = done;
        while (done != posted && completed.startPoll() == 0) {
            int status = completed.status();
            completed.endPoll();
            int slot = (int) (done++ % SLOTS);
            Copy copy = under[slot];
            under[slot] = null;
            // not for its own sake, if the remote memory has ended before
            int error = status == WcStatus.WR_FLUSH_ERR || link.failure() != null ? Errno.ENOTCONN : Errno.EIO;
            if (status != WcStatus.SUCCESS) {
                link.fail("a request of the control path failed: " + WcStatus.toString(status)); // which fails the copy
            }
            if (copy != null) {
                if (status == WcStatus.SUCCESS) {
                    then.add(() -> copy.done().completeAsync(() -> null));
                } else {
                    failed++;
                    then.add(() -> fail(copy, error, WcStatus.toString(status)));
                }
            }
        }
        return done != before;
    }

    /** The other end's program has taken notices. */
    void credit(int more) {
        lock.lock();
        try {
            credit += more;
        } finally {
            lock.unlock();
        }
        progress();
    }

    /** A number that {@link #isDone} is to be asked with: all that has been posted by now. */
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
            return ended || done >= mark;
        } finally {
            lock.unlock();
        }
    }

    /** Nothing is posted any more; what was not done fails. */
    void end(String reason) {
        List<Copy> left = new ArrayList<>();
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            for (long i = done; i < posted; i++) {
                Copy copy = under[(int) (i % SLOTS)];
                if (copy != null) {
                    left.add(copy);
                }
            }
            left.addAll(copies);
            copies.clear();
            messages.clear();
            failed += left.size();
        } finally {
            lock.unlock();
        }
        left.forEach(copy -> fail(copy, Errno.ENOTCONN, reason));
    }

    /** Copies, bytes written, bytes read, and copies that have failed. */
    long[] figures() {
        lock.lock();
        try {
            return new long[] {copiesStarted, written, read, failed};
        } finally {
            lock.unlock();
        }
    }
}
