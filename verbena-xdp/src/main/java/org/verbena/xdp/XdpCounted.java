// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.spi.RawMemory;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.QueuePairPoints;

/** The sample points of a device and its objects: each cell is written under the lock of its side, by a plain store. */
final class XdpCounted {
    private static final long QP = QueuePairPoints.SENDS | QueuePairPoints.RECEIVES | PublishedObjects.cells(
            SamplePoint.QP_TX_PACKETS, SamplePoint.QP_RX_PACKETS);
    private static final long CQ = PublishedObjects.cells(SamplePoint.CQ_COMPLETIONS, SamplePoint.CQ_EMPTY_POLLS,
            SamplePoint.CQ_NOTIFY_REQUESTS, SamplePoint.CQ_EVENTS);
    private static final long DEVICE = PublishedObjects.cells(SamplePoint.DEVICE_ASYNC_EVENTS,
            SamplePoint.DEVICE_QP_ERRORS, SamplePoint.DEVICE_WAKE_UPS);

    static final PublishedObjects.Counted ALL = new PublishedObjects.Counted(0, 0, QP, 0, 0, CQ, 0, 0, DEVICE);

    private static final long WQ = PublishedObjects.cells(SamplePoint.WQ_RX_RECEIVES, SamplePoint.WQ_RX_RECEIVE_BYTES,
            SamplePoint.WQ_RESP_FLUSHED, SamplePoint.WQ_RX_PACKETS);
    private static final long FLOW = PublishedObjects.cells(SamplePoint.PACKETS, SamplePoint.BYTES);

    private XdpCounted() {}

    /** What is counted of objects of a kind, of some at least. */
    static long of(int objectType) {
        return switch (objectType) {
            case ObjectType.FLOW -> PublishedObjects.COUNTING ? FLOW : 0;
            case ObjectType.WQ -> PublishedObjects.COUNTING ? WQ : 0;
            default -> ALL.of(objectType);
        };
    }

    /** Adds to a point's cell; under the lock of what is counted. */
    static void add(CounterEntry e, int point, long n) {
        if (PublishedObjects.COUNTING) {
            long cell = e.cell(PublishedObjects.cell(point));
            RawMemory.putLong(cell, RawMemory.getLong(cell) + n);
        }
    }
}
