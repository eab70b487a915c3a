// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.spi;

import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.nio.NioChannels;
import org.verbena.sockets.stream.Rendezvous;
import org.verbena.sockets.stream.Stream;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;

/**
 * The other end of a connected channel, for a module that wants queue pairs of its own to it. Both ends {@linkplain
 * #announce announce} a nonce to each other; the end that {@linkplain #peerNonce has} the other's connects to {@link
 * #listener()} with it in the private data, in the layout of {@link #MAGIC}, and the other end {@linkplain #expect
 * expects} that. Thread-safe.
 */
public final class PeerRendezvous {
    /**
     * What private data of such a request begin with: {@code int}, big-endian; the nonce of the peer is at offset
     * 8.
     */
    public static final int MAGIC = Rendezvous.MAGIC;

    private final Stream stream;
    private final @Nullable Rendezvous rendezvous;

    private PeerRendezvous(Stream stream) {
        this.stream = stream;
        rendezvous = stream.rendezvous();
    }

    /** That of a channel, whose handshake begins if it has not; null if it is none of Verbena's, or not connected. */
    public static @Nullable PeerRendezvous of(SocketChannel channel) {
        Stream stream = NioChannels.streamOf(channel);
        if (stream == null) {
            return null;
        }
        stream.beginHandshake();
        return new PeerRendezvous(stream);
    }

    /** Whether a channel is Verbena's. */
    public static boolean isOurs(SocketChannel channel) {
        return NioChannels.isOurs(channel);
    }

    private Rendezvous supported() {
        Rendezvous own = rendezvous;
        if (own == null) {
            throw new IllegalStateException("TCP carries the connection: " + stream.fallbackReason());
        }
        return own;
    }

    /** By which this process shows the connection to others: {@code connection:0x2}. */
    public long number() {
        return stream.number();
    }

    /** Why TCP carries the connection to its end, a sentence; empty if rings do, or it is undecided. */
    public String fallbackReason() {
        return stream.fallbackReason();
    }

    /** Whether the ends have agreed upon rings: the handshake has succeeded. */
    public boolean isHandshakeComplete() {
        return stream.isHandshakeComplete();
    }

    /** Whether the Verbena of the other end supports {@link #announce}; known after the handshake. */
    public boolean isSupportedByPeer() {
        return supported().isSupportedByPeer();
    }

    /** Whether this end connected; the other one was accepted. */
    public boolean isClient() {
        return supported().isClient();
    }

    /** Whether the channel was closed here. */
    public boolean isClosed() {
        return supported().isClosed();
    }

    /** Whether the processes have lost each other. */
    public boolean isBroken() {
        return supported().isBroken();
    }

    /** The context through which the bytes go, which stays open; null before the handshake is complete. */
    public @Nullable Context context() {
        return supported().context();
    }

    /**
     * Where the connection manager of {@link #context()} reaches the other end's process; null before the handshake is
     * complete.
     */
    public @Nullable InetSocketAddress listener() {
        return supported().listener();
    }

    /** What the one module that uses this keeps with the connection; null at first. */
    public AtomicReference<@Nullable Object> attachment() {
        return supported().attachment();
    }

    /** Sets what is called when any of this may have changed: by any thread, at times without need; must not block. */
    public void listen(Runnable listener) {
        supported().listen(listener);
    }

    /** Sends a nonce to the other end, not 0; after the handshake. */
    public void announce(long number) {
        supported().announce(number);
    }

    /** Whether the {@linkplain #announce announced} nonce has arrived: requests that name it are expected there. */
    public boolean isAnnounced() {
        return supported().isAnnounced();
    }

    /** The nonce of the other end; 0 if none has arrived. */
    public long peerNonce() {
        return supported().peerNonce();
    }

    /**
     * Takes requests that name {@code number}, which this end announces; on a thread of the transport: {@code taker}
     * must not block.
     */
    public static void expect(long number, Consumer<ConnectionRequest> taker) {
        Rendezvous.expect(number, taker);
    }

    /** Takes no more of them. */
    public static void cancelExpected(long number) {
        Rendezvous.cancelExpected(number);
    }
}
