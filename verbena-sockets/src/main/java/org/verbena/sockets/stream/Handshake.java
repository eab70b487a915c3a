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
import org.verbena.verbs.VerbsException;

/**
 * How the two ends of one TCP connection find each other and agree: a state machine that the engine's thread alone runs.
 *
 * <p>The end that connected listens at an abstract Unix name made of its TCP socket's cookie; the end that was accepted
 * asks the kernel for that cookie and connects to the name. A socket may be dead and another connection have its addresses
 * already: so each looks whether its addresses are still its own, and they compare the cookies of both. Both say HELLO, get
 * a session of their processes, and OFFER where they may be written to. An end makes use of the other's offer only after it
 * has made its own: an end that sees the other leave without an offer knows that its own will never be used.
 */
final class Handshake {
    private static final String NAME = "verbena-stream-";
    private static final int[] NO_DESCRIPTORS = {};
    private static final int ESTABLISHED = 1; // as the kernel's TCP_ESTABLISHED
    /** How long an end waits for the other to appear. */
    static final long RENDEZVOUS_TIMEOUT_NANOS = 1_000_000L * Math.clamp(Long.getLong("verbena.stream.patience", 5000),
            1,
            600_000);
    /** How long the ends may take to agree once they have met: the other one is ours, and may be slow. */
    static final long HANDSHAKE_TIMEOUT_NANOS = 3 * RENDEZVOUS_TIMEOUT_NANOS;
    private static final long FIRST_RETRY_NANOS = 1_000_000L;

    private final StreamEngine engine;
    private final RingStream stream;
    private final SocketChannel tcp;
    private final Stream.Role role;
    private final @Nullable String device;
    private final long opened = System.nanoTime();
    private long began;
    private long retryNanos = FIRST_RETRY_NANOS;
    /** Of the client's socket. */
    private long cookie;
    /** Cookie of the server's socket; 0 to the client before it is told. */
    private long accepted;
    private @Nullable UnixSocket listener;
    /** Whether it may listen, or has. */
    private boolean hasPermit;
    private @Nullable UnixSocket peer;
    private StreamEngine.@Nullable Timer timer;
    private @Nullable Offer peerOffer;
    private boolean helloSent;
    private boolean offerSent;
    private boolean done;
    /** Why who has come to the name was sent away; null if nobody was. */
    private @Nullable FallbackReason rejectedPeer;
    /** Version that the other end speaks; -1 before it is known. */
    private int peerVersion = -1;
    private long peerInstance;
    private boolean sessionRequested;
    private final Sessions.SessionRequest sessionRequest = this::onSession;
    /** What goes on if the other end is on another host. */
    private @Nullable RemoteHandshake remoteHandshake;
    private volatile boolean started;
    private volatile FallbackReason refused = FallbackReason.NONE;

    Handshake(StreamEngine engine, RingStream stream, SocketChannel tcp, Stream.Role role,
            @Nullable String device) {
        this.engine = engine;
        this.stream = stream;
        this.tcp = tcp;
        this.role = role;
        this.device = device;
    }

    void start() {
        started = true; // before the look: who closes the stream later tells
        began = System.nanoTime(); // not before: with many connections at once it may be a while until their turn
        if (stream.isClosed()) {
            end(FallbackReason.CLOSED_EARLY);
            return;
        }
        if (refused != FallbackReason.NONE) {
            end(refused);
            return;
        }
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
                } else if (device == null) {
                    end(FallbackReason.REMOTE_PEER);
                } else {
                    ConnectionName name = role == Stream.Role.CLIENT
                            ? new ConnectionName(own, other)
                            : new ConnectionName(other, own);
                    RemoteHandshake found = new RemoteHandshake(engine, engine.remotes(device), stream, role, name);
                    remoteHandshake = found;
                    found.start();
                }
                return;
            }
            long mine = SocketCookie.of(((SelChImpl) tcp).getFDVal());
            if (!has(own, other, mine) || stream.isClosed()) { // closed: then the descriptor may be another's already
                end(FallbackReason.CLOSED_EARLY);
            } else if (role == Stream.Role.SERVER) {
                cookie = there.get().cookie();
                accepted = mine;
                connectToPeer();
            } else {
                cookie = mine;
                awaitPermit();
            }
        } catch (LinuxException e) {
            endUnlessClosed(e);
        } catch (IOException e) { // the channel was closed meanwhile
            end(FallbackReason.CLOSED_EARLY);
        }
    }

    private void endUnlessClosed(LinuxException e) {
        if (stream.isClosed()) {
            end(FallbackReason.CLOSED_EARLY);
        } else {
            end(e);
        }
    }

    /** Whether the connection is open, and was not before that time. */
    boolean isOpenedAfter(long nanoTime) {
        return opened - nanoTime > 0 && !stream.isClosed();
    }

    /** Whether the connection between these addresses is, at its first end, that socket's. */
    private boolean has(InetSocketAddress first, InetSocketAddress second, long itsCookie) throws LinuxException {
        Optional<SockDiag.TcpSocket> found = engine.diag().find(first, second);
        return found.isPresent() && found.get().cookie() == itsCookie;
    }

    /** Whether it has to be told that the stream was closed: before, it sees that by itself. */
    boolean isStarted() {
        return started;
    }

    private String name() {
        return NAME + Long.toHexString(cookie);
    }

    // the end that connected

    private void awaitPermit() throws LinuxException {
        hasPermit = engine.listening().acquire(this);
        if (hasPermit) {
            listen();
        } else {
            wait(began + RENDEZVOUS_TIMEOUT_NANOS, () -> end(FallbackReason.NO_DESCRIPTORS));
        }
    }

    /** Others have given their turn to listen to this one. */
    void onPermit() {
        hasPermit = true;
        if (done) {
            releasePermit();
            return;
        }
        try {
            listen();
        } catch (LinuxException e) {
            endUnlessClosed(e);
        }
    }

    private void releasePermit() {
        if (hasPermit) {
            hasPermit = false;
            engine.listening().release(engine);
        } else {
            engine.listening().cancel(this);
        }
    }

    private void listen() throws LinuxException {
        try {
            UnixSocket socket = UnixSocket.listen(name(), 4);
            listener = socket;
            socket.setNonBlocking(true);
            engine.watch(socket.fd(), Epoll.IN, this::onAccept);
            wait(began + RENDEZVOUS_TIMEOUT_NANOS, this::onRendezvousTimeout);
        } catch (LinuxException e) {
            if (e.errno() == Errno.EADDRINUSE) {
                end(FallbackReason.NAME_TAKEN);
            } else {
                throw e;
            }
        }
    }

    private void onAccept() {
        UnixSocket socket = listener;
        if (socket == null) {
            return;
        }
        try {
            UnixSocket caller = socket.accept();
            if (caller == null) {
                return;
            }
            FallbackReason strange = refusalOf(caller);
            rejectedPeer = strange == null ? rejectedPeer : strange;
            if (peer != null || strange != null) {
                caller.close(); // of another user, or one too many: the other end may still come
                return;
            }
            startHandshake(caller);
        } catch (LinuxException e) {
            end(e);
        }
    }

    /** Why a process gets no rings, by whose it is; null if it may have them. */
    private static @Nullable FallbackReason refusalOf(UnixSocket process) throws LinuxException {
        PeerIdentity identity = PeerIdentity.of(process);
        if (identity != PeerIdentity.SAME_USER) {
            StreamEngine.debug("no rings with process " + process.peerCredentials().pid() + ": it " + identity);
        }
        return switch (identity) {
            case SAME_USER -> null;
            case OTHER_USER -> FallbackReason.OTHER_USER;
            case UNMAPPED_USER, OTHER_USER_NAMESPACE, OTHER_PID_NAMESPACE, UNSEEN_NAMESPACE ->
                FallbackReason.OTHER_NAMESPACE;
        };
    }

    private void onRendezvousTimeout() {
        if (!done && peer == null) {
            end(rejectedPeer == null ? timeoutReason() : rejectedPeer);
        }
    }

    /** Why the other end has not appeared: its program may have closed it, which is no plain peer's doing. */
    private FallbackReason timeoutReason() {
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

    // the end that was accepted

    private void connectToPeer() {
        if (done) {
            return;
        }
        if (stream.isClosed()) {
            end(FallbackReason.CLOSED_EARLY);
            return;
        }
        try {
            UnixSocket socket = UnixSocket.connect(name());
            FallbackReason strange = refusalOf(socket);
            if (strange != null) {
                socket.close();
                end(strange);
                return;
            }
            startHandshake(socket);
        } catch (LinuxException e) {
            long now = System.nanoTime();
            if (e.errno() != Errno.ECONNREFUSED && e.errno() != Errno.EAGAIN) {
                if (e.errno() == Errno.EPROTOTYPE) {
                    end(FallbackReason.NAME_TAKEN);
                } else {
                    end(e);
                }
            } else if (now - began > RENDEZVOUS_TIMEOUT_NANOS) {
                end(timeoutReason());
            } else {
                wait(Math.min(now + retryNanos, began + RENDEZVOUS_TIMEOUT_NANOS + 1), this::connectToPeer);
                retryNanos *= 2;
            }
        }
    }

    // both

    private void startHandshake(UnixSocket socket) throws LinuxException {
        peer = socket;
        socket.setNonBlocking(true);
        engine.watch(socket.fd(), Epoll.IN, this::onReadable);
        wait(System.nanoTime() + HANDSHAKE_TIMEOUT_NANOS, this::onHandshakeTimeout);
        if (role == Stream.Role.SERVER) {
            sendHello();
        } else {
            makeReady();
        }
    }

    /** In a process whose first connection this is, what sessions need takes time: the other end is doing the same just now. */
    private void makeReady() {
        try {
            engine.sessions();
        } catch (VerbsException e) {
            StreamEngine.debug("no streams: " + e.getMessage()); // again when HELLO has come, and then it counts
        }
    }

    /** There is one thing at a time that it waits for. */
    private void wait(long until, Runnable then) {
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
        if (!done && !offerSent) {
            end(FallbackReason.NO_SESSION);
        }
    }

    private void sendHello() {
        Sessions sessions;
        try {
            sessions = engine.sessions();
        } catch (VerbsException e) {
            end(StreamEngine.reason(e.errno(), FallbackReason.UNAVAILABLE), e);
            return;
        }
        helloSent = true;
        send(message -> HandshakeMessage.put(message,
                new HandshakeMessage.Hello(HandshakeMessage.VERSION, HandshakeMessage.FEATURES, sessions.instance(),
                        cookie, sessions
                                .port(), accepted)));
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
            while (!done) {
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

    /** Why the other end has left without an offer. */
    private FallbackReason disconnectReason() {
        try {
            if (stream.isClosed() || tcp.getLocalAddress() instanceof InetSocketAddress own
                    && tcp.getRemoteAddress() instanceof InetSocketAddress other && isEnding(own, other)) {
                return FallbackReason.CLOSED_EARLY;
            }
        } catch (IOException e) { // closed, or not to be known
            return stream.isClosed() ? FallbackReason.CLOSED_EARLY : FallbackReason.NO_SESSION;
        }
        if (peerVersion >= 0 && peerVersion != HandshakeMessage.VERSION) {
            return FallbackReason.OTHER_VERSION;
        }
        return sessionRequested && !offerSent ? engine.whyNoSession(peerInstance, role) : FallbackReason.NO_SESSION;
    }

    private void onMessage(MemorySegment message, int length) {
        HandshakeMessage.Hello hello = HandshakeMessage.hello(message, length);
        if (hello != null) {
            if (sessionRequested) { // once is enough: a second offer would be made on it
                end(FallbackReason.BAD_PEER);
                return;
            }
            peerVersion = hello.version();
            if (role == Stream.Role.CLIENT) {
                accepted = hello.accepted();
            }
            if (hello.version() < HandshakeMessage.OLDEST) {
                if (!helloSent) {
                    sendHello(); // so that the other end knows why
                }
                end(FallbackReason.OTHER_VERSION);
            } else if (hello.cookie() != cookie || role == Stream.Role.SERVER && hello.accepted() != accepted) {
                end(FallbackReason.BAD_PEER);
            } else if (role == Stream.Role.CLIENT && !isFromAccepted()) {
                dropCaller();
            } else {
                if (!helloSent) {
                    sendHello();
                }
                if (!done) {
                    onHello(hello);
                }
            }
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

    /** Whether who says so is the other end; it may be one of an earlier connection with the same addresses. */
    private boolean isFromAccepted() {
        try {
            return tcp.getLocalAddress() instanceof InetSocketAddress own
                    && tcp.getRemoteAddress() instanceof InetSocketAddress other && has(other, own, accepted);
        } catch (IOException e) {
            return false; // it is not known, or the channel was closed
        }
    }

    /** The caller was another: the other end may still come. */
    private void dropCaller() {
        closePeerSocket();
        peerVersion = -1;
        accepted = 0;
        peerOffer = null;
        wait(began + RENDEZVOUS_TIMEOUT_NANOS, this::onRendezvousTimeout);
    }

    private void onHello(HandshakeMessage.Hello hello) {
        try {
            sessionRequested = true;
            peerInstance = hello.instance();
            stream.out().peerFeatures(hello.features());
            stream.introduction().peer(hello.features(), new InetSocketAddress(InetAddress.getLoopbackAddress(), hello
                    .port() & 0xffff));
            engine.sessions().obtain(peerInstance, hello.port(), role, sessionRequest);
        } catch (VerbsException e) {
            end(StreamEngine.reason(e.errno(), FallbackReason.NO_SESSION), e);
        }
    }

    /** On the engine's thread; null and the reason if there is no session to be had. */
    private void onSession(@Nullable Session session, FallbackReason why) {
        if (done) {
            return;
        }
        if (session == null) {
            end(why);
            return;
        }
        try {
            Link link = Link.create(session, stream);
            if (!stream.prepare(link)) {
                link.release();
                end(FallbackReason.CLOSED_EARLY);
                return;
            }
            offerSent = true;
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
        if (offer == null || link == null || !offerSent || done) {
            return;
        }
        if (!offer.isOfPeer(link.session)) { // the other end comes to the same: neither uses what it was offered
            end(FallbackReason.NO_SESSION);
            return;
        }
        done = true;
        stopWaiting();
        stopListening();
        closePeerSocket();
        StreamCounters.agreed();
        stream.agreed(offer);
        engine.watchTcp(stream);
        StreamCounters.recordRings();
        if (stream.isClosed()) {
            engine.linger(stream);
        }
    }

    /** The stream was closed: nobody needs the agreement, but after an offer it has to be brought to its end. */
    void streamClosed() {
        if (remoteHandshake != null) {
            remoteHandshake.refuse(FallbackReason.CLOSED_EARLY);
        } else if (!done && !offerSent) {
            end(FallbackReason.CLOSED_EARLY);
        }
    }

    /** This end wants no rings: the other finds it as it finds a plain one. After the offer it is too late. Any thread. */
    void refuse(FallbackReason why) {
        refused = why;
        if (started) {
            engine.submit(() -> {
                if (remoteHandshake != null) {
                    remoteHandshake.refuse(why);
                } else if (!offerSent) {
                    end(why);
                }
            });
        }
    }

    private void end(LinuxException e) {
        end(StreamEngine.reason(e), e);
    }

    /** For want of something of this process's. */
    private void end(FallbackReason reason, IOException why) {
        StreamEngine.lacking(reason, String.valueOf(why.getMessage()));
        end(reason);
    }

    private void end(FallbackReason reason) {
        if (done) {
            return;
        }
        done = true;
        stopWaiting();
        stopListening();
        closePeerSocket();
        if (sessionRequested) {
            engine.forget(peerInstance, role, sessionRequest);
        }
        stream.fallBack(reason);
        Link link = stream.link();
        if (link != null) {
            link.release();
        }
    }

    private void stopListening() {
        UnixSocket socket = listener;
        listener = null;
        if (socket != null) {
            engine.forget(socket.fd());
            socket.close();
        }
        releasePermit();
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
