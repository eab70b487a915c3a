// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.LinuxException;
import org.verbena.sockets.spi.PeerRendezvous;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/**
 * Establishes the {@link PeerLink} of a connection: each end sends a random token to the other once its program has
 * asked for remote memory; when both have, the end that connected requests two queue pairs, identified by the token
 * that it has received.
 */
final class Peering {
    /** Timeout of a connection request and its reply. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
    static final String NOT_REQUESTED = "the program has not asked for it";
    private static final String TRANSPORT_UNDECIDED = "the handshake of the connection is not complete yet";
    private static final String NOT_REQUESTED_BY_PEER = "the other end's program has not asked for remote memory";

    private static final class Random {
        static final SecureRandom RANDOM = new SecureRandom();

        private Random() {}
    }

    private final SocketChannel channel;
    private final PeerRendezvous end;
    private final CompletableFuture<RemoteMemory> memory = new CompletableFuture<>();
    private final Engine engine;
    private long ownToken;

    // guarded by this
    private boolean tokenSent;
    private boolean connecting;
    private boolean ended;
    private String why = TRANSPORT_UNDECIDED;
    private @Nullable PeerLink link;
    private @Nullable Handshake peer;
    private int connectedPairs;
    /** A {@link RemoteMemory} owns the link, and releases it. */
    private boolean established;

    private Peering(SocketChannel channel, PeerRendezvous end, Engine engine) {
        this.channel = channel;
        this.end = end;
        this.engine = engine;
    }

    /**
     * The instance of a channel; null if there cannot be any, as {@link #whyUnsupported} explains. This does not ask
     * for remote memory.
     */
    static @Nullable Peering of(SocketChannel channel) {
        PeerRendezvous end = PeerRendezvous.of(channel);
        if (end == null || !end.fallbackReason().isEmpty()) {
            return null;
        }
        return end.attachment().get() instanceof Peering there ? there : null;
    }

    /** The instance of a channel, which asks for remote memory from now on; null as for {@link #of}. */
    static @Nullable Peering request(SocketChannel channel) throws LinuxException {
        PeerRendezvous end = PeerRendezvous.of(channel);
        if (end == null || !end.fallbackReason().isEmpty()) {
            return null;
        }
        if (end.attachment().get() instanceof Peering there) {
            return there;
        }
        Peering made = new Peering(channel, end, Engine.get());
        if (end.attachment().compareAndSet(null, made)) {
            made.start();
            return made;
        }
        return end.attachment().get() instanceof Peering there ? there : null;
    }

    /** Why there cannot be any, as a sentence; empty if there can. */
    static String whyUnsupported(SocketChannel channel) {
        PeerRendezvous end = PeerRendezvous.of(channel);
        if (end != null) {
            return end.fallbackReason().isEmpty() ? "" : "TCP carries the connection: " + end.fallbackReason();
        }
        if (PeerRendezvous.isOurs(channel)) {
            return channel.isOpen() ? "the channel is not connected" : "the channel is closed";
        }
        return "the channel is none of Verbena's: use VerbenaSocketChannel, or the agent and Verbena's jars on the program's path";
    }

    private void start() {
        do {
            ownToken = Random.RANDOM.nextLong();
        } while (ownToken == 0);
        PeerRendezvous.expect(ownToken, request -> Engine.ACCEPTORS.execute(() -> accept(request)));
        end.listen(() -> engine.submit(this::step));
        engine.submit(this::step);
    }

    /** Advances the state if possible; on the engine's thread. */
    private void step() {
        String fallback = end.fallbackReason();
        if (end.isClosed()) {
            end("the channel is closed");
            if (memory.isDone() && !memory.isCompletedExceptionally()) {
                memory.join().channelClosed();
            }
        } else if (!fallback.isEmpty()) {
            end("TCP carries the connection: " + fallback);
        } else if (end.isBroken()) {
            end("the other process has ended, or has closed what carried the connection");
        } else if (end.isHandshakeComplete() && !end.isSupportedByPeer()) {
            end("the other end has a Verbena without remote memory");
        } else if (end.isHandshakeComplete()) {
            onStreamHandshakeComplete();
        } else {
            setReason(TRANSPORT_UNDECIDED);
        }
    }

    private synchronized void setReason(String sentence) {
        if (!ended) {
            why = sentence;
        }
    }

    private void onStreamHandshakeComplete() {
        boolean connect;
        synchronized (this) {
            if (ended) {
                return;
            }
            if (!tokenSent) {
                tokenSent = true;
                end.announce(ownToken);
            }
            if (end.peerNonce() == 0) {
                why = NOT_REQUESTED_BY_PEER;
                return;
            }
            // otherwise the request would reach an end that does not have the token
            connect = end.isClient() && !connecting && end.isAnnounced();
            if (link == null) {
                why = "the ends are about to connect their queue pairs";
            }
            connecting |= connect;
        }
        if (connect) {
            Engine.CONNECTORS.execute(this::connect);
        }
    }

    private PeerLink makeLink() throws VerbsException {
        Context context = end.context();
        if (context == null) {
            throw new IllegalStateException("the handshake of the connection is not complete");
        }
        return new PeerLink(context, engine.channel(context), CreditLimit.DEFAULT);
    }

    // ---- the end that connected

    private void connect() {
        PeerLink made = null;
        try {
            made = makeLink();
            connect(made, made.data(), Handshake.COPIES);
            connect(made, made.control(), Handshake.CONTROL);
        } catch (VerbsException | RuntimeException | LinkageError | OutOfMemoryError e) {
            if (made != null) {
                discard(made);
            }
            end("the queue pairs were not connected: " + e.getMessage());
            return;
        }
        established(made);
    }

    private void connect(PeerLink to, QueuePair qp, int which) throws VerbsException {
        Context context = qp.context();
        long peerToken = end.peerNonce();
        Connection connection = context.connectionManager().connect(qp, java.util.Objects.requireNonNull(end
                .listener()), parameters(Handshake.own(which, peerToken, ownToken)));
        to.connected(connection);
        Handshake answer = Handshake.parse(connection.privateData());
        if (answer == null || answer.queuePair() != which || answer.acceptorToken() != peerToken || answer
                .connectorToken() != ownToken
                || answer.version() < Handshake.MIN_VERSION) {
            throw new IllegalStateException("the other end sent an invalid reply");
        }
        synchronized (this) {
            peer = answer;
        }
    }

    private static ConnectionParameters parameters(Handshake what) {
        return ConnectionParameters.builder().timeout(CONNECT_TIMEOUT).privateData(what.bytes()).build();
    }

    // ---- the end that was accepted

    private void accept(ConnectionRequest request) {
        Handshake asked = Handshake.parse(request.privateData());
        PeerLink mine = asked == null ? null : acceptingLink(asked);
        if (asked == null || mine == null) {
            refuse(request);
            return;
        }
        boolean all;
        boolean late;
        try {
            QueuePair qp = asked.queuePair() == Handshake.COPIES ? mine.data() : mine.control();
            mine.connected(request.accept(qp, parameters(Handshake.own(asked.queuePair(), ownToken, asked
                    .connectorToken()))));
            synchronized (this) {
                peer = asked;
                connectedPairs |= 1 << asked.queuePair();
                all = connectedPairs == 3;
                late = ended;
            }
        } catch (VerbsException | RuntimeException | LinkageError | OutOfMemoryError e) {
            refuse(request);
            end("the queue pairs were not connected: " + e.getMessage());
            return;
        }
        if (all) {
            established(mine);
        } else if (late) { // the link was released before it knew of the connection
            discard(mine);
        }
    }

    /** The link for a request; null if it is to be rejected. */
    private @Nullable PeerLink acceptingLink(Handshake asked) {
        String failure;
        synchronized (this) {
            if (ended || end.isClient() || end.isClosed() || asked.version() < Handshake.MIN_VERSION || asked
                    .acceptorToken() != ownToken || asked.connectorToken() != end.peerNonce() || (connectedPairs
                            & 1 << asked
                                    .queuePair()) != 0) {
                return null;
            }
            try {
                PeerLink there = link;
                if (there == null) {
                    there = makeLink();
                    link = there;
                }
                return there;
            } catch (VerbsException | RuntimeException e) {
                failure = "no queue pairs: " + e.getMessage();
            }
        }
        end(failure);
        return null;
    }

    private static void refuse(ConnectionRequest request) {
        try {
            request.reject();
        } catch (VerbsException e) {
            Engine.debug("a request was not refused: " + e.getMessage()); // it was already answered
        }
    }

    // ---- both

    private void established(PeerLink made) {
        Handshake handshake;
        boolean used;
        synchronized (this) {
            link = made;
            handshake = peer;
            used = !ended && handshake != null;
            established = used;
        }
        if (handshake == null || !used) {
            discard(made);
            return;
        }
        RemoteMemory ready = new RemoteMemory(channel, end.number(), engine, made, handshake, end.isClient() ? 0 : 1,
                () -> Random.RANDOM.nextInt(1, RegionId.MAX_GENERATION + 1), this::end);
        try {
            ready.start();
        } catch (VerbsException e) {
            made.fail(String.valueOf(e.getMessage()));
        }
        synchronized (this) {
            if (!ended) {
                why = "";
            }
        }
        memory.complete(ready);
        if (end.isClosed()) {
            ready.channelClosed();
        }
    }

    /** Releases a link that no remote memory owns; a release that a stopped process holds up is retried. */
    private static void discard(PeerLink link) {
        discard(link, RemoteMemory.FIRST_RETRY_MILLIS);
    }

    private static void discard(PeerLink link, long pauseMillis) {
        link.disconnect();
        VerbsException refused = link.closeAll();
        if (refused != null) {
            Engine.debug("not given back yet: " + refused.getMessage());
            CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS, Engine.CLOSERS).execute(
                    () -> discard(link, Math.min(2 * pauseMillis, RemoteMemory.MAX_RETRY_MILLIS)));
        }
    }

    /** Ends the peering: there is no remote memory from now on. Thread-safe. */
    private void end(String reason) {
        PeerLink there;
        boolean used;
        synchronized (this) {
            if (ended) {
                return;
            }
            ended = true;
            why = reason;
            there = link;
            used = established;
        }
        PeerRendezvous.cancelExpected(ownToken);
        if (there != null && used) {
            there.fail(reason);
        } else if (there != null) {
            Engine.CLOSERS.execute(() -> discard(there));
        }
        memory.completeExceptionally(new IllegalStateException(reason));
    }

    /** Why there is no remote memory, as a sentence; empty if there is. */
    synchronized String why() {
        return why;
    }

    /** The remote memory if there is one now; else null. */
    @Nullable
    RemoteMemory now() {
        return memory.isDone() && !memory.isCompletedExceptionally() && why().isEmpty() ? memory.join() : null;
    }

    /** The remote memory once there is one; null after the timeout or a failure. */
    @Nullable
    RemoteMemory await(Duration timeout) throws InterruptedException {
        try {
            memory.get(Math.max(0, TimeUnit.NANOSECONDS.convert(timeout)), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return now();
        }
        return now();
    }
}
