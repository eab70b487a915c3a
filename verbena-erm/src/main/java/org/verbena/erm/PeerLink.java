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
 * The verbs objects of a connection: a protection domain of its own, so that no other connection reaches its regions,
 * and two queue pairs in it. On the first, the program's threads post copies and receive remote completions; the second
 * one belongs to {@link Control}, which the engine's thread serves.
 */
final class PeerLink {
    /**
     * For each copy: the copy itself, its remote completion, and the request that forces its completion when memory is
     * deregistered.
     */
    private static final int REQUESTS = 3 * Limits.COPIES;

    private final ProtectionDomain pd;
    private final CompletionQueue copyCompletions;
    private final CompletionQueue remoteCompletions;
    private final CompletionQueue controlSendCompletions;
    private final CompletionQueue controlReceiveCompletions;
    private final QueuePair data;
    private final QueuePair control;
    /** Receive buffers of control; private memory. */
    private final MemorySegment controlBuffer;
    private final MemoryRegion controlBufferRegion;
    /**
     * Incoming remote completions, and behind them outgoing ones, one for each copy that may be outstanding. Allocated
     * by the provider, since each remote completion but an immediate one passes through it; the other end can write to
     * it at any time, as it does by sending.
     */
    private final MemoryRegion completionBuffer;
    private final Wakeup copyWakeup = new Wakeup();
    private final Wakeup eventWakeup = new Wakeup();
    /** Resources to close, last created first. */
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
     * @param channel that the engine's thread waits on
     * @param creditLimit of this end's program
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
                            REQUESTS).maxReceiveWr(creditLimit.completions()).maxInlineData(ControlLayout.BYTES)
                    .build()));
            control = track(pd.createQueuePair(QueuePairInitAttributes.builder(controlSendCompletions,
                    controlReceiveCompletions).maxSendWr(
                            Limits.CONTROL_SENDS).maxReceiveWr(Limits.CONTROL_RECEIVES).maxInlineData(
                                    ControlLayout.BYTES)
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

    /** Receives must be posted before the first message arrives. */
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

    /** Offset in that buffer of the outgoing remote completion of a copy. */
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
     * Starts control: the queue pairs are connected and messages can be received.
     *
     * @param completed called by the engine's thread when a send of control has completed
     * @param received called by the engine's thread when control has received a message
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

    /** Fails the link, with a reason for people to read. Thread-safe; does not block. */
    void fail(String reason) {
        if (failure.compareAndSet(null, reason)) {
            Consumer<String> callback = onFailed;
            if (callback != null) {
                callback.accept(reason);
            }
        }
    }

    /** The reason of the failure; null if the link has not failed. */
    @Nullable
    String failure() {
        return failure.get();
    }

    /** Moves both queue pairs to the error state at both ends; posted requests are flushed. */
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

    /**
     * Moves a queue pair to the error state at this end: one that was never connected, or whose disconnect cannot reach
     * the peer.
     */
    private static void fail(QueuePair qp) throws VerbsException {
        if (qp.state() != QueuePairState.ERR && qp.state() != QueuePairState.RESET) {
            qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        }
    }

    /** Flushes posted requests, whether the other end cooperates or not. */
    void flush() {
        try {
            fail(data);
            fail(control);
        } catch (VerbsException e) {
            Engine.debug("not flushed: " + e.getMessage());
        }
    }

    /** Whether the receives for remote completions are flushed, sooner or later. */
    boolean isFlushing() {
        return data.state() == QueuePairState.ERR;
    }

    /**
     * Closes all resources; may be called again.
     *
     * @return the failure of a close that a stopped peer holds up; null if nothing is left
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
