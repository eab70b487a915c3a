// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/** Peers that are killed or stopped while a session or a connection is set up. */
class SetUpFaultsTest {
    /** Instantly, on a possibly busy machine: errors are distinguished by their type and not by time. */
    private static final Duration SOON = Duration.ofSeconds(30);

    private Node node;
    private Child peer;
    private String peerGid;

    @BeforeEach
    void open() throws Exception {
        node = Node.open();
        peer = Child.start(ToolPeer.class);
        peerGid = peer.await("GID");
    }

    @AfterEach
    void close() throws Exception {
        peer.close();
        node.close();
    }

    private static <T> FutureTask<T> start(Callable<T> what) {
        FutureTask<T> task = new FutureTask<>(what);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    /** The exception that a task ends with, soon. */
    private static VerbsException failure(FutureTask<?> task) {
        long start = System.nanoTime();
        Throwable t = Assertions.catchThrowable(() -> task.get(SOON.toMillis(), TimeUnit.MILLISECONDS));
        assertThat(t).as("after %d ms", (System.nanoTime() - start) / 1_000_000).isInstanceOf(ExecutionException.class);
        assertThat(t.getCause()).isInstanceOf(VerbsException.class);
        return (VerbsException) t.getCause();
    }

    @Test
    void listenerKilledBeforeAcceptFailsTheConnectAtOnce() throws Exception {
        int port = peer.tell("listen").awaitInt("PORT");
        peer.tell("request");
        QueuePair qp = node.queuePair();
        FutureTask<Connection> connecting = start(() -> node.connect(qp, port));
        peer.await("REQUEST");
        peer.kill();
        VerbsException e = failure(connecting);
        assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.ECONNRESET);
        assertThat(e).hasMessageContaining("process " + peer.pid()).hasMessageContaining("ended");
    }

    @Test
    void connectingPeerKilledBeforeReadyFailsTheAcceptAtOnce() throws Exception {
        try (ConnectionListener l = node.listen()) {
            peer.tell("connect " + l.localAddress().getPort());
            ConnectionRequest r = Node.await(l);
            peer.stop();
            QueuePair qp = node.queuePair();
            FutureTask<Connection> accepting = start(() -> r.accept(qp, ConnectionParameters.defaults()));
            Await.until(SOON, () -> qp.state() == QueuePairState.RTS, () -> Node.describe(qp));
            peer.kill();
            VerbsException e = failure(accepting);
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.ECONNRESET);
            assertThat(e).hasMessageContaining("process " + peer.pid()).hasMessageContaining("ended");
            assertThat(qp.state()).isEqualTo(QueuePairState.ERR);
            qp.close();
        }
    }

    @Test
    void requestOfADeadPeerIsRefusedWithAReason() throws Exception {
        try (ConnectionListener l = node.listen()) {
            peer.tell("connect " + l.localAddress().getPort());
            ConnectionRequest r = Node.await(l);
            peer.kill();
            peer.awaitExit();
            QueuePair qp = node.queuePair();
            VerbsException e = failure(start(() -> r.accept(qp, ConnectionParameters.defaults())));
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.ECONNRESET);
            assertThat(e).hasMessageContaining("ended");
        }
    }

    @Test
    void stoppedConnectingPeerLetsTheAcceptTimeOut() throws Exception {
        try (ConnectionListener l = node.listen()) {
            peer.tell("connect " + l.localAddress().getPort());
            ConnectionRequest r = Node.await(l);
            peer.stop();
            QueuePair qp = node.queuePair();
            assertThatThrownBy(() -> r.accept(qp, ConnectionParameters.builder().timeout(Duration.ofMillis(300))
                    .build()))
                    .isInstanceOf(VerbsException.class).hasMessageContaining("ETIMEDOUT").hasMessageContaining(
                            "not ready");
            peer.proceed();
            peer.await("CONNECTED"); // for a moment: the accept precedes the message that the connect was abandoned
            Await.until(SOON, () -> peer.tell("state").await("STATE").startsWith("ERR "), () -> "the peer's state");
        }
    }

    @Test
    void stoppedListenerLetsTheConnectTimeOutUntilContinued() throws Exception {
        int port = peer.tell("listen").awaitInt("PORT");
        peer.stop();
        ConnectionParameters impatient = ConnectionParameters.builder().timeout(Duration.ofMillis(300)).build();
        QueuePair qp = node.queuePair();
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> node.connect(qp, port, impatient)).isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ETIMEDOUT").hasMessageContaining("stopped?");
        }
        peer.proceed();
        peer.tell("accept");
        node.connect(qp, port).close();
        peer.await("ACCEPTED");
    }

    /** With a GID no port is queried first, so the greeting is not answered. */
    @Test
    void processStoppedInTheGreetingTimesOutUntilContinued() throws Exception {
        peer.stop();
        QueuePair first = node.queuePair();
        long start = System.nanoTime();
        assertThatThrownBy(() -> Node.toRtr(first, peerGid, 1)).isInstanceOf(VerbsException.class)
                .hasMessageContaining("ETIMEDOUT").hasMessageContaining("stopped?");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
        peer.proceed();
        QueuePair second = node.queuePair();
        Node.toRtr(second, peerGid, 1);
        assertThat(second.state()).isEqualTo(QueuePairState.RTR);
    }

    /** Repeated, because the random instances decide which side wins when both greet at the same time. */
    @RepeatedTest(4)
    void processKilledInTheGreetingIsNoticedAtOnce() throws Exception {
        peer.stop();
        QueuePair qp = node.queuePair();
        FutureTask<Object> connecting = start(() -> {
            Node.toRtr(qp, peerGid, 1);
            return true;
        });
        Await.until(SOON, () -> lanes() > 0, () -> "no greeting on its way");
        peer.kill();
        VerbsException e = failure(connecting);
        assertThat(e.errno()).as("own %s, its %s: %s", node.gid(), peerGid, e.getMessage()).isNotEqualTo(
                Errno.ETIMEDOUT);
        assertThat(e.getMessage()).doesNotContain("stopped?");
    }

    /** Lane arenas of this process, one for each session that stands or is on its way. */
    private static int lanes() throws Exception {
        return Proc.descriptors("self").getOrDefault("/memfd:verbena-lanes (deleted)", 0);
    }

    @Test
    void simultaneousGreetingsYieldOneSession() throws Exception {
        for (int i = 0; i < 20; i++) {
            try (Node a = Node.open(); Node b = Node.open()) {
                QueuePair x = a.queuePair();
                QueuePair y = b.queuePair();
                FutureTask<Object> there = start(() -> {
                    Node.toRtr(x, b.gid(), y.number());
                    return true;
                });
                Node.toRtr(y, a.gid(), x.number());
                there.get(SOON.toMillis(), TimeUnit.MILLISECONDS);
                Await.until(SOON, () -> lanes() == 2, () -> "there is more than one session");
            }
        }
    }
}
