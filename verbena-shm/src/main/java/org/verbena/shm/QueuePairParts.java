// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.completion.SendCompletions;
import org.verbena.shm.datagram.DatagramExecutor;
import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.OwnEntry;
import org.verbena.shm.memory.LocalBuffers;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.shm.pool.Commons;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.SendOpcode;

/**
 * What a new queue pair is made of: its number and directory entry, the ring of its receives, the memory of its requests,
 * and its queues.
 */
final class QueuePairParts {
    private static final int SCRATCH = 128;

    final int number;
    final OwnEntry own;

    private final ContextInternals internals;
    private final int pd;
    private final QueuePairInitAttributes init;
    /** The shared receive queue; null if the queue pair has receives of its own. */
    private final @Nullable ShmSharedReceiveQueue srq;
    private final int receiveEntries;
    /** Offset and size in the adapter; of size 0 if there is none. */
    private final long ring;
    private final long ringBytes;
    /** Scratch memory of the sender and of the receiver, then inline data. */
    private final MemorySegment memory;

    QueuePairParts(ContextInternals internals, int pd, QueuePairInitAttributes init) throws VerbsException {
        this.internals = internals;
        this.pd = pd;
        this.init = init;
        srq = (ShmSharedReceiveQueue) init.sharedReceiveQueue();
        receiveEntries = powerOfTwo(srq == null ? init.maxReceiveWr() : srq.pool().receives().capacity());
        ringBytes = hasRing() ? receiveEntries * AdapterLayout.wqeStride(init.maxReceiveSge()) : 0;
        number = internals.own().numbers().take();
        try {
            own = new OwnEntry(internals.adapter().qpEntry(number));
            ring = hasRing() ? internals.adapter().takeRing(ringBytes) : 0;
        } catch (VerbsException e) {
            internals.own().numbers().give(number);
            throw e;
        }
        long inline = (long) powerOfTwo(init.maxSendWr()) * init.maxInlineData();
        memory = Arena.ofAuto().allocate(2 * SCRATCH + inline, 64);
    }

    /** Whether it has receives of its own. */
    private boolean hasRing() {
        return srq == null && init.type() != QueuePairType.XRC_SEND;
    }

    private static int powerOfTwo(int n) {
        return n <= 1 ? 1 : Integer.highestOneBit(n - 1) << 1;
    }

    ShmSendQueue makeSendQueue(QueuePairBase qp) {
        int entries = powerOfTwo(init.maxSendWr());
        WorkRequest[] slots = new WorkRequest[entries];
        for (int i = 0; i < entries; i++) {
            slots[i] = new WorkRequest(init.maxSendSge(), init.maxInlineData(),
                    memory.address() + 2 * SCRATCH + (long) i * init.maxInlineData());
        }
        SendCompletions completions = new SendCompletions(entries,
                ((ShmCompletionQueue) init.sendCq()).hasTimestamps());
        LocalBuffers buffers = new LocalBuffers(internals.keys(), pd, memory.address());
        long hazard = own.address + AdapterLayout.QP_HAZARD;
        SendExecutor executor = new SendExecutor(qp, completions, internals.keys(), pd, init.sqSigAll(), internals
                .xrc(),
                buffers, hazard);
        DatagramExecutor datagramExecutor = isDatagram()
                ? new DatagramExecutor(qp, internals.control(), completions, qp.sendCounts(), buffers, init.sqSigAll(),
                        (init.createFlags() & QueuePairCreateFlags.BLOCK_SELF_MCAST_LB) != 0, hazard)
                : null;
        return new ShmSendQueue(qp, internals.keys(), pd, slots, executor, datagramExecutor, completions,
                init.maxSendWr(), SendOpcode.allowed(init, SendOpcode.operations(init.type())));
    }

    private boolean isDatagram() {
        return init.type() == QueuePairType.UD;
    }

    /** For type UD, else null. */
    @Nullable
    DatagramReceiver makeDatagramReceiver(QueuePairBase qp) {
        return isDatagram() ? new DatagramReceiver(qp, qp.receiveCounts()) : null;
    }

    /** The receives of {@code qp}, which has its {@link DatagramReceiver} by now. */
    ReceiveSide makeReceiveSide(QueuePairBase qp) {
        long posted = own.address + AdapterLayout.QP_POSTED;
        long scratch = memory.address() + SCRATCH;
        if (init.type() == QueuePairType.XRC_SEND) {
            return new NoReceives();
        }
        if (srq == null) {
            return new ShmReceiveQueue(qp, internals.keys(), pd, init.maxReceiveWr(), receiveEntries,
                    init.maxReceiveSge(), internals.adapter().base() + ring, posted, scratch);
        }
        DatagramReceiver datagrams = qp.datagramReceiver();
        return datagrams != null
                ? new PooledDatagrams(qp, datagrams, internals.keys(), srq, scratch)
                : new AttachedReceives(qp, internals.keys(), srq, receiveEntries, posted, scratch);
    }

    /** Fills the directory entry. */
    void describe() {
        ShmCompletionQueue cq = (ShmCompletionQueue) (init.type() == QueuePairType.XRC_SEND
                ? init.sendCq()
                : init.receiveCq());
        ShmCompletionChannel c = cq.shmChannel();
        own.describe(number, init.type(), pd, new OwnEntry.Receives(ring, receiveEntries, init.maxReceiveSge(),
                srq == null ? -1 : Commons.index(srq.pool().number()), cq.hasTimestamps(), cq.armIndex(),
                c == null ? 0 : c.id()));
    }

    /** The queue pair is closed, and no peer reads the ring any more. */
    void giveBack() {
        if (ringBytes > 0) {
            internals.adapter().giveRing(ring, ringBytes);
        }
        internals.own().numbers().give(number);
    }
}
