// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.CounterTarget;
import org.verbena.verbs.Counters;
import org.verbena.verbs.Feature;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowSpecType;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReadCountersFlags;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;

/** Counters: attaching, reading, detaching, refusals; objects of other processes. */
abstract class CountersConformance extends Conformance {
    CountersConformance(ConformanceFixture fixture) {
        super(fixture, Topology.TWO_PROCESSES);
    }

    @BeforeEach
    void needsCounters() throws VerbsException {
        needs(Feature.COUNTERS);
    }

    private static CounterAttachAttributes at(int point, int index) {
        return CounterAttachAttributes.of(point, index);
    }

    private static long[] read(Counters c, int n) throws VerbsException {
        long[] values = new long[n];
        c.read(values, 0);
        return values;
    }

    private static void write(Pair p, int times, long bytes) throws VerbsException {
        for (int i = 0; i < times; i++) {
            sent(p, Op.write(i, p.farAddress, 0).on(0, bytes));
        }
    }

    @Test
    void countingBeginsWithTheAttachment() throws Exception {
        Pair p = connected();
        write(p, 3, 8);
        Counters c = p.near.context.createCounters();
        assertThat(read(c, 0)).isEmpty();
        c.attach(at(SamplePoint.QP_TX_WRITES, 1), p.near.qp);
        assertThat(read(c, 2)).containsExactly(0, 0);
        write(p, 4, 8);
        assertThat(read(c, 4)).containsExactly(0, 4, 0, 0);
        c.detach(p.near.qp);
        write(p, 5, 8);
        assertThat(read(c, 2)).as("kept").containsExactly(0, 4);
        c.attach(at(SamplePoint.QP_TX_WRITES, 1), p.near.qp);
        write(p, 1, 8);
        assertThat(read(c, 2)).as("goes on").containsExactly(0, 5);
        long[] stale = {7, 7, 7};
        c.read(stale, ReadCountersFlags.PREFER_CACHED);
        assertThat(stale).containsExactly(0, 5, 0);
        c.detach(at(SamplePoint.QP_TX_WRITES, 1), p.near.qp);
        c.close();
        c.close();
    }

    @Test
    void objectsAttachedToOneIndexAddUp() throws Exception {
        Pair p = connected();
        QueuePair second = p.near.queuePair();
        p.connect(second);
        Counters c = p.near.context.createCounters();
        c.attach(at(SamplePoint.QP_TX_WRITES, 0), p.near.qp);
        c.attach(at(SamplePoint.QP_TX_WRITES, 0), p.near.qp); // twice
        c.attach(at(SamplePoint.QP_TX_WRITE_BYTES, 0), p.near.qp);
        c.attach(at(SamplePoint.QP_TX_WRITES, 0), second);
        c.attach(at(SamplePoint.QP_TX_WRITES, 2), second);
        write(p, 3, 100);
        assertPosted(p.near.post(second, Op.write(1, p.farAddress, 0).on(0, 8)));
        p.near.awaitSend();
        assertThat(read(c, 3)).containsExactly(3 + 3 + 300 + 1, 0, 1);
        c.detach(at(SamplePoint.QP_TX_WRITES, 0), p.near.qp); // one of the two
        write(p, 1, 100);
        assertThat(read(c, 3)).containsExactly(307 + 1 + 100, 0, 1);
    }

    @Test
    void attachedCountersAreBusy() throws Exception {
        Context context = open();
        CompletionQueue cq = context.createCompletionQueue(1);
        Counters c = context.createCounters();
        c.attach(at(SamplePoint.CQ_EMPTY_POLLS, 0), cq);
        assertErrno(Errno.EBUSY, c::close, "detach");
        assertThat(c.isClosed()).isFalse();
        cq.startPoll();
        cq.close(); // counters do not keep an object from being closed
        assertThat(read(c, 1)).containsExactly(1);
        c.close();
        assertErrno(Errno.EINVAL, () -> read(c, 1), "closed");
        assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.DEVICE_ASYNC_EVENTS, 0), context), "closed");
        Counters left = context.createCounters();
        left.attach(at(SamplePoint.DEVICE_ASYNC_EVENTS, 0), context);
        context.close();
        assertThat(left.isClosed()).isTrue();
    }

    @Test
    void invalidAttachmentsAreRefused() throws Exception {
        Pair p = connected();
        Context context = p.near.context;
        Counters c = context.createCounters();
        QueuePair qp = p.near.qp;
        assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.QP_TX_SENDS, -1), qp), "index");
        assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.QP_TX_SENDS, Counters.MAX_INDEX + 1), qp), "index");
        assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.QP_TX_SENDS, 0), p.near.sendCq), "type QP");
        assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.CQ_COMPLETIONS, 0), qp), "type CQ");
        assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.QP_TX_SENDS, 0), context), "type QP");
        assertErrno(Errno.EOPNOTSUPP, () -> c.attach(at(SamplePoint.PACKETS, 0), qp));
        assertErrno(Errno.EOPNOTSUPP, () -> c.attach(at(SamplePoint.BYTES, 0), p.near.sendCq));
        assertErrno(Errno.EOPNOTSUPP, () -> c.attach(at(0x17f, 0), qp), "0x17f");
        assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.QP_TX_SENDS, 0), c));
        assertErrno(Errno.EOPNOTSUPP, () -> c.attach(at(SamplePoint.ofProvider(ObjectType.QP, 15), 0), qp));
        int port = SamplePoint.PORT + SamplePoint.QP_TX_SENDS;
        assertErrno(Errno.EINVAL, () -> c.attach(CounterAttachAttributes.builder(port, 0).port(2).build(), context),
                "no port 2");
        assertErrno(Errno.EINVAL, () -> c.attach(CounterAttachAttributes.builder(SamplePoint.QP_TX_SENDS, 0).port(1)
                .build(), qp), "no ports");
        assertErrno(Errno.EINVAL, () -> c.detach(qp), "not attached");
        c.attach(at(SamplePoint.QP_TX_SENDS, 3), qp);
        assertErrno(Errno.EINVAL, () -> c.detach(at(SamplePoint.QP_TX_SENDS, 2), qp), "not attached");
        assertErrno(Errno.EINVAL, () -> read(c, 3), "4 slots");
        assertErrno(Errno.EINVAL, () -> c.read(new long[4], 2), "flags");
        Context other = open();
        CompletionQueue foreign = other.createCompletionQueue(1);
        assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.CQ_COMPLETIONS, 0), foreign), "another context");
        foreign.close();
        assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.CQ_COMPLETIONS, 0), foreign), "closed");
        assertThat(read(c, 4)).containsOnly(0);
    }

    /** Only sample points that a context reports can be attached. */
    @Test
    void supportedSamplePointsCanBeAttached() throws Exception {
        End e = end(EndOptions.defaults());
        SharedReceiveQueue srq = e.keep(e.pd.createSharedReceiveQueue(
                SharedReceiveQueueAttributes.builder().maxWr(4).build()));
        Map<Integer, CounterTarget> objects = new TreeMap<>(Map.of(ObjectType.QP, e.qp, ObjectType.CQ, e.sendCq,
                ObjectType.SRQ, srq, ObjectType.MR, e.region, ObjectType.PORT, e.context, ObjectType.DEVICE,
                e.context));
        Counters c = e.context.createCounters();
        int attached = 0;
        for (Map.Entry<Integer, CounterTarget> o : objects.entrySet()) {
            for (int point : CountBook.points(o.getKey())) {
                String name = SamplePoint.toString(point);
                boolean has = true;
                try {
                    c.attach(at(point, attached), o.getValue());
                    attached++;
                } catch (VerbsException x) {
                    assertThat(Errno.name(x.errno())).as(name).isEqualTo("EOPNOTSUPP");
                    has = false;
                }
                if (has) {
                    assertThat(e.context.supportsSamplePoint(point)).as(name).isTrue();
                }
                assertThat(name).doesNotStartWith("0x");
            }
        }
        assertThat(attached).isGreaterThan(80);
        assertThat(e.context.supportsSamplePoint(SamplePoint.PACKETS)).isFalse();
        assertThat(e.context.supportsSamplePoint(-1)).isFalse();
        assertThat(e.context.supportsSamplePoint(0x17f)).isFalse();
        for (CounterTarget t : objects.values()) {
            if (t != e.context) {
                c.detach(t);
            }
        }
        c.detach(e.context);
        c.close();
    }

    // ---- before the object is there

    @Test
    void objectsCreatedWithCountersCount() throws Exception {
        Pair p = connected();
        Counters c = p.near.context.createCounters();
        c.attach(at(SamplePoint.QP_TX_WRITES, 0));
        c.attach(at(SamplePoint.QP_TX_WRITE_BYTES, 1));
        assertThat(read(c, 2)).containsExactly(0, 0);
        QueuePair[] two = new QueuePair[2];
        for (int i = 0; i < 2; i++) {
            two[i] = p.near.keep(p.near.pd.createQueuePair(p.near.initAttributes().toBuilder().counters(c).build()));
            p.connect(two[i]);
        }
        assertErrno(Errno.EBUSY, () -> c.attach(at(SamplePoint.QP_TX_READS, 0)), "2 objects");
        for (int i = 0; i < 6; i++) {
            assertPosted(p.near.post(two[i % 2], Op.write(1, p.farAddress, 0).on(0, 10)));
            p.near.awaitSend();
        }
        assertThat(read(c, 2)).containsExactly(6, 60);
        assertErrno(Errno.EBUSY, c::close);
        two[0].close();
        assertErrno(Errno.EBUSY, () -> c.attach(at(SamplePoint.QP_TX_READS, 0)), "1 object");
        two[1].close();
        assertThat(read(c, 2)).containsExactly(6, 60);
        c.attach(at(SamplePoint.QP_TX_READS, 2));
        c.close();
    }

    @Test
    void queuesAndRegionsAreCounted() throws Exception {
        End e = end(EndOptions.defaults());
        Counters c = e.context.createCounters();
        c.attach(at(SamplePoint.CQ_EMPTY_POLLS, 0));
        CompletionQueue cq = e.keep(e.context.createCompletionQueue(
                CompletionQueueAttributes.builder().cqe(4).counters(c).build()));
        cq.startPoll();
        assertThat(read(c, 1)).containsExactly(1);

        Counters s = e.context.createCounters();
        s.attach(at(SamplePoint.SRQ_POSTED, 0));
        SharedReceiveQueue srq = e.keep(e.pd.createSharedReceiveQueue(
                SharedReceiveQueueAttributes.builder().maxWr(4).maxSge(1).counters(s).build()));
        assertPosted(srq.receiveQueue().post(1, e.region, 0, 8));
        assertThat(read(s, 1)).containsExactly(1);
        assertErrno(Errno.EINVAL, () -> srq.modify(
                SharedReceiveQueueAttributes.builder().limit(1).counters(s).build()));

        Counters m = e.context.createCounters();
        m.attach(at(SamplePoint.MR_REMOTE_WRITES, 0));
        MemoryRegion r = e.keep(e.pd.register(MemoryRegionAttributes.builder(AccessFlags.LOCAL_WRITE).memory(
                e.region.segment()).counters(m).build()));
        assertThat(read(m, 1)).containsExactly(0);
        r.close();
        m.close();
    }

    @Test
    void newObjectWithWrongCountersIsRefused() throws Exception {
        End e = end(EndOptions.defaults());
        Counters empty = e.context.createCounters();
        var init = e.initAttributes().toBuilder();
        assertErrno(Errno.EINVAL, () -> e.pd.createQueuePair(init.counters(empty).build()), "nothing was attached");
        Counters ofQueues = e.context.createCounters();
        ofQueues.attach(at(SamplePoint.CQ_COMPLETIONS, 0));
        assertErrno(Errno.EINVAL, () -> e.pd.createQueuePair(init.counters(ofQueues).build()), "type QP");
        Context other = open();
        Counters foreign = other.createCounters();
        foreign.attach(at(SamplePoint.QP_TX_SENDS, 0));
        assertErrno(Errno.EINVAL, () -> e.pd.createQueuePair(init.counters(foreign).build()), "another context");
        foreign.close();
        assertErrno(Errno.EOPNOTSUPP, () -> empty.attach(at(SamplePoint.PACKETS, 0)), "does not count");
    }

    /** Contradictory attributes are refused whether the provider has flows or not. */
    @Test
    void flowIsCountedOnce() throws Exception {
        End e = end(EndOptions.datagrams());
        Counters c = e.context.createCounters();
        FlowSpec count = FlowSpec.count(c);
        assertThat(count.type()).isEqualTo(FlowSpecType.ACTION_COUNT);
        assertThat(count.counters()).isSameAs(c);
        assertThat(count.isAction()).isTrue();
        assertThat(count).isEqualTo(FlowSpec.count(c)).isNotEqualTo(FlowSpec.count(e.context.createCounters()));
        assertThat(count.toString()).contains("ACTION_COUNT");
        assertErrno(Errno.EINVAL, () -> e.qp.createFlow(FlowAttributes.builder().port(1).spec(FlowSpec.udp())
                .spec(count).spec(count).build()));
        assertErrno(Errno.EINVAL, () -> e.qp.createFlow(FlowAttributes.builder().port(1).spec(FlowSpec.udp())
                .spec(count).build()), "nothing was attached");
    }

    // ---- another process

    private static RemoteObject object(RemoteProcess process, int type, int number) throws VerbsException {
        return process.objects(0).stream().filter(o -> o.type() == type && o.number() == number).findFirst()
                .orElseThrow();
    }

    @Test
    void countersOfAnotherProcessAreRead() throws Exception {
        PeerProcess peer = otherPeer();
        Pair p = connectedTo(peer, EndOptions.defaults(), EndOptions.defaults());
        try (RemoteProcess process = RemoteProcess.open(peer.pid()); Counters c = process.createCounters()) {
            assertThat(process.pid()).isEqualTo(peer.pid());
            assertThat(process.command()).contains("java");
            RemoteObject qp = object(process, ObjectType.QP, p.farAddress.queuePairNumber());
            RemoteObject mr = object(process, ObjectType.MR, p.farAddress.rkey());
            RemoteObject port = object(process, ObjectType.PORT, 1);
            assertThat(qp.state()).isEqualTo("RTS");
            assertThat(qp.attributes()).containsEntry("type", "RC").containsEntry("maxSendWr", 64L)
                    .containsEntry("peerQp", (long) p.near.qp.number());
            if (!fixture.hasPackets()) { // which do not name the process
                assertThat(qp.attributes()).containsEntry("peerProcess", ProcessHandle.current().pid());
                assertErrno(Errno.EOPNOTSUPP, () -> c.attach(at(SamplePoint.QP_RETRANSMITS, 0), qp));
            }
            assertThat(mr.attributes()).containsEntry("length", p.farAddress.length());
            c.attach(at(SamplePoint.QP_RX_WRITES, 0), qp);
            c.attach(at(SamplePoint.MR_REMOTE_WRITE_BYTES, 1), mr);
            c.attach(at(SamplePoint.PORT + SamplePoint.QP_RX_BYTES, 2), port);
            c.attach(at(SamplePoint.QP_RX_RECEIVES, 3), qp);
            write(p, 5, 16);
            assertPosted(p.far.postReceives(Op.receive(1).on(0, 64)));
            sent(p, Op.send(1).on(0, 50));
            p.far.awaitReceive();
            assertThat(read(c, 4)).containsExactly(5, 80, 130, 1);
            assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.QP_TX_SENDS, 0), mr), "type QP");
            assertErrno(Errno.EBUSY, c::close);
            c.detach(object(process, ObjectType.QP, p.farAddress.queuePairNumber())); // another picture of it
            write(p, 1, 16);
            assertThat(read(c, 4)).containsExactly(5, 96, 146, 1);
            assertThat(object(process, ObjectType.QP, p.farAddress.queuePairNumber()).value(SamplePoint.QP_RX_WRITES))
                    .isEqualTo(6);
            c.detach(mr);
            c.detach(port);
        }
    }

    @Test
    void countersOfAStoppedOrKilledProcessAreRead() throws Exception {
        PeerProcess peer = ownPeer();
        Pair p = connectedTo(peer, EndOptions.defaults(), EndOptions.defaults());
        RemoteProcess process = closing(RemoteProcess.open(peer.pid()));
        Counters c = process.createCounters();
        RemoteObject qp = object(process, ObjectType.QP, p.farAddress.queuePairNumber());
        c.attach(at(SamplePoint.QP_RX_RECEIVES, 0), qp);
        Counters kept = process.createCounters();
        kept.attach(at(SamplePoint.QP_RX_RECEIVES, 0), qp);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 64), Op.receive(2).on(64, 64)));
        sent(p, Op.send(1).on(0, 50));
        p.far.awaitReceive();
        peer.signal("STOP");
        try {
            assertErrno(Errno.ETIMEDOUT, () -> read(c, 1), "stopped");
            assertErrno(Errno.ETIMEDOUT, () -> process.objects(0), "stopped");
            long[] cached = new long[1];
            c.read(cached, ReadCountersFlags.PREFER_CACHED);
            assertThat(cached).containsExactly(1);
            assertThat(process.isAlive()).isTrue();
            Counters other = process.createCounters();
            assertErrno(Errno.ETIMEDOUT, () -> other.attach(at(SamplePoint.QP_RX_RECEIVES, 0), qp), "stopped");
            c.detach(qp); // without waiting for it to end
            c.close();
        } finally {
            peer.signal("CONT");
        }
        assertThat(read(kept, 1)).containsExactly(1);
        peer.kill();
        assertThat(process.isAlive()).isFalse();
        assertThat(read(kept, 1)).as("the last that was read").containsExactly(1);
        assertErrno(Errno.ESRCH, () -> process.objects(0), "ended");
        assertErrno(Errno.ESRCH, () -> kept.attach(at(SamplePoint.QP_TX_SENDS, 1), qp), "ended");
        assertErrno(Errno.ESRCH, () -> RemoteProcess.open(peer.pid()));
        List<RemoteProcess> living = RemoteProcess.list();
        living.forEach(this::closing);
        assertThat(living).extracting(RemoteProcess::pid).doesNotContain(peer.pid())
                .contains(ProcessHandle.current().pid());
    }

    /** In a separate JVM, since suites of several providers may run in this one. */
    @Test
    void createdAndClosedObjectsKeepSumsCorrect() throws Exception {
        sharedPeer().run(fixture -> {
            try (RemoteProcess self = RemoteProcess.current();
                    End e = End.open(fixture, EndOptions.defaults());
                    Context other = fixture.open()) {
                assertComeAndGo(self, e, other);
            }
            return true;
        });
    }

    private static void assertComeAndGo(RemoteProcess self, End e, Context other) throws VerbsException {
        QueuePair qp = e.queuePair();
        RemoteObject shown = object(self, ObjectType.QP, qp.number());
        assertThat(shown.state()).isEqualTo("RESET");
        e.toInit(qp);
        qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        assertThat(object(self, ObjectType.QP, qp.number()).state()).isEqualTo("ERR");
        assertThat(shown.state()).as("a picture does not change").isEqualTo("RESET");
        long id = shown.id();
        qp.close();
        try (Counters c = self.createCounters()) {
            assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.QP_TX_SENDS, 0), shown), "closed");
        }
        assertThat(self.objects(0)).noneMatch(o -> o.id() == id && o.number() == qp.number());
        other.createCompletionQueue(1);
        List<Long> own = self.objects(0).stream().filter(o -> o.context() != shown.context())
                .map(RemoteObject::id).toList();
        assertThat(own).hasSize(3); // with the port
        other.close();
        assertThat(self.objects(0)).noneMatch(o -> own.contains(o.id()));
        assertErrno(Errno.EINVAL, () -> self.objects(8), "flags");
        self.close();
        assertErrno(Errno.EINVAL, () -> self.objects(0), "closed");
    }
}
