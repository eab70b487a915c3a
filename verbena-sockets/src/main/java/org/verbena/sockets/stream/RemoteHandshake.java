// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.VerbsException;

/**
 * The handshake of a TCP connection between two hosts, within a session of their processes: the client sends its offer; the
 * server answers with its own and uses the client's from then on, or declines. Runs on the engine's thread only.
 */
final class RemoteHandshake {
    private enum State {
        /** The client obtains a session; the server waits for the request for one. */
        WAITING,
        /** At the server: the client makes a session, and sends its offer in it. */
        SESSION_REQUESTED,
        /** The stream has a link within the session; the client has sent its offer. */
        OFFERED,
        /** The connection uses rings, or TCP carries it to its end. */
        DONE
    }

    private final StreamEngine engine;
    private final RemoteSessions sessions;
    private final RingStream stream;
    private final Stream.Role role;
    private final ConnectionName name;
    private StreamEngine.@Nullable Timer timer;
    private @Nullable Session session;
    private State state = State.WAITING;

    RemoteHandshake(StreamEngine engine, RemoteSessions sessions, RingStream stream, Stream.Role role,
            ConnectionName name) {
        this.engine = engine;
        this.sessions = sessions;
        this.stream = stream;
        this.role = role;
        this.name = name;
    }

    void start() {
        if (role == Stream.Role.SERVER) {
            wait(Handshake.RENDEZVOUS_TIMEOUT_NANOS, FallbackReason.PLAIN_PEER);
            sessions.await(this);
        } else {
            sessions.obtain(this);
        }
    }

    ConnectionName name() {
        return name;
    }

    boolean isDone() {
        return state == State.DONE;
    }

    /** The session of its offer; null before. */
    @Nullable
    Session session() {
        return session;
    }

    private void wait(long nanos, FallbackReason then) {
        stopWaiting();
        timer = engine.at(System.nanoTime() + nanos, () -> end(then));
    }

    private void stopWaiting() {
        StreamEngine.Timer waiting = timer;
        timer = null;
        if (waiting != null) {
            waiting.cancel();
        }
    }

    /**
     * At the server: the client makes a session for this connection, and sends the offer in it.
     *
     * @return false if it has one made already: one for each connection bounds the sessions that a client can have made
     */
    boolean onSessionRequest() {
        if (state != State.WAITING) {
            return false;
        }
        state = State.SESSION_REQUESTED;
        wait(Handshake.HANDSHAKE_TIMEOUT_NANOS, FallbackReason.NO_SESSION);
        return true;
    }

    /** At the client: the session exists. */
    void onSession(Session made) {
        Link link = isDone() ? null : prepare(made);
        if (link != null) {
            sessions.offer(this, made, link.offer());
        }
    }

    /** At the server: the offer has arrived; answers or declines it. */
    void onOffer(Session from, long nonce, Offer offer) {
        if (isDone() || !offer.isOfPeer(from)) {
            sessions.decline(from, name, nonce, RemoteHandshakeMessage.CLOSED);
            end(FallbackReason.BAD_PEER);
            return;
        }
        Link link = prepare(from);
        if (link == null) {
            sessions.decline(from, name, nonce, stream.isClosed()
                    ? RemoteHandshakeMessage.CLOSED
                    : RemoteHandshakeMessage.NO_ROOM);
        } else {
            sessions.answer(from, name, nonce, link.offer());
            complete(offer);
        }
    }

    /** At the client: the answer has arrived. */
    void onAnswer(Offer offer) {
        Session own = session;
        if (state != State.OFFERED || own == null) {
            return;
        }
        if (offer.isOfPeer(own)) {
            complete(offer);
        } else { // the peer writes already, until the session ends
            own.fail();
            end(FallbackReason.BAD_PEER);
        }
    }

    private @Nullable Link prepare(Session made) {
        try {
            Link link = Link.create(made, stream);
            if (stream.prepare(link)) {
                session = made;
                state = State.OFFERED;
                stream.out().peerFeatures(made.peerFeatures());
                stream.rendezvous().peer(made.peerFeatures(), sessions.listener(name.server()));
                return link;
            }
            link.release();
            end(FallbackReason.CLOSED_EARLY);
        } catch (VerbsException e) {
            FallbackReason why = StreamEngine.reason(e.errno(), FallbackReason.NO_MEMORY);
            StreamEngine.reportLack(why, String.valueOf(e.getMessage()));
            end(why);
        }
        return null;
    }

    private void complete(Offer offer) {
        state = State.DONE;
        stopWaiting();
        sessions.forget(this);
        StreamCounters.handshakeCompleted();
        stream.completeHandshake(offer);
        engine.watchTcp(stream);
        StreamCounters.recordRings();
        if (stream.isClosed()) {
            engine.linger(stream);
        }
    }

    /** The program refuses rings or has closed the connection; has no effect after the offer. */
    void refuse(FallbackReason why) {
        if (state != State.OFFERED) {
            end(why);
        }
    }

    /** Falls back to TCP; an offer that was made stays unused. */
    void end(FallbackReason why) {
        if (isDone()) {
            return;
        }
        state = State.DONE;
        stopWaiting();
        sessions.forget(this);
        stream.fallBack(why);
        Link link = stream.link();
        if (link != null) {
            link.release();
        }
    }
}
