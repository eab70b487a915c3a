// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.sockets.stream.memory.Arena;
import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.sockets.stream.memory.Memory;
import org.verbena.sockets.stream.memory.RingMemory;
import org.verbena.sockets.stream.memory.StagingMemory;
import org.verbena.sockets.stream.memory.StreamLog;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.DirectWrite;
import org.verbena.verbs.spi.RemoteView;

/**
 * One queue pair to another process and all that its connections share: memory, a staging area, the numbers of
 * connections. Posting is for any thread; it takes this object's lock.
 *
 * <p>Every WRITE of a word is signalled, and what depends on its arrival is done when its completion is polled: only
 * then is it known that whatever the peer stored before is either visible here or comes after the peer has seen our
 * word. With a provider that works as it posts, as shared memory does, that is at once.
 */
final class Session {
    /** Connections of one session. */
    static final int MAX_STREAMS = 1 << 14;
    /** Bytes that go in one WRITE: small enough to stay in the cache, large enough to forget the cost of a post. */
    static final int CHUNK = 32 << 10;

    /** What a completion is for, in its wrId. */
    static final int NOTHING = 0;
    /** Data or an end have arrived: check whether the peer waits for data. */
    static final int DATA = 1;
    /** What was consumed has been reported to the peer: check whether it waits for space. */
    static final int SPACE = 2;
    /** An entry of a ready queue has arrived: check whether the queue's owner sleeps. */
    static final int READY_ENTRY = 3;
    /** The peer's bell has changed: wake the thread that sleeps there. */
    static final int BELL = 4;

    private static final long FIRST_PROBE_NANOS = 1_000_000_000L;
    private static final long LAST_PROBE_NANOS = 60_000_000_000L;
    /**
     * A peer on another host that takes nothing for this time, and yet answers, is left: its receives are its own to
     * post.
     */
    private static final long STUCK_NANOS = 10_000_000_000L;
    private static final int SEND_WR = 256;
    private static final int INDEX_BITS = 32;
    private static final int KIND_BITS = 8;

    private final long instance;
    private final Receives.@Nullable ControlMessageHandler controlMessages;
    private final Runnable whenBusy;
    private final ProtectionDomain pd;
    private final CompletionQueue sent;
    private final Receives receives;
    private final QueuePair qp;
    private final SendQueue queue;
    /** If this thread can write the peer's memory itself. */
    private final @Nullable DirectWrite direct;
    private final Arena arena;
    private final Memory header;
    private final StagingMemory stage;
    private final StreamTable streams = new StreamTable();
    private final MemorySegment word = java.lang.foreign.Arena.ofAuto().allocate(8);
    private final ByteBuffer doorbell = ByteBuffer.allocateDirect(1);
    private final ReadyRings ready;

    private @Nullable Connection connection;
    private volatile int peerFeatures;
    private long peerHeader;
    private int peerHeaderKey;

    private long posted;
    private volatile long completed;
    /** Calls to the peer, and of the peer that were answered. */
    private long calls;
    private long answers;
    /** The last call, if it took too long. */
    private long unanswered;
    private long probeNanos = FIRST_PROBE_NANOS;
    private long nextProbe;
    private volatile boolean reportedBusy;
    private long seenCompleted;
    private long seenAt;
    private volatile boolean failed;
    private volatile long failedAt;
    private volatile boolean awaited;

    /**
     * @param events a completion is there when the session has died
     * @param whenBusy called when a WRITE did not complete at once: a thread has to poll until {@link #isBusy} is false
     */
    Session(Context context, long instance, CompletionChannel events, Runnable whenBusy, long memoryLimit)
            throws VerbsException {
        this(context, instance, events, whenBusy, memoryLimit, null);
    }

    /**
     * As the other.
     *
     * @param handler takes the messages of the peer's engine, with a peer on another host; null if there are none
     */
    Session(Context context, long instance, CompletionChannel events, Runnable whenBusy, long memoryLimit,
            Receives.@Nullable ControlMessageHandler handler) throws VerbsException {
        this.instance = instance;
        this.controlMessages = handler;
        this.whenBusy = whenBusy;
        Deque<AutoCloseable> made = new ArrayDeque<>(); // to be closed in the opposite order
        try {
            pd = context.allocateProtectionDomain();
            made.push(pd);
            sent = context.createCompletionQueue(SEND_WR);
            made.push(sent);
            receives = new Receives(pd, events, this, handler != null);
            made.push(receives);
            qp = pd.createQueuePair(QueuePairInitAttributes.builder(sent, receives.queue()).maxSendWr(SEND_WR)
                    .maxReceiveWr(receives.count()).maxInlineData(8).build());
            made.push(qp);
            queue = qp.sendQueue();
            direct = qp instanceof DirectWrite d ? d : null;
            arena = new Arena(pd, memoryLimit, RingMemory.OF_PROCESS, StreamEngine::closeIdleLater);
            made.push(arena);
            header = arena.allocatePermanently(ReadyRings.HEADER_BYTES);
            header.segment().fill((byte) 0);
            stage = new StagingMemory(pd, SEND_WR);
            made.push(stage);
        } catch (Throwable t) { // an error too, for instance that of a class that cannot be read without a descriptor
            made.forEach(StreamEngine::closeQuietly);
            throw t;
        }
        ready = new ReadyRings(this, header.segment());
    }

    /** For the connection that is made or accepted. */
    QueuePair queuePair() {
        return qp;
    }

    /** Random number of the other process. */
    long instance() {
        return instance;
    }

    /** The device, if the peer is on another host; null if it is on this one. */
    @Nullable
    String remoteDevice() {
        return controlMessages == null ? null : pd.context().device().name();
    }

    /** The peer's features, of a session with another host: see {@link RemoteHandshakeMessage}. */
    int peerFeatures() {
        return peerFeatures;
    }

    void peerFeatures(int features) {
        peerFeatures = features;
    }

    /** The context that its queue pair is of. */
    Context context() {
        return pd.context();
    }

    Arena arena() {
        return arena;
    }

    Memory header() {
        return header;
    }

    ReadyRings ready() {
        return ready;
    }

    /** The queue pair is connected. */
    void connected(Connection established, long headerAddress, int headerKey) throws VerbsException {
        connection = established;
        peerHeader = headerAddress;
        peerHeaderKey = headerKey;
        receives.start(qp);
    }

    long peerHeader() {
        return peerHeader;
    }

    int peerHeaderKey() {
        return peerHeaderKey;
    }

    /** Gives a connection its number. */
    synchronized int add(RingStream stream) throws VerbsException {
        return streams.add(stream);
    }

    synchronized void remove(int index) {
        streams.remove(index);
    }

    /** The connections by their numbers. */
    StreamTable streams() {
        return streams;
    }

    /**
     * The peer's engine has not answered the last call for longer than anybody would wait; the caller holds the lock.
     */
    void checkUnresponsive() {
        unanswered = calls;
    }

    /** Whether that is so, and still unanswered; the caller holds the lock. */
    boolean isUnresponsive() {
        return unanswered == calls && !isAnswered();
    }

    /** Whether the peer's engine has answered all calls; the caller holds the lock. */
    boolean isAnswered() {
        return calls == ready.answered();
    }

    /**
     * Has the peer's engine check the requests to its ends of the connections, {@link #answerProgressRequests};
     * the caller holds the lock.
     */
    void requestProgress() {
        if (isAnswered()) { // else the check is still to come, and sees all that has arrived by now
            calls++;
            do {
                reserve();
            } while (!post(queue.start().send(wrId(NOTHING, 0, 0), SendFlags.SIGNALED), false));
            poll();
        }
    }

    /**
     * Answers the peer's calls and takes its control messages, on the engine's thread. A peer calls again after the
     * answer only.
     *
     * @return false if the queue pair has died
     */
    boolean answerProgressRequests() {
        return receives.take(qp, message -> {
            if (controlMessages != null && message.length > 0) {
                controlMessages.take(this, message);
            } else {
                answer();
            }
        });
    }

    /**
     * Has the peer's engine show that it lives.
     *
     * @return the number of the answer that shows it; 0 if an earlier one is still to come, then ask again
     */
    synchronized long probePeer() {
        if (failed || calls != ready.answered()) {
            return 0;
        }
        requestProgress();
        return calls;
    }

    /** Whether the memory of the peer is mapped here, and that of this end there. */
    boolean isMapped() {
        return qp instanceof RemoteView;
    }

    /** Memory of the peer, as {@link RemoteView#view}; null if there is none to be seen. */
    @Nullable
    MemorySegment view(int rkey, long address, long bytes) {
        MemorySegment seen = qp instanceof RemoteView mapped ? mapped.view(rkey, address, bytes) : null;
        return seen == null || (seen.address() & 7) != 0 ? null : seen; // words of a peer that says where they are
    }

    /** Has the peer's engine take a control message; on the engine's thread. */
    synchronized void send(byte[] message) {
        int offset = stage(message.length);
        stage.put(offset, message);
        do {
            reserve();
        } while (!post(queue.start().send(wrId(NOTHING, 0, 0), SendFlags.SIGNALED).sge(stage.region(), offset,
                message.length), true));
        poll();
    }

    /**
     * Tells a peer on another host that this process ends in order, and waits until it has arrived there. Where memory
     * is mapped the peer's provider reports that.
     */
    synchronized void depart() {
        if (!failed && (peerFeatures & HandshakeMessage.DEPARTURES) != 0) {
            ready.depart();
            awaitArrival();
        }
    }

    /**
     * Sends a keep-alive to a peer on another host, whose death is noticed by that only. For unlimited waits for a word
     * of the peer.
     */
    void probe() {
        if (controlMessages == null || failed) {
            return;
        }
        synchronized (this) {
            long now = System.nanoTime();
            if (nextProbe == 0) {
                nextProbe = now + probeNanos;
            } else if (now - nextProbe >= 0) {
                requestProgress();
                probeNanos = Math.min(2 * probeNanos, LAST_PROBE_NANOS);
                nextProbe = now + probeNanos;
            }
        }
    }

    private void answer() {
        synchronized (this) {
            postWord(NOTHING, 0, 0, peerHeader, peerHeaderKey, ++answers);
            awaitArrival(); // before the check: a peer that finds no answer yet is seen
        }
        for (RingStream stream : streams.all()) {
            stream.grow();
        }
    }

    /** Posts a WRITE of one word; the caller holds the lock. */
    void postWord(int kind, int index, int ready, long address, int rkey, long value) {
        if (direct != null && completed == posted && direct.writeWordNow(value, rkey, address)) {
            arrived(kind, index, ready);
            return;
        }
        SendQueue batch;
        do {
            reserve();
            word.set(ValueLayout.JAVA_LONG, 0, value);
            batch = queue.start().write(wrId(kind, index, ready), SendFlags.SIGNALED, rkey, address).inline(word, 0, 8);
        } while (!post(batch, false));
    }

    /**
     * Posts bytes of a buffer and the word that announces them; the caller holds the lock.
     *
     * @param length at most {@link #CHUNK}
     * @param address of the ring; it wraps at {@code size}
     * @param at offset of the first byte in the ring
     */
    void postBytes(int index, ByteBuffer from, int position, int length, int rkey, long address, int size, int at,
            int wordKey, long wordAddress, long value) {
        int first = Math.min(length, size - at);
        if (direct != null && completed == posted && direct.writeNow(from, position, first, rkey, address + at)
                && (first == length || direct.writeNow(from, position + first, length - first, rkey, address))
                && direct.writeWordNow(value, wordKey, wordAddress)) {
            arrived(DATA, index, 0);
            return;
        }
        int offset = stage(length);
        stage.put(offset, from, position, length);
        MemoryRegion staged = stage.region();
        SendQueue batch;
        do {
            reserve();
            batch = queue.start().write(0, SendFlags.NONE, rkey, address + at).sge(staged, offset, first);
            if (first < length) {
                batch = batch.write(0, SendFlags.NONE, rkey, address).sge(staged, offset + first, length - first);
            }
            word.set(ValueLayout.JAVA_LONG, 0, value);
            batch = batch.write(wrId(DATA, index, 0), SendFlags.SIGNALED, wordKey, wordAddress).inline(word, 0, 8);
        } while (!post(batch, true));
    }

    private static long wrId(int kind, int index, int ready) {
        return (long) ready << INDEX_BITS + KIND_BITS | (long) kind << INDEX_BITS | index;
    }

    /**
     * Commits a batch with one signalled request.
     *
     * @param staged whether the batch sends what was staged last
     * @return false if the queue is full: the batch is to be made anew, for what was polled meanwhile may have posted
     *        words
     */
    private boolean post(SendQueue batch, boolean staged) {
        int error = batch.complete();
        if (error == Errno.ENOMEM && completed != posted && !failed) {
            poll();
            Thread.onSpinWait();
            return false;
        }
        if (error != 0) {
            fail();
            return true;
        }
        stage.posted(posted, staged);
        posted++;
        return true;
    }

    /** Stages a number of bytes in one piece, and answers their offset; waits until earlier WRITEs have left it. */
    private int stage(int length) {
        if (completed == posted) { // as with providers that copy at once
            stage.reset();
        }
        int offset = stage.reserve(length);
        while (!stage.isFree() && !failed) {
            poll(); // which may post words: they do not free what is staged here
        }
        return offset;
    }

    /** Room for another signalled batch, which has at most three requests. */
    private void reserve() {
        while (posted + 1 - completed > SEND_WR / 4 && !failed) {
            poll();
            Thread.onSpinWait();
        }
    }

    /** Takes completions, and does what waited for them; the caller holds the lock. */
    void poll() {
        takeCompletions();
        if (controlMessages != null && completed != posted) {
            checkProgress();
        }
        boolean busy = completed != posted && !failed;
        boolean becomesBusy = busy && !reportedBusy;
        reportedBusy = busy; // before the call, which reads it
        if (becomesBusy) {
            whenBusy.run();
        }
    }

    private void checkProgress() {
        long now = System.nanoTime();
        if (!reportedBusy || completed != seenCompleted) {
            seenCompleted = completed;
            seenAt = now;
        } else if (now - seenAt > STUCK_NANOS) {
            fail();
        }
    }

    private void takeCompletions() {
        while (completed != posted && !failed && sent.startPoll() == 0) {
            long id = sent.wrId();
            int status = sent.status();
            sent.endPoll();
            if (status != WcStatus.SUCCESS) {
                fail();
                return;
            }
            long done = completed;
            stage.completed(done);
            completed = done + 1;
            arrived((int) (id >>> INDEX_BITS) & (1 << KIND_BITS) - 1, (int) id,
                    (int) (id >>> INDEX_BITS + KIND_BITS));
        }
    }

    private void arrived(int kind, int index, int queueId) {
        if (kind == NOTHING) {
            return;
        }
        RingStream stream = streams.get(index);
        if (kind == BELL) {
            ready.bellArrived(stream, queueId);
            return;
        }
        if (stream == null) {
            return;
        }
        VarHandle.fullFence(); // our WRITE before our read of what the peer wrote
        if (kind == DATA) {
            stream.dataArrived();
        } else if (kind == SPACE) {
            stream.spaceArrived();
        } else {
            ready.entryArrived(stream, queueId, doorbell);
        }
    }

    /** Signals to the peer that what it waited for is ready; the caller holds the lock. */
    void notifyPeer(RingStream stream, int peerIndex, int queueId) {
        if (queueId == 0) {
            stream.ringDoorbell(doorbell);
        } else if (queueId == BlockLayout.BELL_QUEUE) {
            stream.out().ringBell();
        } else {
            ready.post(stream.index(), peerIndex, queueId);
        }
    }

    /** Waits until all that was posted has arrived; the caller holds the lock. */
    void awaitArrival() {
        long target = posted;
        awaited = true;
        poll();
        while (completed < target && !failed) {
            Thread.onSpinWait();
            poll();
        }
        awaited = false;
        VarHandle.fullFence();
    }

    /** Whether a posted request has not completed: a thread has to poll. */
    boolean isBusy() {
        return completed != posted && !failed;
    }

    /**
     * Polls if that is so and no other thread does; returns whether to poll again: as long as {@link #poll} would not
     * call anew. That nothing is under way this moment is not enough, since a completion may make the polling thread
     * post more.
     */
    boolean pollIfBusy() {
        if (isAwaited()) {
            return true;
        }
        if (reportedBusy || isBusy()) {
            synchronized (this) {
                poll();
            }
        }
        return reportedBusy;
    }

    /** Whether a thread does, which holds the lock. */
    boolean isAwaited() {
        return awaited;
    }

    boolean isFailed() {
        return failed;
    }

    /** System.nanoTime() of the failure. */
    long failedAt() {
        return failedAt;
    }

    /** The other process is gone, or writes nonsense, or the queue pair has failed: it ends for both. */
    void fail() {
        if (failed) {
            return;
        }
        failedAt = System.nanoTime();
        failed = true;
        Connection established = connection;
        if (established != null) {
            try {
                established.disconnect(); // both queue pairs fail, which the engines notice
            } catch (VerbsException e) {
                StreamLog.debug("a session that failed is not disconnected: " + e.getMessage());
            }
        }
        streams.changed();
        ready.wakeOwners();
    }

    /** Gives everything back; no connection is left. */
    synchronized void close() throws VerbsException {
        failed = true;
        ready.wakeOwners(); // from memory that is given back nobody could be woken
        Connection established = connection;
        if (established != null) {
            established.close();
        }
        qp.close();
        sent.close();
        receives.close();
        arena.close();
        stage.close();
        pd.close();
    }
}
