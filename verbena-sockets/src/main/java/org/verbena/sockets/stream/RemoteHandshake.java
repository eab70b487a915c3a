// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.VerbsException;

/**
 * How the two ends of a TCP connection between two hosts agree, within a session of their processes: the one that connected
 * sends its offer, the one that was accepted answers with its own and uses the other's from then on, or declines. The engine's
 * thread alone runs it.
 */
final class RemoteHandshake {
    private final StreamEngine engine;
    private final RemoteSessions sessions;
    private final RingStream stream;
    private final Stream.Role role;
    private final ConnectionName name;
    private StreamEngine.@Nullable Timer timer;
    private @Nullable Session session;
    private boolean met;
    private boolean done;

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
        return done;
    }

    /** In which its offer was made; null before. */
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
     * A session is being made for it, at the end that was accepted: the offer comes in it.
     *
     * @return false if one was already: each connection has one made, so that who has a few cannot have any number of sessions
     */
    boolean onSessionRequest() {
        if (met || done) {
            return false;
        }
        met = true;
        wait(Handshake.HANDSHAKE_TIMEOUT_NANOS, FallbackReason.NO_SESSION);
        return true;
    }

    /** The end that connected has a session. */
    void onSession(Session made) {
        Link link = done ? null : prepare(made);
        if (link != null) {
            sessions.offer(this, made, link.offer());
        }
    }

    /** The end that was accepted has been found: it answers, or declines. */
    void onOffer(Session from, long nonce, Offer offer) {
        if (done || !offer.isOfPeer(from)) {
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

    /** The end that connected has its answer. */
    void onAnswer(Offer offer) {
        Session own = session;
        if (done || own == null) {
            return;
        }
        if (offer.isOfPeer(own)) {
            complete(offer);
        } else { // the other end writes already: only with the session does that end
            own.fail();
            end(FallbackReason.BAD_PEER);
        }
    }

    private @Nullable Link prepare(Session made) {
        try {
            Link link = Link.create(made, stream);
            if (stream.prepare(link)) {
                session = made;
                stream.out().peerFeatures(made.peerFeatures());
                stream.introduction().peer(made.peerFeatures(), sessions.listener(name.server()));
                return link;
            }
            link.release();
            end(FallbackReason.CLOSED_EARLY);
        } catch (VerbsException e) {
            FallbackReason why = StreamEngine.reason(e.errno(), FallbackReason.NO_MEMORY);
            StreamEngine.lacking(why, String.valueOf(e.getMessage()));
            end(why);
        }
        return null;
    }

    private void complete(Offer offer) {
        done = true;
        stopWaiting();
        sessions.forget(this);
        StreamCounters.agreed();
        stream.agreed(offer);
        engine.watchTcp(stream);
        StreamCounters.recordRings();
        if (stream.isClosed()) {
            engine.linger(stream);
        }
    }

    /** The program wants no rings, or has closed the connection; after the offer it is too late. */
    void refuse(FallbackReason why) {
        if (session == null) {
            end(why);
        }
    }

    /** There are no rings to be had; if an offer was made, nobody uses it. */
    void end(FallbackReason why) {
        if (done) {
            return;
        }
        done = true;
        stopWaiting();
        sessions.forget(this);
        stream.fallBack(why);
        Link link = stream.link();
        if (link != null) {
            link.release();
        }
    }
}
