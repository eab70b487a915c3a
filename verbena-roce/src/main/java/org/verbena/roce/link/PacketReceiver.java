// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import org.verbena.linux.UdpReceiveBatch;
import org.verbena.linux.UdpSocket;
import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.transport.PacketHandler;
import org.verbena.roce.transport.ReceivedPacket;
import org.verbena.roce.transport.Wire;

/**
 * Receives packets from sockets, many in a call, and checks their CRC. Used under the context's lock; allocates and
 * throws nothing.
 */
final class PacketReceiver {
    /** The shortest packet: a base transport header. */
    private static final int SHORTEST = 12;
    private static final int COALESCED_BATCH = 16;
    private static final int COALESCED_BYTES = 1 << 16;
    private static final int BATCH = 64;
    /** One call in this many that finds the busy socket empty polls the others, too. */
    private static final int QUIET = 8;

    private final int port;
    private final WireCounts counts;
    private final UdpReceiveBatch batch;
    private final Icrc icrc;
    private final Identification identification = new Identification(Wire.PACKET_ROOM);
    private final ReceivedPacket packet = new ReceivedPacket();
    private final long base;

    private UdpSocket[] sockets = {};
    /** The socket that delivered last. */
    private int busy;
    private int empty;
    /**
     * Datagrams to ask for: a call that finds fewer polls once more without result, which is a quarter of the cost of a
     * call.
     */
    private int wanted = 1;
    /** Position of the next packet in the batch: datagram, and offset in it if it contains several. */
    private int datagram;
    private int datagrams;
    private int position;

    PacketReceiver(int port, boolean coalesced, WireCounts counts) {
        this.port = port;
        this.counts = counts;
        batch = coalesced
                ? new UdpReceiveBatch(COALESCED_BATCH, Icrc.HEADROOM, COALESCED_BYTES)
                : new UdpReceiveBatch(BATCH, Icrc.HEADROOM, Wire.PACKET_ROOM + Icrc.BYTES);
        icrc = new Icrc(batch.memory());
        base = RawMemory.addressOf(batch.memory());
    }

    /** Sets the sockets to receive packets from. */
    void setSockets(UdpSocket... all) {
        sockets = all;
        busy = 0;
    }

    int receive(int limit, PacketHandler handler) {
        int taken = 0;
        boolean more = true;
        while (taken < limit && (datagram < datagrams || more && fill(false))) {
            taken++;
            more = takeNext(handler);
        }
        return taken;
    }

    /** Fewer than the limit are all that have arrived. */
    int receiveAll(int limit, PacketHandler handler) {
        int taken = 0;
        while (taken < limit && (datagram < datagrams || fill(true))) {
            taken++;
            boolean _ = takeNext(handler);
        }
        return taken;
    }

    /** Returns false if it was most likely the last packet that has arrived. */
    private boolean takeNext(PacketHandler handler) {
        int total = batch.length(datagram);
        int segment = batch.segmentBytes(datagram);
        int length = segment <= 0 ? total : Math.min(segment, total - position);
        int of = datagram;
        int at = position;
        position += length; // first: a packet whose handler fails is not handled again
        if (position >= total) {
            position = 0;
            datagram++;
        }
        boolean reliable = take(of, batch.offset(of) + at, length, handler);
        // A single packet is most likely all that there is: the thread that waits for it continues first. Packets
        // of other transports find a receive now, or are lost.
        return datagrams > 1 || segment > 0 || !reliable;
    }

    /**
     * Reads the socket that delivered last and, if it is empty, the others: always on demand, and seldom otherwise, as
     * each costs a system call.
     */
    private boolean fill(boolean all) {
        datagram = 0;
        datagrams = 0;
        if (busy < sockets.length && fill(busy)) {
            return true;
        }
        if (all || ++empty % QUIET == 0) {
            for (int i = 0; i < sockets.length; i++) {
                if (i != busy && fill(i)) {
                    busy = i;
                    return true;
                }
            }
        }
        return false;
    }

    private boolean fill(int socket) {
        int result = batch.receive(sockets[socket], wanted);
        if (result < 0) {
            counts.receiveErrors++;
            return false;
        }
        datagrams = result;
        wanted = result == wanted ? Math.min(wanted * 2, batch.capacity()) : Math.max(1, result);
        return result > 0;
    }

    /** Passes on a packet if it is intact; true if it was, and is of a reliable transport. */
    private boolean take(int of, int offset, int withCrc, PacketHandler handler) {
        int length = withCrc - Icrc.BYTES;
        if (length < SHORTEST || length > Wire.PACKET_ROOM || batch.truncated(of)) {
            counts.malformed++;
            return false;
        }
        ReceivedPacket p = packet;
        p.address = base + offset;
        p.length = length;
        p.sourceHigh = batch.sourceHigh(of);
        p.sourceLow = batch.sourceLow(of);
        p.destinationHigh = batch.destinationHigh(of);
        p.destinationLow = batch.destinationLow(of);
        p.sourcePort = batch.sourcePort(of);
        p.trafficClass = batch.trafficClass(of);
        p.flowLabel = 0;
        p.hopLimit = batch.hopLimit(of);
        if (!isIntact(offset)) {
            counts.icrcErrors++;
            return false;
        }
        counts.received++;
        counts.receivedBytes += withCrc;
        handler.received(p);
        return p.isReliable();
    }

    private boolean isIntact(int offset) {
        ReceivedPacket p = packet;
        int onWire = RawMemory.getIntUnaligned(p.address + p.length);
        int withCrc = p.length + Icrc.BYTES;
        if (!p.isIpv4()) {
            PseudoHeader.put6(p.address, p.sourceHigh, p.sourceLow, p.destinationHigh, p.destinationLow, p.sourcePort,
                    port, withCrc);
            return icrc.of(offset, p.length, PseudoHeader.BYTES_6) == onWire;
        }
        PseudoHeader.put4(p.address, (int) p.sourceLow, (int) p.destinationLow, p.sourcePort, port, withCrc, 0);
        int difference = icrc.of(offset, p.length, PseudoHeader.BYTES_4) ^ onWire;
        if (difference == 0) {
            return true;
        }
        if (identification.solve(difference, p.length) == Identification.NONE) {
            return false;
        }
        counts.identified++;
        return true;
    }
}
