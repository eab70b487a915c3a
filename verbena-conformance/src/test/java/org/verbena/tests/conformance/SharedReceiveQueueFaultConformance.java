// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** A shared receive queue that two processes send to, one of which is killed or stopped. */
abstract class SharedReceiveQueueFaultConformance extends Conformance {
    private static final int CAPACITY = 32;
    private static final int LENGTH = 2000;

    SharedReceiveQueueFaultConformance(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    /** Sends short and long messages endlessly. */
    private static void flood(Far far) throws VerbsException {
        far.start(end -> {
            for (long i = 0; end.state() == QueuePairState.RTS; i++) {
                end.post(Op.send(i).on(0, i % 3 == 0 ? 16 : LENGTH));
                End.poll(end.sendCq, 64);
            }
            return true;
        });
    }

    private static Op receive(long id) {
        return Op.receive(id).on(2048 * id, LENGTH);
    }

    /** Takes messages and reposts their receives, {@code n} times. */
    private static void serve(End end, int n) throws VerbsException {
        for (int i = 0; i < n; i++) {
            Completion c = end.awaitReceive();
            assertThat(c.status()).as(c.toString()).isEqualTo(WcStatus.SUCCESS);
            assertPosted(end.postReceives(receive(c.wrId())));
        }
    }

    private static QueuePair connect(End end, Far far) throws VerbsException {
        QueuePair q = end.queuePair();
        EndAddress here = end.address(q);
        EndAddress there = far.address();
        far.act(e -> {
            e.toInit();
            e.toRtr(here);
        });
        end.toInit(q);
        end.toRtr(q, there);
        end.toRts(q);
        far.act(End::toRts);
        return q;
    }

    private End receiver() throws VerbsException {
        End end = end(EndOptions.defaults().sharedReceives().queues(CAPACITY).bytes(1 << 17));
        for (int i = 0; i < CAPACITY; i++) {
            assertPosted(end.postReceives(receive(i)));
        }
        return end;
    }

    private Far sender(PeerProcess process) throws VerbsException {
        return closing(new Far.Remote(process, adapted(EndOptions.defaults())));
    }

    @Rounds(value = 1, thorough = 6)
    void noReceiveIsLostWhenASenderIsKilled() throws Exception {
        End end = receiver();
        PeerProcess victim = ownPeer();
        Far survivor = sender(sharedPeer());
        Far dying = sender(victim);
        connect(end, survivor);
        QueuePair its = connect(end, dying);
        flood(dying);
        serve(end, Thorough.ON ? 5000 : 1500);
        victim.kill();
        if (its.type() == QueuePairType.RC && !fixture.noticesDeathOfIdlePeers()) {
            its.modify(QueuePairAttributes.to(QueuePairState.ERR).build()); // like a program that has learned of it
        } else if (its.type() == QueuePairType.RC) {
            Await.until("the death to be noticed", () -> its.state() == QueuePairState.ERR, its::describe);
        }
        // its committed messages are received; then all receives, including those it had claimed, are available to the
        // other
        Set<Long> unposted = new HashSet<>();
        for (List<Completion> some = End.poll(end.receiveCq, 64); !some.isEmpty(); some = End.poll(end.receiveCq, 64)) {
            some.forEach(c -> unposted.add(c.wrId()));
        }
        for (long id : unposted) {
            assertPosted(end.postReceives(receive(id)));
        }
        Set<Long> used = new HashSet<>();
        if (its.type() == QueuePairType.UC) {
            Await.until("all receives to be used", () -> {
                survivor.run(e -> e.post(Op.send(1).on(0, LENGTH)) == 0 && e.awaitSend().status() == WcStatus.SUCCESS);
                End.poll(end.receiveCq, CAPACITY).forEach(c -> used.add(c.wrId()));
                return used.size() == CAPACITY;
            }, used::toString);
            return;
        }
        survivor.start(e -> {
            for (int i = 0; i < CAPACITY; i++) {
                e.post(Op.send(i).on(0, LENGTH));
            }
            return e.await(e.sendCq, CAPACITY).stream().allMatch(c -> c.status() == WcStatus.SUCCESS);
        });
        for (Completion c : end.awaitReceives(CAPACITY)) {
            assertThat(c.status()).as(c.toString()).isEqualTo(WcStatus.SUCCESS);
            used.add(c.wrId());
        }
        assertThat(used).hasSize(CAPACITY);
        assertThat(survivor.join()).isEqualTo(true);
    }

    @Test
    @PlainGroup
    void stoppedSenderDoesNotBlockOtherSenders() throws Exception {
        End end = receiver();
        PeerProcess stopped = otherPeer();
        Far going = sender(sharedPeer());
        Far waiting = sender(stopped);
        connect(end, going);
        connect(end, waiting);
        flood(waiting);
        serve(end, 2000);
        stopped.signal("STOP");
        try {
            flood(going);
            serve(end, Thorough.ON ? 20_000 : 2000);
        } finally {
            stopped.signal("CONT");
        }
        serve(end, 2000);
        assertThat(Objects.requireNonNull(end.srq).query().maxWr()).isEqualTo(fixture.queueSize(CAPACITY));
        waiting.to(QueuePairState.ERR);
        going.to(QueuePairState.ERR);
    }
}
