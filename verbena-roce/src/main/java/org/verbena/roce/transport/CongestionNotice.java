// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.roce.header.BigEndian;
import org.verbena.roce.header.Bth;
import org.verbena.roce.header.PacketOpcode;
import org.verbena.verbs.SamplePoint;

/**
 * Congestion notification packets of a connection (annex A17, 17.9.3): one is sent when a router has marked a packet,
 * and the next one after an interval at the earliest.
 */
final class CongestionNotice {
    private static final long INTERVAL_NANOS = 50_000;
    private static final int BYTES = 16;

    private final ReliableQueuePair qp;
    private long sentAt = -INTERVAL_NANOS;
    private long receivedAt = -INTERVAL_NANOS;

    CongestionNotice(ReliableQueuePair qp) {
        this.qp = qp;
    }

    /** Sends a notification for a packet that a router has marked. */
    void packetReceived(Packet p) {
        if ((p.raw.trafficClass & 3) != Wire.ECN_CONGESTION || p.opcode == PacketOpcode.CNP) {
            return;
        }
        qp.owner.count(SamplePoint.QP_ECN_MARKED, 1);
        long now = qp.wire.nanoTime();
        Path to = qp.path;
        long a = now - sentAt < INTERVAL_NANOS || to == null ? 0 : qp.wire.next();
        if (a == 0 || to == null) {
            return;
        }
        sentAt = now;
        qp.owner.count(SamplePoint.QP_CNP_SENT, 1);
        Bth.put(a, PacketOpcode.CNP, false, 0, qp.destination, false, 0);
        Bth.setBackwardCongestion(a);
        BigEndian.putLong(a + Bth.BYTES, 0);
        BigEndian.putLong(a + Bth.BYTES + Long.BYTES, 0);
        qp.sendPacket(to, Wire.ECN_NOT_CAPABLE, Bth.BYTES + BYTES);
    }

    /** A notification was received: true if it reports other congestion than the last one. */
    boolean notificationReceived() {
        long now = qp.wire.nanoTime();
        boolean fresh = now - receivedAt >= INTERVAL_NANOS;
        if (fresh) {
            receivedAt = now;
        }
        qp.owner.count(fresh ? SamplePoint.QP_CNP_HANDLED : SamplePoint.QP_CNP_IGNORED, 1);
        return fresh;
    }
}
