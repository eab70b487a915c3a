// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * One end of a copy's connection: messages both ways, chunks one way. No wait lasts forever: each one watches the
 * connection, and a peer that is silent for longer than the timeout counts as dead. Used by one thread, except {@link
 * #stop()}.
 */
final class CopyChannel implements AutoCloseable {
    private static final int SLOT = CopyEndpoint.SLOT;

    /**
     * The most messages that may be queued here. While that many are queued, no receive is reposted, so the peer has to
     * wait.
     */
    private static final int INBOX = 256;

    /** How often a waiting thread checks whether it should stop. */
    private static final Duration SLICE = Duration.ofMillis(250);
    private static final long ALIVE_NANOS = Duration.ofSeconds(2).toNanos();

    /** Work request numbers: a receive is its slot; the others are told apart by these bits. */
    private static final long SEND = 1L << 32;
    private static final long WRITE = 1L << 33;

    private final long patience;
    private final CopyEndpoint endpoint;
    private final CompletionQueue cq;
    private final ArrayDeque<Integer> freeSends = new ArrayDeque<>();
    private final ArrayDeque<Integer> freeChunks = new ArrayDeque<>();
    private final Deque<CopyMessage> inbox = new ArrayDeque<>();
    private final ByteBuffer encoded = ByteBuffer.allocate(SLOT);
    private String lost = "";
    private long lastSent = System.nanoTime();
    private long lastHeard = lastSent;
    private volatile boolean stopped;

    /** Takes over a connected endpoint. */
    CopyChannel(CopyEndpoint endpoint, Duration patience) {
        this.endpoint = endpoint;
        this.patience = patience.toNanos();
        cq = endpoint.cq;
        for (int i = 0; i < CopyEndpoint.SENDS; i++) {
            freeSends.add(CopyEndpoint.RECEIVES + i);
        }
    }

    /** The protection domain in which memory for chunks of the peer is registered. */
    ProtectionDomain protectionDomain() {
        return endpoint.pd;
    }

    /** Makes the thread that uses the channel fail soon. May be called from any thread. */
    void stop() {
        stopped = true;
    }

    /** Sends a message; waits while all slots are on their way. */
    void send(CopyMessage message) throws CopyFailure {
        while (freeSends.isEmpty()) {
            await(SLICE, false);
        }
        int slot = freeSends.remove();
        encoded.clear();
        CopyProtocol.encode(message, encoded);
        int length = encoded.position();
        long offset = (long) slot * SLOT;
        MemorySegment.copy(encoded.array(), 0, endpoint.messages.segment(), ValueLayout.JAVA_BYTE, offset, length);
        post(endpoint.qp.sendQueue().start().send(SEND | slot, SendFlags.SIGNALED).sge(endpoint.messages, offset,
                length));
        lastSent = System.nanoTime();
    }

    /**
     * To be called from time to time during long work: tells the peer that this end is alive, and handles its messages.
     */
    void tick() throws CopyFailure {
        checkConnected();
        drain();
        keepAlive();
    }

    private void keepAlive() throws CopyFailure {
        if (System.nanoTime() - lastSent > ALIVE_NANOS && !freeSends.isEmpty() && lost.isEmpty()) {
            send(new CopyMessage.Alive());
        }
    }

    /** The next message if one has arrived. */
    @Nullable
    CopyMessage poll() throws CopyFailure {
        checkStopped();
        drain();
        keepAlive(); // a caller that gets one message after another never waits, and yet must not be silent
        return inbox.poll();
    }

    /** Waits for the next message. */
    CopyMessage next() throws CopyFailure {
        CopyMessage m = null;
        while (m == null) {
            m = next(SLICE);
        }
        return m;
    }

    /** Waits for the next message, at most for {@code max}; null if none arrived. */
    @Nullable
    CopyMessage next(Duration max) throws CopyFailure {
        CopyMessage m = poll();
        if (m == null) {
            await(max, true);
            m = inbox.poll();
        }
        return m;
    }

    /** Waits until the peer has disconnected, for a short time. */
    void awaitDisconnect() {
        long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
        try {
            while (System.nanoTime() < end) {
                CopyMessage _ = next(SLICE);
            }
        } catch (CopyFailure e) {
            // this is the disconnect that is waited for
        }
    }

    /** Memory for the chunks of a sender, {@code count} of which may be in flight at once. */
    void allocateChunks(int count) throws VerbsException {
        endpoint.allocateChunks(count);
        for (int i = 0; i < count; i++) {
            freeChunks.add(i);
        }
    }

    /** Acquires a buffer for a chunk; waits for one. */
    int takeChunk() throws CopyFailure {
        while (freeChunks.isEmpty()) {
            await(SLICE, false);
        }
        return freeChunks.remove();
    }

    /** Returns a buffer that was not written. */
    void returnChunk(int buffer) {
        freeChunks.add(buffer);
    }

    /** The memory of a buffer. */
    ByteBuffer chunkBuffer(int buffer) {
        return endpoint.chunks().segment().asSlice((long) buffer * CopyProtocol.CHUNK, CopyProtocol.CHUNK)
                .asByteBuffer();
    }

    /** Writes a chunk; the buffer is returned automatically. */
    void write(int buffer, int length, int rkey, long remoteAddress, int index) throws CopyFailure {
        post(endpoint.qp.sendQueue().start().writeImmediate(WRITE | buffer, SendFlags.SIGNALED, rkey, remoteAddress,
                index)
                .sge(endpoint.chunks(), (long) buffer * CopyProtocol.CHUNK, length));
        lastSent = System.nanoTime();
    }

    private void post(SendQueue batch) throws CopyFailure {
        int error = batch.complete();
        if (error != 0) {
            checkConnected();
            drain();
            throw gone("a work request was refused: error " + error);
        }
    }

    /**
     * Waits until something has happened, or the time is over.
     *
     * @param forMessage whether a message that is here already is what the caller waits for
     */
    private void await(Duration max, boolean forMessage) throws CopyFailure {
        boolean connected = endpoint.isConnected(); // checked first: what the peer did before it left is still delivered
        if (hasHappened(forMessage)) {
            return;
        }
        if (!connected) {
            throw gone(lost);
        }
        tick();
        if (System.nanoTime() - lastHeard > patience) {
            throw new CopyFailure(CopyStatus.PEER_DIED,
                    "the peer has not answered for " + patience / 1_000_000_000 + " seconds");
        }
        int _ = cq.requestNotify(false);
        if (hasHappened(forMessage)) {
            return;
        }
        try {
            CompletionQueue _ = endpoint.events.await(max);
        } catch (VerbsException e) {
            throw CopyFailure.of("waiting for the peer", e);
        }
        drain();
    }

    private boolean hasHappened(boolean forMessage) throws CopyFailure {
        return drain() > 0 || (forMessage && !inbox.isEmpty());
    }

    private void checkStopped() throws CopyFailure {
        if (stopped) {
            throw new CopyFailure(CopyStatus.INTERRUPTED, "interrupted");
        }
    }

    private void checkConnected() throws CopyFailure {
        checkStopped();
        if (!lost.isEmpty()) {
            throw gone(lost);
        }
    }

    private CopyFailure gone(String detail) {
        String reason = endpoint.qp.errorReason();
        String why = reason.isEmpty() ? detail : reason;
        return new CopyFailure(CopyStatus.PEER_DIED,
                "the peer died or closed the connection" + (why.isEmpty() ? "" : " (" + why + ")"));
    }

    /** Takes completions as long as there is room for messages; returns how many it took. */
    private int drain() throws CopyFailure {
        int taken = 0;
        if (inbox.size() < INBOX && cq.startPoll() == 0) {
            try {
                do {
                    completed(cq.wrId(), cq.status(), cq.vendorError());
                    taken++;
                } while (inbox.size() < INBOX && cq.nextPoll() == 0);
            } finally {
                cq.endPoll();
            }
        }
        return taken;
    }

    private void completed(long id, int status, int errno) throws CopyFailure {
        if (status != WcStatus.SUCCESS) {
            if (errno == Errno.EPERM) {
                throw new CopyFailure(CopyStatus.NOT_PERMITTED,
                        "this process may not write into the listener's memory: "
                                + endpoint.qp.errorReason());
            }
            if (lost.isEmpty()) {
                lost = "work completion with status " + WcStatus.toString(status);
            }
        } else if ((id & SEND) != 0) {
            freeSends.add((int) id);
        } else if ((id & WRITE) != 0) {
            freeChunks.add((int) id);
        } else {
            received((int) id, cq.opcode());
        }
    }

    private void received(int slot, int opcode) throws CopyFailure {
        lastHeard = System.nanoTime();
        CopyMessage message;
        if (opcode == WcOpcode.RECV_RDMA_WITH_IMM) {
            message = new CopyMessage.Chunk(cq.immediate());
        } else {
            long length = cq.byteLength();
            if (length < 0 || length > SLOT) {
                throw CopyFailure.protocol("a message of " + length + " bytes");
            }
            // Copied before it is parsed: the peer may be able to write this memory.
            byte[] copy = new byte[(int) length];
            MemorySegment.copy(endpoint.messages.segment(), ValueLayout.JAVA_BYTE, (long) slot * SLOT, copy, 0,
                    copy.length);
            message = CopyProtocol.decode(copy);
        }
        endpoint.postReceive(slot);
        if (!(message instanceof CopyMessage.Alive)) {
            inbox.add(message);
        }
    }

    /** Disconnects and releases everything. Memory that others registered here must have been closed before. */
    @Override
    public void close() throws VerbsException {
        endpoint.close();
    }
}
