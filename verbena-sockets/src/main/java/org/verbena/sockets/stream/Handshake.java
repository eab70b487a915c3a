// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PeerIdentity;
import org.verbena.linux.SockDiag;
import org.verbena.linux.SocketCookie;
import org.verbena.linux.UnixSocket;
import org.verbena.sockets.stream.memory.StreamLog;
import org.verbena.verbs.VerbsException;

/**
 * How the two ends of one TCP connection find each other and agree on rings: a {@linkplain State state machine} that
 * the engine's thread alone runs.
 *
 * <p>The {@linkplain ClientHandshake end that connected} listens at an abstract Unix name made of its TCP socket's
 * cookie; the {@linkplain ServerHandshake end that was accepted} asks the kernel for that cookie and connects to the
 * name. A socket may be dead and another connection have its addresses already: so each checks whether its addresses
 * are still its own, and they compare the cookies of both. Both send HELLO, get a session of their processes, and OFFER
 * where they may be written to. An end makes use of the other's offer only after it has made its own: an end that sees
 * the other leave without an offer can be sure that its own will never be used.
 */
abstract class Handshake {
    /** How far it has come; the engine's thread alone goes on to the next one. */
    enum State {
        /** It has not begun. */
        NEW,
        /** The other end is being searched for. */
        RENDEZVOUS,
        /** The ends are connected by a Unix socket; the other end's HELLO is to come. */
        HELLO_WAIT,
        /** A session of the two processes is being made, or waits for the other process. */
        SESSION_WAIT,
        /** This end has made its offer, and has to wait for the other's: that may be in use already. */
        OFFER_WAIT,
        /** The other end is on another host: a {@link RemoteHandshake} goes on. */
        REMOTE,
        /** The handshake is complete, or has failed: TCP carries the connection to its end. */
        DONE;

        /** Whether it may be given up: the other end does not use what it was not offered. */
        boolean isBeforeOffer() {
            return compareTo(OFFER_WAIT) < 0;
        }
    }

    private static final String NAME = "verbena-stream-";
    private static final int[] NO_DESCRIPTORS = {};
    /** Between two looks whether the file is sent that the kernel is sending. */
    private static final long FILE_PAUSE_NANOS = 1_000_000;
    /** The time until the other end's socket is looked for again. */
    private static final long SECOND_LOOK_NANOS = 20_000_000;
    private static final int ESTABLISHED = 1; // as the kernel's TCP_ESTABLISHED
    /** How long an end waits for the other to appear. */
    static final long RENDEZVOUS_TIMEOUT_NANOS = 1_000_000L * Math.clamp(Long.getLong("verbena.stream.patience", 5000),
            1,
            600_000);
    /** How long the handshake may take once the ends have met: the other one is ours, and may be slow. */
    static final long HANDSHAKE_TIMEOUT_NANOS = 3 * RENDEZVOUS_TIMEOUT_NANOS;

    private final StreamEngine engine;
    private final RingStream stream;
    private final SocketChannel tcp;
    private final Stream.Role role;
    private final @Nullable String device;
    private final long opened = System.nanoTime();
    private long began;
    private volatile State state = State.NEW;
    private long clientCookie;
    /** Cookie of the server's socket; 0 at the client before it has arrived. */
    private long serverCookie;
    private @Nullable UnixSocket peer;
    private StreamEngine.@Nullable Timer timer;
    private @Nullable Offer peerOffer;
    /** Version of the other end; -1 before its HELLO. */
    private int peerVersion = -1;
    private long peerInstance;
    private final Sessions.SessionRequest sessionRequest = this::onSession;
    /** What goes on if the other end is on another host. */
    private @Nullable RemoteHandshake remoteHandshake;
    private volatile FallbackReason refused = FallbackReason.NONE;

    Handshake(StreamEngine engine, RingStream stream, SocketChannel tcp, Stream.Role role, @Nullable String device) {
        this.engine = engine;
        this.stream = stream;
        this.tcp = tcp;
        this.role = role;
        this.device = device;
    }

    static Handshake of(StreamEngine engine, RingStream stream) {
        return stream.role() == Stream.Role.CLIENT
                ? new ClientHandshake(engine, stream, stream.tcp(), stream.device())
                : new ServerHandshake(engine, stream, stream.tcp(), stream.device());
    }

    // what differs between the two ends

    /**
     * Looks for the other end, which is on this host.
     *
     * @param own cookie of this end's socket
     * @param other cookie of the other end's
     */
    abstract void rendezvous(long own, long other) throws LinuxException;

    /** The ends are connected, and this one waits for HELLO. */
    abstract void onConnected();

    /** Whether HELLO is of the other end of the connection; does what is to be done if it is not. */
    abstract boolean isFromPeer(HandshakeMessage.Hello hello);

    /** Answers HELLO, if this end has not sent it before. */
    abstract void answer(HandshakeMessage.Hello hello);

    /** It is over: ends the search for the other end. */
    abstract void stopRendezvous();

    // both

    final void start() {
        state = State.RENDEZVOUS; // before the check: a later close calls this handshake
        began = System.nanoTime(); // not before: with many connections at once it may be a while until their turn
        if (stream.isClosed()) {
            end(FallbackReason.CLOSED_EARLY);
            return;
        }
        if (refused != FallbackReason.NONE) {
            end(refused);
            return;
        }
        find(true);
    }

    /**
     * Looks for the other end's socket.
     *
     * @param mayLookAgain whether it may be looked for once more: the kernel's table does not show a socket while it moves it, when the
     *        connection is established and when it is reset
     */
    private void find(boolean mayLookAgain) {
        try {
            SocketAddress local = tcp.getLocalAddress();
            SocketAddress remote = tcp.getRemoteAddress();
            if (!(local instanceof InetSocketAddress own) || !(remote instanceof InetSocketAddress other)) {
                end(FallbackReason.REMOTE_PEER);
                return;
            }
            Optional<SockDiag.TcpSocket> there = engine.diag().find(other, own);
            if (there.isEmpty()) {
                if (isEnding(own, other)) {
                    end(FallbackReason.CLOSED_EARLY);
                } else if (mayLookAgain && isOfThisHost(own, other)) {
                    wait(System.nanoTime() + SECOND_LOOK_NANOS, () -> find(false));
                } else if (device == null) {
                    end(FallbackReason.REMOTE_PEER);
                } else {
                    ConnectionName name = role == Stream.Role.CLIENT
                            ? new ConnectionName(own, other)
                            : new ConnectionName(other, own);
                    RemoteHandshake found = new RemoteHandshake(engine, engine.remotes(device), stream, role, name);
                    remoteHandshake = found;
                    state = State.REMOTE;
                    found.start();
                }
                return;
            }
            long mine = SocketCookie.of(((SelChImpl) tcp).getFDVal());
            if (!has(own, other, mine) || stream.isClosed()) { // closed: then the descriptor may be another's already
                end(FallbackReason.CLOSED_EARLY);
            } else {
                rendezvous(mine, there.get().cookie());
            }
        } catch (LinuxException e) {
            endUnlessClosed(e);
        } catch (IOException e) { // the channel was closed meanwhile
            end(FallbackReason.CLOSED_EARLY);
        }
    }

    final void endUnlessClosed(LinuxException e) {
        if (stream.isClosed()) {
            end(FallbackReason.CLOSED_EARLY);
        } else {
            end(e);
        }
    }

    /** Whether the connection is open, and was not before that time. */
    final boolean isOpenedAfter(long nanoTime) {
        return opened - nanoTime > 0 && !stream.isClosed();
    }

    /** Whether the connection between these addresses is, at its first end, that socket's. */
    private boolean has(InetSocketAddress first, InetSocketAddress second, long itsCookie) throws LinuxException {
        Optional<SockDiag.TcpSocket> found = engine.diag().find(first, second);
        return found.isPresent() && found.get().cookie() == itsCookie;
    }

    /** Whether it has to be informed that the stream was closed: before, it checks that itself. */
    final boolean isStarted() {
        return state != State.NEW;
    }

    final boolean is(State one) {
        return state == one;
    }

    final StreamEngine engine() {
        return engine;
    }

    final boolean isStreamClosed() {
        return stream.isClosed();
    }

    /** The cookies of both ends' sockets, as far as they have arrived; 0 for one that has not. */
    final void cookies(long client, long server) {
        clientCookie = client;
        serverCookie = server;
    }

    final long clientCookie() {
        return clientCookie;
    }

    final long serverCookie() {
        return serverCookie;
    }

    /** The name at which the client listens. */
    final String name() {
        return NAME + Long.toHexString(clientCookie);
    }

    /** Until when the other end has to appear. */
    final long rendezvousEnd() {
        return began + RENDEZVOUS_TIMEOUT_NANOS;
    }

    /** Why a process gets no rings, by whose it is; null if it may have them. */
    static @Nullable FallbackReason refusalOf(UnixSocket process) throws LinuxException {
        PeerIdentity identity = PeerIdentity.of(process);
        if (identity != PeerIdentity.SAME_USER) {
            StreamLog.debug("no rings with process " + process.peerCredentials().pid() + ": it " + identity);
        }
        return switch (identity) {
            case SAME_USER -> null;
            case OTHER_USER -> FallbackReason.OTHER_USER;
            case UNMAPPED_USER, OTHER_USER_NAMESPACE, OTHER_PID_NAMESPACE, UNSEEN_NAMESPACE ->
                FallbackReason.OTHER_NAMESPACE;
        };
    }

    /** Why the other end has not appeared: its program may have closed it, which is no plain peer's doing. */
    final FallbackReason timeoutReason() {
        try {
            if (tcp.getLocalAddress() instanceof InetSocketAddress own
                    && tcp.getRemoteAddress() instanceof InetSocketAddress other) {
                Optional<SockDiag.TcpSocket> there = engine.diag().find(other, own);
                // one that waits to be accepted has no descriptor either
                if (there.isEmpty() || there.get().inode() == 0 && there.get().state() != ESTABLISHED) {
                    return FallbackReason.CLOSED_EARLY;
                }
            }
        } catch (IOException e) {
            return stream.isClosed() ? FallbackReason.CLOSED_EARLY : FallbackReason.PLAIN_PEER;
        }
        return FallbackReason.PLAIN_PEER;
    }

    /** The ends are connected by this socket. */
    final void connected(UnixSocket socket) throws LinuxException {
        peer = socket;
        state = State.HELLO_WAIT;
        socket.setNonBlocking(true);
        engine.watch(socket.fd(), Epoll.IN, this::onReadable);
        wait(System.nanoTime() + HANDSHAKE_TIMEOUT_NANOS, this::onHandshakeTimeout);
        onConnected();
    }

    /** There is one thing at a time that it waits for. */
    final void wait(long until, Runnable then) {
        stopWaiting();
        timer = engine.at(until, then);
    }

    private void stopWaiting() {
        StreamEngine.Timer waiting = timer;
        timer = null;
        if (waiting != null) {
            waiting.cancel();
        }
    }

    /** After the offer there is no giving up: the other end may be about to use it. */
    private void onHandshakeTimeout() {
        if (state.isBeforeOffer()) {
            end(FallbackReason.NO_SESSION);
        }
    }

    final void sendHello() {
        Sessions sessions;
        try {
            sessions = engine.sessions();
        } catch (VerbsException e) {
            end(StreamEngine.reason(e.errno(), FallbackReason.UNAVAILABLE), e);
            return;
        }
        send(message -> HandshakeMessage.put(message,
                new HandshakeMessage.Hello(HandshakeMessage.VERSION, HandshakeMessage.FEATURES, sessions.instance(),
                        clientCookie, sessions.port(), serverCookie)));
    }

    private boolean send(Consumer<MemorySegment> fill) {
        UnixSocket socket = peer;
        if (socket == null) {
            return false;
        }
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment message = memory.allocate(HandshakeMessage.BYTES, 8);
            fill.accept(message);
            int error = socket.send(message, 0, HandshakeMessage.BYTES, NO_DESCRIPTORS);
            if (error != 0) {
                end(disconnectReason());
            }
            return error == 0;
        }
    }

    private void onReadable() {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment message = memory.allocate(2 * HandshakeMessage.BYTES, 8);
            while (state != State.DONE) {
                UnixSocket socket = peer;
                if (socket == null) {
                    return;
                }
                int n = socket.receive(message, NO_DESCRIPTORS);
                if (n == -Errno.EAGAIN) {
                    return;
                }
                if (n <= 0) {
                    end(disconnectReason());
                    return;
                }
                onMessage(message, n);
            }
        }
    }

    /** Whether one of the ends has closed the TCP connection, be it in order or not. */
    private boolean isEnding(InetSocketAddress own, InetSocketAddress other) throws LinuxException {
        Optional<SockDiag.TcpSocket> here = engine.diag().find(own, other);
        return here.isEmpty() || here.get().state() != ESTABLISHED;
    }

    /** Whether the other end has this end's address, or one of the loopback interface. */
    private static boolean isOfThisHost(InetSocketAddress own, InetSocketAddress other) {
        return other.getAddress().isLoopbackAddress() || other.getAddress().equals(own.getAddress());
    }

    /** Why the other end has left without an offer. */
    private FallbackReason disconnectReason() {
        try {
            if (stream.isClosed() || tcp.getLocalAddress() instanceof InetSocketAddress own
                    && tcp.getRemoteAddress() instanceof InetSocketAddress other && isEnding(own, other)) {
                return FallbackReason.CLOSED_EARLY;
            }
        } catch (IOException e) { // closed, or not to be found out
            return stream.isClosed() ? FallbackReason.CLOSED_EARLY : FallbackReason.NO_SESSION;
        }
        if (peerVersion >= 0 && peerVersion != HandshakeMessage.VERSION) {
            return FallbackReason.OTHER_VERSION;
        }
        return state == State.SESSION_WAIT ? engine.noSessionReason(peerInstance, role) : FallbackReason.NO_SESSION;
    }

    private void onMessage(MemorySegment message, int length) {
        HandshakeMessage.Hello hello = HandshakeMessage.hello(message, length);
        if (hello != null) {
            onHello(hello);
            return;
        }
        Offer offer = HandshakeMessage.offer(message, length);
        if (offer == null || peerOffer != null) {
            end(HandshakeMessage.type(message, length) == 0 ? FallbackReason.BAD_PEER : FallbackReason.OTHER_VERSION);
            return;
        }
        peerOffer = offer;
        finish();
    }

    private void onHello(HandshakeMessage.Hello hello) {
        if (state != State.HELLO_WAIT) { // once is enough: a second offer would be made on it
            end(FallbackReason.BAD_PEER);
            return;
        }
        peerVersion = hello.version();
        if (hello.version() < HandshakeMessage.OLDEST) {
            answer(hello); // so that the other end has the reason
            end(FallbackReason.OTHER_VERSION);
        } else if (hello.cookie() != clientCookie) {
            end(FallbackReason.BAD_PEER);
        } else if (isFromPeer(hello)) {
            answer(hello);
            if (state != State.DONE) {
                requestSession(hello);
            }
        }
    }

    /**
     * Whether the socket of that cookie is the other end of the connection: the sender may belong to an earlier one.
     */
    final boolean isPeer(long itsCookie) {
        try {
            return tcp.getLocalAddress() instanceof InetSocketAddress own
                    && tcp.getRemoteAddress() instanceof InetSocketAddress other && has(other, own, itsCookie);
        } catch (IOException e) {
            return false; // sock_diag does not find it, or the channel was closed
        }
    }

    /** The one that came was another: goes back to looking for the other end. */
    final void dropPeer() {
        closePeerSocket();
        peerVersion = -1;
        peerOffer = null;
        state = State.RENDEZVOUS;
    }

    private void requestSession(HandshakeMessage.Hello hello) {
        try {
            state = State.SESSION_WAIT;
            peerInstance = hello.instance();
            stream.out().peerFeatures(hello.features());
            stream.rendezvous().peer(hello.features(), new InetSocketAddress(InetAddress.getLoopbackAddress(), hello
                    .port() & 0xffff));
            engine.sessions().obtain(peerInstance, hello.port(), role, sessionRequest);
        } catch (VerbsException e) {
            end(StreamEngine.reason(e.errno(), FallbackReason.NO_SESSION), e);
        }
    }

    /** On the engine's thread; null and the reason if there is no session to be had. */
    private void onSession(@Nullable Session session, FallbackReason why) {
        if (state != State.SESSION_WAIT) {
            return;
        }
        if (session == null) {
            end(why);
            return;
        }
        if (!stream.stopsFiles()) {
            engine.at(System.nanoTime() + FILE_PAUSE_NANOS, () -> onSession(session, why));
            return;
        }
        try {
            Link link = Link.create(session, stream);
            if (!stream.prepare(link)) {
                link.release();
                end(FallbackReason.CLOSED_EARLY);
                return;
            }
            state = State.OFFER_WAIT;
            if (send(message -> HandshakeMessage.put(message, link.offer()))) {
                finish();
            }
        } catch (VerbsException e) {
            end(StreamEngine.reason(e.errno(), FallbackReason.NO_MEMORY), e);
        }
    }

    private void finish() {
        Offer offer = peerOffer;
        Link link = stream.link();
        if (offer == null || link == null || state != State.OFFER_WAIT) {
            return;
        }
        if (!offer.isOfPeer(link.session)) { // the other end comes to the same: neither uses what it was offered
            end(FallbackReason.NO_SESSION);
            return;
        }
        state = State.DONE;
        stopWaiting();
        stopRendezvous();
        closePeerSocket();
        StreamCounters.handshakeCompleted();
        stream.completeHandshake(offer);
        engine.watchTcp(stream);
        StreamCounters.recordRings();
        if (stream.isClosed()) {
            engine.linger(stream);
        }
    }

    /** The stream was closed: the handshake is needless, but has to be completed after an offer. */
    final void streamClosed() {
        giveUp(FallbackReason.CLOSED_EARLY);
    }

    /**
     * This end wants no rings: the other finds it as it finds a plain one. After the offer it is too late. Any thread.
     */
    final void refuse(FallbackReason why) {
        refused = why;
        if (isStarted()) {
            engine.submit(() -> giveUp(why));
        }
    }

    private void giveUp(FallbackReason why) {
        RemoteHandshake remote = remoteHandshake;
        if (remote != null) {
            remote.refuse(why);
        } else if (state.isBeforeOffer()) {
            end(why);
        }
    }

    final void end(LinuxException e) {
        end(StreamEngine.reason(e), e);
    }

    /** For want of something of this process's. */
    private void end(FallbackReason reason, IOException why) {
        StreamEngine.reportLack(reason, String.valueOf(why.getMessage()));
        end(reason);
    }

    final void end(FallbackReason reason) {
        State last = state;
        if (last == State.DONE) {
            return;
        }
        state = State.DONE;
        stopWaiting();
        stopRendezvous();
        closePeerSocket();
        if (last == State.SESSION_WAIT || last == State.OFFER_WAIT) {
            engine.forget(peerInstance, role, sessionRequest);
        }
        stream.fallBack(reason);
        Link link = stream.link();
        if (link != null) {
            link.release();
        }
    }

    private void closePeerSocket() {
        UnixSocket socket = peer;
        peer = null;
        if (socket != null) {
            engine.forget(socket.fd());
            socket.close();
        }
    }
}
