// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Queue pairs of type UC: messages that arrive are complete and in order; others are lost without a report. */
abstract class UnreliableConnectionConformance extends Conformance {
    UnreliableConnectionConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    private static EndOptions uc() {
        return EndOptions.defaults().type(QueuePairType.UC);
    }

    @BeforeEach
    void needsType() throws Exception {
        needs(open(), Feature.UC);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 48, 64, 65, 4096, 40_000})
    void sendsArrive(long length) throws Exception {
        Pair p = connected(uc(), uc());
        p.near.fill(0, length, 3);
        assertPosted(p.far.postReceives(Op.receive(7).on(1, length + 5), Op.receive(8).on(1, length + 5)));
        sent(p, Op.send(1).on(0, length));
        assertReceived(7, length, p.far.awaitReceive());
        assertThat(p.far.mismatch(1, length, 3)).isEqualTo(-1);
        sent(p, Op.sendImmediate(2, 99).on(0, length));
        Completion c = p.far.awaitReceive();
        assertReceived(8, length, c);
        assertThat(c.immediate()).isEqualTo(99);
        assertSender(p.nearAddress.queuePairNumber(), c.sourceQueuePair());
    }

    @Test
    void writesArrive() throws Exception {
        Pair p = connected(uc(), uc());
        p.near.fill(0, 5000, 4);
        assertPosted(p.far.postReceives(Op.receive(5).on(0, 0)));
        sent(p, Op.write(1, p.farAddress, 100).on(0, 5000));
        sent(p, Op.writeImmediate(2, p.farAddress, 6000, 77).on(0, 5000));
        Completion c = p.far.awaitReceive();
        assertDone(WcOpcode.RECV_RDMA_WITH_IMM, 5, c);
        assertThat(c.immediate()).isEqualTo(77);
        assertThat(p.far.mismatch(100, 5000, 4)).isEqualTo(-1);
        assertThat(p.far.mismatch(6000, 5000, 4)).isEqualTo(-1);
    }

    @Test
    void readsAndAtomicsAreRefused() throws Exception {
        Pair p = connected(uc(), uc());
        for (Op op : List.of(Op.read(1, p.farAddress, 0).on(0, 8), Op.compareAndSwap(1, p.farAddress, 0, 1, 2).on(0, 8),
                Op.fetchAndAdd(1, p.farAddress, 0, 1).on(0, 8))) {
            assertRefused(Errno.EINVAL, p.near.post(op));
        }
        p.near.expectNoCompletion();
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void sendWithoutAReceiveIsLost() throws Exception {
        Pair p = connected(uc(), uc());
        beginLosses(p);
        sent(p, Op.send(1).on(0, 8));
        sent(p, Op.writeImmediate(2, p.farAddress, 0, 5).on(0, 8));
        awaitLosses(p, 2);
        p.near.setLong(0, 0x1122);
        assertPosted(p.far.postReceives(Op.receive(9).on(64, 8)));
        sent(p, Op.send(3).on(0, 8));
        assertReceived(9, 8, p.far.awaitReceive());
        assertThat(p.far.getLong(64)).isEqualTo(0x1122);
        assertThat(p.far.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void tooLongMessageFailsTheReceiveButNotTheSend() throws Exception {
        Pair p = connected(uc(), uc());
        assertPosted(p.far.postReceives(Op.receive(9).on(64, 100)));
        sent(p, Op.send(1).on(0, 101));
        assertStatus(fixture.receiveTooShort(true), 9, p.far.awaitReceive());
        p.far.awaitState(QueuePairState.ERR);
        sent(p, Op.send(2).on(0, 8)); // the peer has gone
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void forbiddenWriteIsLost() throws Exception {
        Pair p = connected(uc(), uc());
        p.far.remember();
        sent(p, Op.write(1, p.farAddress, 0).at(p.farAddress.rkey() ^ 1, p.farAddress.address()).on(0, 64));
        sent(p, Op.write(2, p.farAddress, p.farAddress.length() - 8).on(0, 64));
        assertUntouched(p.far);
        assertThat(p.far.state()).isEqualTo(QueuePairState.RTS);
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
        sent(p, Op.write(3, p.farAddress, 0).on(0, 64));
    }

    @Test
    void localErrorMovesToSqeAndIsRecoverable() throws Exception {
        Pair p = connected(uc(), uc());
        assertPosted(p.near.post(Op.send(1).onKey(0x7fffff01, 0, 100), Op.send(2).on(0, 8)));
        List<Completion> c = p.near.awaitSends(2);
        assertStatus(WcStatus.LOC_PROT_ERR, 1, c.get(0));
        assertStatus(WcStatus.WR_FLUSH_ERR, 2, c.get(1));
        assertThat(p.near.state()).isEqualTo(QueuePairState.SQE);
        assertPosted(p.near.post(Op.send(3).on(0, 8)));
        assertStatus(WcStatus.WR_FLUSH_ERR, 3, p.near.awaitSend());

        // receiving continues
        assertPosted(p.near.postReceives(Op.receive(4).on(0, 8)));
        assertPosted(p.far.post(Op.send(5).on(0, 8)));
        assertReceived(4, 8, p.near.awaitReceive());

        p.near.to(QueuePairState.RTS);
        assertPosted(p.far.postReceives(Op.receive(6).on(0, 8)));
        sent(p, Op.send(7).on(0, 8));
        assertReceived(6, 8, p.far.awaitReceive());
    }

    @Test
    void sendToAPeerInAWrongStateIsLost() throws Exception {
        Pair p = pair(uc(), uc());
        p.toInit();
        p.near.toRtr(p.farAddress);
        p.near.toRts();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8)));
        sent(p, Op.send(1).on(0, 8));
        EndAddress near = p.nearAddress;
        p.far.act(end -> end.toRtr(near));
        sent(p, Op.send(2).on(0, 8));
        assertReceived(1, 8, p.far.awaitReceive());
        p.far.to(QueuePairState.ERR);
        sent(p, Op.send(3).on(0, 8));
        p.far.to(QueuePairState.RESET);
        sent(p, Op.send(4).on(0, 8));
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
    }

    /** Windows work like on reliable connections; a write with a revoked key is lost. */
    @ParameterizedTest
    @ValueSource(ints = {MemoryWindow.TYPE_1, MemoryWindow.TYPE_2})
    void windowKeysAreBoundAndInvalidated(int type) throws Exception {
        needs(open(), type == MemoryWindow.TYPE_1 ? Feature.MEMORY_WINDOW_TYPE_1 : Feature.MEMORY_WINDOW_TYPE_2);
        EndOptions far = uc().access(AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
        Pair p = connected(uc(), far);
        int first = p.far.run(end -> bind(end, end.keep(end.pd.allocateMemoryWindow(type)), 512));
        p.near.setLong(0, 4711);
        Op write = Op.write(1, p.farAddress, 64).on(0, 8);
        Await.until("the write", () -> { // the first may be lost while the memory is on its way
            sent(p, write.at(first, write.remote()));
            return p.far.getLong(64) == 4711;
        }, () -> "it is not there");
        p.far.remember();
        sent(p, write); // the region itself has no right
        sent(p, write.at(first, p.farAddress.address() + 512));
        p.far.act(End::expectNoCompletion); // by then they have arrived
        assertUntouched(p.far);
        // invalidated by the owner
        int second = p.far.run(end -> {
            MemoryWindow w = (MemoryWindow) Objects.requireNonNull(end.later);
            if (w.type() == MemoryWindow.TYPE_2) {
                assertPosted(end.qp.sendQueue().start().localInvalidate(9, SendFlags.SIGNALED, first).complete());
                assertDone(WcOpcode.LOCAL_INV, 9, end.awaitSend());
            }
            return bind(end, w, 512);
        });
        p.near.setLong(0, 4712);
        sent(p, write.at(first, write.remote()));
        p.far.act(End::expectNoCompletion);
        assertUntouched(p.far);
        sent(p, write.at(second, write.remote()));
        Await.until("the write", () -> p.far.getLong(64) == 4712, () -> "it is not there");
        if (type == MemoryWindow.TYPE_2 && p.near.context.supports(Feature.SEND_INVALIDATE)
                && ((fixture.lacks(QueuePairType.UC) | fixture.failing(QueuePairType.UC))
                        & SendOperations.SEND_INVALIDATE) == 0) {
            assertTakenAway(p, write.at(second, write.remote()), second);
        }
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
        assertThat(p.far.state()).isEqualTo(QueuePairState.RTS);
    }

    /** The peer reports that it is done with the key. */
    private static void assertTakenAway(Pair p, Op write, int key) throws Exception {
        assertPosted(p.far.postReceives(Op.receive(5).on(1024, 64)));
        assertPosted(p.near.qp.sendQueue().start().sendInvalidate(6, SendFlags.SIGNALED, key).sge(p.near.region, 0, 8)
                .complete());
        assertStatus(WcStatus.SUCCESS, 6, p.near.awaitSend());
        Completion c = p.far.awaitReceive();
        assertReceived(5, 8, c);
        assertThat(c.flags() & WcFlags.WITH_INV).isNotZero();
        assertThat(c.invalidatedRkey()).isEqualTo(key);
        p.far.remember();
        p.near.setLong(0, 4713);
        sent(p, write);
        p.far.act(End::expectNoCompletion);
        assertUntouched(p.far);
    }

    /** Binds a window to the first bytes of the region for writing; returns the key. */
    private static int bind(End end, MemoryWindow w, long length) throws VerbsException {
        long at = end.region.address();
        int rights = AccessFlags.REMOTE_WRITE;
        assertPosted(w.type() == MemoryWindow.TYPE_1
                ? end.qp.bindMemoryWindow(w, 8, SendFlags.SIGNALED, end.region, at, length, rights)
                : end.qp.sendQueue().start().bindMemoryWindow(8, SendFlags.SIGNALED, w,
                        MemoryWindow.incrementRkey(w.rkey()), end.region, at, length, rights).complete());
        assertDone(WcOpcode.BIND_MW, 8, end.awaitSend());
        end.later = w;
        return w.rkey();
    }

    @Test
    void connectionManagerConnectsUcQueuePairs() throws Exception {
        needs(open(), Feature.CONNECTION_MANAGER);
        Pair p = pair(uc(), uc());
        InetSocketAddress at = p.far.run(end -> Listening.start(end, Listening::accept));
        Connection c = p.near.keep(p.near.context.connectionManager().connect(p.near.qp,
                fixture.listenerAt(at), ConnectionParameters.defaults()));
        p.far.join();
        assertThat(c.isConnected()).isTrue();
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8)));
        sent(p, Op.send(1).on(0, 8));
        assertReceived(1, 8, p.far.awaitReceive());

        End datagrams = end(EndOptions.defaults().type(QueuePairType.UD));
        assertErrno(Errno.EINVAL, () -> datagrams.context.connectionManager().connect(datagrams.qp,
                fixture.listenerAt(at), ConnectionParameters.defaults()), "UD");
    }

    @Test
    void messageToAQueuePairOfAnotherTypeIsNotAnswered() throws Exception {
        Pair p = connected(EndOptions.defaults().retry(1, 0), uc());
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8)));
        assertPosted(p.near.post(Op.send(1).on(0, 8)));
        assertStatus(WcStatus.RETRY_EXC_ERR, 1, p.near.awaitSend());
    }
}
