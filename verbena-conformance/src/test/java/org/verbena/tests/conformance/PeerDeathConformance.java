// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** The process of the peer is killed. */
abstract class PeerDeathConformance extends Conformance {
    /** More than any provider promises; shm promises one second. */
    private static final Duration SOON = Duration.ofSeconds(30);

    PeerDeathConformance(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    /** A killed peer is detected after half a second. */
    private Pair connectedTo(PeerProcess p) throws Exception {
        return connectedTo(p, EndOptions.defaults().retry(14, 6), EndOptions.defaults());
    }

    /** For a peer that has to answer. */
    private Pair patientlyConnectedTo(PeerProcess p) throws Exception {
        return connectedTo(p, EndOptions.defaults(), EndOptions.defaults());
    }

    /** A killed peer is noticed when a request is sent to it, however the queue pairs were connected. */
    private static void assertEnds(Pair p) throws Exception {
        boolean ended = Await.within(SOON, () -> {
            if (p.near.state() == QueuePairState.ERR) {
                return true;
            }
            p.near.post(Op.write(9999, p.farAddress, 0).on(0, 8));
            End.poll(p.near.sendCq, 64);
            return false;
        });
        assertThat(ended).as(p.near.describe()).isTrue();
        assertSaysWhy(p.near);
    }

    @Test
    void peerDeathFlushesAllRequests() throws Exception {
        PeerProcess process = ownPeer();
        Pair p = connectedTo(process);
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 8), Op.receive(2).on(0, 8)));
        process.kill();
        assertPosted(p.near.post(Op.send(3).on(0, 8)));
        Completion c = p.near.awaitSend();
        assertThat(c.status()).as(c.toString()).isIn(WcStatus.RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR);
        p.near.awaitState(QueuePairState.ERR);
        List<Completion> receives = p.near.awaitReceives(2);
        assertStatus(WcStatus.WR_FLUSH_ERR, 1, receives.get(0));
        assertStatus(WcStatus.WR_FLUSH_ERR, 2, receives.get(1));
        assertPosted(p.near.post(Op.write(4, p.farAddress, 0).on(0, 8)));
        assertStatus(WcStatus.WR_FLUSH_ERR, 4, p.near.awaitSend());
        assertPosted(p.near.postReceives(Op.receive(5).on(0, 8)));
        assertStatus(WcStatus.WR_FLUSH_ERR, 5, p.near.awaitReceive());
        assertSaysWhy(p.near);
    }

    @Test
    void sendWaitingForAReceiveEnds() throws Exception {
        PeerProcess process = ownPeer();
        Pair p = connectedTo(process);
        assertPosted(p.near.post(Op.send(3).on(0, 8)));
        p.near.expectNoCompletion();
        process.kill();
        Completion c = p.near.awaitSend();
        assertThat(c.status()).as(c.toString()).isIn(WcStatus.RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR);
    }

    /** Messages that the peer had sent before it died are delivered. */
    @Test
    void messagesSentBeforeTheDeathAreDelivered() throws Exception {
        PeerProcess process = ownPeer();
        Pair p = connectedTo(process);
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 64), Op.receive(2).on(64, 5000), Op.receive(3).on(0, 8)));
        p.far.fill(0, 5000, 7);
        assertPosted(p.far.post(Op.send(1).on(0, 64), Op.send(2).on(0, 5000)));
        p.far.run(end -> end.awaitSends(2));
        process.kill();
        assertReceived(1, 64, p.near.awaitReceive());
        assertReceived(2, 5000, p.near.awaitReceive());
        assertThat(Pattern.mismatch(p.near.at(64, 5000), 7)).isEqualTo(-1);
    }

    /** Killed at a random moment of dense traffic in both directions. */
    @Rounds(value = 1, thorough = 12)
    void killedAtAnyMoment() throws Exception {
        PeerProcess process = ownPeer();
        Pair p = connectedTo(process);
        EndAddress near = p.nearAddress;
        long seed = System.nanoTime();
        assertPosted(p.near.postReceives(Op.receives(32, 512, 512)));
        p.far.start(end -> {
            Random random = new Random(seed);
            for (int i = 0;; i++) {
                Op op = switch (i % 4) {
                    case 0 -> Op.send(i).on(0, random.nextInt(512));
                    case 1 -> Op.write(i, near, 20_000).on(0, 40_000);
                    case 2 -> Op.read(i, near, 20_000).on(0, 40_000);
                    default -> Op.fetchAndAdd(i, near, 0, 1).on(0, 8);
                };
                assertPosted(end.post(op));
                assertThat(end.awaitSend().statusName()).isEqualTo("SUCCESS");
            }
        });
        long until = System.nanoTime() + new Random(seed).nextInt(40_000_000);
        while (System.nanoTime() - until < 0) {
            for (Completion c : End.poll(p.near.receiveCq, 8)) {
                assertThat(c.statusName()).isEqualTo("SUCCESS");
                p.near.postAgain(c);
            }
            p.near.post(Op.write(1, p.farAddress, 0).on(0, 30_000));
            End.poll(p.near.sendCq, 8);
        }
        process.kill();
        assertEnds(p);
        // the completion queues are as good as before for everybody else
        Pair q = patientlyConnectedTo(sharedPeer());
        assertPosted(q.near.post(Op.write(1, q.farAddress, 0).on(0, 8)));
        assertDone(WcOpcode.RDMA_WRITE, 1, q.near.awaitSend());
    }

    @Test
    void otherQueuePairsContinue() throws Exception {
        PeerProcess process = ownPeer();
        PeerProcess healthy = sharedPeer();
        Pair p = connectedTo(process);
        Pair h = patientlyConnectedTo(healthy);
        process.kill();
        for (int i = 0; i < (Thorough.ON ? 2000 : 150); i++) {
            assertPosted(h.far.run(end -> end.postReceives(Op.receive(1).on(0, 64), Op.receive(2).on(0, 64))));
            assertPosted(h.near.post(Op.send(1).on(0, 64), Op.send(2).on(0, 64)));
            assertThat(h.near.awaitSends(2)).extracting(Completion::statusName).containsOnly("SUCCESS");
            assertThat(h.far.awaitReceives(2)).extracting(Completion::statusName).containsOnly("SUCCESS");
        }
        assertEnds(p);
        assertThat(h.near.state()).isEqualTo(QueuePairState.RTS);
    }

    /** The queue pair finds a new peer after RESET. */
    @Test
    void queuePairIsReusableAfterReset() throws Exception {
        PeerProcess process = ownPeer();
        Pair p = patientlyConnectedTo(process); // as the second one will be
        process.kill();
        assertEnds(p);
        p.near.to(QueuePairState.RESET);
        Await.until("the end of what was flushed", () -> End.poll(p.near.sendCq, 64).isEmpty(), p.near::describe);
        Far second = closing(new Far.Remote(otherPeer(), EndOptions.defaults()));
        Pair q = new Pair(p.near, second);
        q.connect();
        assertPosted(q.far.postReceives(Op.receive(1).on(0, 64)));
        assertPosted(q.near.post(Op.send(77).on(0, 64)));
        assertReceived(1, 64, q.far.awaitReceive());
        assertDone(WcOpcode.SEND, 77, q.near.awaitSend());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void connectionManagerReportsTheDeath(boolean busy) throws Exception {
        assumeTrue(fixture.noticesDeathOfIdlePeers(), "the death of a peer that is not spoken to is not noticed");
        PeerProcess process = ownPeer();
        End near = end(EndOptions.defaults());
        needs(near.context, Feature.CONNECTION_MANAGER);
        Far far = closing(new Far.Remote(process, EndOptions.defaults()));
        InetSocketAddress at = far.run(end -> Listening.start(end,
                Listening::accept));
        InetSocketAddress to = fixture.listenerAt(at);
        Connection c = near.keep(near.context.connectionManager().connect(near.qp, to, ConnectionParameters
                .defaults()));
        far.join();
        assertPosted(near.postReceives(Op.receive(1).on(0, 8)));
        EndAddress there = far.address();
        if (busy) {
            assertPosted(near.post(Op.write(2, there, 0).on(0, 8)));
            assertDone(WcOpcode.RDMA_WRITE, 2, near.awaitSend());
        }
        process.kill();
        long start = System.nanoTime();
        ConnectionEvent e;
        do {
            e = c.awaitEvent(SOON);
        } while (e != null && e.type() != ConnectionEvent.DISCONNECTED);
        assertThat(e).as("DISCONNECTED; " + near.describe()).isNotNull();
        assertThat(e.detail()).isNotBlank();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOON);
        assertThat(c.isConnected()).isFalse();
        near.awaitState(QueuePairState.ERR);
        assertStatus(WcStatus.WR_FLUSH_ERR, 1, near.awaitReceive());
    }

    @Test
    void deadListenerRefusesConnections() throws Exception {
        PeerProcess process = ownPeer();
        End near = end(EndOptions.defaults());
        needs(near.context, Feature.CONNECTION_MANAGER);
        Far far = closing(new Far.Remote(process, EndOptions.defaults()));
        InetSocketAddress at = far.run(end -> end.keep(Listening.on(end, 0)).localAddress());
        process.kill();
        // where ports belong to a context, no process is left to refuse
        int errno = fixture.portsAreTheMachines() ? Errno.ECONNREFUSED : Errno.ETIMEDOUT;
        assertErrno(errno, () -> near.context.connectionManager().connect(near.qp, fixture.listenerAt(at),
                ConnectionParameters.builder().timeout(Duration.ofSeconds(2)).build()));
        // its port is free for another
        Listening.on(near, at.getPort()).close();
    }

    /** Killed while a connect waits for its answer. */
    @Test
    void pendingConnectEndsWhenTheListenerDies() throws Exception {
        PeerProcess process = ownPeer();
        End near = end(EndOptions.defaults());
        needs(near.context, Feature.CONNECTION_MANAGER);
        Far far = closing(new Far.Remote(process, EndOptions.defaults()));
        InetSocketAddress at = far.run(end -> Listening.start(end, (r, x) -> {
            x.later = r;
            return true;
        }));
        var connecting = new java.util.concurrent.FutureTask<>(() -> near.context.connectionManager().connect(near.qp,
                fixture.listenerAt(at), ConnectionParameters.defaults()));
        Thread.ofPlatform().daemon().start(connecting);
        far.join(); // the request is there
        process.kill();
        Throwable t = org.assertj.core.api.Assertions
                .catchThrowable(() -> connecting.get(15, java.util.concurrent.TimeUnit.SECONDS));
        assertThat(t).hasCauseInstanceOf(org.verbena.verbs.VerbsException.class);
    }

    @Test
    void normalExitOfThePeerIsNoticed() throws Exception {
        PeerProcess process = ownPeer();
        Pair p = connectedTo(process);
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 8)));
        process.close();
        assertThat(process.isAlive()).isFalse();
        assertEnds(p);
        assertStatus(WcStatus.WR_FLUSH_ERR, 1, p.near.awaitReceive());
    }
}
