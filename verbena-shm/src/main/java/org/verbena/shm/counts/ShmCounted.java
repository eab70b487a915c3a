// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.counts;

import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.QueuePairPoints;

/** The sample points that shm0 has. */
public final class ShmCounted {
    private static final long SENDS = QueuePairPoints.SENDS | PublishedObjects.cells(SamplePoint.QP_TX_WAKE_UPS);
    private static final long LOST = PublishedObjects.cells(SamplePoint.QP_TX_LOST);

    private static final long RC = SENDS | QueuePairPoints.RECEIVES | QueuePairPoints.WRITES
            | QueuePairPoints.REMOTE_WRITES | QueuePairPoints.READS | QueuePairPoints.REMOTE_READS
            | QueuePairPoints.RETRIES | QueuePairPoints.REFUSALS;
    private static final long UC = SENDS | QueuePairPoints.RECEIVES | QueuePairPoints.WRITES
            | QueuePairPoints.REMOTE_WRITES | LOST;
    private static final long UD = SENDS | QueuePairPoints.RECEIVES | LOST | PublishedObjects.cells(
            SamplePoint.QP_RX_LOST);
    private static final long XRC_SEND = SENDS | QueuePairPoints.WRITES | QueuePairPoints.READS
            | QueuePairPoints.RETRIES;
    private static final long CQ = PublishedObjects.cells(SamplePoint.CQ_COMPLETIONS, SamplePoint.CQ_EMPTY_POLLS,
            SamplePoint.CQ_NOTIFY_REQUESTS, SamplePoint.CQ_EVENTS);
    private static final long SRQ = PublishedObjects.cells(SamplePoint.SRQ_POSTED, SamplePoint.SRQ_RECEIVES,
            SamplePoint.SRQ_LIMIT_EVENTS);
    private static final long MR = PublishedObjects.cells(SamplePoint.MR_REMOTE_WRITES,
            SamplePoint.MR_REMOTE_WRITE_BYTES,
            SamplePoint.MR_REMOTE_READS, SamplePoint.MR_REMOTE_READ_BYTES, SamplePoint.MR_REMOTE_ATOMICS,
            SamplePoint.MR_REMOTE_FAULTS);
    private static final long DEVICE = PublishedObjects.cells(SamplePoint.DEVICE_PEERS, SamplePoint.DEVICE_PEERS_LOST,
            SamplePoint.DEVICE_CONNECTIONS, SamplePoint.DEVICE_REJECTS, SamplePoint.DEVICE_ASYNC_EVENTS,
            SamplePoint.DEVICE_QP_ERRORS, SamplePoint.DEVICE_WAKE_UPS);

    public static final PublishedObjects.Counted ALL = new PublishedObjects.Counted(RC, UC, UD, XRC_SEND, 0, CQ, SRQ,
            MR,
            DEVICE);

    private ShmCounted() {}
}
