// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.Connection;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.WcStatus;

/** How connections of the connection manager end. */
abstract class DisconnectConformance extends ConnectionConformance {
    DisconnectConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @Test
    void disconnectEndsBothSidesAndFlushes() throws Exception {
        Pair p = pair();
        Connection c = connect(p.near, listen(p.far, Listening::accept));
        p.far.join();
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 8)));
        assertPosted(p.far.postReceives(Op.receive(2).on(0, 8)));
        c.disconnect();
        assertThat(c.isConnected()).isFalse();
        p.far.act(Listening::awaitDisconnected);
        assertStatus(WcStatus.WR_FLUSH_ERR, 1, p.near.awaitReceive());
        assertStatus(WcStatus.WR_FLUSH_ERR, 2, p.far.awaitReceive());
        p.near.awaitState(QueuePairState.ERR);
        p.far.awaitState(QueuePairState.ERR);
        assertPosted(p.near.post(Op.write(3, p.farAddress, 0).on(0, 8)));
        assertStatus(WcStatus.WR_FLUSH_ERR, 3, p.near.awaitSend());
        c.disconnect();
        c.close();
        c.close();
    }

    @Test
    void disconnectRaisesNoFatalEvent() throws Exception {
        Pair p = pair();
        needs(p.near.context, Feature.COUNTERS);
        Connection c = connect(p.near, listen(p.far, Listening::accept));
        p.far.join();
        CountBook near = CountBook.of(p.near);
        CountBook.begin(p.far);
        c.disconnect();
        p.far.act(Listening::awaitDisconnected);
        p.near.awaitState(QueuePairState.ERR);
        p.far.awaitState(QueuePairState.ERR);
        assertThat(near.read("DEVICE_QP_ERRORS")).isEmpty();
        assertThat(CountBook.read(p.far, "DEVICE_QP_ERRORS")).isEmpty();
    }

    /** Messages sent before the end arrive before it. */
    @Test
    void sendBeforeDisconnectArrives() throws Exception {
        for (int round = 0; round < 20; round++) {
            Pair p = pair();
            Connection c = connect(p.near, listen(p.far, Listening::accept));
            p.far.join();
            assertPosted(p.far.postReceives(Op.receive(1).on(0, 64), Op.receive(2).on(64, 64), Op.receive(3).on(128,
                    64)));
            assertPosted(p.near.post(Op.send(1).on(0, 64), Op.send(2).on(0, 64)));
            p.near.awaitSends(2);
            c.disconnect();
            List<Completion> got = p.far.awaitReceives(3);
            assertReceived(1, 64, got.get(0));
            assertReceived(2, 64, got.get(1));
            assertStatus(WcStatus.WR_FLUSH_ERR, 3, got.get(2));
        }
    }

    /** The connecting end polls only when the other end has left, and its queue pair is gone. */
    @Test
    void sendBeforeDisconnectCanBePolledAfterwards() throws Exception {
        Pair p = pair();
        p.near.toInit();
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 64), Op.receive(2).on(64, 64)));
        InetSocketAddress to = listen(p.far, (r, end) -> {
            Listening.accept(r, end);
            assertPosted(end.post(Op.send(7).on(0, 64)));
            assertStatus(WcStatus.SUCCESS, 7, end.awaitSend());
            end.connections.removeLast().close();
            end.qp.close();
            for (int i = 0; i < 3; i++) {
                end.toInit(end.queuePair()); // in its place perhaps
            }
            return true;
        });
        Connection c = connect(p.near, to);
        p.far.join();
        awaitDisconnected(c);
        p.near.awaitState(QueuePairState.ERR);
        assertReceived(1, 64, p.near.awaitReceive());
        assertStatus(WcStatus.WR_FLUSH_ERR, 2, p.near.awaitReceive());
    }

    @Test
    void passiveSideMayDisconnect() throws Exception {
        Pair p = pair();
        Connection c = connect(p.near, listen(p.far, Listening::accept));
        p.far.join();
        p.far.act(end -> end.connections.getLast().disconnect());
        awaitDisconnected(c);
        p.near.awaitState(QueuePairState.ERR);
    }

    @Test
    void bothSidesMayDisconnectSimultaneously() throws Exception {
        for (int round = 0; round < 20; round++) {
            Pair p = pair();
            Connection c = connect(p.near, listen(p.far, Listening::accept));
            p.far.join();
            p.far.start(end -> {
                end.connections.getLast().disconnect();
                return true;
            });
            c.disconnect();
            p.far.join();
            p.near.awaitState(QueuePairState.ERR);
            p.far.awaitState(QueuePairState.ERR);
        }
    }

    @Test
    void closingAConnectionDisconnects() throws Exception {
        Pair p = pair();
        Connection c = connect(p.near, listen(p.far, Listening::accept));
        p.far.join();
        assertErrno(Errno.EBUSY, p.near.qp::close);
        c.close();
        p.far.act(Listening::awaitDisconnected);
        p.near.qp.close();
    }

    @Test
    void queuePairReconnectsAfterDisconnect() throws Exception {
        Pair p = pair();
        for (int round = 0; round < 10; round++) {
            Connection c = connect(p.near, listen(p.far, Listening::accept));
            p.far.join();
            assertTraffic(p);
            c.close();
            p.far.act(end -> {
                Listening.awaitDisconnected(end);
                end.connections.getLast().close();
                end.awaitState(QueuePairState.ERR);
                end.to(QueuePairState.RESET);
            });
            p.near.awaitState(QueuePairState.ERR);
            End.poll(p.near.receiveCq, 100);
            p.near.to(QueuePairState.RESET);
        }
    }
}
