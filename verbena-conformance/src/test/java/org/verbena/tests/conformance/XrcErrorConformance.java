// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Requests over XRC that fail, and the state of their connections. */
abstract class XrcErrorConformance extends XrcTraffic {
    XrcErrorConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    // ---- missing queues

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void missingQueueIsAnError(boolean write) throws VerbsException {
        Pair p = xrc();
        postReceives(p.near, 0, 4);
        int own = p.near.xrc().srq.number();
        SharedReceiveQueue closed = queue(p, p.near.pd, p.near.receiveCq);
        int gone = closed.number();
        closed.close();
        for (int wrong : new int[] {0, 0xffffff, gone, p.nearAddress.queuePairNumber()}) {
            Pair q = xrc();
            name(q, wrong);
            assertFails(q, WcStatus.REM_INV_REQ_ERR, write ? Op.write(1, q.nearAddress, 0).on(0, 8) : Op.send(1));
        }
        name(p, own);
        assertAllSent(send(p, 8));
        assertReceived(0, 8, p.near.awaitReceive());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void queueOfAnotherDomainIsAnError(boolean write) throws VerbsException {
        Pair p = xrc();
        Pair other = xrc();
        postReceives(other.near, 0, 4);
        name(p, other.near.xrc().srq.number());
        assertFails(p, WcStatus.REM_INV_REQ_ERR, write ? Op.write(1, other.nearAddress, 0).on(0, 8) : Op.send(1));
        assertAllSent(send(other, 8));
        assertReceived(0, 8, other.near.awaitReceive());
    }

    @Test
    void closedQueueIsAnError() throws VerbsException {
        Pair p = xrc();
        CompletionQueue cq = p.near.context.createCompletionQueue(8);
        SharedReceiveQueue second = queue(p, p.near.pd, cq);
        post(second, p.near, 1);
        post(second, p.near, 2);
        name(p, second.number());
        assertAllSent(send(p, 8));
        assertReceived(1, 8, p.near.await(cq, 1).getFirst());
        second.close();
        cq.close();
        assertFails(p, WcStatus.REM_INV_REQ_ERR, Op.send(3).on(0, 8));
    }

    @Test
    void waitingRequestEndsWhenItsQueueIsClosed() throws VerbsException {
        Pair p = xrc();
        CompletionQueue cq = p.near.context.createCompletionQueue(8);
        SharedReceiveQueue second = queue(p, p.near.pd, cq);
        name(p, second.number());
        assertPosted(p.far.post(Op.send(1).on(0, 8)));
        Await.never("the send completes", () -> p.far.run(end -> !End.poll(end.sendCq, 4).isEmpty()));
        second.close();
        cq.close();
        assertStatus(WcStatus.REM_INV_REQ_ERR, 1, p.far.awaitSend());
        p.far.awaitState(QueuePairState.ERR);
    }

    // ---- errors of the receiving side

    @Test
    void tooLongMessageFailsItsConnectionOnly() throws VerbsException {
        Pair p = xrc();
        int other = p.connect(p.near.queuePair()).queuePairNumber();
        postReceives(p.near, 0, 4);
        assertFails(p, WcStatus.REM_INV_REQ_ERR, Op.send(1).on(0, SLOT + 1));
        Completion c = p.near.awaitReceive();
        assertThat(c.statusName()).isEqualTo("LOC_LEN_ERR");
        assertThat(c.queuePairNumber()).isEqualTo(target(p.near).number());
        assertAllSent(send(p.far, other, 1, 2, 3));
        assertThat(p.near.awaitReceives(3).stream().mapToLong(Completion::wrId).filter(id -> id != c.wrId()))
                .hasSize(3);
    }

    /** The memory of a receive is checked when it is used. */
    @Test
    void receiveIntoForeignMemoryFailsBothEnds() throws VerbsException {
        Pair p = xrc();
        ProtectionDomain pd = p.near.context.allocateProtectionDomain();
        MemoryRegion foreign = pd.allocate(4096, AccessFlags.ALL);
        int posted = p.near.xrc().srq.receiveQueue().post(7, foreign, 0, 64);
        if (posted == 0) {
            assertFails(p, WcStatus.REM_OP_ERR, Op.send(1).on(0, 8));
            assertStatus(WcStatus.LOC_PROT_ERR, 7, p.near.awaitReceive());
        } else {
            assertRefused(Errno.EINVAL, posted);
        }
        foreign.close();
        pd.close();
    }

    @Test
    void accessRightsOfTheTargetAreChecked() throws VerbsException {
        Pair p = xrc(EndOptions.defaults().queuePairAccess(AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE),
                EndOptions.defaults());
        assertPosted(p.far.post(Op.write(1, p.nearAddress, 0).on(0, 8)));
        assertDone(WcOpcode.RDMA_WRITE, 1, p.far.awaitSend());
        assertFails(p, WcStatus.REM_INV_REQ_ERR, Op.read(2, p.nearAddress, 0).on(0, 8));
    }

    @Test
    void sendWithInvalidateOfAWrongKeyFailsBothEnds() throws VerbsException {
        Pair p = xrc();
        needs(p.near.context, Feature.SEND_INVALIDATE);
        postReceives(p.near, 0, 2);
        int key = p.nearAddress.rkey(); // of a region, which no message takes away
        p.far.act(end -> {
            assertPosted(end.name(end.qp, end.qp.sendQueue().start().sendInvalidate(2, SendFlags.SIGNALED, key))
                    .sge(end.region, 0, 8).complete());
            assertStatus(WcStatus.REM_ACCESS_ERR, 2, end.awaitSend());
        });
        assertThat(p.near.awaitReceive().statusName()).isEqualTo("REM_INV_REQ_ERR");
        p.far.awaitState(QueuePairState.ERR);
        assertPosted(p.far.post(Op.write(3, p.nearAddress, 0).on(0, 8)));
        assertStatus(WcStatus.WR_FLUSH_ERR, 3, p.far.awaitSend());
    }

    // ---- states

    private static void reset(End end) throws VerbsException {
        end.to(QueuePairState.RESET);
        target(end).modify(XrcEnd.to(QueuePairState.RESET));
    }

    @Test
    void queuePairsReconnectAfterAnError() throws VerbsException {
        Pair p = xrc(EndOptions.defaults(), EndOptions.defaults().retry(17, 2));
        postReceives(p.near, 0, 4);
        for (int round = 0; round < (Thorough.ON ? 3 : 2); round++) {
            assertAllSent(send(p, 8));
            assertReceived(round, 8, p.near.awaitReceive());
            target(p.near).modify(XrcEnd.to(QueuePairState.ERR));
            assertPosted(p.far.post(Op.send(1).on(0, 8)));
            Completion c = p.far.awaitSend();
            assertThat(c.status()).as(c.toString()).isNotEqualTo(WcStatus.SUCCESS);
            p.far.awaitState(QueuePairState.ERR);
            assertThat(End.poll(p.near.receiveCq, 4)).as("receives stay in the queue").isEmpty();
            reset(p.near);
            p.far.act(XrcErrorConformance::reset);
            p.connect();
        }
    }

    @Test
    void queryReturnsAttributesOfTheType() throws VerbsException {
        Pair p = xrc();
        QueuePairAttributes sender = p.near.qp.query();
        assertThat(sender.state()).isEqualTo(QueuePairState.RTS);
        assertThat(sender.destinationQueuePair()).isEqualTo(p.farAddress.destination());
        assertThat(sender.retryCount()).isEqualTo(7);
        assertThat(p.near.qp.initAttributes().maxReceiveWr()).isZero();
        QueuePairAttributes target = target(p.near).query();
        assertThat(target.state()).isEqualTo(QueuePairState.RTS);
        assertThat(target.destinationQueuePair()).isEqualTo(p.farAddress.queuePairNumber());
        assertThat(target.accessFlags()).isEqualTo(AccessFlags.ALL);
        assertErrno(Errno.EINVAL, () -> p.near.qp.modify(QueuePairAttributes.to(QueuePairState.RTS)
                .minRnrTimer(3).build()), "MIN_RNR_TIMER");
        target(p.near).modify(QueuePairAttributes.to(QueuePairState.RTS).minRnrTimer(3).build());
        assertThat(target(p.near).query().minRnrTimer()).isEqualTo(3);
    }

    /** The sender sends to a closed target. */
    @Test
    void closedTargetEndsTheConnection() throws VerbsException {
        Pair p = xrc(EndOptions.defaults(), EndOptions.defaults().retry(17, 1));
        postReceives(p.near, 0, 2);
        assertAllSent(send(p, 8));
        p.near.xrc().closeTargets();
        assertPosted(p.far.post(Op.send(1).on(0, 8)));
        Completion c = p.far.awaitSend();
        assertThat(c.statusName()).as(c.toString()).isIn("RETRY_EXC_ERR", "REM_INV_REQ_ERR");
        p.far.awaitState(QueuePairState.ERR);
        assertReceived(0, 8, p.near.awaitReceive());
    }

    @Test
    void everyHolderOfTheTargetReceivesTheErrorEvent() throws VerbsException {
        Pair p = xrc();
        QueuePair t = target(p.near);
        QueuePair second = p.near.keep(p.near.xrc().domain.openQueuePair(
                XrcEnd.numbered(t.number())));
        assertFails(p, WcStatus.REM_ACCESS_ERR, Op.write(1, p.nearAddress, 1L << 40).on(0, 8));
        List<Object> told = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            AsyncEvent e = p.near.context.awaitAsyncEvent(Await.LIMIT);
            assertThat(e).isNotNull();
            assertThat(AsyncEventType.toString(e.type())).isEqualTo("QP_ACCESS_ERR");
            told.add(e.element());
        }
        assertThat(told).containsExactlyInAnyOrder(t, second);
        assertThat(second.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void requestsAreRefusedBeforeRts() throws VerbsException {
        Pair p = pair(EndOptions.defaults().xrc(), EndOptions.defaults().xrc());
        int n = p.near.xrc().srq.number();
        SendQueue sq = p.near.qp.sendQueue();
        for (int i = 0; i < 3; i++) {
            assertRefused(Errno.EINVAL, sq.start().send(1, 0).remoteSharedReceiveQueue(n).complete());
            switch (i) {
                case 0 -> p.toInit();
                case 1 -> p.near.toRtr(p.farAddress);
                default -> p.near.toRts();
            }
        }
        p.near.to(QueuePairState.ERR);
        assertPosted(sq.start().send(7, 0).remoteSharedReceiveQueue(n).complete());
        assertStatus(WcStatus.WR_FLUSH_ERR, 7, p.near.awaitSend());
    }

    @Test
    void connectionManagerRefusesXrc() throws VerbsException {
        End end = end(EndOptions.defaults().xrc());
        needs(end.context, Feature.CONNECTION_MANAGER);
        for (QueuePair q : List.of(end.qp, target(end))) {
            assertErrno(Errno.EINVAL, () -> end.context.connectionManager().connect(q,
                    new InetSocketAddress("localhost", 1), ConnectionParameters.defaults()), "XRC");
        }
    }
}
