// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.counts;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.QueuePairPoints;
import org.verbena.verbs.spi.SendOpcode;
import org.verbena.verbs.telemetry.FlightEvents;

/**
 * Counters of the send side of a queue pair: each number is kept here and stored into its cell, where other processes read
 * it. Used by one thread at a time, the one that executes requests.
 */
public final class SendCounts {
    private static final long SENDS = 0;
    private static final long SEND_BYTES = 8;
    private static final long WRITES = 16;
    private static final long WRITE_BYTES = 24;
    private static final long READS = 32;
    private static final long READ_BYTES = 40;
    private static final long ATOMICS = 48;
    private static final long OTHERS = 56;

    private final int number;
    private final CounterEntry entry;
    /** Address of the first cell. */
    private final long cells;
    private long sends;
    private long sendBytes;
    private long writes;
    private long writeBytes;

    public SendCounts(int number, CounterEntry entry) {
        this.number = number;
        this.entry = entry;
        cells = entry.cell(PublishedObjects.cell(SamplePoint.QP_TX_SENDS));
    }

    public void sent(long bytes) {
        if (!PublishedObjects.COUNTING) {
            return;
        }
        RawMemory.putLong(cells, SENDS, ++sends);
        RawMemory.putLong(cells, SEND_BYTES, sendBytes += bytes);
    }

    public void wrote(long bytes) {
        if (!PublishedObjects.COUNTING) {
            return;
        }
        RawMemory.putLong(cells, WRITES, ++writes);
        RawMemory.putLong(cells, WRITE_BYTES, writeBytes += bytes);
    }

    /** A request was carried out. */
    public void done(int opcode, long bytes) {
        switch (opcode) {
            case SendOpcode.SEND, SendOpcode.SEND_IMM, SendOpcode.SEND_INV -> sent(bytes);
            case SendOpcode.WRITE, SendOpcode.WRITE_IMM -> wrote(bytes);
            case SendOpcode.ATOMIC_WRITE -> wrote(Long.BYTES);
            case SendOpcode.READ -> {
                add(READS, 1);
                add(READ_BYTES, bytes);
            }
            case SendOpcode.CMP_SWP, SendOpcode.FETCH_ADD -> add(ATOMICS, 1);
            default -> add(OTHERS, 1);
        }
    }

    private void add(long cell, long n) {
        RawMemory.putLong(cells, cell, RawMemory.getLong(cells, cell) + n);
    }

    /** A request has failed, or was flushed. */
    public void failed(WorkRequest w, int status) {
        if (status != WcStatus.WR_FLUSH_ERR) {
            FlightEvents.failed(ShmLimits.DEVICE, number, SendOpcode.completion(w.opcode), w.wrId, status);
        }
        add(QueuePairPoints.ofFailedRequest(status));
    }

    /** A message was sent and not delivered. */
    public void lost() {
        add(SamplePoint.QP_TX_LOST);
    }

    /** A request begins to wait for the peer to post a receive. */
    public void waitedForReceive() {
        add(SamplePoint.QP_TX_RNR_WAITS);
        FlightEvents.retries(ShmLimits.DEVICE, number, "the peer has posted no receive");
    }

    /** A request begins to wait for the peer's queue pair. */
    public void waitedForPeer() {
        add(SamplePoint.QP_TX_PEER_WAITS);
        FlightEvents.retries(ShmLimits.DEVICE, number, "the peer does not answer");
    }

    public void wokePeer() {
        add(SamplePoint.QP_TX_WAKE_UPS);
    }

    private void add(int point) {
        entry.add(PublishedObjects.cell(point), 1);
    }
}
