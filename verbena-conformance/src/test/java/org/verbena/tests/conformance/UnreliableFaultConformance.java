// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Queue pairs of the types UC and UD whose peer is killed or stopped: no error is reported, and no sender waits. */
abstract class UnreliableFaultConformance extends Conformance {
    private static final int GRH = GlobalRoutingHeader.BYTES;

    UnreliableFaultConformance(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    @Test
    @PlainGroup
    void killedReceiverDoesNotDisturbOthers() throws Exception {
        needs(open(), Feature.UD);
        PeerProcess process = ownPeer();
        Pair p = connectedTo(process, EndOptions.datagrams(), EndOptions.datagrams());
        Far other = readyFar(EndOptions.datagrams());
        EndAddress second = other.address();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100)));
        sent(p, Op.send(1).on(0, 8));
        assertReceived(1, GRH + 8, p.far.awaitReceive());
        process.kill();
        for (int i = 0; i < 300; i++) {
            sent(p, Op.send(i).on(0, 100));
        }
        assertPosted(other.postReceives(Op.receive(2).on(0, 100)));
        assertPosted(p.near.postTo(second, Op.send(1).on(0, 8)));
        assertReceived(2, GRH + 8, other.awaitReceive());
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
        assertThat(p.near.context.awaitAsyncEvent(Duration.ZERO)).isNull();
    }

    @Test
    @PlainGroup
    void stoppedReceiverDoesNotBlockOthers() throws Exception {
        needs(open(), Feature.UD);
        PeerProcess process = otherPeer();
        Pair p = connectedTo(process, EndOptions.datagrams(), EndOptions.datagrams());
        Far other = readyFar(EndOptions.datagrams());
        EndAddress second = other.address();
        assertPosted(p.far.postReceives(Op.receives(4, 5000, 5000)));
        process.signal("STOP");
        try {
            // in the first round, nothing was ever sent to that process
            for (int i = 0; i < 500; i++) {
                p.near.setLong(0, i);
                sent(p, Op.send(i).on(0, 4000));
            }
            assertPosted(other.postReceives(Op.receive(2).on(0, 100)));
            assertPosted(p.near.postTo(second, Op.send(1).on(0, 8)));
            assertReceived(2, GRH + 8, other.awaitReceive());
            assertStatus(WcStatus.SUCCESS, 1, p.near.awaitSend());
        } finally {
            process.signal("CONT");
        }
        // it is reached again, sooner or later
        Await.until("a datagram", () -> {
            assertPosted(p.near.postTo(p.farAddress, Op.send(7).on(0, 8)));
            assertStatus(WcStatus.SUCCESS, 7, p.near.awaitSend());
            return p.far.run(end -> !End.poll(end.receiveCq, 1).isEmpty());
        }, () -> "nothing has come");
    }

    @Test
    void messagesOfAKilledSenderArrive() throws Exception {
        needs(open(), Feature.UD);
        PeerProcess process = ownPeer();
        Pair p = connectedTo(process, EndOptions.datagrams(), EndOptions.datagrams());
        EndAddress near = p.nearAddress;
        assertPosted(p.near.postReceives(Op.receives(8, 100, 100)));
        p.far.act(end -> {
            assertPosted(end.postTo(near, Op.send(1).on(0, 8)));
            end.awaitSend();
        });
        assertReceived(0, GRH + 8, p.near.awaitReceive());
        p.far.act(end -> {
            assertPosted(end.postTo(near, Op.send(2).on(0, 8), Op.send(3).on(0, 8)));
            end.awaitSends(2);
        });
        process.kill();
        assertThat(p.near.awaitReceives(2)).extracting(Completion::wrId).containsExactly(1L, 2L);
        p.near.expectNoCompletion();
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    @PlainGroup
    void killedGroupMemberDoesNotDisturbOthers() throws Exception {
        needs(open(), Feature.MULTICAST);
        PeerProcess process = ownPeer();
        Pair p = connectedTo(process, EndOptions.datagrams(), EndOptions.datagrams());
        Far other = readyFar(EndOptions.datagrams());
        String group = MulticastConformance.newGroup(fixture);
        for (Far f : List.of(p.far, other)) {
            f.act(end -> end.attach(end.qp, Gid.parse(group)));
        }
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100)));
        assertPosted(other.postReceives(Op.receive(1).on(0, 100), Op.receive(2).on(0, 100)));
        p.near.setLong(0, 41);
        MulticastConformance.sent(p.near, group, Op.send(1).on(0, 8));
        MulticastConformance.received(p.far, 1, 0, 41);
        MulticastConformance.received(other, 1, 0, 41);
        process.kill();
        p.near.setLong(0, 42);
        MulticastConformance.sent(p.near, group, Op.send(2).on(0, 8));
        MulticastConformance.received(other, 2, 0, 42);
        for (int i = 0; i < 50; i++) {
            MulticastConformance.sent(p.near, group, Op.send(i).on(0, 8));
        }
    }

    private static EndOptions unreliable() {
        return EndOptions.defaults().type(QueuePairType.UC);
    }

    /** Ends of type UC, the far one in that process, which has received a message. */
    private Pair connectedByUc(PeerProcess process) throws VerbsException {
        Pair p = connectedTo(process, unreliable(), unreliable());
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8)));
        sent(p, Op.send(1).on(0, 8));
        assertReceived(1, 8, p.far.awaitReceive());
        return p;
    }

    @Test
    void killedPeerIsNotReported() throws Exception {
        needs(open(), Feature.UC);
        PeerProcess process = ownPeer();
        Pair p = connectedByUc(process);
        assertPosted(p.near.postReceives(Op.receive(2).on(0, 8)));
        process.kill();
        for (int i = 0; i < 200; i++) {
            sent(p, i % 2 == 0 ? Op.send(i).on(0, 500) : Op.write(i, p.farAddress, 0).on(0, 8));
        }
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
        assertThat(p.near.context.awaitAsyncEvent(Duration.ZERO)).isNull();
        p.near.to(QueuePairState.ERR);
        if (p.near.srq == null) {
            assertStatus(WcStatus.WR_FLUSH_ERR, 2, p.near.awaitReceive());
        } else {
            p.near.expectNoCompletion();
        }
    }

    /** After RESET it has a new peer in another process, and each receives from the other. */
    @Test
    @PlainGroup
    void queuePairOfAKilledPeerIsReusable() throws Exception {
        needs(open(), Feature.UC);
        PeerProcess process = ownPeer();
        Pair p = connectedByUc(process);
        process.kill();
        for (int i = 0; i < 50; i++) {
            sent(p, Op.send(i).on(0, 500));
        }
        p.near.to(QueuePairState.RESET);
        Pair q = new Pair(p.near, closing(new Far.Remote(otherPeer(), adapted(unreliable()))));
        q.connect();
        assertPosted(q.far.postReceives(Op.receive(2).on(0, 500)));
        sent(q, Op.send(3).on(0, 500));
        assertReceived(2, 500, q.far.awaitReceive());
        assertPosted(q.near.postReceives(Op.receive(4).on(0, 500)));
        assertPosted(q.far.post(Op.send(5).on(0, 500)));
        assertReceived(4, 500, q.near.awaitReceive());
        assertThat(q.near.context.awaitAsyncEvent(Duration.ZERO)).isNull();
    }
}
