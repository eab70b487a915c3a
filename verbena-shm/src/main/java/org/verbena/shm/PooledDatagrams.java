// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.verbena.shm.completion.CompletionCursor;
import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.shm.datagram.DatagramSink;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.memory.KeyTable;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * The receive side of a queue pair of type UD on a shared receive queue: a datagram that has arrived takes a receive out
 * of the pool when it is polled. The poller is an initiator here, of this process, see {@link DatagramReceiver#inside}.
 */
final class PooledDatagrams extends SharedReceiveSide implements DatagramSink {
    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(PooledDatagrams.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final DatagramReceiver datagrams;
    /** Written by the poller only. */
    private long completed;
    /** The limit of the queue whose crossing was reported last. */
    private long limitReported;

    PooledDatagrams(QueuePairBase qp, DatagramReceiver datagrams, KeyTable keys, ShmSharedReceiveQueue srq,
            long scratch) {
        super(qp, keys, srq, scratch);
        this.datagrams = datagrams;
    }

    // ---- life

    @Override
    void connect(long peerDirectoryEntry) {
        attach();
    }

    /** The receiver of the datagrams has been closed: no poller is inside. */
    @Override
    void disconnect(boolean left) {
        own.remove(this);
    }

    @Override
    void reset() {
        COMPLETED.setRelease(this, 0L);
        delivery.reset();
    }

    @Override
    boolean isPollInProgress() {
        return hazard() != 0;
    }

    // ---- completions

    @Override
    boolean poll(CompletionCursor cq) {
        return datagrams.poll(this);
    }

    @Override
    long completions() {
        return (long) COMPLETED.getAcquire(this);
    }

    @Override
    long completionsWaiting() {
        return qp.state().receives() ? datagrams.waiting((int) pool.available()) : 0;
    }

    @Override
    public boolean takeDatagram(long data, int length, int immediate, int flags, long timestamp, long limit,
            int source) {
        // a queue pair that is closed or reset leaves this state first, and then waits for the poller inside
        long claim = qp.state().receives() ? pool.takeOldest(limit, length) : Claim.NONE;
        int status = WcStatus.SUCCESS;
        if (claim != Claim.NONE) {
            int slot = Claim.slot(claim);
            status = delivery.scatterDatagram(data, pool.wqe(slot) + AdapterLayout.WQE_HEADER, length);
            CompletionCursor cq = qp.receiveCursor();
            int shown = cq.hasTimestamps() ? flags : flags & ~LaneLayout.HAS_TIMESTAMP;
            cq.set(qp.number(), qp.peerNumber(), pool.receive(slot).wrId, LaneLayout.commit(completed, WcOpcode.RECV,
                    status, shown), length);
            cq.setSource(source);
            cq.setMore(immediate, timestamp, 0);
            qp.receiveCounts().completed(cq);
            COMPLETED.setRelease(this, completed + 1);
            pool.free(slot);
            long l = own.limitWord();
            if (l != limitReported && pool.available() < (int) l) {
                limitReported = l;
                own.limitCrossed(l);
            }
        }
        if (status != WcStatus.SUCCESS) {
            qp.receiveFailed(status);
        }
        return claim != Claim.NONE;
    }

    // ---- for the pool

    @Override
    public long hazard() {
        return datagrams.inside();
    }
}
