// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import org.verbena.verbs.VerbsException;

/** The two ends of a connection that have taken memory of a session, and no rings before {@link #completeHandshake}. */
final class LinkedPair implements AutoCloseable {
    final FakeTcp[] tcp;
    final RingStream stream;
    final RingStream peer;
    final SessionPair sessions;
    final Link link;
    final Link peerLink;

    /**
     * @param window what each direction of TCP takes, in bytes
     * @param sessions of this, which are closed with it
     */
    LinkedPair(int window, SessionPair sessions) throws VerbsException {
        this.sessions = sessions;
        tcp = FakeTcp.pair(window);
        stream = new RingStream(tcp[0], Stream.Role.CLIENT, null, false);
        peer = new RingStream(tcp[1], Stream.Role.SERVER, null, false);
        link = Link.create(sessions.a, stream);
        peerLink = Link.create(sessions.b, peer);
        assertThat(stream.prepare(link)).isTrue();
        assertThat(peer.prepare(peerLink)).isTrue();
        stream.takeLink(); // this process's engine has nothing to give back
        peer.takeLink();
    }

    void completeHandshake() {
        stream.completeHandshake(peerLink.offer());
        peer.completeHandshake(link.offer());
    }

    @Override
    public void close() throws VerbsException {
        sessions.close();
    }
}
