package org.verbena.sockets.stream;

import static java.nio.channels.SelectionKey.OP_READ;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.verbs.VerbsException;

/** The moment in which a reader comes to the ring, while another thread looks at the same connection. */
class ChangeTest {
    private final FakeTcp[] tcp = FakeTcp.pair(200_000);
    private final RingStream stream = new RingStream(tcp[0], Stream.Role.CLIENT);
    private final RingStream peer = new RingStream(tcp[1], Stream.Role.SERVER);
    private SessionPair sessions;
    private Link link;
    private Link peerLink;

    @BeforeEach
    void offer() throws VerbsException {
        sessions = new SessionPair();
        link = Link.create(sessions.a, stream);
        peerLink = Link.create(sessions.b, peer);
        assertThat(stream.prepare(link)).isTrue();
        assertThat(peer.prepare(peerLink)).isTrue();
        stream.takeLink(); // this process's engine has nothing to give back
        peer.takeLink();
    }

    @AfterEach
    void disconnect() throws VerbsException {
        sessions.close();
    }

    private void agree() {
        stream.agreed(peerLink.offer());
        peer.agreed(link.offer());
    }

    private static ByteBuffer bytes(int n) {
        return ByteBuffer.allocate(n);
    }

    /** A selector has seen that TCP carries what comes in, and waits for the lock of a reader who goes on to the ring. */
    @Test
    void whoWaitedForAReaderFindsTheRing() throws Exception {
        agree();
        peer.write(bytes(10));
        Inbound in = stream.in();
        CompletableFuture<Integer> ready = new CompletableFuture<>();
        Thread selector = Thread.ofPlatform().unstarted(() -> ready.complete(stream.kernelReady(OP_READ, OP_READ)));
        synchronized (in) {
            assertThat(stream.isInputByRing()).isFalse();
            selector.start();
            while (selector.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            assertThat(stream.read(bytes(4))).isEqualTo(4); // of the ring
        }
        selector.join();
        assertThat(sessions.a.isFailed()).isFalse();
        assertThat(ready).isCompletedWithValue(OP_READ);
        assertThat(stream.read(bytes(100))).isEqualTo(6);
    }
}
