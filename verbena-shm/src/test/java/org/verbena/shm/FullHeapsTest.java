// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.linux.Sys;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.Adapter;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.DatagramLayout;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.SharedFile;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.ring.OwnLanes;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * The heap of receive rings and the lane arena when they are full. Both are a gibibyte whose pages are reserved as they
 * are taken, so these tests request more than there is at once instead of filling them.
 */
class FullHeapsTest {
    private static final long SOME = 1 << 20;
    private static final int SOME_ENTRIES = 1 << 12;
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    @Test
    void fullReceiveRingHeapIsRefusedAndReusable() throws Exception {
        Adapter adapter = new Adapter(1);
        long first = adapter.takeRing(SOME);
        VerbsException e = catchThrowableOfType(VerbsException.class,
                () -> adapter.takeRing(AdapterLayout.SIZE - AdapterLayout.HEAP));
        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
        assertThat(e).hasMessageContaining("create QP").hasMessageContaining("receive rings").hasMessageContaining(
                "full");
        long second = adapter.takeRing(SOME);
        assertThat(Math.abs(second - first)).isGreaterThanOrEqualTo(SOME);
        adapter.giveRing(first, SOME);
        adapter.giveRing(second, SOME);
        assertThat(adapter.takeRing(2 * SOME)).as("where both were").isEqualTo(Math.min(first, second));
        adapter.close();
    }

    @Test
    void fullLaneArenaIsRefusedAndReusable() throws Exception {
        ShmContext context = (ShmContext) ShmDevice.INSTANCE.open();
        SharedFile arena = PeerMapping.makeArena(1, 2);
        Session session = new Session(context.control(), context.instance(), Sys.pid(), null, arena,
                new PeerMapping.Files(context.adapter().file().mapping(), arena.mapping(),
                        context.commons().file().mapping()));
        long first = lane(session, 1, SOME_ENTRIES).address;
        VerbsException e = catchThrowableOfType(VerbsException.class,
                () -> lane(session, 3, (int) (LaneLayout.SIZE >>> LaneLayout.ENTRY_SHIFT)));
        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
        assertThat(e).hasMessageContaining("make a lane").hasMessageContaining("arena is full");
        OwnLanes.OwnLane second = lane(session, 5, SOME_ENTRIES);
        assertThat(second.address).isNotEqualTo(first);
        session.ownLanes().readerDone(5);
        assertThat(lane(session, 7, SOME_ENTRIES).address).as("the writer may still write to the second one")
                .isNotEqualTo(second.address);
        session.ownLanes().writerDone(second, 0);
        assertThat(lane(session, 9, SOME_ENTRIES).address).as("both ends are done").isEqualTo(second.address);

        session.ownLanes().writerDone(lane(session, 1, SOME_ENTRIES), 17);
        OwnLanes.OwnLane again = lane(session, 1, SOME_ENTRIES);
        assertThat(again.address).as("the reader may still read the first one").isEqualTo(first);
        assertThat(again.sent()).as("and expects the next entries").isEqualTo(17);
        session.ownLanes().writerDone(again, 18);
        session.ownLanes().readerDone(1);
        assertThat(lane(session, 11, SOME_ENTRIES).address).as("both ends are done").isEqualTo(first);
        session.end("the test is over");
        arena.close();
        context.close();
    }

    /** A lane to a queue pair whose directory entry has the connection {@code link}. */
    private static OwnLanes.OwnLane lane(Session session, long link, int entries) throws VerbsException {
        MemorySegment entry = Arena.ofAuto().allocate(1L << AdapterLayout.QP_STRIDE_SHIFT, 64);
        RawMemory.putLong(entry.address() + AdapterLayout.QP_LINK, link);
        try {
            return Objects.requireNonNull(session.ownLanes().make(entry.address(), (int) link, link, entries));
        } finally {
            Reference.reachabilityFence(entry);
        }
    }

    /**
     * Rings to destinations that have gone fill the arena, while there are so many others that the table of destinations
     * does not grow: they are given up when there is no room for a new one, whichever queue pair has made them.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void abandonedDatagramRingsMakeRoom(boolean manySenders) throws Exception {
        int live = 130;
        int most = ShmLimits.MAX_WR;
        int rings = (int) (LaneLayout.SIZE / DatagramLayout.bytes(most)) + 2;
        try (ShmContext from = (ShmContext) ShmDevice.INSTANCE.open();
                ShmContext to = (ShmContext) ShmDevice.INSTANCE.open()) {
            CompletionQueue sent = from.createCompletionQueue(64);
            CompletionQueue received = to.createCompletionQueue(64);
            ProtectionDomain pd = from.allocateProtectionDomain();
            ProtectionDomain far = to.allocateProtectionDomain();
            MemoryRegion memory = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            MemoryRegion farMemory = far.allocate(4096, AccessFlags.LOCAL_WRITE);
            QueuePair sender = datagrams(pd, sent, 1);
            AddressHandle way = pd.createAddressHandle(AddressVector.to(to.queryGid(1, 0)));
            from.control().session("meet", to.instance()); // the first datagram waits for a second at most
            for (int i = 0; i < live + rings; i++) {
                boolean stays = i < live;
                if (manySenders && !stays) {
                    sender = datagrams(pd, sent, 1);
                }
                QueuePair receiver = datagrams(far, received, stays ? 1 : most);
                assertThat(receiver.receiveQueue().post(i, farMemory, 0, 100)).isZero();
                assertThat(sender.sendQueue().start().send(i, SendFlags.SIGNALED).sge(memory, 0, 8).datagram(way,
                        receiver.number(), 1).complete()).isZero();
                assertThat(poll(sent)).isEqualTo(i);
                assertThat(poll(received)).as("datagram %d", i).isEqualTo(i);
                if (!stays) {
                    receiver.close();
                    EngineRounds.await(from); // it has learned that the reader has left the ring
                }
            }
        }
    }

    /** One gets no room for all the receives that many share. */
    @Test
    void datagramRingsToOneSharedReceiveQueueFit() throws Exception {
        int rings = (int) (LaneLayout.SIZE / DatagramLayout.bytes(ShmLimits.MAX_WR)) + 2;
        try (ShmContext from = (ShmContext) ShmDevice.INSTANCE.open();
                ShmContext to = (ShmContext) ShmDevice.INSTANCE.open()) {
            CompletionQueue sent = from.createCompletionQueue(64);
            CompletionQueue received = to.createCompletionQueue(64);
            ProtectionDomain pd = from.allocateProtectionDomain();
            ProtectionDomain far = to.allocateProtectionDomain();
            MemoryRegion memory = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            MemoryRegion farMemory = far.allocate(4096, AccessFlags.LOCAL_WRITE);
            SharedReceiveQueue shared = far.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(
                    ShmLimits.MAX_WR).build());
            QueuePair sender = datagrams(pd, sent, 1);
            AddressHandle way = pd.createAddressHandle(AddressVector.to(to.queryGid(1, 0)));
            from.control().session("meet", to.instance()); // the first datagram waits for a second at most
            for (int i = 0; i < rings; i++) {
                QueuePair receiver = ready(far.createQueuePair(QueuePairInitAttributes.builder(received, received).type(
                        QueuePairType.UD).sharedReceiveQueue(shared).build()));
                assertThat(shared.receiveQueue().post(i, farMemory, 0, 100)).isZero();
                assertThat(sender.sendQueue().start().send(i, SendFlags.SIGNALED).sge(memory, 0, 8).datagram(way,
                        receiver.number(), 1).complete()).isZero();
                assertThat(poll(sent)).isEqualTo(i);
                assertThat(poll(received)).as("datagram %d", i).isEqualTo(i);
            }
        }
    }

    private static QueuePair datagrams(ProtectionDomain pd, CompletionQueue cq, int receives) throws VerbsException {
        return ready(pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.UD).maxReceiveWr(
                receives).build()));
    }

    private static QueuePair ready(QueuePair q) throws VerbsException {
        q.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(1).build());
        q.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        q.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
        return q;
    }

    private static long poll(CompletionQueue cq) {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (cq.startPoll() != 0) {
            if (System.nanoTime() - end > 0) {
                return -1;
            }
            Thread.onSpinWait();
        }
        long id = cq.status() == WcStatus.SUCCESS ? cq.wrId() : -2;
        cq.endPoll();
        return id;
    }
}
