// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.linux.spi.RawMemory;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.QueuePairPoints;

/** The sample points of a device and its objects: cells are written under the context's lock, by a plain store. */
final class RoceCounted {
    private static final long PACKETS = PublishedObjects.cells(SamplePoint.QP_TX_PACKETS, SamplePoint.QP_RX_PACKETS);
    private static final long RETRANSMISSIONS = PublishedObjects.cells(SamplePoint.QP_RETRANSMITS,
            SamplePoint.QP_OUT_OF_SEQUENCE,
            SamplePoint.QP_PACKET_SEQUENCE_ERRORS, SamplePoint.QP_IMPLIED_NAKS, SamplePoint.QP_DUPLICATE_REQUESTS);
    private static final long CONGESTION = PublishedObjects.cells(SamplePoint.QP_ECN_MARKED, SamplePoint.QP_CNP_SENT,
            SamplePoint.QP_CNP_HANDLED, SamplePoint.QP_CNP_IGNORED);
    private static final long LOST = PublishedObjects.cells(SamplePoint.QP_RX_LOST, SamplePoint.QP_RX_OUT_OF_BUFFER);
    private static final long CQ = PublishedObjects.cells(SamplePoint.CQ_COMPLETIONS, SamplePoint.CQ_EMPTY_POLLS,
            SamplePoint.CQ_NOTIFY_REQUESTS, SamplePoint.CQ_EVENTS, SamplePoint.CQ_OVERRUNS);
    private static final long SRQ = PublishedObjects.cells(SamplePoint.SRQ_POSTED, SamplePoint.SRQ_RECEIVES,
            SamplePoint.SRQ_LIMIT_EVENTS);
    private static final long MR = PublishedObjects.cells(SamplePoint.MR_REMOTE_WRITES,
            SamplePoint.MR_REMOTE_WRITE_BYTES,
            SamplePoint.MR_REMOTE_READS, SamplePoint.MR_REMOTE_READ_BYTES, SamplePoint.MR_REMOTE_ATOMICS,
            SamplePoint.MR_REMOTE_FAULTS, SamplePoint.MR_BINDS, SamplePoint.MR_INVALIDATIONS);
    private static final long DEVICE = PublishedObjects.cells(SamplePoint.DEVICE_ASYNC_EVENTS,
            SamplePoint.DEVICE_CONNECTIONS, SamplePoint.DEVICE_REJECTS,
            SamplePoint.DEVICE_QP_ERRORS, SamplePoint.DEVICE_WAKE_UPS, SamplePoint.DEVICE_TX_WIRE_BYTES,
            SamplePoint.DEVICE_RX_WIRE_BYTES, SamplePoint.DEVICE_TX_ERRORS, SamplePoint.DEVICE_BAD_ICRC,
            SamplePoint.DEVICE_MALFORMED, SamplePoint.DEVICE_BAD_PKEYS, SamplePoint.DEVICE_BAD_QUEUE_PAIRS,
            SamplePoint.DEVICE_BAD_ADDRESSES, SamplePoint.DEVICE_BAD_SEQUENCES, SamplePoint.DEVICE_CM_DROPPED,
            SamplePoint.DEVICE_CM_MALFORMED, SamplePoint.DEVICE_CM_UNEXPECTED, SamplePoint.DEVICE_CM_REFUSED);

    private static final long DELIVERY = PACKETS | RETRANSMISSIONS | CONGESTION;
    private static final long RC = QueuePairPoints.SENDS | QueuePairPoints.RECEIVES | QueuePairPoints.WRITES
            | QueuePairPoints.REMOTE_WRITES | QueuePairPoints.READS | QueuePairPoints.REMOTE_READS
            | QueuePairPoints.RETRIES | QueuePairPoints.REFUSALS | DELIVERY;
    private static final long UC = QueuePairPoints.SENDS | QueuePairPoints.RECEIVES | QueuePairPoints.WRITES
            | QueuePairPoints.REMOTE_WRITES | LOST | PACKETS
            | PublishedObjects.cells(SamplePoint.QP_OUT_OF_SEQUENCE, SamplePoint.QP_CNP_IGNORED);
    private static final long UD = QueuePairPoints.SENDS | QueuePairPoints.RECEIVES | LOST | PACKETS
            | PublishedObjects.cells(SamplePoint.QP_BAD_QKEYS);
    private static final long XRC_SEND = QueuePairPoints.SENDS | QueuePairPoints.WRITES | QueuePairPoints.READS
            | QueuePairPoints.RETRIES | DELIVERY;
    private static final long XRC_RECV = QueuePairPoints.RECEIVES | QueuePairPoints.REMOTE_WRITES
            | QueuePairPoints.REMOTE_READS | QueuePairPoints.REFUSALS | DELIVERY;

    static final PublishedObjects.Counted ALL = new PublishedObjects.Counted(RC, UC, UD, XRC_SEND, XRC_RECV, CQ, SRQ,
            MR,
            DEVICE);

    private RoceCounted() {}

    /** Adds to a point's cell; under the context's lock. */
    static void add(CounterEntry e, int point, long n) {
        if (PublishedObjects.COUNTING) {
            long cell = e.cell(PublishedObjects.cell(point));
            RawMemory.putLong(cell, RawMemory.getLong(cell) + n);
        }
    }
}
