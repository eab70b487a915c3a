// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.sockets.stream.memory.StreamLog;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/**
 * The sessions of this process with processes on other hosts, by one device, and the connections that wait for one. A
 * session is asked for in the name of a TCP connection: the process that is asked takes it only if an end of that
 * connection is here, waits to be found, and has the address that asks as its peer. All is for the engine's thread;
 * what waits has threads of its own.
 */
final class RemoteSessions {
    /** Requests, and offers, whose connection has not been found yet: the program may accept it in a moment. */
    private static final int MAX_HELD = 1024;
    /**
     * The time for which the process there may be about to listen: it opens its device first, on a busy machine that takes
     * seconds.
     */
    private static final long LISTEN_TIMEOUT_NANOS = Math.min(Handshake.RENDEZVOUS_TIMEOUT_NANOS, 5_000_000_000L);
    private static final Duration PAUSE = Duration.ofMillis(300);
    /** What a request may take beyond the time-out of the process that is asked. */
    private static final Duration MARGIN = Duration.ofSeconds(2);
    private record Route(InetAddress own, InetAddress peer) {}

    /** A session, and the id of the process that it leads to. */
    private record Live(Session session, long idHigh, long idLow) {}

    private static final class Peer {
        final List<Live> sessions = new ArrayList<>();
        final Deque<RemoteHandshake> waiting = new ArrayDeque<>();
        boolean connecting;
    }

    private record HeldRequest(ConnectionRequest request, RemoteHandshakeMessage.SessionHello hello, Route route) {}

    private record HeldOffer(Session session, RemoteHandshakeMessage.ControlMessage message, Offer offer) {}

    private final StreamEngine engine;
    private final SecureRandom random = new SecureRandom();
    private final long idHigh = random.nextLong();
    private final long idLow = random.nextLong();
    private final RemoteDevice device;
    private @Nullable FailedSessions failures;
    private final List<RemoteHandshake> waitingForDevice = new ArrayList<>();

    private final Map<InetAddress, Peer> peers = new HashMap<>();
    private final NegativeCache unreachable = new NegativeCache();
    /** Ends that were accepted, until their offer comes. */
    private final Map<ConnectionName, RemoteHandshake> awaited = new HashMap<>();
    private final Map<ConnectionName, HeldRequest> requests = new HashMap<>();
    private final Map<ConnectionName, HeldOffer> offers = new HashMap<>();
    /** Ends that connected, by the nonce of their offer. */
    private final Map<Long, RemoteHandshake> offered = new HashMap<>();

    RemoteSessions(StreamEngine engine, String device) {
        this.engine = engine;
        this.device = new RemoteDevice(engine, device, this::opened, this::notOpened);
    }

    // ---- the device

    /** Opens the device now or as soon as that is possible, so that other hosts find it: a server listens. */
    void listen() {
        device.listen();
    }

    private FallbackReason opened(RemoteDevice.Port made) {
        FailedSessions watched = new FailedSessions(engine, made.events(), this::died);
        try {
            engine.watch(Fd.of(made.events().descriptor()), Epoll.IN, watched::poll);
        } catch (LinuxException e) {
            StreamEngine.closeQuietly(made.context());
            FallbackReason why = StreamEngine.reason(e);
            StreamEngine.reportLack(why, String.valueOf(e.getMessage()));
            return why;
        }
        failures = watched;
        RemoteDevice.start("verbena-stream-accept", () -> acceptAll(made.listener()), why -> {});
        List<RemoteHandshake> all = List.copyOf(waitingForDevice);
        waitingForDevice.clear();
        all.forEach(this::obtain);
        return FallbackReason.NONE;
    }

    private void notOpened(FallbackReason why) {
        List<RemoteHandshake> all = List.copyOf(waitingForDevice);
        waitingForDevice.clear();
        all.forEach(end -> end.end(why));
        List.copyOf(awaited.values()).forEach(end -> end.end(why));
    }

    // ---- the end that connected

    /** Gives the session with the process of its other end to the handshake, now or later. */
    void obtain(RemoteHandshake end) {
        if (end.isDone()) {
            return;
        }
        FallbackReason no = unreachable.reason(end.name().server(), System.nanoTime());
        if (no != null) {
            end.end(no);
            return;
        }
        RemoteDevice.Port open = device.port();
        if (open == null) {
            device.open();
            if (device.isOpening()) {
                waitingForDevice.add(end);
            } else {
                end.end(device.reason());
            }
            return;
        }
        if (!open.addresses().contains(end.name().client().getAddress())) {
            end.end(FallbackReason.REMOTE_PEER); // its way is not by this device
            return;
        }
        Peer peer = peers.computeIfAbsent(end.name().server().getAddress(), a -> new Peer());
        for (Live live : peer.sessions) {
            if (!live.session().isFailed()) {
                end.onSession(live.session());
                return;
            }
        }
        peer.waiting.add(end);
        if (!peer.connecting) {
            connect(open, peer, end);
        }
    }

    private void connect(RemoteDevice.Port open, Peer peer, RemoteHandshake end) {
        peer.connecting = true;
        ConnectionName name = end.name();
        RemoteDevice.start("verbena-stream-connect", () -> connect(open, name), why -> notConnected(name, why, false));
    }

    /** On a thread of its own. */
    private void connect(RemoteDevice.Port open, ConnectionName name) {
        Route route = new Route(name.client().getAddress(), name.server().getAddress());
        InetSocketAddress there = new InetSocketAddress(route.peer(), device.number());
        Session session = null;
        try {
            session = newSession(open, route);
            long nonce = random.nextLong();
            ConnectionParameters parameters = parameters(session, name, nonce);
            Connection connection = null;
            long start = System.nanoTime();
            while (connection == null) {
                try {
                    connection = open.context().connectionManager().connect(session.queuePair(), there, parameters);
                } catch (ConnectionRejectedException e) {
                    if (e.reason() != ConnectionRejectedException.INVALID_SERVICE_ID || System.nanoTime()
                            - start > LISTEN_TIMEOUT_NANOS) {
                        throw e;
                    }
                    Thread.sleep(PAUSE);
                }
            }
            RemoteHandshakeMessage.SessionHello hello = RemoteHandshakeMessage.sessionHello(connection.privateData());
            if (hello == null || hello.nonce() != nonce || hello.version() < RemoteHandshakeMessage.OLDEST) {
                throw new VerbsException("connect to " + there, Errno.EPROTO, "the answer is not Verbena's");
            }
            session.peerFeatures(hello.features());
            session.connected(connection, hello.headerAddress(), hello.headerKey());
            Live live = new Live(session, hello.idHigh(), hello.idLow());
            engine.submit(() -> ready(route, live));
        } catch (VerbsException | InterruptedException | RuntimeException | LinkageError | OutOfMemoryError e) {
            Sessions.close(session);
            StreamLog.debug("no session with " + there + ": " + e.getMessage());
            onConnectFailure(name, e);
        }
    }

    private void onConnectFailure(ConnectionName name, Throwable e) {
        FallbackReason why = RemoteDevice.reason(e, FallbackReason.NO_SESSION);
        boolean ofPort = false;
        boolean remembered = false;
        if (e instanceof ConnectionRejectedException r) {
            int code = RemoteHandshakeMessage.why(r.privateData());
            ofPort = code == RemoteHandshakeMessage.UNKNOWN;
            remembered = code == RemoteHandshakeMessage.WRONG_VERSION
                    || r.reason() == ConnectionRejectedException.INVALID_SERVICE_ID;
            why = code == 0 && remembered ? FallbackReason.PLAIN_PEER : RemoteHandshakeMessage.reason(code);
        } else if (e instanceof VerbsException v && (v.errno() == Errno.ETIMEDOUT || v.errno() == Errno.EHOSTUNREACH)) {
            remembered = true;
            why = FallbackReason.PLAIN_PEER;
        } else if (e instanceof VerbsException v && v.errno() == Errno.EPROTO) {
            remembered = true;
            why = FallbackReason.BAD_PEER;
        }
        FallbackReason reason = why;
        boolean port = ofPort;
        boolean host = remembered;
        engine.submit(() -> {
            long now = System.nanoTime();
            if (host) {
                unreachable.host(name.server().getAddress(), reason, now);
            } else if (port) {
                unreachable.port(name.server(), reason, now);
            }
            notConnected(name, reason, port);
        });
    }

    /** @param one whether the reason is of this connection alone: others ask anew */
    private void notConnected(ConnectionName name, FallbackReason why, boolean one) {
        Peer peer = peers.get(name.server().getAddress());
        if (peer == null) {
            return;
        }
        peer.connecting = false;
        List<RemoteHandshake> all = List.copyOf(peer.waiting);
        peer.waiting.clear();
        for (RemoteHandshake end : all) {
            if (one && !end.name().equals(name)) {
                obtain(end);
            } else {
                end.end(why);
            }
        }
    }

    /** Where the process of a server takes requests. */
    InetSocketAddress listener(InetSocketAddress server) {
        return new InetSocketAddress(server.getAddress(), device.number());
    }

    /** Sends the offer of an end that connected. */
    void offer(RemoteHandshake end, Session session, Offer offer) {
        long nonce;
        do {
            nonce = random.nextLong();
        } while (offered.putIfAbsent(nonce, end) != null);
        send(session, RemoteHandshakeMessage.OFFER, 0, end.name(), nonce, offer);
    }

    // ---- the end that was accepted

    /** It waits for its offer. */
    void await(RemoteHandshake end) {
        device.open();
        if (device.port() == null && !device.isOpening()) {
            end.end(device.reason());
            return;
        }
        awaited.put(end.name(), end);
        HeldRequest request = requests.remove(end.name());
        if (request != null) {
            accept(request, end);
        }
        HeldOffer offer = offers.remove(end.name());
        if (offer != null) {
            awaited.remove(end.name());
            end.onOffer(offer.session(), offer.message().nonce(), offer.offer());
        }
    }

    void answer(Session session, ConnectionName name, long nonce, Offer offer) {
        send(session, RemoteHandshakeMessage.ANSWER, 0, name, nonce, offer);
    }

    void decline(Session session, ConnectionName name, long nonce, int why) {
        send(session, RemoteHandshakeMessage.DECLINE, why, name, nonce, null);
    }

    private static void send(Session session, int type, int why, ConnectionName name, long nonce,
            @Nullable Offer offer) {
        session.send(RemoteHandshakeMessage.bytes(new RemoteHandshakeMessage.ControlMessage(type, why, name.client()
                .getPort(),
                name.server().getPort(), nonce, offer)));
    }

    private void acceptAll(ConnectionListener listener) {
        try {
            while (true) {
                ConnectionRequest request = listener.awaitRequest(Duration.ofDays(1));
                if (request != null) {
                    take(request);
                }
            }
        } catch (VerbsException e) {
            StreamLog.warn("no more sessions with other hosts are taken: " + e.getMessage());
        }
    }

    /** What is no request of Verbena's goes no further. */
    private void take(ConnectionRequest request) {
        try {
            if (Rendezvous.take(request)) {
                return;
            }
            RemoteHandshakeMessage.SessionHello hello = RemoteHandshakeMessage.sessionHello(request.privateData());
            Gid from = request.remoteGid();
            Gid at = request.localGid();
            if (hello == null || from == null || at == null) {
                refuse(request, RemoteHandshakeMessage.NO_ROOM);
                return;
            }
            Route route = new Route(RemoteDevice.address(at), RemoteDevice.address(from));
            ConnectionName name = new ConnectionName(new InetSocketAddress(route.peer(), hello.clientPort()),
                    new InetSocketAddress(route.own(), hello.serverPort()));
            if (hello.version() < RemoteHandshakeMessage.OLDEST) {
                refuse(request, RemoteHandshakeMessage.WRONG_VERSION);
            } else if (hello.clientAddress() != ConnectionName.fold(route.peer())
                    || hello.serverAddress() != ConnectionName.fold(route.own())) {
                refuse(request, RemoteHandshakeMessage.UNKNOWN); // a middlebox has changed the addresses of TCP
            } else {
                engine.submit(() -> requested(name, new HeldRequest(request, hello, route)));
            }
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            StreamLog.debug("a session with another host was not taken: " + e);
        }
    }

    private void requested(ConnectionName name, HeldRequest request) {
        RemoteHandshake end = awaited.get(name);
        if (end != null) {
            accept(request, end);
        } else if (requests.size() < MAX_HELD && requests.putIfAbsent(name, request) == null) {
            engine.at(System.nanoTime() + Handshake.RENDEZVOUS_TIMEOUT_NANOS, () -> {
                if (requests.remove(name, request)) {
                    refuse(request.request(), RemoteHandshakeMessage.UNKNOWN);
                }
            });
        } else {
            refuse(request.request(), RemoteHandshakeMessage.UNKNOWN);
        }
    }

    private void accept(HeldRequest request, RemoteHandshake end) {
        RemoteDevice.Port open = device.port();
        if (open == null) {
            refuse(request.request(), RemoteHandshakeMessage.NO_ROOM);
            return;
        }
        if (!end.onSessionRequest()) {
            refuse(request.request(), RemoteHandshakeMessage.UNKNOWN);
            return;
        }
        RemoteDevice.start("verbena-stream-accept", () -> accept(open, request, end.name()), why -> refuse(request
                .request(),
                RemoteHandshakeMessage.NO_ROOM));
    }

    /** On a thread of its own. */
    private void accept(RemoteDevice.Port open, HeldRequest held, ConnectionName name) {
        Session session = null;
        try {
            session = newSession(open, held.route());
            RemoteHandshakeMessage.SessionHello hello = held.hello();
            Connection connection = held.request().accept(session.queuePair(), parameters(session, name,
                    hello.nonce()));
            session.peerFeatures(hello.features());
            session.connected(connection, hello.headerAddress(), hello.headerKey());
            Live live = new Live(session, hello.idHigh(), hello.idLow());
            engine.submit(() -> ready(held.route(), live));
        } catch (VerbsException | RuntimeException | LinkageError | OutOfMemoryError e) {
            Sessions.close(session);
            FallbackReason why = RemoteDevice.reason(e, FallbackReason.NO_SESSION);
            if (why == FallbackReason.NO_SESSION) {
                StreamLog.debug("no session with another host: " + e.getMessage());
            } else {
                StreamEngine.reportLack(why, String.valueOf(e.getMessage()));
            }
            refuse(held.request(), RemoteHandshakeMessage.NO_ROOM);
        }
    }

    /** Unless it was answered already. */
    private static void refuse(ConnectionRequest request, int why) {
        try {
            request.reject(RemoteHandshakeMessage.refusal(why));
        } catch (VerbsException e) {
            StreamLog.debug("a session with another host was not refused: " + e.getMessage());
        }
    }

    // ---- both

    private Session newSession(RemoteDevice.Port open, Route route) throws VerbsException {
        return new Session(open.context(), idHigh, open.events(), () -> engine.submit(() -> {}), Long.getLong(
                "verbena.stream.memory", 1L << 30), (session, message) -> read(session, route, message));
    }

    private ConnectionParameters parameters(Session session, ConnectionName name, long nonce) {
        return ConnectionParameters.builder().timeout(Duration.ofNanos(Handshake.RENDEZVOUS_TIMEOUT_NANOS).plus(MARGIN))
                .privateData(RemoteHandshakeMessage.bytes(new RemoteHandshakeMessage.SessionHello(
                        RemoteHandshakeMessage.VERSION,
                        HandshakeMessage.FEATURES, name.client()
                                .getPort(), name.server().getPort(), ConnectionName.fold(name.client().getAddress()),
                        ConnectionName.fold(name.server().getAddress()), session.header().rkey(), session.header()
                                .address(), nonce, idHigh, idLow)))
                .build();
    }

    private void ready(Route route, Live live) {
        Peer peer = peers.computeIfAbsent(route.peer(), a -> new Peer());
        unreachable.forget(route.peer());
        for (Live other : peer.sessions) {
            if (other.idHigh() != live.idHigh() || other.idLow() != live.idLow()) {
                other.session().fail(); // of a process that was there before
            }
        }
        peer.sessions.addFirst(live);
        peer.connecting = false;
        List<RemoteHandshake> all = List.copyOf(peer.waiting);
        peer.waiting.clear();
        all.forEach(end -> end.onSession(live.session()));
    }

    private void read(Session session, Route route, byte[] bytes) {
        RemoteHandshakeMessage.ControlMessage message = RemoteHandshakeMessage.controlMessage(bytes);
        if (message == null) {
            session.fail();
            return;
        }
        Offer offer = message.offer();
        if (message.type() == RemoteHandshakeMessage.OFFER && offer != null) {
            offered(session, route, message, offer);
            return;
        }
        RemoteHandshake end = offered.get(message.nonce());
        if (end == null || end.session() != session) {
            session.fail(); // unsolicited
        } else if (offer != null) {
            end.onAnswer(offer);
        } else {
            if (message.why() == RemoteHandshakeMessage.UNKNOWN) {
                unreachable.port(end.name().server(), RemoteHandshakeMessage.reason(message.why()), System.nanoTime());
            }
            end.end(RemoteHandshakeMessage.reason(message.why()));
        }
    }

    private void offered(Session session, Route route, RemoteHandshakeMessage.ControlMessage message, Offer offer) {
        ConnectionName name = new ConnectionName(new InetSocketAddress(route.peer(), message.clientPort()),
                new InetSocketAddress(route.own(), message.serverPort()));
        RemoteHandshake end = awaited.remove(name);
        HeldOffer held = new HeldOffer(session, message, offer);
        if (end != null) {
            end.onOffer(session, message.nonce(), offer);
        } else if (offers.size() < MAX_HELD && offers.putIfAbsent(name, held) == null) {
            engine.at(System.nanoTime() + Handshake.RENDEZVOUS_TIMEOUT_NANOS, () -> {
                if (offers.remove(name, held)) {
                    decline(session, name, message.nonce(), RemoteHandshakeMessage.UNKNOWN);
                }
            });
        } else {
            decline(session, name, message.nonce(), RemoteHandshakeMessage.NO_ROOM);
        }
    }

    /** Its handshake is complete, or has failed. */
    void forget(RemoteHandshake end) {
        awaited.remove(end.name(), end);
        offered.values().remove(end);
        waitingForDevice.remove(end);
        Peer peer = peers.get(end.name().server().getAddress());
        if (peer != null) {
            peer.waiting.remove(end);
        }
    }

    private void died(Session session) {
        peers.values().forEach(peer -> peer.sessions.removeIf(live -> live.session() == session));
        peers.values().removeIf(peer -> peer.sessions.isEmpty() && peer.waiting.isEmpty() && !peer.connecting);
        offers.values().removeIf(held -> held.session() == session);
        List.copyOf(offered.values()).stream().filter(end -> end.session() == session).forEach(end -> end.end(
                FallbackReason.NO_SESSION));
    }

    /** Closes dead sessions that have no connection any more. */
    void closeFailed() {
        if (failures != null) {
            failures.closeFailed();
        }
    }

    boolean hasFailed() {
        return failures != null && failures.areAny();
    }

    /** Polls sessions with WRITEs under way that no thread polls; true if there are any. */
    boolean pollBusy() {
        boolean busy = false;
        for (Peer peer : peers.values()) {
            for (Live live : peer.sessions) {
                busy |= live.session().pollIfBusy();
            }
        }
        return busy;
    }
}
