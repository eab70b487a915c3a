// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetSocketAddress;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Each event is counted exactly, at the right sample points and at no others. */
abstract class SamplePointConformance extends ConnectionConformance {
    SamplePointConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsCounters() throws VerbsException {
        needs(Feature.COUNTERS);
    }

    /** Begins to count at both ends. */
    private static CountBook begin(Pair p) throws VerbsException {
        CountBook.begin(p.far);
        return CountBook.of(p.near);
    }

    private static void assertCounts(CountBook b, String prefix, Object... expected) throws VerbsException {
        assertThat(b.read(prefix)).isEqualTo(CountBook.expected(expected));
    }

    private static void assertCounts(Far far, String prefix, Object... expected) throws VerbsException {
        assertThat(CountBook.read(far, prefix)).isEqualTo(CountBook.expected(expected));
    }

    @Test
    void sendsAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        assertPosted(p.far.postReceives(Op.receives(8, 6000, 6000)));
        for (int i = 0; i < 5; i++) {
            sent(p, Op.send(i).on(0, 10));
        }
        for (int i = 0; i < 3; i++) {
            sent(p, Op.sendImmediate(i, i).on(0, 5000));
        }
        p.far.awaitReceives(8);
        assertCounts(near, "QP", "QP_TX_SENDS", 8, "QP_TX_SEND_BYTES", 15_050, "QP_TX_WORK_REQUESTS", 8,
                "QP_TX_BYTES", 15_050);
        assertCounts(p.far, "QP", "QP_RX_RECEIVES", 8, "QP_RX_RECEIVE_BYTES", 15_050, "QP_RX_BYTES", 15_050);
        assertCounts(near, "SEND_CQ", "SEND_CQ_COMPLETIONS", 8);
        assertCounts(near, "RECEIVE_CQ");
        assertCounts(p.far, "SEND_CQ");
        assertCounts(p.far, "RECEIVE_CQ", "RECEIVE_CQ_COMPLETIONS", 8);
        assertCounts(p.far, "MR"); // a SEND is not a WRITE
    }

    @Test
    void packetsAreCounted() throws Exception {
        assumeTrue(fixture.hasPackets(), "there are no packets");
        Pair p = connected();
        CountBook near = begin(p);
        int mtu = p.near.context.queryPort(1).activeMtu();
        for (int i = 0; i < 3; i++) {
            sent(p, Op.write(i, p.farAddress, 0).on(0, 4L * mtu + 1));
        }
        assertThat(near.read("QP_TX_PACKETS").get("QP_TX_PACKETS")).isGreaterThanOrEqualTo(15);
        assertThat(near.read("QP_RX_PACKETS").get("QP_RX_PACKETS")).as("acknowledgements").isGreaterThanOrEqualTo(3);
        assertThat(CountBook.read(p.far, "QP_RX_PACKETS").get("QP_RX_PACKETS")).isGreaterThanOrEqualTo(15);
        assertThat(CountBook.read(p.far, "QP_TX_PACKETS").get("QP_TX_PACKETS")).isGreaterThanOrEqualTo(3);
    }

    @Test
    void writesAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        for (int i = 0; i < 7; i++) {
            sent(p, Op.write(i, p.farAddress, 64L * i).on(0, 16));
        }
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 16)));
        sent(p, Op.writeImmediate(9, p.farAddress, 0, 77).on(0, 3000));
        p.far.awaitReceive();
        assertCounts(near, "QP", "QP_TX_WRITES", 8, "QP_TX_WRITE_BYTES", 3112, "QP_TX_WORK_REQUESTS", 8,
                "QP_TX_BYTES", 3112);
        assertCounts(p.far, "QP", "QP_RX_WRITES", 8, "QP_RX_WRITE_BYTES", 3112, "QP_RX_BYTES", 3112,
                "QP_RX_RECEIVES", 1);
        assertCounts(p.far, "MR", "MR_REMOTE_WRITES", 8, "MR_REMOTE_WRITE_BYTES", 3112);
        assertCounts(near, "MR");
    }

    @Test
    void readsAndAtomicsAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        for (int i = 0; i < 4; i++) {
            sent(p, Op.read(i, p.farAddress, 0).on(0, 100));
        }
        sent(p, Op.compareAndSwap(1, p.farAddress, 8, 0, 1).on(0, 8));
        sent(p, Op.fetchAndAdd(2, p.farAddress, 8, 1).on(0, 8));
        sent(p, Op.fetchAndAdd(3, p.farAddress, 8, 1).on(0, 8));
        assertCounts(near, "QP", "QP_TX_READS", 4, "QP_TX_READ_BYTES", 400, "QP_TX_ATOMICS", 3,
                "QP_TX_WORK_REQUESTS", 7, "QP_RX_BYTES", 400);
        assertCounts(p.far, "QP", "QP_RX_READS", 4, "QP_RX_READ_BYTES", 400, "QP_RX_ATOMICS", 3, "QP_TX_BYTES", 400);
        assertCounts(p.far, "MR", "MR_REMOTE_READS", 4, "MR_REMOTE_READ_BYTES", 400, "MR_REMOTE_ATOMICS", 3);
    }

    /** Requests go to two regions in turn, through two queue pairs. */
    @Test
    void regionsAreCountedSeparately() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        EndAddress other = p.far.run(end -> {
            MemoryRegion r = end.keep(end.pd.allocate(4096, AccessFlags.ALL));
            return new EndAddress("::", 0, 0, r.rkey(), r.address(), r.length());
        });
        QueuePair second = p.near.queuePair();
        p.connect(second);
        for (int i = 0; i < 10; i++) {
            sent(p, Op.write(i, i % 2 == 0 ? p.farAddress : other, 0).on(0, 8));
            assertPosted(p.near.post(second, Op.write(i, p.farAddress, 128).on(0, 100)));
            p.near.awaitSend();
        }
        assertCounts(near, "QP_TX_WRITE", "QP_TX_WRITES", 10, "QP_TX_WRITE_BYTES", 80);
        assertCounts(p.far, "QP_RX_WRITE", "QP_RX_WRITES", 10, "QP_RX_WRITE_BYTES", 80);
        assertCounts(p.far, "MR", "MR_REMOTE_WRITES", 15, "MR_REMOTE_WRITE_BYTES", 1040);
        second.close();
        assertCounts(p.far, "MR", "MR_REMOTE_WRITES", 15, "MR_REMOTE_WRITE_BYTES", 1040);
        sent(p, Op.write(1, other, 0).on(0, 8));
        assertCounts(p.far, "MR", "MR_REMOTE_WRITES", 15, "MR_REMOTE_WRITE_BYTES", 1040);
        assertCounts(p.far, "QP_RX_WRITE", "QP_RX_WRITES", 11, "QP_RX_WRITE_BYTES", 88);
    }

    /** An empty WRITE, for instance one that announces others, accesses no region, whatever its key. */
    @Test
    void emptyRequestsAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        EndAddress f = p.farAddress;
        EndAddress nowhere = new EndAddress(f.gid(), f.queuePairNumber(), f.psn(), 0, 0, 0);
        assertPosted(p.far.postReceives(Op.receives(3, 8, 8)));
        for (int i = 0; i < 3; i++) {
            sent(p, Op.write(i, f, 0).on(0, 8));
            sent(p, Op.writeImmediate(i, nowhere, 0, 5).on(0, 0));
        }
        sent(p, Op.read(9, nowhere, 0).on(0, 0));
        p.far.awaitReceives(3);
        assertCounts(near, "QP_TX", "QP_TX_WRITES", 6, "QP_TX_WRITE_BYTES", 24, "QP_TX_READS", 1,
                "QP_TX_WORK_REQUESTS", 7, "QP_TX_BYTES", 24);
        assertCounts(p.far, "QP_RX", "QP_RX_WRITES", 6, "QP_RX_WRITE_BYTES", 24, "QP_RX_READS", 1, "QP_RX_RECEIVES", 3,
                "QP_RX_BYTES", 24);
        assertCounts(p.far, "MR", "MR_REMOTE_WRITES", 3, "MR_REMOTE_WRITE_BYTES", 24);
    }

    @Test
    void wrongKeyRemovesNoCounts() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        EndAddress f = p.farAddress;
        EndAddress other = p.far.run(end -> {
            MemoryRegion r = end.keep(end.pd.allocate(4096, AccessFlags.ALL));
            return new EndAddress("::", 0, 0, r.rkey(), r.address(), r.length());
        });
        for (int i = 0; i < 3; i++) {
            sent(p, Op.write(i, f, 0).on(0, 8));
            sent(p, Op.write(i, other, 0).on(0, 8));
        }
        EndAddress old = new EndAddress(f.gid(), f.queuePairNumber(), f.psn(), f.rkey() ^ 0x80, f.address(), f
                .length());
        assertPosted(p.near.post(Op.write(1, old, 0).on(0, 8)));
        assertStatus(WcStatus.REM_ACCESS_ERR, 1, p.near.awaitSend());
        assertCounts(near, "QP_REQ_REMOTE_ACCESS_ERRORS", "QP_REQ_REMOTE_ACCESS_ERRORS", 1);
        assertCounts(p.far, "MR", "MR_REMOTE_WRITES", 3, "MR_REMOTE_WRITE_BYTES", 24);
    }

    @Test
    void rnrNaksAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        for (int i = 0; i < 3; i++) {
            assertPosted(p.near.post(Op.send(i).on(0, 8)));
            p.near.expectNoCompletion();
            assertPosted(p.far.postReceives(Op.receive(i).on(0, 8)));
            p.near.awaitSend();
            p.far.awaitReceive();
        }
        assertCounts(near, "QP_TX_SENDS", "QP_TX_SENDS", 3);
        if (fixture.hasPackets()) { // each retry is one more wait
            assertThat(near.read("QP_TX_RNR_WAITS").get("QP_TX_RNR_WAITS")).isGreaterThanOrEqualTo(3);
            assertThat(CountBook.read(p.far, "QP_RX_OUT_OF_BUFFER").get("QP_RX_OUT_OF_BUFFER"))
                    .isGreaterThanOrEqualTo(3);
            return;
        }
        assertCounts(near, "QP_TX_RNR_WAITS", "QP_TX_RNR_WAITS", 3);
        assertCounts(p.far, "QP_RX_OUT_OF_BUFFER", "QP_RX_OUT_OF_BUFFER", 3);
    }

    @Test
    void exhaustedRetriesAreCounted() throws Exception {
        Pair p = connected(EndOptions.defaults().rnrRetry(1), EndOptions.defaults());
        CountBook near = begin(p);
        assertPosted(p.near.post(Op.send(1).on(0, 8), Op.send(2).on(0, 8), Op.send(3).on(0, 8)));
        assertStatus(WcStatus.RNR_RETRY_EXC_ERR, 1, p.near.awaitSend());
        p.near.awaitSends(2);
        int waits = fixture.hasPackets() ? 2 : 1; // the refusal that ends it counts, too
        assertCounts(near, "QP", "QP_TX_RNR_WAITS", waits, "QP_REQ_RNR_RETRIES_EXCEEDED", 1, "QP_REQ_FLUSHED", 2,
                "QP_REQ_ERRORS", 1);
        assertCounts(near, "SEND_CQ", "SEND_CQ_COMPLETIONS", 3);
        if (fixture.hasPackets()) { // a retransmission finds none either
            assertThat(CountBook.read(p.far, "QP_RX_OUT_OF_BUFFER").get("QP_RX_OUT_OF_BUFFER"))
                    .isGreaterThanOrEqualTo(waits);
        } else {
            assertCounts(p.far, "QP", "QP_RX_OUT_OF_BUFFER", waits);
        }
        if (topology != Topology.ONE_CONTEXT) {
            assertCounts(near, "DEVICE_QP_ERRORS", "DEVICE_QP_ERRORS", 1);
        }
    }

    @Test
    void timeoutsAreCounted() throws Exception {
        Pair p = pair(EndOptions.defaults().retry(8, 1), EndOptions.defaults());
        p.toInit();
        p.near.toRtr(p.farAddress);
        p.near.toRts();
        CountBook near = begin(p);
        assertPosted(p.near.post(Op.send(1).on(0, 8)));
        assertStatus(WcStatus.RETRY_EXC_ERR, 1, p.near.awaitSend());
        assertCounts(near, "QP", "QP_REQ_RETRIES_EXCEEDED", 1, "QP_REQ_ERRORS", 1);
        // a timeout of the network ends the first attempt, and the retry
        assertCounts(near, "QP_TX_PEER_WAITS", "QP_TX_PEER_WAITS", fixture.hasPackets() ? 2 : 1);
    }

    @Test
    void refusedRequestsAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        assertPosted(p.near.post(Op.write(1, p.farAddress, p.farAddress.length() - 4).on(0, 8), Op.send(2).on(0, 8)));
        assertStatus(WcStatus.REM_ACCESS_ERR, 1, p.near.awaitSend());
        p.near.awaitSend();
        p.far.awaitAsyncEvent(AsyncEventType.QP_ACCESS_ERR);
        assertCounts(near, "QP", "QP_REQ_REMOTE_ACCESS_ERRORS", 1, "QP_REQ_FLUSHED", 1, "QP_REQ_ERRORS", 1);
        assertCounts(p.far, "QP", "QP_RESP_REMOTE_ACCESS_ERRORS", 1);
        assertCounts(p.far, "MR", "MR_REMOTE_FAULTS", 1);
    }

    @Test
    void tooLongMessagesAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 100), Op.receive(2).on(0, 100)));
        assertPosted(p.near.post(Op.send(1).on(0, 101)));
        assertStatus(WcStatus.REM_INV_REQ_ERR, 1, p.near.awaitSend());
        List<Completion> got = p.far.awaitReceives(2);
        assertStatus(WcStatus.LOC_LEN_ERR, 1, got.getFirst());
        String told = "QP_RESP_REMOTE_INVALID_REQUESTS"; // through a message, which takes some time
        Await.until(told, () -> !CountBook.read(p.far, told).isEmpty(), () -> "nothing");
        assertCounts(near, "QP", "QP_REQ_REMOTE_INVALID_REQUESTS", 1, "QP_REQ_ERRORS", 1);
        assertCounts(p.far, "QP", "QP_RESP_LOCAL_LENGTH_ERRORS", 1, "QP_RESP_FLUSHED", 1, "QP_RESP_ERRORS", 1,
                "QP_RESP_REMOTE_INVALID_REQUESTS", 1);
        assertCounts(p.far, "RECEIVE_CQ", "RECEIVE_CQ_COMPLETIONS", 2);
    }

    @Test
    void localErrorsAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8)));
        var sq = p.near.qp.sendQueue().start().send(1, SendFlags.SIGNALED);
        assertPosted(sq.sge(p.near.region.lkey() + 0x100, p.near.region.address(), 8).complete());
        assertStatus(WcStatus.LOC_PROT_ERR, 1, p.near.awaitSend());
        assertCounts(near, "QP", "QP_REQ_LOCAL_PROTECTION_ERRORS", 1, "QP_REQ_ERRORS", 1);
    }

    /** Memory windows: successful and failed binds are counted. */
    @Test
    void memoryWindowBindsAreCounted() throws Exception {
        needs(Feature.MEMORY_WINDOW_TYPE_1);
        Pair p = connected(EndOptions.defaults().access(AccessFlags.ALL | AccessFlags.MW_BIND), EndOptions.defaults());
        CountBook near = begin(p);
        MemoryWindow w = p.near.keep(p.near.pd.allocateMemoryWindow(MemoryWindow.TYPE_1));
        for (int i = 0; i < 3; i++) {
            assertPosted(p.near.qp.bindMemoryWindow(w, i, SendFlags.SIGNALED, p.near.region, p.near.region.address(),
                    64,
                    AccessFlags.REMOTE_WRITE));
            assertStatus(WcStatus.SUCCESS, i, p.near.awaitSend());
        }
        assertPosted(p.near.qp.bindMemoryWindow(w, 4, SendFlags.SIGNALED, p.near.region, p.near.region.address() - 8,
                64,
                AccessFlags.REMOTE_WRITE));
        assertStatus(WcStatus.MW_BIND_ERR, 4, p.near.awaitSend());
        assertCounts(near, "QP", "QP_TX_OTHERS", 3, "QP_TX_WORK_REQUESTS", 3, "QP_REQ_OTHER_ERRORS", 1,
                "QP_REQ_ERRORS", 1);
        if (p.near.context.supportsSamplePoint(SamplePoint.MR_BINDS)) {
            assertCounts(near, "MR_BINDS", "MR_BINDS", 3);
        }
    }

    /** A window is invalidated by its own end, and by the peer. */
    @Test
    void invalidatedWindowsAreCounted() throws Exception {
        needs(Feature.MEMORY_WINDOW_TYPE_2, Feature.SEND_INVALIDATE);
        Pair p = connected(EndOptions.defaults(), EndOptions.defaults().access(AccessFlags.ALL | AccessFlags.MW_BIND));
        assumeTrue(p.near.context.supportsSamplePoint(SamplePoint.MR_INVALIDATIONS), "invalidations are not counted");
        CountBook near = begin(p);
        int first = p.far.run(SamplePointConformance::bound);
        p.far.act(end -> {
            assertPosted(end.qp.sendQueue().start().localInvalidate(9, SendFlags.SIGNALED, first).complete());
            assertStatus(WcStatus.SUCCESS, 9, end.awaitSend());
        });
        assertCounts(p.far, "MR", "MR_BINDS", 1, "MR_INVALIDATIONS", 1);
        int second = p.far.run(SamplePointConformance::bound);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8)));
        assertPosted(p.near.qp.sendQueue().start().sendInvalidate(4, SendFlags.SIGNALED, second).complete());
        assertStatus(WcStatus.SUCCESS, 4, p.near.awaitSend());
        p.far.awaitReceive();
        assertCounts(p.far, "MR", "MR_BINDS", 2, "MR_INVALIDATIONS", 2);
        assertCounts(near, "MR");
    }

    /** The key of a new window of type 2, bound to the region of an end. */
    private static int bound(End end) throws VerbsException {
        MemoryWindow w = end.keep(end.pd.allocateMemoryWindow(MemoryWindow.TYPE_2));
        assertPosted(end.qp.sendQueue().start().bindMemoryWindow(8, SendFlags.SIGNALED, w, MemoryWindow.incrementRkey(
                w.rkey()), end.region, end.region.address(), 64, AccessFlags.REMOTE_WRITE).complete());
        assertStatus(WcStatus.SUCCESS, 8, end.awaitSend());
        return w.rkey();
    }

    @Test
    void atomicsOfAWrongLengthAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        assertPosted(p.near.post(Op.fetchAndAdd(1, p.farAddress, 8, 1).on(0, 16)));
        assertStatus(WcStatus.LOC_LEN_ERR, 1, p.near.awaitSend());
        assertCounts(near, "QP", "QP_REQ_LOCAL_LENGTH_ERRORS", 1, "QP_REQ_ERRORS", 1);
    }

    @Test
    void receivesIntoInvalidMemoryAreCounted() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        p.far.act(end -> assertPosted(end.receiveQueue(end.qp).start().receive(1)
                .sge(end.region.lkey() ^ 0x80, end.region.address(), 1000).complete()));
        assertPosted(p.near.post(Op.send(1).on(0, 500)));
        assertStatus(WcStatus.REM_OP_ERR, 1, p.near.awaitSend());
        assertStatus(WcStatus.LOC_PROT_ERR, 1, p.far.awaitReceive());
        assertCounts(near, "QP", "QP_REQ_REMOTE_OPERATION_ERRORS", 1, "QP_REQ_ERRORS", 1);
        assertCounts(p.far, "QP_RESP_OTHER_ERRORS", "QP_RESP_OTHER_ERRORS", 1);
    }

    @Test
    void connectionsAndRejectionsAreCounted() throws Exception {
        Pair p = pair();
        CountBook near = begin(p);
        InetSocketAddress no = listen(p.far, (r, end) -> {
            r.reject();
            return true;
        });
        assertThat(catchThrowable(() -> connect(p.near, no))).isInstanceOf(ConnectionRejectedException.class);
        p.far.join();
        InetSocketAddress yes = listen(p.far, Listening::accept);
        connect(p.near, yes);
        p.far.join();
        boolean one = topology == Topology.ONE_CONTEXT; // which then counts both ends
        assertCounts(near, "DEVICE_CONNECTIONS", "DEVICE_CONNECTIONS", one ? 2 : 1);
        assertCounts(p.far, "DEVICE_CONNECTIONS", "DEVICE_CONNECTIONS", one ? 2 : 1);
        assertCounts(near, "DEVICE_REJECTS", "DEVICE_REJECTS", one ? 2 : 1);
        assertCounts(p.far, "DEVICE_REJECTS", "DEVICE_REJECTS", one ? 2 : 1);
    }

    /** The program at the other end closes all its objects: its peer has flushed receives, and no error. */
    @Test
    void orderlyDisconnectIsNotCountedAsError() throws Exception {
        if (topology == Topology.ONE_CONTEXT) {
            return; // it would be its own peer
        }
        End near = end(EndOptions.defaults());
        Pair p = new Pair(near, new Far.Remote(otherPeer(), EndOptions.defaults()));
        CountBook b = CountBook.of(near);
        InetSocketAddress there = listen(p.far, Listening::accept);
        Connection c = connect(near, there);
        p.far.join();
        assertPosted(near.postReceives(Op.receives(3, 8, 8)));
        p.far.close();
        awaitDisconnected(c);
        near.awaitReceives(3);
        near.context.awaitAsyncEvent(Await.WHILE); // there is none: until the session has ended, too
        assertCounts(b, "DEVICE_PEERS_LOST");
        assertCounts(b, "DEVICE_QP_ERRORS");
        assertCounts(b, "DEVICE_ASYNC_EVENTS");
        assertCounts(b, "QP_RE", "QP_RESP_FLUSHED", 3);
    }

    @Test
    void flushedReceivesAreCounted() throws Exception {
        Pair p = connected();
        begin(p);
        assertPosted(p.far.postReceives(Op.receives(3, 8, 8)));
        p.far.to(QueuePairState.ERR);
        p.far.awaitReceives(3);
        assertCounts(p.far, "QP", "QP_RESP_FLUSHED", 3);
        assertCounts(p.far, "DEVICE_QP_ERRORS"); // it did not move there by itself
    }

    @Test
    void pollsArmingsAndEventsAreCounted() throws Exception {
        Pair p = connected(EndOptions.defaults(), EndOptions.defaults().channel());
        begin(p);
        p.far.act(end -> {
            for (int i = 0; i < 1000; i++) {
                assertThat(end.receiveCq.startPoll()).isNotZero();
            }
        });
        assertCounts(p.far, "RECEIVE_CQ_EMPTY_POLLS", "RECEIVE_CQ_EMPTY_POLLS", 1000);
        CountBook near = CountBook.of(p.near);
        assertPosted(p.far.postReceives(Op.receives(4, 8, 8)));
        for (int i = 0; i < 2; i++) {
            p.far.act(end -> assertPosted(end.receiveCq.requestNotify(false)));
            sent(p, Op.send(i).on(0, 8));
            sent(p, Op.send(i).on(0, 8)); // it was woken already
            p.far.act(end -> {
                assertThat(end.channel.await(Await.LIMIT)).isSameAs(end.receiveCq);
                end.awaitReceives(2);
            });
        }
        if (!fixture.hasPackets()) { // else the receiver wakes itself
            assertCounts(near, "QP_TX_WAKE_UPS", "QP_TX_WAKE_UPS", 2);
        }
        assertCounts(p.far, "RECEIVE_CQ", "RECEIVE_CQ_COMPLETIONS", 4, "RECEIVE_CQ_NOTIFY_REQUESTS", 2,
                "RECEIVE_CQ_EVENTS", 2);
    }

    @Test
    void sharedReceiveQueuesAreCounted() throws Exception {
        needs(Feature.SHARED_RECEIVE_QUEUE);
        Pair p = connected(EndOptions.defaults(), EndOptions.defaults().sharedReceives());
        begin(p);
        QueuePair second = p.near.queuePair();
        p.connect(second);
        assertPosted(p.far.postReceives(Op.receives(10, 64, 64)));
        p.far.act(end -> end.srq.modify(SharedReceiveQueueAttributes.builder().limit(4).build()));
        for (int i = 0; i < 3; i++) {
            sent(p, Op.send(i).on(0, 8));
        }
        for (int i = 0; i < 5; i++) {
            assertPosted(p.near.post(second, Op.send(i).on(0, 60)));
            p.near.awaitSend();
        }
        p.far.awaitReceives(8);
        p.far.act(end -> assertThat(end.context.awaitAsyncEvent(Await.LIMIT).type())
                .isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED));
        assertCounts(p.far, "SRQ", "SRQ_POSTED", 10, "SRQ_RECEIVES", 8, "SRQ_LIMIT_EVENTS", 1);
        assertCounts(p.far, "QP", "QP_RX_RECEIVES", 3, "QP_RX_RECEIVE_BYTES", 24, "QP_RX_BYTES", 24);
        p.far.act(end -> end.qp.close());
        assertCounts(p.far, "SRQ", "SRQ_POSTED", 10, "SRQ_RECEIVES", 8, "SRQ_LIMIT_EVENTS", 1);
    }

    @Test
    void datagramsAreCounted() throws Exception {
        needs(Feature.UD);
        Pair p = pair(EndOptions.datagrams(), EndOptions.datagrams());
        p.connect();
        CountBook near = begin(p);
        assertPosted(p.far.postReceives(Op.receives(4, 200, 200)));
        for (int i = 0; i < 3; i++) {
            sent(p, Op.send(i).on(0, 50));
        }
        p.far.awaitReceives(3);
        assertPosted(p.near.postTo(p.near.qp, p.farAddress, 0x999, Op.send(9).on(0, 50))); // a wrong Q_Key
        p.near.awaitSend();
        sent(p, Op.send(4).on(0, 50)); // behind it
        p.far.awaitReceive();
        assertCounts(near, "QP", "QP_TX_SENDS", 5, "QP_TX_SEND_BYTES", 250, "QP_TX_WORK_REQUESTS", 5, "QP_TX_BYTES",
                250);
        assertCounts(p.far, "QP_RX", "QP_RX_RECEIVES", 4, "QP_RX_RECEIVE_BYTES", 200, "QP_RX_BYTES", 200, "QP_RX_LOST",
                1);
        if (p.near.context.supportsSamplePoint(SamplePoint.QP_BAD_QKEYS)) {
            assertCounts(p.far, "QP_BAD_QKEYS", "QP_BAD_QKEYS", 1);
        }
    }

    @Test
    void undeliverableMessagesAreCounted() throws Exception {
        needs(Feature.UC);
        Pair p = connected(EndOptions.defaults().type(QueuePairType.UC), EndOptions.defaults().type(
                QueuePairType.UC));
        CountBook near = begin(p);
        for (int i = 0; i < 6; i++) {
            sent(p, Op.send(i).on(0, 8)); // no receive is posted
        }
        if (fixture.hasPackets()) { // they have left, and may still be on their way
            awaitLosses(p, 6);
        }
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 8)));
        sent(p, Op.send(1).on(0, 8));
        p.far.awaitReceive();
        if (fixture.hasPackets()) { // the receiver alone knows
            assertCounts(near, "QP", "QP_TX_SENDS", 7, "QP_TX_SEND_BYTES", 56, "QP_TX_WORK_REQUESTS", 7, "QP_TX_BYTES",
                    56);
            assertCounts(p.far, "QP", "QP_RX_RECEIVES", 1, "QP_RX_RECEIVE_BYTES", 8, "QP_RX_BYTES", 8, "QP_RX_LOST", 6,
                    "QP_RX_OUT_OF_BUFFER", 6);
            return;
        }
        assertCounts(near, "QP", "QP_TX_LOST", 6, "QP_TX_SENDS", 1, "QP_TX_SEND_BYTES", 8, "QP_TX_WORK_REQUESTS", 1,
                "QP_TX_BYTES", 8);
        assertCounts(p.far, "QP", "QP_RX_RECEIVES", 1, "QP_RX_RECEIVE_BYTES", 8, "QP_RX_BYTES", 8);
    }

    /** A port is the sum of its queue pairs, including closed ones. */
    @Test
    void portIsTheSumOfItsQueuePairs() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        QueuePair second = p.near.queuePair();
        p.connect(second);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64)));
        sent(p, Op.send(1).on(0, 40));
        p.far.awaitReceive();
        assertPosted(p.near.post(second, Op.write(2, p.farAddress, 0).on(0, 200)));
        p.near.awaitSend();
        sent(p, Op.read(3, p.farAddress, 0).on(0, 1000));
        boolean one = topology == Topology.ONE_CONTEXT;
        for (int i = 0; i < 2; i++) {
            assertCounts(near, "PORT_TX_SEND", "PORT_TX_SENDS", 1, "PORT_TX_SEND_BYTES", 40);
            assertCounts(near, "PORT_TX_WRITE", "PORT_TX_WRITES", 1, "PORT_TX_WRITE_BYTES", 200);
            assertCounts(near, "PORT_TX_BYTES", "PORT_TX_BYTES", one ? 1240 : 240);
            assertCounts(near, "PORT_RX_BYTES", "PORT_RX_BYTES", one ? 1240 : 1000);
            assertCounts(p.far, "PORT_RX_BYTES", "PORT_RX_BYTES", one ? 1240 : 240);
            assertCounts(p.far, "PORT_TX_BYTES", "PORT_TX_BYTES", one ? 1240 : 1000);
            second.close();
            p.near.qp.close();
        }
    }

    @Test
    void deadPeersKeepSumsCorrect() throws Exception {
        if (topology != Topology.TWO_PROCESSES) {
            return; // those of one process do not die alone
        }
        assumeTrue(fixture.noticesDeathOfIdlePeers(), "the death of a peer that is not spoken to is not noticed");
        End near = end(EndOptions.defaults());
        CountBook b = CountBook.of(near);
        PeerProcess process = ownPeer();
        Pair p = new Pair(near, closing(new Far.Remote(process, EndOptions.defaults())));
        p.connect();
        for (int i = 0; i < 3; i++) {
            assertPosted(p.far.post(Op.write(1, p.nearAddress, 0).on(0, 8)));
            p.far.awaitSend();
        }
        process.kill();
        near.awaitState(QueuePairState.ERR);
        near.awaitAsyncEvent(AsyncEventType.QP_FATAL);
        String lost = "DEVICE_PEERS_LOST"; // when all queue pairs have heard of it
        Await.until(lost, () -> !b.read(lost).isEmpty(), near::describe);
        assertCounts(b, "DEVICE", "DEVICE_PEERS", 1, "DEVICE_PEERS_LOST", 1, "DEVICE_ASYNC_EVENTS", 1,
                "DEVICE_QP_ERRORS", 1);
        assertCounts(b, "QP_RX_WRITE", "QP_RX_WRITES", 3, "QP_RX_WRITE_BYTES", 24);
        assertCounts(b, "MR", "MR_REMOTE_WRITES", 3, "MR_REMOTE_WRITE_BYTES", 24);
    }

    @Test
    void resetKeepsCounts() throws Exception {
        Pair p = connected();
        CountBook near = begin(p);
        for (int round = 0; round < 3; round++) {
            sent(p, Op.write(1, p.farAddress, 0).on(0, 8));
            p.near.to(QueuePairState.RESET);
            p.far.to(QueuePairState.RESET);
            p.connect();
        }
        assertCounts(near, "QP_TX_WRITE", "QP_TX_WRITES", 3, "QP_TX_WRITE_BYTES", 24);
        assertCounts(p.far, "QP_RX_WRITE", "QP_RX_WRITES", 3, "QP_RX_WRITE_BYTES", 24);
        assertCounts(p.far, "MR", "MR_REMOTE_WRITES", 3, "MR_REMOTE_WRITE_BYTES", 24);
    }
}
