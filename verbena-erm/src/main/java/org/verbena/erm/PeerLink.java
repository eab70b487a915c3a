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
final class PeerLink {
    /** Of a copy there are the copy itself, its notice, and what asks for its completion when memory is taken back. */
    private static final int REQUESTS = 3 * Limits.COPIES;

    private final ProtectionDomain pd;
    private final CompletionQueue copyCompletions;
    private final CompletionQueue remoteCompletions;
    private final CompletionQueue controlSendCompletions;
    private final CompletionQueue controlReceiveCompletions;
    private final QueuePair data;
    private final QueuePair control;
    /** What is said to control; private. */
    private final MemorySegment controlBuffer;
    private final MemoryRegion controlBufferRegion;
    /**
     * Notices that come, and behind them those that leave, one for each copy that may be on its way. It is memory as the
     * provider likes it best, for each notice but a short one passes through it; the other end can write to it at any time, as by what it sends.
     */
    private final MemoryRegion completionBuffer;
    private final Wakeup copyWakeup = new Wakeup();
    private final Wakeup eventWakeup = new Wakeup();
    /** What to close, last made first. */
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final long maxLength;
    private final CreditLimit creditLimit;
    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
    private volatile @Nullable Runnable onControlSent;
    private volatile @Nullable Runnable onControlReceived;
    private volatile @Nullable Consumer<String> onFailed;
    private @Nullable Connection dataConnection;
    private @Nullable Connection controlConnection;

    /**
     * @param channel that the engine's thread waits at
     * @param leeway of this end's program
     */
    PeerLink(Context context, CompletionChannel channel, CreditLimit creditLimit) throws VerbsException {
        this.creditLimit = creditLimit;
        try {
            maxLength = context.queryPort(1).maxMessageSize();
            pd = track(context.allocateProtectionDomain());
            copyCompletions = track(completionQueue(context, channel, REQUESTS, copyWakeup::signal));
            remoteCompletions = track(completionQueue(context, channel, creditLimit.completions(),
                    eventWakeup::signal));
            controlSendCompletions = track(completionQueue(context, channel, Limits.CONTROL_SENDS, () -> run(
                    onControlSent)));
            controlReceiveCompletions = track(completionQueue(context, channel, Limits.CONTROL_RECEIVES, () -> run(
                    onControlReceived)));
            controlBuffer = Arena.ofAuto().allocate((long) Limits.CONTROL_RECEIVES * Messages.RECEIVE_BYTES, 64);
            controlBufferRegion = track(pd.register(controlBuffer, AccessFlags.LOCAL_WRITE));
            completionBuffer = track(pd.allocate(outgoingCompletionOffset(Limits.COPIES), AccessFlags.LOCAL_WRITE));
            data = track(pd.createQueuePair(QueuePairInitAttributes.builder(copyCompletions, remoteCompletions)
                    .maxSendWr(
                            REQUESTS).maxReceiveWr(creditLimit.completions()).maxInlineData(Messages.CONTROL_BYTES)
                    .build()));
            control = track(pd.createQueuePair(QueuePairInitAttributes.builder(controlSendCompletions,
                    controlReceiveCompletions).maxSendWr(
                            Limits.CONTROL_SENDS).maxReceiveWr(Limits.CONTROL_RECEIVES).maxInlineData(
                                    Messages.CONTROL_BYTES)
                    .build()));
            postReceives(data, completionBuffer, creditLimit.completions());
            postReceives(control, controlBufferRegion, Limits.CONTROL_RECEIVES);
        } catch (VerbsException | RuntimeException | Error e) {
            closeAll();
            throw e;
        }
    }

    private static CompletionQueue completionQueue(Context context, CompletionChannel channel, int entries,
            Runnable callback)
            throws VerbsException {
        return context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(entries).channel(channel)
                .userContext(callback).build());
    }

    private static void run(@Nullable Runnable task) {
        if (task != null) {
            task.run();
        }
    }

    private <T extends AutoCloseable> T track(T part) {
        resources.push(part);
        return part;
    }

    /** Receives have to be there for the first message. */
    private static void postReceives(QueuePair qp, MemoryRegion to, int count) throws VerbsException {
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

    CompletionQueue copyCompletions() {
        return copyCompletions;
    }

    CompletionQueue remoteCompletions() {
        return remoteCompletions;
    }

    CompletionQueue controlSendCompletions() {
        return controlSendCompletions;
    }

    CompletionQueue controlReceiveCompletions() {
        return controlReceiveCompletions;
    }

    MemorySegment controlBuffer() {
        return controlBuffer;
    }

    MemoryRegion controlBufferRegion() {
        return controlBufferRegion;
    }

    MemoryRegion completionBuffer() {
        return completionBuffer;
    }

    /** Where in that the notice of a copy leaves from. */
    long outgoingCompletionOffset(int slot) {
        return (long) (creditLimit.completions() + slot) * Messages.RECEIVE_BYTES;
    }

    CreditLimit creditLimit() {
        return creditLimit;
    }

    Wakeup copyWakeup() {
        return copyWakeup;
    }

    Wakeup eventWakeup() {
        return eventWakeup;
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
    void start(Runnable completed, Runnable received, Consumer<String> failed) throws VerbsException {
        onControlSent = completed;
        onControlReceived = received;
        onFailed = failed;
        int error = controlSendCompletions.requestNotify(false);
        error = error != 0 ? error : controlReceiveCompletions.requestNotify(false);
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
            Consumer<String> callback = onFailed;
            if (callback != null) {
                callback.accept(reason);
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
        for (AutoCloseable part = resources.poll(); part != null; part = resources.poll()) {
            try {
                part.close();
            } catch (VerbsException e) {
                refused = e;
                left.add(part);
            } catch (Exception e) {
                Engine.debug("not closed: " + e);
            }
        }
        resources.addAll(left);
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
