// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import org.verbena.linux.Errno;
import org.verbena.linux.UdpSendBatch;
import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.transport.Wire;
import org.verbena.verbs.Gid;

/**
 * Appends the CRC to packets and sends them in batches. Used under the context's lock; allocates and throws nothing.
 */
final class PacketSender {
    private static final int BATCH = 64;
    private static final int ECN = 3;

    private final int port;
    private final WireCounts counts;
    private final UdpSendBatch batch = new UdpSendBatch(BATCH, Icrc.HEADROOM, Wire.PACKET_ROOM + Icrc.BYTES);
    private final Icrc icrc = new Icrc(batch.memory());
    private final long base = RawMemory.addressOf(batch.memory());

    PacketSender(int port, boolean segmenting, WireCounts counts) {
        this.port = port;
        this.counts = counts;
        batch.setSegmenting(segmenting);
    }

    boolean hasRoom() {
        if (batch.next() < 0) {
            flush();
        }
        return batch.next() >= 0;
    }

    long next() {
        return hasRoom() ? base + batch.next() : 0;
    }

    void send(UdpPath path, int ecn, int length) {
        int packet = batch.next();
        if (packet < 0 || path.closed || length < 0 || length > Wire.PACKET_ROOM) {
            counts.sendErrors++;
            return;
        }
        int withCrc = length + Icrc.BYTES;
        counts.sentBytes += withCrc;
        int identification = batch.add(path.socket, path.to, path.trafficClass() & ~ECN | ecn, withCrc);
        Gid source = path.source();
        Gid destination = path.destination();
        long address = base + packet;
        int headerBytes;
        if (path.ip4) {
            PseudoHeader.put4(address, (int) source.low(), (int) destination.low(), port, port, withCrc,
                    identification);
            headerBytes = PseudoHeader.BYTES_4;
        } else {
            PseudoHeader.put6(address, source.high(), source.low(), destination.high(), destination.low(), port, port,
                    withCrc);
            headerBytes = PseudoHeader.BYTES_6;
        }
        RawMemory.putIntUnaligned(address + length, icrc.of(packet, length, headerBytes));
    }

    void flush() {
        int before = batch.size();
        int error = batch.send();
        while (error != 0 && error != Errno.EAGAIN) {
            int size = batch.size();
            batch.drop(); // the transport retransmits it, or fails when its retries are exhausted
            int dropped = size - batch.size();
            counts.sendErrors += dropped;
            counts.lastSendError = error;
            before -= dropped;
            error = batch.send();
        }
        counts.sent += before - batch.size();
    }
}
