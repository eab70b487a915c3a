// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.roce.cm.CmCounts;
import org.verbena.roce.link.WireCounts;
import org.verbena.roce.transport.DropReason;
import org.verbena.roce.transport.Transport;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.PublishedObjects;

/**
 * Publishes the counts of the wire, the transport and the connection manager that belong to no queue pair as sample
 * points of the device. Used under the context's lock.
 */
final class DeviceCounts {
    private final CounterEntry device;
    private final Transport transport;
    private final WireCounts wire;
    private final ManagementQueuePair management;
    private final CmCounts messages;
    private long dropsPublished;
    private long troublesPublished;

    DeviceCounts(CounterEntry device, Transport transport, WireCounts wire, ManagementQueuePair management,
            CmCounts messages) {
        this.device = device;
        this.transport = transport;
        this.wire = wire;
        this.management = management;
        this.messages = messages;
    }

    /** Called after packets were received or sent. */
    void publish() {
        if (!PublishedObjects.COUNTING) {
            return;
        }
        raise(SamplePoint.DEVICE_TX_WIRE_BYTES, wire.sentBytes);
        raise(SamplePoint.DEVICE_RX_WIRE_BYTES, wire.receivedBytes);
        long drops = transport.dropped();
        long troubles = wire.malformed + wire.icrcErrors + wire.sendErrors + management.dropped()
                + messages.malformed + messages.unexpected + messages.refused;
        if (drops != dropsPublished || troubles != troublesPublished) {
            dropsPublished = drops;
            troublesPublished = troubles;
            publishErrors();
        }
    }

    private void publishErrors() {
        raise(SamplePoint.DEVICE_TX_ERRORS, wire.sendErrors);
        raise(SamplePoint.DEVICE_BAD_ICRC, wire.icrcErrors);
        raise(SamplePoint.DEVICE_MALFORMED,
                wire.malformed + transport.dropped(DropReason.MALFORMED) + transport.dropped(DropReason.VERSION));
        raise(SamplePoint.DEVICE_BAD_PKEYS, transport.dropped(DropReason.PKEY));
        raise(SamplePoint.DEVICE_BAD_QUEUE_PAIRS,
                transport.dropped(DropReason.QUEUE_PAIR) + transport.dropped(DropReason.OPCODE));
        raise(SamplePoint.DEVICE_BAD_ADDRESSES, transport.dropped(DropReason.ADDRESS));
        raise(SamplePoint.DEVICE_BAD_SEQUENCES, transport.dropped(DropReason.SEQUENCE));
        raise(SamplePoint.DEVICE_CM_DROPPED, management.dropped());
        raise(SamplePoint.DEVICE_CM_MALFORMED, messages.malformed);
        raise(SamplePoint.DEVICE_CM_UNEXPECTED, messages.unexpected);
        raise(SamplePoint.DEVICE_CM_REFUSED, messages.refused);
    }

    private void raise(int point, long value) {
        device.raise(PublishedObjects.cell(point), value);
    }
}
