// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.counts;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.completion.CompletionCursor;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.CountsLayout;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.QueuePairPoints;
import org.verbena.verbs.telemetry.FlightEvents;

/**
 * Counters of the receive side of a queue pair: completed receives, which the poller counts, and accesses of its peer to memory
 * here, which only the peer counts and which are read from it on request.
 */
public final class ReceiveCounts {
    /** In the order of {@link CountsLayout}. */
    private static final int[] OF_PEER = {SamplePoint.QP_RX_WRITES, SamplePoint.QP_RX_WRITE_BYTES,
        SamplePoint.QP_RX_READS, SamplePoint.QP_RX_READ_BYTES, SamplePoint.QP_RX_ATOMICS,
        SamplePoint.QP_RX_OUT_OF_BUFFER};

    private final CounterEntry entry;
    /** Address of the cell of receives; that of their bytes follows. */
    private final long cells;
    /** The poller's. */
    private long receives;
    private long receiveBytes;

    private @Nullable Session session;
    private final int number;
    /** Counts of peers of earlier connections, less those of this one when the connection was made. */
    private final long[] offset = new long[CountsLayout.NUMBERS];
    /** Of {@link #session}, for an update. */
    private final long[] now = new long[CountsLayout.NUMBERS];

    public ReceiveCounts(int number, CounterEntry entry) {
        this.number = number;
        this.entry = entry;
        cells = entry.cell(PublishedObjects.cell(SamplePoint.QP_RX_RECEIVES));
    }

    /** Counts the completion that the queue's cursor is on; the poller only. */
    public void completed(CompletionCursor cq) {
        if (!PublishedObjects.COUNTING) {
            return;
        }
        if (cq.status() == WcStatus.SUCCESS) {
            received(cq.opcode() == WcOpcode.RECV ? cq.payloadLength() : 0); // else its bytes were written
        } else {
            failed(cq);
        }
    }

    /** Counts a message that arrived without an error; the poller only. */
    public void received(long bytes) {
        if (!PublishedObjects.COUNTING) {
            return;
        }
        RawMemory.putLong(cells, 0, ++receives);
        RawMemory.putLong(cells, Long.BYTES, receiveBytes += bytes);
    }

    /** Receives completed without an error; any thread. */
    public long receives() {
        return RawMemory.getLongOpaque(cells);
    }

    private void failed(CompletionCursor cq) {
        int status = cq.status();
        if (status != WcStatus.WR_FLUSH_ERR) {
            FlightEvents.failed(ShmLimits.DEVICE, number, cq.opcode(), cq.wrId(), status);
        }
        add(QueuePairPoints.ofFailedReceive(status));
    }

    /** A request of the peer was refused, see {@link AsyncEventType}. */
    public void refused(int event) {
        add(QueuePairPoints.ofRefusal(event));
    }

    /** A datagram was dropped here. */
    public void lost() {
        add(SamplePoint.QP_RX_LOST);
    }

    private void add(int point) {
        entry.add(PublishedObjects.cell(point), 1);
    }

    // ---- accesses of the peer

    /** A connection begins: accesses of the peer belong to this queue pair from now on. */
    public synchronized void connected(Session s) {
        session = s;
        sumUp(s);
        for (int i = 0; i < now.length; i++) {
            offset[i] = RawMemory.getLong(entry.cell(PublishedObjects.cell(OF_PEER[i]))) - now[i];
        }
    }

    /** Reads the counts of the peer. */
    public synchronized void update() {
        Session s = session;
        if (s != null) {
            sumUp(s);
            for (int i = 0; i < now.length; i++) {
                entry.raise(PublishedObjects.cell(OF_PEER[i]), offset[i] + now[i]);
            }
        }
    }

    /** The connection is over. */
    public synchronized void disconnected() {
        update();
        session = null;
    }

    private void sumUp(Session s) {
        Arrays.fill(now, 0);
        s.counts().addOfQueuePair(number, now);
    }
}
