// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Connection;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/**
 * What a connection has of verbs: a protection domain of its own, so that no other connection reaches its regions, and two
 * queue pairs in it. By the first the program's threads copy and learn of copies; the other one is {@link Control}'s, which
 * the engine's thread serves.
 */
final class Link {
    /** Of a copy there are the copy itself, its notice, and what asks for its completion when memory is taken back. */
    private static final int REQUESTS = 3 * Limits.COPIES;

    private final ProtectionDomain pd;
    private final CompletionQueue copied;
    private final CompletionQueue noticed;
    private final CompletionQueue said;
    private final CompletionQueue heard;
    private final QueuePair data;
    private final QueuePair control;
    /** What is said to control; private. */
    private final MemorySegment inbox;
    private final MemoryRegion inboxRegion;
    /**
     * Notices that come, and behind them those that leave, one for each copy that may be on its way. It is memory as the
     * provider likes it best, for each notice but a short one passes through it; the other end can write to it at any time, as by what it sends.
     */
    private final MemoryRegion notices;
    private final Bell copyBell = new Bell();
    private final Bell eventBell = new Bell();
    /** What to close, last made first. */
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final long maxLength;
    private final Leeway leeway;
    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
    private volatile @Nullable Runnable whenSaid;
    private volatile @Nullable Runnable whenHeard;
    private volatile @Nullable Consumer<String> whenFailed;
    private @Nullable Connection dataConnection;
    private @Nullable Connection controlConnection;

    /**
     * @param channel that the engine's thread waits at
     * @param leeway of this end's program
     */
    Link(Context context, CompletionChannel channel, Leeway leeway) throws VerbsException {
        this.leeway = leeway;
        try {
            maxLength = context.queryPort(1).maxMessageSize();
            pd = made(context.allocateProtectionDomain());
            copied = made(queue(context, channel, REQUESTS, copyBell::ring));
            noticed = made(queue(context, channel, leeway.notices(), eventBell::ring));
            said = made(queue(context, channel, Limits.CONTROL_SENDS, () -> run(whenSaid)));
            heard = made(queue(context, channel, Limits.CONTROL_RECEIVES, () -> run(whenHeard)));
            inbox = Arena.ofAuto().allocate((long) Limits.CONTROL_RECEIVES * Messages.RECEIVE_BYTES, 64);
            inboxRegion = made(pd.register(inbox, AccessFlags.LOCAL_WRITE));
            notices = made(pd.allocate(leavingNotice(Limits.COPIES), AccessFlags.LOCAL_WRITE));
            data = made(pd.createQueuePair(QueuePairInitAttributes.builder(copied, noticed).maxSendWr(
                    REQUESTS).maxReceiveWr(leeway.notices()).maxInlineData(Messages.CONTROL_BYTES).build()));
            control = made(pd.createQueuePair(QueuePairInitAttributes.builder(said, heard).maxSendWr(
                    Limits.CONTROL_SENDS).maxReceiveWr(Limits.CONTROL_RECEIVES).maxInlineData(Messages.CONTROL_BYTES)
                    .build()));
            prepare(data, notices, leeway.notices());
            prepare(control, inboxRegion, Limits.CONTROL_RECEIVES);
        } catch (VerbsException | RuntimeException | Error e) {
            closeAll();
            throw e;
        }
    }

    private static CompletionQueue queue(Context context, CompletionChannel channel, int entries, Runnable told)
            throws VerbsException {
        return context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(entries).channel(channel)
                .userContext(told).build());
    }

    private static void run(@Nullable Runnable task) {
        if (task != null) {
            task.run();
        }
    }

    private <T extends AutoCloseable> T made(T part) {
        parts.push(part);
        return part;
    }

    /** Receives have to be there for the first message. */
    private static void prepare(QueuePair qp, MemoryRegion to, int count) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(
                AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE).build());
        for (int i = 0; i < count; i++) {
            int error = qp.receiveQueue().post(i, to, (long) i * Messages.RECEIVE_BYTES,
                    Messages.RECEIVE_BYTES);
            if (error != 0) {
                throw new VerbsException("post receives to " + qp.describe(), error, "");
            }
        }
    }

    // ---- its parts

    ProtectionDomain pd() {
        return pd;
    }

    QueuePair data() {
        return data;
    }

    QueuePair control() {
        return control;
    }

    CompletionQueue copied() {
        return copied;
    }

    CompletionQueue noticed() {
        return noticed;
    }

    CompletionQueue said() {
        return said;
    }

    CompletionQueue heard() {
        return heard;
    }

    MemorySegment inbox() {
        return inbox;
    }

    MemoryRegion inboxRegion() {
        return inboxRegion;
    }

    MemoryRegion notices() {
        return notices;
    }

    /** Where in that the notice of a copy leaves from. */
    long leavingNotice(int slot) {
        return (long) (leeway.notices() + slot) * Messages.RECEIVE_BYTES;
    }

    Leeway leeway() {
        return leeway;
    }

    Bell copyBell() {
        return copyBell;
    }

    Bell eventBell() {
        return eventBell;
    }

    long maxLength() {
        return maxLength;
    }

    /** One of the queue pairs is connected. */
    void connected(Connection connection) {
        if (connection.queuePair() == data) {
            dataConnection = connection;
        } else {
            controlConnection = connection;
        }
    }

    /**
     * The queue pairs are connected, and what is said can be taken.
     *
     * @param completed called by the engine's thread when something that control has said is done
     * @param received called by the engine's thread when it has heard something
     * @param failed called once, by any thread, with the reason; at once if the link has failed already
     */
    void begin(Runnable completed, Runnable received, Consumer<String> failed) throws VerbsException {
        whenSaid = completed;
        whenHeard = received;
        whenFailed = failed;
        int error = said.requestNotify(false);
        error = error != 0 ? error : heard.requestNotify(false);
        if (error != 0) {
            throw new VerbsException("arm the queues of " + control.describe(), error, "");
        }
        String why = failure.get();
        if (why != null) {
            failed.accept(why);
        }
    }

    /** Nothing goes on by this link, for a reason that people are told. Any thread; it does not block. */
    void fail(String reason) {
        if (failure.compareAndSet(null, reason)) {
            Consumer<String> told = whenFailed;
            if (told != null) {
                told.accept(reason);
            }
        }
    }

    /** Why it has failed; null if it has not. */
    @Nullable
    String failure() {
        return failure.get();
    }

    /** Both queue pairs fail, at both ends; what was posted is flushed. */
    void disconnect() {
        disconnect(dataConnection);
        disconnect(controlConnection);
    }

    private static void disconnect(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.disconnect();
            } catch (VerbsException e) {
                Engine.debug("not disconnected: " + e.getMessage());
            }
        }
    }

    /** A queue pair that was never connected, or whose end the peer cannot be told: it fails at this end. */
    private static void fail(QueuePair qp) throws VerbsException {
        if (qp.state() != QueuePairState.ERR && qp.state() != QueuePairState.RESET) {
            qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        }
    }

    /** What was posted is flushed, whether the other end takes part or not. */
    void flush() {
        try {
            fail(data);
            fail(control);
        } catch (VerbsException e) {
            Engine.debug("not flushed: " + e.getMessage());
        }
    }

    /** Whether receives of what is copied are flushed, sooner or later. */
    boolean isFlushing() {
        return data.state() == QueuePairState.ERR;
    }

    /**
     * Gives all of it back; may be called again.
     *
     * @return what was refused, for a peer that is stopped; null if nothing is left
     */
    synchronized @Nullable VerbsException closeAll() {
        VerbsException refused = null;
        closeQuietly(dataConnection);
        closeQuietly(controlConnection);
        Deque<AutoCloseable> left = new ArrayDeque<>();
        for (AutoCloseable part = parts.poll(); part != null; part = parts.poll()) {
            try {
                part.close();
            } catch (VerbsException e) {
                refused = e;
                left.add(part);
            } catch (Exception e) {
                Engine.debug("not closed: " + e);
            }
        }
        parts.addAll(left);
        return refused;
    }

    private static void closeQuietly(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (VerbsException e) {
                Engine.debug("not closed: " + e.getMessage());
            }
        }
    }
}
