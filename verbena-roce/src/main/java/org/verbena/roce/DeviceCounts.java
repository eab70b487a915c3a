package org.verbena.roce;

import org.verbena.roce.transport.Drop;
import org.verbena.roce.transport.Transport;
import org.verbena.roce.wire.WireCounts;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.CounterEntry;
import org.verbena.verbs.spi.ShownObjects;

/**
 * Shows what the wire and the transport have counted of packets that are no queue pair's as points of the device. Used
 * under the context's lock.
 */
final class DeviceCounts {
    private final CounterEntry device;
    private final Transport transport;
    private final WireCounts wire;
    private long dropsShown;
    private long troublesShown;

    DeviceCounts(CounterEntry device, Transport transport, WireCounts wire) {
        this.device = device;
        this.transport = transport;
        this.wire = wire;
    }

    /** After packets were taken or sent. */
    void show() {
        if (!ShownObjects.COUNTING) {
            return;
        }
        raise(SamplePoint.DEVICE_TX_WIRE_BYTES, wire.sentBytes);
        raise(SamplePoint.DEVICE_RX_WIRE_BYTES, wire.receivedBytes);
        long drops = transport.dropped();
        long troubles = wire.malformed + wire.icrcErrors + wire.sendErrors;
        if (drops != dropsShown || troubles != troublesShown) {
            dropsShown = drops;
            troublesShown = troubles;
            showTroubles();
        }
    }

    private void showTroubles() {
        raise(SamplePoint.DEVICE_TX_ERRORS, wire.sendErrors);
        raise(SamplePoint.DEVICE_BAD_ICRC, wire.icrcErrors);
        raise(SamplePoint.DEVICE_MALFORMED,
                wire.malformed + transport.dropped(Drop.MALFORMED) + transport.dropped(Drop.VERSION));
        raise(SamplePoint.DEVICE_BAD_PKEYS, transport.dropped(Drop.PKEY));
        raise(SamplePoint.DEVICE_BAD_QUEUE_PAIRS,
                transport.dropped(Drop.QUEUE_PAIR) + transport.dropped(Drop.OPCODE));
        raise(SamplePoint.DEVICE_BAD_ADDRESSES, transport.dropped(Drop.ADDRESS));
    }

    private void raise(int point, long value) {
        device.raise(ShownObjects.cell(point), value);
    }
}
