// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.sockets.stream.memory.StreamLog;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/**
 * How a module above finds its counterpart at the other end of a connection: each end sends a nonce to the other
 * through the control block; an end that has the other's may request a queue pair of its own in its name, where the
 * other process accepts sessions. Thread-safe.
 */
public final class Rendezvous {
    /**
     * What private data of such a request begin with: {@code int}, big-endian; the word that was peerNonce is at offset
     * 8.
     */
    public static final int MAGIC = 0x5642_494e;

    private static final int WORD_AT = 8;
    private static final Map<Long, Consumer<ConnectionRequest>> EXPECTED = new ConcurrentHashMap<>();

    private final RingStream stream;
    private final AtomicReference<@Nullable Object> attachment = new AtomicReference<>();
    private volatile long peerNonce;
    private volatile boolean announced;
    private volatile boolean peerReadsNonce;
    private volatile @Nullable InetSocketAddress listener;
    private volatile @Nullable Runnable changeListener;

    Rendezvous(RingStream stream) {
        this.stream = stream;
    }

    /** The features of the other end, and where its process takes requests; before the handshake is complete. */
    void peer(long features, InetSocketAddress takesRequests) {
        peerReadsNonce = (features & HandshakeMessage.NONCES) != 0;
        listener = takesRequests;
    }

    /** Whether the other end reads the word. */
    public boolean isSupportedByPeer() {
        return peerReadsNonce;
    }

    /** Where the other end's process takes requests; null before the handshake is complete. */
    public @Nullable InetSocketAddress listener() {
        return listener;
    }

    /** Where the session's queue pair is; null before the handshake is complete. */
    public @Nullable Context context() {
        Link own = stream.link();
        return own == null || !stream.isHandshakeComplete() ? null : own.session.context();
    }

    /** What one module keeps here; null at first. */
    public AtomicReference<@Nullable Object> attachment() {
        return attachment;
    }

    /**
     * Sets what is called when the handshake is decided, the nonce has arrived, or the connection has ended.
     *
     * @param newListener run by any thread, at times without need; it must not block
     */
    public void listen(Runnable newListener) {
        changeListener = newListener;
    }

    void changed() {
        Runnable target = changeListener;
        if (target != null) {
            target.run();
        }
    }

    /**
     * Sends the nonce, after the handshake; has no effect if the connection has ended. Any thread.
     *
     * @param word not 0
     */
    public void announce(long word) {
        StreamEngine.submitIfStarted(() -> write(word));
    }

    private void write(long word) {
        Link own = stream.link();
        if (own == null || !peerReadsNonce || stream.isClosed() || own.isLetGo()) {
            return;
        }
        synchronized (own.session) {
            PeerBlock peer = stream.out().peer();
            if (peer != null) {
                peer.post(Session.NOTHING, BlockLayout.NONCE, word);
                own.session.awaitArrival(); // before the call: its answer may be under way already
                own.session.requestProgress();
                announced = !own.session.isFailed();
            }
        }
        changed();
    }

    /** Whether what was {@linkplain #announce announced} has arrived in the control block of the other end. */
    public boolean isAnnounced() {
        return announced;
    }

    /** The nonce of the other end; 0 if none has arrived. */
    public long peerNonce() {
        poll();
        return peerNonce;
    }

    /** Reads the nonce of the other end. */
    void poll() {
        Link own = stream.link();
        if (peerNonce == 0 && own != null && stream.isHandshakeComplete()) {
            long word = BlockLayout.getAcquire(own.block, BlockLayout.NONCE);
            if (word != 0) {
                peerNonce = word;
                changed();
            }
        }
    }

    /** Whether the session of the two processes is over. */
    public boolean isBroken() {
        Link own = stream.link();
        return own != null && own.session.isFailed();
    }

    /** Whether the connection was closed here. */
    public boolean isClosed() {
        return stream.isClosed();
    }

    /** Whether this end connected. */
    public boolean isClient() {
        return stream.role() == Stream.Role.CLIENT;
    }

    /**
     * Takes requests that name {@code word}, which this end has announced; on the thread that takes sessions: it must
     * not block.
     */
    public static void expect(long word, Consumer<ConnectionRequest> handler) {
        EXPECTED.put(word, handler);
    }

    /** Takes no more of them. */
    public static void cancelExpected(long word) {
        EXPECTED.remove(word);
    }

    /** Passes a request to the end that expects it; false if it is none of these. */
    static boolean take(ConnectionRequest request) {
        ByteBuffer data = ByteBuffer.wrap(request.privateData());
        if (data.remaining() < WORD_AT + Long.BYTES || data.getInt(0) != MAGIC) {
            return false;
        }
        Consumer<ConnectionRequest> handler = EXPECTED.get(data.getLong(WORD_AT));
        if (handler != null) {
            handler.accept(request);
        } else {
            try {
                request.reject();
            } catch (VerbsException e) {
                StreamLog.debug("an unexpected request was not refused: " + e.getMessage());
            }
        }
        return true;
    }
}
